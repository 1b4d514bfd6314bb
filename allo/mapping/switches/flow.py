"""Streams through the switches of an array: from one tile to others, with the ports that they leave tiles by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ...target import ProcessorArray, Tile, TileSide

type Link = tuple[Tile, TileSide]  # the ports of a tile on a side
type Tree = tuple[Link, ...]  # each from the source, or from a tile that one before it leads to


@dataclass(frozen=True, slots=True)
class StreamFlow:
    """What one DMA channel sends, and channels of other tiles receive: all of it, if there are several."""

    name: str
    source: Tile
    sinks: tuple[Tile, ...]


@dataclass(frozen=True, slots=True)
class FlowSite:
    """What may be at one of several tiles, all streams that begin or end there with it: `tile` if that makes ways.

    It takes `needs` of the resources of its tile; `limits` are how much of each all sites of a tile may take.
    """

    name: str
    tile: Tile
    tiles: tuple[Tile, ...]
    begins: frozenset[str]
    ends: frozenset[str]
    needs: Mapping[str, int]
    limits: Mapping[str, int]

    def moves(self, flow: StreamFlow, tile: Tile) -> StreamFlow:
        """A stream with the site at a tile."""
        source = tile if flow.name in self.begins else flow.source
        return StreamFlow(flow.name, source, (tile,) if flow.name in self.ends else flow.sinks)


@dataclass(frozen=True, slots=True)
class StreamPort:
    """A port by which a stream leaves a tile; it comes in at the port of the same number of the neighbour there."""

    tile: Tile
    side: TileSide
    channel: int

    @property
    def end(self) -> Tile:
        """The neighbour."""
        return self.tile.toward(self.side)

    def __str__(self) -> str:
        return f"{self.side[0].upper()}{self.channel}"


@dataclass(frozen=True)
class RoutedFlow:
    """The way of a stream: ports in an order in which each leaves the source, or a tile that the stream has come to."""

    flow: StreamFlow
    ports: tuple[StreamPort, ...]

    @cached_property
    def _before(self) -> dict[Tile, Tile]:
        return {port.end: port.tile for port in self.ports}

    def switches(self, sink: Tile) -> int:
        """How many switches are passed on the way to one of the tiles it ends at, those of both ends too."""
        count, tile = 1, sink
        while tile != self.flow.source:
            count, tile = count + 1, self._before[tile]
        return count

    def __str__(self) -> str:
        return self._after(self.flow.source)

    def _after(self, tile: Tile) -> str:
        """Ports from a tile on: `N0 E1`, with branches as in `N0 [N0 | E1]`."""
        ways = [f"{port} {self._after(port.end)}".rstrip() for port in self.ports if port.tile == tile]
        return f"[{' | '.join(ways)}]" if len(ways) > 1 else "".join(ways)


@dataclass(frozen=True, slots=True)
class Shortage:
    """Ports that more streams have to pass than there are: `tiles` from one corner to the other, and their sides."""

    tiles: tuple[Tile, Tile]
    outward: bool
    sides: tuple[TileSide, ...]
    ports: int
    flows: tuple[str, ...]

    @property
    def excess(self) -> int:
        """How many ports are missing."""
        return len(self.flows) - self.ports

    @property
    def place(self) -> str:
        """The ports in words."""
        low, high = self.tiles
        tiles = f"tile {low}" if low == high else f"the tiles {low} to {high}"
        return f"{tiles}, {'out to' if self.outward else 'in from'} the {' and '.join(self.sides)}"


@dataclass(frozen=True)
class Routing:
    """Ways of all streams of a program through switches, none of which shares a port with another one.

    Where none were found, `shortages` are ports that streams would share in the best ways that were; `proved` says
    that any ways share some, and `reason` how that is known, or why it is not. `sites` are the tiles of what is not
    where it was planned, by name.
    """

    flows: tuple[RoutedFlow, ...] = ()
    shortages: tuple[Shortage, ...] = ()
    proved: bool = False
    reason: str = ""
    sites: Mapping[str, Tile] = field(default_factory=dict)

    @cached_property
    def _named(self) -> dict[str, RoutedFlow]:
        return {own.flow.name: own for own in self.flows}

    def of(self, name: str) -> RoutedFlow:
        """The way of a stream."""
        return self._named[name]

    def users(self) -> dict[Link, list[str]]:
        """The streams by the side of the tile that they leave by, from tile to tile."""
        found: dict[Link, list[str]] = {}
        for own in self.flows:
            for port in own.ports:
                found.setdefault((port.tile, port.side), []).append(own.flow.name)
        return dict(sorted(found.items()))

    def __str__(self) -> str:
        return "\n".join(f"{own.flow.name}: {own.flow.source} {own}" for own in self.flows)


def numbered(flows: Sequence[StreamFlow], trees: Sequence[Tree], array: ProcessorArray) -> tuple[RoutedFlow, ...]:
    """Numbers of ports for ways: the lowest that are free, first of those that keep theirs over several tiles."""
    chains: list[tuple[int, list[Link]]] = []
    for number, tree in enumerate(trees):
        into: dict[Tile, list[Link]] = {}
        for tile, side in tree:
            keeps = tile in into and array.tiles[array.kind(tile)].switch.keeps_channel
            chain = into[tile] if keeps else []
            if not keeps:
                chains.append((number, chain))
            chain.append((tile, side))
            into[tile.toward(side)] = chain
    taken: dict[Link, set[int]] = {}
    channel: dict[tuple[int, Link], int] = {}
    for number, chain in sorted(chains, key=lambda own: -len(own[1])):
        used = set().union(*(taken.setdefault(link, set()) for link in chain))
        free = next(k for k in range(len(used) + 1) if k not in used)
        for link in chain:
            taken[link].add(free)
            channel[number, link] = free
    return tuple(
        RoutedFlow(flow, tuple(StreamPort(*link, channel[number, link]) for link in tree))
        for number, (flow, tree) in enumerate(zip(flows, trees, strict=True))
    )


def moved(flows: Sequence[StreamFlow], sites: Sequence[FlowSite], tiles: Sequence[Tile]) -> list[StreamFlow]:
    """The streams with each site at its tile of `tiles`."""
    found = {flow.name: flow for flow in flows}
    for site, tile in zip(sites, tiles, strict=True):
        for name in sorted(site.begins | site.ends):
            found[name] = site.moves(found[name], tile)
    return [found[flow.name] for flow in flows]


def links_of(array: ProcessorArray) -> dict[Link, int]:
    """All sides of tiles with neighbours, and how many streams go from each to the neighbour, which may be none."""
    rows = range(array.first_core_row + array.core_rows)
    tiles = (Tile(column, row) for column in range(array.columns) for row in rows)
    links = ((tile, side) for tile in tiles for side in TileSide if array.has(tile.toward(side)))
    return {(tile, side): array.ports(tile, side) for tile, side in links}


def tree_of(source: Tile, sinks: Iterable[Tile], links: Iterable[Link]) -> Tree:
    """The ways from a tile to others over these links, of which no two lead to one tile; others are left out."""
    out: dict[Tile, list[Link]] = {}
    for link in links:
        out.setdefault(link[0], []).append(link)
    before: dict[Tile, Link] = {}
    reached = [source]
    for tile in reached:
        for own in out.get(tile, []):
            end = own[0].toward(own[1])
            if end != source and end not in before:
                before[end] = own
                reached.append(end)
    needed: set[Link] = set()
    for sink in sinks:
        while sink != source and before[sink] not in needed:
            needed.add(before[sink])
            sink = before[sink][0]
    return tuple(before[tile] for tile in reached if tile != source and before[tile] in needed)
