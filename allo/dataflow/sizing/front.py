"""Front of cycles against memory: depths of FIFOs none of which can be lower within the cycles of its point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .exact import Depths, DepthSearch

_POINTS = 9  # between the fastest and the smallest, both included

type Price = Callable[[Depths], tuple[int, int]]  # blocks of memory, and bits


@dataclass(frozen=True, slots=True)
class FrontPoint:
    """Depths, the cycles of a run with them, blocks of memory and bits."""

    cycles: int
    blocks: int
    bits: int
    depths: Depths


def front(search: DepthSearch, fastest: Depths, price: Price, budget: int | None = None) -> list[FrontPoint]:
    """Points from the fastest, of the least depths `fastest` that slow nothing down, to the smallest that ever ends.

    Deadlines are spaced evenly by ratio. For each, depths are lowered one by one, those of most memory first, until
    none can be lower by one within it. To these come depths that just fit into half the blocks of the fastest, a
    quarter, ..., none, and into the `budget`. What another point beats in all is left out.
    """
    first = search.cycles(fastest)
    assert first is not None
    smallest = search.least(fastest, None, _order(search, fastest, price))
    last = search.cycles(smallest)
    assert last is not None
    found = {fastest, smallest}
    depths = fastest
    for step in range(1, _POINTS - 1):
        deadline = round(first * (last / first) ** (step / (_POINTS - 1)))
        depths = search.least(depths, deadline, _order(search, depths, price))
        found.add(depths)
    blocks = price(fastest)[0]
    wanted = {blocks >> step for step in range(1, blocks.bit_length() + 1)}
    for most in sorted(wanted if budget is None else wanted | {budget}):
        fitting = _fitting(fastest, price, most)
        cycles = search.cycles(fitting)
        if cycles is not None:
            found.add(search.least(fitting, cycles, _order(search, fitting, price)))
    return _best([_point(search, depths, price) for depths in found])


def _fitting(depths: Depths, price: Price, most: int) -> Depths:
    """Depths of at most so many blocks: again and again, that of most blocks is the largest of one less."""
    found = list(depths)
    places = range(len(found))
    while price(tuple(found))[0] > most:
        alone = [price(tuple(found[k] if k == place else 1 for k in places))[0] for place in places]
        place = max(places, key=alone.__getitem__)
        low, high = 1, found[place] - 1
        if not high:
            break
        while low < high:  # the largest of fewer blocks
            middle = (low + high + 1) // 2
            if price(tuple(middle if k == place else 1 for k in places))[0] < alone[place]:
                low = middle
            else:
                high = middle - 1
        found[place] = low
    return tuple(found)


def _order(search: DepthSearch, depths: Depths, price: Price) -> list[int]:
    """The depths, that of most memory first."""
    places = range(search.count)
    alone = [price(tuple(depths[k] if k == place else 1 for k in places)) for place in places]
    return sorted(places, key=lambda place: (alone[place], -place), reverse=True)


def _point(search: DepthSearch, depths: Depths, price: Price) -> FrontPoint:
    cycles = search.cycles(depths)
    assert cycles is not None
    return FrontPoint(cycles, *price(depths), depths)


def _best(points: list[FrontPoint]) -> list[FrontPoint]:
    """The points that no other one beats, the fastest first."""
    found: list[FrontPoint] = []
    for point in sorted(points, key=lambda p: (p.cycles, p.blocks, p.bits, p.depths)):
        if not any(p.blocks <= point.blocks and p.bits <= point.bits for p in found):
            found.append(point)
    return found
