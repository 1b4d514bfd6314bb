"""Negotiated ways of streams: ports that several want become dearer until each has one (PathFinder).

L. McMurchie, C. Ebeling: PathFinder, a negotiation-based performance-driven router for FPGAs. FPGA 1995.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...target import Tile
from .flow import Link, StreamFlow, Tree, tree_of

STEP = 2  # what a free port costs
FULL = 1  # more for each stream that is there too many, times the number of the round
AGAIN = 4  # more for each stream that was there too many in each round


def negotiated(
    flows: Sequence[StreamFlow], ports: Mapping[Link, int], rounds: int
) -> tuple[list[Tree], dict[Link, int]]:
    """A tree of links for each stream, and by how much they exceed `ports`: nothing, if they are ways of all."""
    state = Negotiation(ports)
    trees: list[Tree] = [()] * len(flows)
    best: tuple[list[Tree], dict[Link, int]] | None = None
    for number in range(rounds):
        state.number = number
        begin = number % len(flows) if flows else 0  # so that another one comes first in each round
        for k in (*range(begin, len(flows)), *range(begin)):
            state.leave(trees[k])
            trees[k] = state.way(flows[k])
            state.take(trees[k])
        excess = state.excess()
        if best is None or sum(excess.values()) < sum(best[1].values()):
            best = list(trees), excess
        if not excess:
            break
        state.remember(excess)
    assert best is not None
    return best


@dataclass(slots=True)
class Negotiation:
    """How many streams use each link, what it has cost so far, and the links of tiles by what they lead to."""

    ports: Mapping[Link, int]
    number: int = 0  # of the round
    used: dict[Link, int] = field(init=False)
    history: dict[Link, int] = field(init=False)
    out: dict[Tile, list[tuple[Link, Tile]]] = field(init=False)

    def __post_init__(self) -> None:
        self.used = dict.fromkeys(self.ports, 0)
        self.history = dict.fromkeys(self.ports, 0)
        self.out = {}
        for link in self.ports:
            self.out.setdefault(link[0], []).append((link, link[0].toward(link[1])))

    def excess(self) -> dict[Link, int]:
        """By how much links are used too often."""
        return {link: used - self.ports[link] for link, used in self.used.items() if used > self.ports[link]}

    def remember(self, excess: Mapping[Link, int]) -> None:
        """Let links that were used too often be dearer from now on."""
        for link, count in excess.items():
            self.history[link] += AGAIN * count

    def price(self, link: Link) -> int:
        """What one more stream over a link costs."""
        excess = max(self.used[link] + 1 - self.ports[link], 0)
        return STEP + self.history[link] + FULL * (self.number + 1) * excess

    def take(self, tree: Tree) -> None:
        for link in tree:
            self.used[link] += 1

    def leave(self, tree: Tree) -> None:
        for link in tree:
            self.used[link] -= 1

    def way(self, flow: StreamFlow) -> Tree:
        """The cheapest way to the nearest end, then from there or any tile before to the others."""
        reached = {flow.source: None}
        links: list[Link] = []
        for sink in sorted(set(flow.sinks), key=lambda own: (flow.source.distance(own), own)):
            if sink in reached:
                continue
            for link in self._path(list(reached), sink):
                links.append(link)
                reached[link[0].toward(link[1])] = None
        return tree_of(flow.source, flow.sinks, links)

    def _path(self, begins: Sequence[Tile], sink: Tile) -> list[Link]:
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
                price = cost + self.price(link)
                if end not in costs or price < costs[end]:
                    costs[end] = price
                    before[end] = link
                    heapq.heappush(ahead, (price, end))
        path = []
        while sink in before:
            path.append(before[sink])
            sink = before[sink][0]
        return path[::-1]
