"""Sites of streams that negotiate their tiles with the ports: what is at a crowded tile, or leads there, moves away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...target import Tile
from .flow import FlowSite, Link, StreamFlow, Tree
from .negotiated import AGAIN, FULL, STEP, Negotiation

type Seat = tuple[Tile, str]  # a resource of a tile


def sited(
    flows: Sequence[StreamFlow], sites: Sequence[FlowSite], ports: Mapping[Link, int], rounds: int
) -> tuple[list[Tree], list[Tile]] | None:
    """A tree of links for each stream within `ports` and a tile for each site; None if so many rounds find none."""
    state = _Sites(Negotiation(ports), list(flows), sites)
    for number in range(rounds):
        state.ways.number = number
        for k in state.fixed:
            state.route(k)
        begin = number % len(sites)
        for k in (*range(begin, len(sites)), *range(begin)):
            state.seat(k)
        excess, full = state.ways.excess(), state.full()
        if not excess and not full:
            return state.trees, state.at
        state.ways.remember(excess)
        for place, count in full.items():
            state.history[place] = state.history.get(place, 0) + AGAIN * count
    return None


@dataclass(slots=True)
class _Sites:
    """Ways, and tiles of sites, while they are negotiated: each site takes the tile from which its ways cost least."""

    ways: Negotiation
    flows: list[StreamFlow]
    sites: Sequence[FlowSite]
    trees: list[Tree] = field(init=False)
    at: list[Tile] = field(init=False)
    fixed: list[int] = field(init=False)  # streams between tiles that do not move
    own: list[list[int]] = field(init=False)  # streams of each site
    taken: dict[Seat, int] = field(default_factory=dict)
    history: dict[Seat, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.trees = [()] * len(self.flows)
        self.at = [site.tile for site in self.sites]
        names = [site.begins | site.ends for site in self.sites]
        self.own = [[k for k, flow in enumerate(self.flows) if flow.name in own] for own in names]
        self.fixed = [k for k in range(len(self.flows)) if not any(k in own for own in self.own)]
        for k, tile in enumerate(self.at):
            self._sit(k, tile, 1)
            for number in self.own[k]:
                self.route(number)

    def route(self, k: int) -> None:
        """Another way for a stream, where it costs least now."""
        self.ways.leave(self.trees[k])
        self.trees[k] = self.ways.way(self.flows[k])
        self.ways.take(self.trees[k])

    def seat(self, k: int) -> None:
        """Another tile for a site: the first of those that cost least now."""
        self._sit(k, self.at[k], -1)
        for number in self.own[k]:
            self.ways.leave(self.trees[number])
            self.trees[number] = ()
        tile = self.at[k] = self._cheapest(k)
        self._sit(k, tile, 1)
        for number in self.own[k]:
            self.flows[number] = self.sites[k].moves(self.flows[number], tile)
            self.route(number)

    def full(self) -> dict[Seat, int]:
        """Resources of which more is taken than there is: how many sites there are too many, at most."""
        limits = {(tile, name): site.limits[name] for site in self.sites for tile in site.tiles for name in site.needs}
        return {place: 1 for place, count in self.taken.items() if count > limits[place]}

    def _sit(self, k: int, tile: Tile, sign: int) -> None:
        for name, need in self.sites[k].needs.items():
            self.taken[tile, name] = self.taken.get((tile, name), 0) + sign * need

    def _cheapest(self, k: int) -> Tile:
        """The first of the tiles of a site where it costs least; others are looked at while they might cost less."""
        tiles = self.sites[k].tiles
        floors = [self._seat_price(k, tile) + self._distance(k, tile) for tile in tiles]
        best: tuple[int, int] | None = None
        for floor, number in sorted((floor, number) for number, floor in enumerate(floors)):
            if best is not None and (floor, number) >= best:
                break
            cost = self._seat_price(k, tiles[number]) + self._way_price(k, tiles[number])
            best = (cost, number) if best is None else min(best, (cost, number))
        assert best is not None
        return tiles[best[1]]

    def _seat_price(self, k: int, tile: Tile) -> int:
        """What resources of a tile cost that others want too."""
        site, cost = self.sites[k], 0
        for name, need in site.needs.items():
            cost += self.history.get((tile, name), 0)
            if self.taken.get((tile, name), 0) + need > site.limits[name]:
                cost += FULL * (self.ways.number + 1)
        return cost

    def _distance(self, k: int, tile: Tile) -> int:
        """What the ways of a site cost at least."""
        flows = (self.sites[k].moves(self.flows[number], tile) for number in self.own[k])
        return sum(STEP * max(flow.source.distance(sink) for sink in flow.sinks) for flow in flows)

    def _way_price(self, k: int, tile: Tile) -> int:
        """What all ways of a site cost, one after the other."""
        cost, tried = 0, list[Tree]()
        for number in self.own[k]:
            tree = self.ways.way(self.sites[k].moves(self.flows[number], tile))
            cost += sum(self.ways.price(link) for link in tree)
            self.ways.take(tree)
            tried.append(tree)
        for tree in tried:
            self.ways.leave(tree)
        return cost
