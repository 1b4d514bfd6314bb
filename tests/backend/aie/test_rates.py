"""Rates of loops that streams join: the fewest iterations that leave streams as they were."""

from __future__ import annotations

from collections import Counter

import pytest

from allo.backend.aie.rates import Moves, repetitions


def loop(gets: dict[str, int], puts: dict[str, int]) -> Moves:
    return Counter(gets), Counter(puts)


CASES: dict[str, tuple[list[Moves], list[int] | None]] = {
    "as many": ([loop({"b": 2}, {"a": 2}), loop({"a": 2}, {"b": 2})], [1, 1]),
    "two to three": ([loop({"b": 2}, {"a": 2}), loop({"a": 3}, {"b": 3})], [3, 2]),
    "two to one to three": ([loop({}, {"a": 2}), loop({"a": 1}, {"b": 1}), loop({"b": 3}, {})], [3, 6, 2]),
    "to halves and thirds": ([loop({}, {"a": 1, "b": 1}), loop({"a": 2}, {}), loop({"b": 3}, {})], [6, 3, 2]),
    "streams that disagree": ([loop({"b": 2}, {"a": 2}), loop({"a": 3}, {"b": 2})], None),
    "to itself": ([loop({"a": 2}, {"a": 2})], [1]),
    "more to itself than from it": ([loop({"a": 1}, {"a": 2})], None),
    "no stream between them": ([loop({"a": 2}, {}), loop({"b": 3}, {})], [1, 1]),
    "two pairs": ([loop({}, {"a": 2}), loop({"a": 4}, {}), loop({}, {"b": 9}), loop({"b": 6}, {})], [2, 1, 2, 3]),
}


@pytest.mark.parametrize("case", CASES)
def test_repetitions(case: str) -> None:
    loops, wanted = CASES[case]
    assert repetitions(loops) == wanted
