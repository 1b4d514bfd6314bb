"""The partition lattice: laws over all layouts of small shapes, the meaning of the order, the paper's examples."""

from __future__ import annotations

from functools import cache
from itertools import product

import pytest

from allo.layout import COMPLETE, NONE, Banks, Division, PartitionLayout, block, cyclic, reshaping
from allo.layout.partition import below, join, meet

EXTENTS = [*range(1, 13), 16]
SHAPES = [(8,), (12,), (6, 4), (4, 3, 2), (2, 2, 5)]


@cache
def divisions(extent: int) -> list[Banks]:
    """All divisions of a dimension, one spelling each."""
    factors = range(2, extent + 1)
    given = [NONE, COMPLETE, *map(cyclic, factors), *map(block, factors)]
    return list(dict.fromkeys(banks.canonical(extent) for banks in given))


@cache
def layouts(shape: tuple[int, ...]) -> list[PartitionLayout]:
    return [PartitionLayout.of(shape, dims) for dims in product(*map(divisions, shape))]


def bank_of(banks: Banks, element: int, extent: int) -> int:
    """The bank of an element, by the definition of the divisions."""
    match banks.kind:
        case Division.NONE:
            return 0
        case Division.CYCLIC:
            return element % banks.factor
        case Division.BLOCK:
            return element // -(-extent // banks.factor)
        case Division.COMPLETE:
            return element


@pytest.mark.parametrize("extent", EXTENTS)
def test_order_is_refinement_of_banks(extent: int) -> None:
    """X <: Y says that elements in different banks of Y are in different banks of X."""
    for x, y in product(divisions(extent), repeat=2):
        refines = all(
            bank_of(y, a, extent) == bank_of(y, b, extent)
            for a, b in product(range(extent), repeat=2)
            if bank_of(x, a, extent) == bank_of(x, b, extent)
        )
        assert below(x, y, extent) == (refines if extent > 1 else x == COMPLETE or y == NONE)


@pytest.mark.parametrize("extent", EXTENTS)
def test_the_bank_of_elements_that_lie_strides_apart(extent: int) -> None:
    for banks, first, stride in product(divisions(extent), range(extent), range(extent)):
        reached = range(first % stride, extent, stride) if stride else [first]
        found = {bank_of(banks, element, extent) for element in reached}
        bank = banks.bank(extent, first, [stride])
        assert bank is None or found == {bank}
        if stride == 0 or (banks.kind is Division.CYCLIC and 2 * banks.factor <= extent and 2 * stride <= extent):
            assert (bank is not None) == (len(found) == 1)


@pytest.mark.parametrize("extent", EXTENTS)
def test_neighbours_are_in_different_banks(extent: int) -> None:
    for banks in divisions(extent):
        number = banks.neighbours(extent)
        assert extent % number == 0
        for start in range(0, extent, number):
            dealt = {bank_of(banks, start + n, extent) for n in range(number)}
            assert number == 1 or len(dealt) == number


@pytest.mark.parametrize("extent", EXTENTS)
def test_canonical_division_deals_the_same_banks(extent: int) -> None:
    for factor, kind in product(range(1, extent + 3), (cyclic, block)):
        written, canonical = kind(factor), kind(factor).canonical(extent)
        dealt = [bank_of(written, i, extent) for i in range(extent)]
        assert dealt == [bank_of(canonical, i, extent) for i in range(extent)]
        assert canonical.count(extent) == len(set(dealt))


@pytest.mark.parametrize("extent", EXTENTS)
def test_meet_is_the_greatest_lower_bound_and_join_the_least_upper(extent: int) -> None:
    every = divisions(extent)
    for x, y in product(every, repeat=2):
        lower, upper = meet(x, y, extent), join(x, y, extent)
        assert lower in every and upper in every
        for z in every:
            assert (below(z, x, extent) and below(z, y, extent)) == below(z, lower, extent)
            assert (below(x, z, extent) and below(y, z, extent)) == below(upper, z, extent)


@pytest.mark.parametrize("extent", EXTENTS)
def test_laws_of_one_dimension(extent: int) -> None:
    every = divisions(extent)
    for x, y, z in product(every, repeat=3):
        for rule in (meet, join):
            assert rule(x, rule(y, z, extent), extent) == rule(rule(x, y, extent), z, extent)
        if below(x, y, extent):  # monotone
            assert below(meet(x, z, extent), meet(y, z, extent), extent)
            assert below(join(x, z, extent), join(y, z, extent), extent)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_laws_of_all_layouts(shape: tuple[int, ...]) -> None:
    top, bottom = PartitionLayout.top(shape), PartitionLayout.bottom(shape)
    for x in layouts(shape):
        assert bottom <= x <= top
        assert x.meet(x) == x == x.join(x) == x.meet(top) == x.join(bottom)
        for y in layouts(shape):
            assert x.meet(y) == y.meet(x) and x.join(y) == y.join(x)
            assert x.meet(x.join(y)) == x == x.join(x.meet(y))
            assert (x <= y) == (x.meet(y) == x) == (x.join(y) == y)
            assert x.meet(y).banks >= max(x.banks, y.banks)


@pytest.mark.parametrize("shape", [(8,), (4, 3), (2, 2, 2)], ids=str)
def test_associative_for_all_layouts(shape: tuple[int, ...]) -> None:
    for x, y, z in product(layouts(shape), repeat=3):
        assert x.meet(y.meet(z)) == x.meet(y).meet(z)
        assert x.join(y.join(z)) == x.join(y).join(z)


def together(layout: PartitionLayout) -> tuple[int, ...]:
    """For each element in row-major order the first one that is in its bank."""
    banks = [
        tuple(map(bank_of, layout.dims, place, layout.shape)) for place in product(*map(range, layout.shape))
    ]
    first = {bank: number for number, bank in reversed(list(enumerate(banks)))}
    return tuple(first[bank] for bank in banks)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ((24,), (4, 6)),
        ((4, 6), (24,)),
        ((4, 6), (8, 3)),
        ((6, 4), (4, 6)),
        ((10,), (5, 2)),
        ((5, 2), (1, 10)),
        ((4, 6), (2, 2, 3, 2)),
        ((2, 2, 5), (4, 5)),
        ((3, 8), (2, 12)),
    ],
    ids=str,
)
def test_layouts_in_another_shape(old: tuple[int, ...], new: tuple[int, ...]) -> None:
    """The same elements are in one bank; where no layout has them so, there is none."""
    known = {together(layout): layout for layout in reversed(layouts(new))}  # NONE, rather than one bank of one
    for layout in layouts(old):
        assert layout.seen(reshaping(old, new)) == known.get(together(layout)), str(layout)


def test_six_elements_for_eight() -> None:
    """Fig. 10 of the paper, where factors divide the extent."""
    dividing = [NONE, COMPLETE, cyclic(2), cyclic(4), block(2), block(4)]
    assert set(dividing) == {b for b in divisions(8) if not b.factor or 8 % b.factor == 0}
    assert below(cyclic(4), cyclic(2), 8) and below(block(4), block(2), 8)
    assert not below(cyclic(2), cyclic(4), 8) and not below(cyclic(4), block(2), 8)
    assert meet(cyclic(4), block(2), 8) == COMPLETE and join(cyclic(4), block(2), 8) == NONE


def test_meets() -> None:
    assert meet(cyclic(4), cyclic(6), 24) == cyclic(12)
    assert meet(cyclic(4), cyclic(6), 12) == COMPLETE
    assert meet(block(4), block(6), 24) == block(12)  # runs of 6 and 4 make runs of 2
    assert join(block(4), block(6), 24) == block(2)
    assert cyclic(8).canonical(8) == COMPLETE and block(7).canonical(10) == block(5)


def test_text_and_banks() -> None:
    layout = PartitionLayout.of((8, 6), (cyclic(4), COMPLETE))
    assert (str(layout), layout.banks) == ("[cyclic 4, complete]", 24)


def test_shapes_must_agree() -> None:
    with pytest.raises(ValueError, match=r"^1 divisions for 2 dimensions$"):
        PartitionLayout.of((8, 6), (NONE,))
    with pytest.raises(ValueError, match=r"^layouts of shapes \(8,\) and \(6,\) cannot be compared$"):
        PartitionLayout.top((8,)).meet(PartitionLayout.top((6,)))
