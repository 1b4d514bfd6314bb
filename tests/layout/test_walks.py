"""Walks: what they visit stays the same however they are written."""

from __future__ import annotations

import islpy as isl
import numpy as np
import pytest
from hypothesis import strategies as st

from allo.layout import Walk, in_turn, part_of
from tests.seeds import drawn, sweep

EXTENTS = st.lists(st.integers(1, 4), min_size=0, max_size=4)


@st.composite
def walks(draw: st.DrawFn) -> Walk:
    extents = draw(EXTENTS)
    strides = draw(st.lists(st.sampled_from([1, 2, 4, 8, 16]), min_size=len(extents), max_size=len(extents)))
    return Walk(draw(st.integers(0, 5)), tuple(extents), tuple(strides))


@sweep(30, 4)
@drawn(25, walks())
def test_normal_form_visits_the_same(walk: Walk) -> None:
    normal = walk.normal
    assert list(normal.addresses()) == list(walk.addresses())
    assert normal.normal == normal and 1 not in normal.extents


@sweep(30, 4)
@drawn(25, st.lists(walks(), min_size=1, max_size=5))
def test_walks_in_turn(given: list[Walk]) -> None:
    made = in_turn(given)
    assert [a for walk in made for a in walk.addresses()] == [a for walk in given for a in walk.addresses()]


@sweep(30, 4)
@drawn(25, walks())
def test_split_and_isl(walk: Walk) -> None:
    for k, extent in enumerate(walk.extents):
        for inner in (n for n in range(1, extent + 1) if extent % n == 0):
            assert list(walk.split(k, inner).addresses()) == list(walk.addresses())
    reached = isl.Map.read_from_str(isl.DEFAULT_CONTEXT, walk.to_isl()).range()
    assert reached.count_val().to_python() == len(set(walk.addresses()))


@pytest.mark.parametrize(
    ("shape", "low", "extents", "walk"),
    [
        ((8, 8), (0, 0), (8, 8), Walk(0, (64,), (1,))),
        ((8, 8), (2, 0), (2, 8), Walk(16, (16,), (1,))),
        ((8, 8), (0, 4), (8, 4), Walk(4, (8, 4), (8, 1))),
        ((2, 4, 6), (1, 0, 2), (1, 4, 2), Walk(26, (4, 2), (6, 1))),
        ((4,), (3,), (1,), Walk(3, (), ())),
    ],
)
def test_parts_of_arrays(
    shape: tuple[int, ...], low: tuple[int, ...], extents: tuple[int, ...], walk: Walk
) -> None:
    assert part_of(shape, low, extents) == walk
    numbers = np.arange(np.prod(shape)).reshape(shape)
    part = numbers[tuple(slice(a, a + n) for a, n in zip(low, extents, strict=True))]
    assert list(walk.addresses()) == part.reshape(-1).tolist()


def test_tiles_of_a_row_of_tiles_are_one_walk() -> None:
    tiles = [part_of((8, 16), (0, 4 * k), (8, 4)) for k in range(4)]
    assert in_turn(tiles) == [Walk(0, (4, 8, 4), (4, 16, 1))]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Walk(0, (2,), ()), "a walk has a stride for each extent, and extents of at least 1"),
        (lambda: Walk(0, (0,), (1,)), "a walk has a stride for each extent, and extents of at least 1"),
        (lambda: Walk(0, (6,), (1,)).split(0, 4), "4 does not divide the extent 6"),
    ],
)
def test_refused(make: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()  # type: ignore[operator]
