"""Least depths of streams with which a program that waits for ever would end."""

from __future__ import annotations

from collections.abc import Callable, Mapping

# Runs the program with these depths of streams, at least, and lets FIFOs of the others get deeper that are in the set:
# how deep those of each stream have become, or None if that was not enough.
type Again = Callable[[Mapping[int, int], frozenset[int]], dict[int, int] | None]


def least_depths(again: Again, declared: Mapping[int, int], found: Mapping[int, int]) -> dict[int, int]:
    """Depths of streams, by number, none of which can be smaller while the others are as they are.

    So no depths do that are smaller in some streams and larger in none, since more room never makes a program wait
    that does not ask how full its FIFOs are (Kahn's principle). `found` are depths that do. One stream is made deeper
    if that is enough, and then the one that needs the least more; else each in turn gets what it needs with the others
    as they are.
    """
    if len(found) == 1:
        return dict(found)
    alone = {number: deeper[number] for number in found if (deeper := again({}, frozenset({number}))) is not None}
    if alone:
        best = min(alone, key=lambda number: alone[number] - declared[number])
        return {best: alone[best]}
    depths = dict(found)
    for number in found:
        deeper = again({other: d for other, d in depths.items() if other != number}, frozenset({number}))
        if deeper is not None:
            depths[number] = deeper.get(number, declared[number])
    return {number: depth for number, depth in depths.items() if depth > declared[number]}
