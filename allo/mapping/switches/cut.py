"""Cuts that prove that streams cannot be routed: tiles that more streams leave, or come to, than there are ports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...target import Tile, TileSide
from .flow import FlowSite, Link, Shortage, StreamFlow


def shortage_of(
    flows: Sequence[StreamFlow], ports: Mapping[Link, int], sites: Sequence[FlowSite] = ()
) -> Shortage | None:
    """The rectangle of tiles whose sides have too few ports, by the most of all; the smallest one of those.

    A stream from inside to anywhere outside takes a port at least, whatever its way, and so does one from outside;
    one from or to a site if all tiles of that are on one side.
    """
    return max(_shortages(flows, ports, sites), key=lambda own: (own.excess, -_area(own)), default=None)


def _area(own: Shortage) -> int:
    low, high = own.tiles
    return (high.column - low.column + 1) * (high.row - low.row + 1)


def _shortages(
    flows: Sequence[StreamFlow], ports: Mapping[Link, int], sites: Sequence[FlowSite]
) -> Iterator[Shortage]:
    """All rectangles with too few ports; sets of tiles are the bits of a number."""
    bits = {tile: 1 << number for number, tile in enumerate(sorted({tile for tile, _ in ports}))}
    begin_at = {name: sum(bits[tile] for tile in site.tiles) for site in sites for name in site.begins}
    end_at = {name: sum(bits[tile] for tile in site.tiles) for site in sites for name in site.ends}
    ends = [
        (
            begin_at.get(flow.name, bits[flow.source]),
            [end_at[flow.name]] if flow.name in end_at else [bits[sink] for sink in set(flow.sinks)],
        )
        for flow in flows
    ]
    edges = [(bits[tile], bits[tile.toward(side)], side, count) for (tile, side), count in ports.items()]
    corners = ((low, high) for low in bits for high in bits if low.column <= high.column and low.row <= high.row)
    for low, high in corners:
        columns, rows = range(low.column, high.column + 1), range(low.row, high.row + 1)
        inside = sum(bits[Tile(column, row)] for column in columns for row in rows)
        for outward in (True, False):
            begin, end = (inside, ~inside) if outward else (~inside, inside)
            passing = [
                k for k, (source, sinks) in enumerate(ends)
                if not source & end and any(not sink & begin for sink in sinks)
            ]  # fmt: skip
            edge = [(side, count) for one, other, side, count in edges if one & begin and other & end]
            total = sum(count for _, count in edge)
            if len(passing) > total:
                seen = {side if outward else side.opposite for side, count in edge if count or not total}
                sides = tuple(side for side in TileSide if side in seen)
                yield Shortage((low, high), outward, sides, total, tuple(flows[k].name for k in passing))
