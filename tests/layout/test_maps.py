"""Maps between subscripts: shapes of as many elements, in the order of NumPy; composed, inverted, as maps of isl."""

from __future__ import annotations

import random
from itertools import product
from math import prod

import islpy as isl
import numpy as np
import pytest

from allo.customize.array.subscripts import expressions
from allo.layout import Digit, reshaping


def shapes(seed: int, count: int) -> list[tuple[int, ...]]:
    """Shapes made of the same factors, in another order and some of them multiplied together."""
    chosen = random.Random(seed)
    factors = chosen.choices([1, 2, 2, 3, 4, 6], k=chosen.randint(1, 4))

    def grouped() -> tuple[int, ...]:
        left = chosen.sample(factors, len(factors))
        made = []
        while left:
            taken = chosen.randint(1, len(left))
            made.append(prod(left[:taken]))
            left = left[taken:]
        return tuple(made)

    return [grouped() for _ in range(count)]


def row_major(old: tuple[int, ...], new: tuple[int, ...]) -> isl.Map:
    """The elements of both shapes that have one position in memory."""
    names = [[f"{side}{d}" for d in range(len(shape))] for side, shape in (("i", old), ("o", new))]
    positions, bounds = [], []
    for side, shape in zip(names, (old, new), strict=True):
        strides = [prod(shape[d + 1 :]) for d in range(len(shape))]
        positions.append(" + ".join(f"{s}*{n}" for s, n in zip(strides, side, strict=True)))
        bounds += [f"0 <= {n} < {extent}" for n, extent in zip(side, shape, strict=True)]
    left, right = (", ".join(side) for side in names)
    return isl.Map(f"{{ [{left}] -> [{right}] : {' = '.join(positions)} and {' and '.join(bounds)} }}")


@pytest.mark.parametrize("seed", range(60))
def test_reshaped_arrays_compose_and_can_be_inverted(seed: int) -> None:
    old, new, last = shapes(seed, 3)
    seen = reshaping(old, new)
    places = np.indices(old)
    wanted = np.unravel_index(np.ravel_multi_index(tuple(places), old), new)
    formulas = [str(formula).replace("floordiv", "//").replace("mod", "%") for formula in expressions(seen)]
    for text, subscripts in zip(formulas, wanted, strict=True):
        assert (eval(text, {f"d{n}": k for n, k in enumerate(places)}) == subscripts).all()
    assert isl.Map(seen.to_isl()).is_equal(row_major(old, new))
    assert isl.Map(seen.inverse.to_isl()).is_equal(row_major(new, old))
    assert isl.Map(seen.compose(reshaping(new, last)).to_isl()).is_equal(row_major(old, last))
    assert seen.compose(seen.inverse) == reshaping(old, old)


def test_extents_that_divide_each_other_need_no_linear_position() -> None:
    assert [str(e) for e in expressions(reshaping((4, 6), (12, 2)))] == ["d0 * 3 + d1 floordiv 2", "d1 mod 2"]
    assert [str(e) for e in expressions(reshaping((4, 6, 5), (3, 8, 5)))] == [
        "(d0 * 6 + d1) floordiv 8",
        "(d0 * 6 + d1) mod 8",
        "d2",
    ]


def test_shapes_fit() -> None:
    with pytest.raises(ValueError, match="different numbers of elements"):
        reshaping((4, 6), (5, 5))
    with pytest.raises(ValueError, match=r"to the shape \(24,\) cannot be followed by one from \(8, 3\)"):
        reshaping((4, 6), (24,)).compose(reshaping((8, 3), (24,)))


@pytest.mark.parametrize("digit", [Digit(1, 12), Digit(3, 4), Digit(1, 4), Digit(2, 3), Digit(1, 1)])
def test_a_digit_of_subscripts_that_lie_strides_apart(digit: Digit) -> None:
    for start, stride in product(range(12), range(-6, 13)):
        reached = {(start + n * stride) // digit.divisor % digit.extent for n in range(-40, 40)}
        assert digit.fixed(start, [stride]) == (reached.pop() if len(reached) == 1 else None)


@pytest.mark.parametrize("digit", [Digit(3, 4), Digit(2, 3), Digit(5, 1)])
def test_a_digit_of_subscripts_with_two_strides(digit: Digit) -> None:
    for start, one, other in product(range(4), (0, 5, 6, 12), (0, 5, 6, 12)):
        reached = {
            (start + n * one + m * other) // digit.divisor % digit.extent
            for n, m in product(range(-12, 12), repeat=2)
        }
        assert digit.fixed(start, [one, other]) == (reached.pop() if len(reached) == 1 else None)
