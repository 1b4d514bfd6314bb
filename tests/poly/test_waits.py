"""Waits between copies by value: what is overwritten, may be overwritten, and stays in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import allo
from allo.ir.types import float32
from allo.poly.waits import ArrayWaits, Why, waits_of
from tests.timing.regions import region_of


def asked(kernel: Callable[..., Any], most: int = 1 << 18) -> ArrayWaits | None:
    """The waits for A."""
    s = allo.customize(kernel)
    s.pipeline("i")
    region, _ = region_of(s)
    nodes = [node for node in region.nodes if node.memory is not None and node.memory.name == "A"]
    found = waits_of(region.space, [nodes], most, 64)
    return found[0] if found is not None else None


def values(found: ArrayWaits | None) -> list[list[int]]:
    """Copies of source and sink, and the distance, of each value that is passed on."""
    assert found is not None
    rows = [
        [int(a), int(b), int(d)]
        for one in found.waits
        if one.why is Why.VALUE
        for a, b, d in zip(one.copies, one.sink_copies, one.distances, strict=True)
    ]
    return sorted(rows)


def test_a_value_that_is_overwritten_is_not_passed_on() -> None:
    def killed(A: float32[80], B: float32[80], C: float32[80]):
        for i in range(8):
            A[i + 3] = A[i] * C[i]
            A[(2 * i + 6) // 2] = B[i]

    def kept(A: float32[80], B: float32[80], C: float32[80]):
        for i in range(8):
            A[i + 3] = A[i] * C[i]
            if B[i] > 0.5:
                A[(2 * i + 6) // 2] = B[i]

    assert values(asked(killed)) == [[0, 0, 3]]  # of the second write
    assert values(asked(kept)) == [[0, 0, 3], [0, 0, 3]]


def test_copies_at_the_ends_have_no_others() -> None:
    def shifted(A: float32[80], B: float32[80]):
        for i in range(4):
            for u in range(3):
                A[8 * i + u + 1] = A[8 * i + u] * B[u]

    assert values(asked(shifted)) == [[0, 1, 0], [1, 2, 0]]


def test_elements_that_stay() -> None:
    def still(A: float32[80], B: float32[80]):
        for i in range(8):
            for u in range(2):
                A[u + 1] = A[u] * B[i]

    def moving(A: float32[80], B: float32[80]):
        for i in range(8):
            for u in range(2):
                A[u + 1] = A[u + i] * B[i]

    found, other = asked(still), asked(moving)
    assert found is not None and len(found.still) == 2
    assert other is not None and not other.still


def test_too_many_occurrences_are_not_looked_at() -> None:
    def many(A: float32[80], B: float32[80]):
        for i in range(8):
            for u in range(3):
                A[i * u] = A[i + u] * B[i]

    assert asked(many) is not None
    assert asked(many, 143) is None  # two accesses, eight iterations, three copies that are looked for three times
    assert asked(many, 144) is not None
