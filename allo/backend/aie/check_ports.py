"""Ways of streams through switches, checked on the plan: ports one by one, without the router."""

from __future__ import annotations

from ...errors import TargetError
from ...mapping import ArrayPlan, RoutedFlow, StreamPort, flows_of
from ...target import ProcessorArray, Tile


def check_ports(plan: ArrayPlan) -> None:
    """Raises TargetError for streams that do not come to their ends, or share a port with others.

    Ways that the plan itself says to be too narrow are not looked at: it is not known whether there are others.
    """
    if plan.routing.shortages:
        return
    routed = {own.flow: own for own in plan.routing.flows}
    for flow in flows_of(plan.fifos, plan.routes, plan.placement):
        if flow not in routed:
            ends = ", ".join(map(str, flow.sinks))
            raise TargetError(f"there are no ports for '{flow.name}' from {flow.source} to {ends}")
        _check_way(routed[flow], plan.array)
    taken: dict[StreamPort, str] = {}
    for own in plan.routing.flows:
        for port in own.ports:
            if port in taken:
                raise TargetError(
                    f"'{taken[port]}' and '{own.flow.name}' both leave tile {port.tile} by port {_port(port)}"
                )
            taken[port] = own.flow.name


def _check_way(own: RoutedFlow, array: ProcessorArray) -> None:
    """One way: from its source over ports that there are to all its ends, and to no tile twice."""
    name = own.flow.name
    by: dict[Tile, StreamPort | None] = {own.flow.source: None}  # the port by which it comes to a tile
    for port in own.ports:
        if port.tile not in by:
            raise TargetError(f"'{name}' leaves tile {port.tile}, to which it does not come")
        count = array.ports(port.tile, port.side)
        if port.channel >= count:
            raise TargetError(f"'{name}' leaves tile {port.tile} by port {_port(port)}, and there are {count}")
        before, switch = by[port.tile], array.tiles[array.kind(port.tile)].switch
        if before is not None and switch.keeps_channel and before.channel != port.channel:
            raise TargetError(
                f"'{name}' comes to tile {port.tile} on channel {before.channel} and leaves it on channel "
                f"{port.channel}: it keeps its channel there"
            )
        if port.end in by:
            raise TargetError(f"'{name}' comes to tile {port.end} twice")
        by[port.end] = port
    for sink in own.flow.sinks:
        if sink not in by:
            raise TargetError(f"'{name}' does not come to tile {sink}")


def _port(port: StreamPort) -> str:
    return f"{port.channel} to the {port.side}"
