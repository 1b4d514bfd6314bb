"""Least depths of streams: one stream if that is enough, else what each needs beside the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from allo.ir.least_depths import least_depths

type Enough = Callable[[Mapping[int, int]], bool]


def least(enough: Enough, declared: dict[int, int], found: dict[int, int]) -> dict[int, int]:
    """What is found if a program ends with the depths for which `enough` is true."""

    def again(depths: Mapping[int, int], only: frozenset[int]) -> dict[int, int] | None:
        (number,) = only
        held = declared | dict(depths)
        for depth in range(held[number], 100):
            if enough(held | {number: depth}):
                return {number: depth}
        return None

    return least_depths(again, declared, found)


def test_one_stream_that_is_enough() -> None:
    assert least(lambda d: d[0] >= 5, {0: 2}, {0: 5}) == {0: 5}


def test_the_one_that_needs_the_least_more() -> None:
    """Each of them alone would do; the second one needs two more, the first one five."""
    assert least(lambda d: d[0] >= 6 or d[1] >= 9, {0: 1, 1: 7}, {0: 6, 1: 9}) == {1: 9}


def test_none_can_be_smaller() -> None:
    """What was found has more than is needed, of one stream without any need."""
    enough: Enough = lambda d: d[0] >= 3 and d[1] >= 4  # noqa: E731
    assert least(enough, {0: 1, 1: 1, 2: 1}, {0: 7, 1: 8, 2: 5}) == {0: 3, 1: 4}


def test_streams_that_stand_for_one_another() -> None:
    """Room in one is room for the other: the first one gets as little as it can with what the second one has."""
    found = least(lambda d: d[0] + d[1] >= 12 and d[0] >= 3 and d[1] >= 3, {0: 2, 1: 2}, {0: 7, 1: 7})
    assert found == {0: 5, 1: 7}
