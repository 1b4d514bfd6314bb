"""Ways of streams through the switches of an array: negotiated first, then exact, or a proof that there are none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...target import ProcessorArray, Tile
from .cut import shortage_of
from .exact import Unproved, exact
from .flow import FlowSite, Link, Routing, Shortage, StreamFlow, Tree, links_of, moved, numbered
from .negotiated import negotiated
from .sited import sited

_FEW, _MANY = 6, 60  # rounds of negotiation, before a proof that it is in vain is looked for and after that
_MOVING = 24  # rounds in which sites move too


def routing_of(flows: Sequence[StreamFlow], array: ProcessorArray, sites: Sequence[FlowSite] = ()) -> Routing:
    """Ways of all streams: what `Routing` says of them holds, also that there are none if it is proved.

    Sites stay where they are planned if there are ways then; otherwise they move to where there are.
    """
    ports = links_of(array)
    trees, excess = negotiated(flows, ports, _FEW)
    if not excess:
        return Routing(numbered(flows, trees, array))
    cut = shortage_of(flows, ports, sites)
    if cut is not None:
        return Routing(numbered(flows, trees, array), (cut,), True, "whatever the ways are, so many streams pass there")
    here = shortage_of(flows, ports) if sites else None
    if here is None:
        trees, excess = negotiated(flows, ports, _MANY)
    if not excess:
        return Routing(numbered(flows, trees, array))
    found = sited(flows, sites, ports, _MOVING) if sites else None
    if found is not None:
        return _at(flows, sites, *found, array)
    crowded = tuple(_crowded(flows, trees, link, ports) for link in sorted(excess))
    proved, reason = here is not None, ""
    for moving in ((), sites) if sites and not proved else (sites,):
        try:
            found = exact(flows, ports, moving)
        except Unproved as unproved:
            reason = f"of other shim and memory tiles, {unproved}" if proved else str(unproved)
            continue
        if found is not None:
            return _at(flows, moving, *found, array)
        where = "no ways are better" if here is None else "from other shim and memory tiles there are no ways"
        proved, reason = True, f"{where}, which constraint programming has proved"
    return Routing(numbered(flows, trees, array), (here,) if here is not None else crowded, proved, reason)


def _at(
    flows: Sequence[StreamFlow], sites: Sequence[FlowSite], trees: Sequence[Tree], tiles: Sequence[Tile],
    array: ProcessorArray,
) -> Routing:  # fmt: skip
    """Ways with sites at these tiles."""
    away = {site.name: tile for site, tile in zip(sites, tiles, strict=True) if tile != site.tile}
    return Routing(numbered(moved(flows, sites, tiles), trees, array), sites=away)


def _crowded(flows: Sequence[StreamFlow], trees: Sequence[Tree], link: Link, ports: Mapping[Link, int]) -> Shortage:
    """The ports of one side of a tile with the streams that would leave by them."""
    names = tuple(flow.name for flow, tree in zip(flows, trees, strict=True) if link in tree)
    return Shortage((link[0], link[0]), True, (link[1],), ports[link], names)
