"""Advice for a loop around short ones: a pipeline in which these are unrolled."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...poly import Trips
from .question import Proposal

_MOST_COPIES = 16  # of a body


def around_short_loops(loop: str, trips: Trips, inside: Sequence[Trips]) -> Proposal | None:
    """`pipeline` for a loop whose iterations run one after the other; None if the loops in it are not short."""
    counts = [inner.constant for inner in inside]
    copies = 0 if None in counts else prod(count for count in counts if count is not None)
    if not 1 < copies <= _MOST_COPIES or trips.mean is None or trips.mean <= 1:
        return None
    return Proposal(f's.pipeline("{loop}")')
