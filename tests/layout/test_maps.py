"""Maps between subscripts: shapes of as many elements, against the order of NumPy."""

from __future__ import annotations

import random
from itertools import product
from math import prod

import numpy as np
import pytest

from allo.customize.array.subscripts import expressions
from allo.layout import Digit, Reshaping


def shapes(seed: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Two shapes made of the same factors, in another order and some of them multiplied together."""
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

    return grouped(), grouped()


@pytest.mark.parametrize("seed", range(80))
def test_subscripts_name_the_same_element(seed: int) -> None:
    old, new = shapes(seed)
    seen = Reshaping(old, new)
    formulas = [str(formula).replace("floordiv", "//").replace("mod", "%") for formula in expressions(seen)]
    for place in product(*map(range, old)):
        wanted = tuple(int(n) for n in np.unravel_index(np.ravel_multi_index(place, old), new))
        found = tuple(subscript.of(place) for subscript in seen.subscripts)
        assert found == wanted
        assert tuple(subscript.of(found) for subscript in seen.inverse.subscripts) == place
        assert tuple(eval(text, {f"d{n}": k for n, k in enumerate(place)}) for text in formulas) == wanted


def test_extents_that_divide_each_other_need_no_linear_position() -> None:
    (row, column) = Reshaping((4, 6), (12, 2)).subscripts
    assert row.digits == ((Digit(dimension=0), 3), (Digit(2, 0, 1), 1))
    assert column.digits == ((Digit(1, 2, 1), 1),)


def test_shapes_have_as_many_elements() -> None:
    with pytest.raises(ValueError, match="different numbers of elements"):
        Reshaping((4, 6), (5, 5))


@pytest.mark.parametrize("digit", [Digit(), Digit(3), Digit(modulus=4), Digit(2, 3), Digit(modulus=1)])
def test_a_digit_of_subscripts_that_lie_strides_apart(digit: Digit) -> None:
    for start, stride in product(range(12), range(-6, 13)):
        reached = {digit.of(start + n * stride) for n in range(-40, 40)}
        assert digit.fixed(start, [stride]) == (reached.pop() if len(reached) == 1 else None)
