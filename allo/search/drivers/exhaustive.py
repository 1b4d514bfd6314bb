"""Exhaustive: all decisions of a space whose holes may depend on decisions before them."""

from __future__ import annotations

from .searched import Key, Proposals, key_of


def exhaustive() -> Proposals:
    """Level by level: each hole that a point has met and that is still at its first option gets its others."""
    batch: list[dict[str, int]] = [{}]
    seen: set[Key] = {()}
    while batch:
        points = yield batch
        batch = []
        for point in points:
            last = max((at for at, hole in enumerate(point.holes) if hole.taken), default=-1)
            for hole in point.holes[last + 1 :]:
                for taken in range(1, len(hole.options)):
                    decisions = {**point.decisions, hole.name: taken}
                    if key_of(decisions) not in seen:
                        seen.add(key_of(decisions))
                        batch.append(decisions)
