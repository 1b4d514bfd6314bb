"""Negotiated ways of streams: ports that several want become dearer until each has one (PathFinder).

L. McMurchie, C. Ebeling: PathFinder, a negotiation-based performance-driven router for FPGAs. FPGA 1995.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...target import Tile
from .flow import Link, StreamFlow, Tree, tree_of

_STEP = 2  # what a free port costs
_FULL = 1  # more for each stream that is there too many, times the number of the round
_AGAIN = 4  # more for each stream that was there too many in each round


def negotiated(
    flows: Sequence[StreamFlow], ports: Mapping[Link, int], rounds: int
) -> tuple[list[Tree], dict[Link, int]]:
    """A tree of links for each stream, and by how much they exceed `ports`: nothing, if they are ways of all."""
    state = _Negotiation(ports)
    trees: list[Tree] = [()] * len(flows)
    best: tuple[list[Tree], dict[Link, int]] | None = None
    for number in range(rounds):
        begin = number % len(flows) if flows else 0  # so that another one comes first in each round
        for k in (*range(begin, len(flows)), *range(begin)):
            state.leave(trees[k])
            trees[k] = state.way(flows[k], number)
            state.take(trees[k])
        excess = {link: used - ports[link] for link, used in state.used.items() if used > ports[link]}
        if best is None or sum(excess.values()) < sum(best[1].values()):
            best = list(trees), excess
        if not excess:
            break
        for link, count in excess.items():
            state.history[link] += _AGAIN * count
    assert best is not None
    return best


@dataclass(slots=True)
class _Negotiation:
    """How many streams use each link, what it has cost so far, and the links of tiles by what they lead to."""

    ports: Mapping[Link, int]
    used: dict[Link, int] = field(init=False)
    history: dict[Link, int] = field(init=False)
    out: dict[Tile, list[tuple[Link, Tile]]] = field(init=False)

    def __post_init__(self) -> None:
        self.used = dict.fromkeys(self.ports, 0)
        self.history = dict.fromkeys(self.ports, 0)
        self.out = {}
        for link in self.ports:
            self.out.setdefault(link[0], []).append((link, link[0].toward(link[1])))

    def take(self, tree: Tree) -> None:
        for link in tree:
            self.used[link] += 1

    def leave(self, tree: Tree) -> None:
        for link in tree:
            self.used[link] -= 1

    def way(self, flow: StreamFlow, number: int) -> Tree:
        """The cheapest way to the nearest end, then from there or any tile before to the others."""
        reached = {flow.source: None}
        links: list[Link] = []
        for sink in sorted(set(flow.sinks), key=lambda own: (flow.source.distance(own), own)):
            if sink in reached:
                continue
            for link in self._path(list(reached), sink, number):
                links.append(link)
                reached[link[0].toward(link[1])] = None
        return tree_of(flow.source, flow.sinks, links)

    def _path(self, begins: Sequence[Tile], sink: Tile, number: int) -> list[Link]:
        costs = dict.fromkeys(begins, 0)
        before: dict[Tile, Link] = {}
        ahead = [(0, tile) for tile in begins]
        heapq.heapify(ahead)
        while ahead:
            cost, tile = heapq.heappop(ahead)
            if tile == sink:
                break
            if cost > costs[tile]:
                continue
            for link, end in self.out[tile]:
                excess = max(self.used[link] + 1 - self.ports[link], 0)
                price = cost + _STEP + self.history[link] + _FULL * (number + 1) * excess
                if end not in costs or price < costs[end]:
                    costs[end] = price
                    before[end] = link
                    heapq.heappush(ahead, (price, end))
        path = []
        while sink in before:
            path.append(before[sink])
            sink = before[sink][0]
        return path[::-1]
