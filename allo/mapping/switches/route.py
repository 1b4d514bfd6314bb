"""Ways of streams through the switches of an array: negotiated first, then exact, or a proof that there are none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...target import ProcessorArray
from .cut import shortage_of
from .exact import Unproved, exact
from .flow import Link, Routing, Shortage, StreamFlow, Tree, links_of, numbered
from .negotiated import negotiated

_FEW, _MANY = 6, 60  # rounds of negotiation, before a proof that it is in vain is looked for and after that


def routing_of(flows: Sequence[StreamFlow], array: ProcessorArray) -> Routing:
    """Ways of all streams: what `Routing` says of them holds, also that there are none if it is proved."""
    ports = links_of(array)
    trees, excess = negotiated(flows, ports, _FEW)
    cut = shortage_of(flows, ports) if excess else None
    if cut is not None:
        return Routing(numbered(flows, trees, array), (cut,), True, "whatever the ways are, so many streams pass there")
    if excess:
        trees, excess = negotiated(flows, ports, _MANY)
    if not excess:
        return Routing(numbered(flows, trees, array))
    crowded = tuple(_crowded(flows, trees, link, ports) for link in sorted(excess))
    try:
        found = exact(flows, ports)
    except Unproved as unproved:
        return Routing(numbered(flows, trees, array), crowded, False, str(unproved))
    if found is None:
        reason = "no ways are better, which constraint programming has proved"
        return Routing(numbered(flows, trees, array), crowded, True, reason)
    return Routing(numbered(flows, found, array))


def _crowded(flows: Sequence[StreamFlow], trees: Sequence[Tree], link: Link, ports: Mapping[Link, int]) -> Shortage:
    """The ports of one side of a tile with the streams that would leave by them."""
    names = tuple(flow.name for flow, tree in zip(flows, trees, strict=True) if link in tree)
    return Shortage((link[0], link[0]), True, (link[1],), ports[link], names)
