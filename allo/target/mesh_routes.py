"""Routes in a mesh: from a core to another along one axis after the other, to and from memory beside the chip."""

from __future__ import annotations

from functools import cached_property
from itertools import product

from ..errors import TargetError
from .mesh import CoreMesh
from .mesh_topology import (
    GlobalPorts,
    MeshLink,
    MeshNetwork,
    MeshPort,
    Position,
    dims_named,
    global_ports,
    networks_of,
    positions,
)

type Route = tuple[int, ...]  # numbers of links


class MeshRoutes:
    """The links, ports and channels of a mesh by number, and the routes that transfers take.

    A route goes along the first axis as far as it has to, then along the next, on the network with the fewest hops.
    Ports to the memory beside the chip are numbered behind the links: a transfer takes one of them.
    Raises TargetError for a mesh without memory of cores, or without one that they share.
    """

    def __init__(self, mesh: CoreMesh) -> None:
        self.mesh = mesh
        self.ports: GlobalPorts = global_ports(mesh)
        self.networks: tuple[MeshNetwork, ...] = networks_of(mesh)
        self.links: tuple[MeshLink, ...] = tuple(link for network in self.networks for link in network.links)
        self.numbers = {(link.network, link.start): number for number, link in enumerate(self.links)}
        self.channels = self.ports.places
        self.cores: tuple[Position, ...] = positions(dims_named(mesh, mesh.cores.dims))
        self.network = {network.name: network for network in self.networks}
        self._routes: dict[tuple[Position, Position], Route] = {}

    @property
    def parts(self) -> tuple[MeshLink | MeshPort, ...]:
        """What the numbers of routes stand for."""
        return (*self.links, *self.ports.ports)

    @cached_property
    def bandwidths(self) -> tuple[float, ...]:
        """Bytes a cycle of each link and port."""
        links = (self.network[link.network].bandwidth for link in self.links)
        return (*links, *(port.bandwidth for port in self.ports.ports))

    @cached_property
    def latencies(self) -> tuple[int, ...]:
        """Cycles of each link and port."""
        return (*(self.network[link.network].latency for link in self.links), *(0 for _ in self.ports.ports))

    @property
    def channel_bandwidth(self) -> float:
        """Bytes a cycle of one channel of the memory beside the chip."""
        return self.mesh.memory(self.ports.memory).bandwidth

    def along(self, axis: int) -> tuple[MeshNetwork, ...]:
        """The networks whose links lead to neighbours along a dimension of the cores."""
        return tuple(network for network in self.networks if network.axis == axis and network.stride)

    @cached_property
    def broadcasting(self) -> tuple[tuple[MeshNetwork, ...], ...]:
        """For each dimension of the cores, the networks along it that lead through all cores of each line."""
        found = []
        for axis, extent in enumerate(self.mesh.shape):
            others = product(*(range(n) if k != axis else range(1) for k, n in enumerate(self.mesh.shape)))
            lines = [[(*at[:axis], k, *at[axis + 1 :]) for k in range(extent)] for at in others]
            networks = self.along(axis)
            found.append(tuple(one for one in networks if all(self.broadcast(one, line) for line in lines)))
        return tuple(found)

    def walk(self, network: MeshNetwork, start: Position, end: Position) -> Route | None:
        """The links of one network from a core to another; None if it does not lead there."""
        route: list[int] = []
        place = start
        following = network.following
        while place != end:
            link = following.get(place)
            if link is None or len(route) > len(network.links):
                return None
            route.append(self.numbers[link.network, link.start])
            place = link.end
            if place == start:
                return None
        return tuple(route)

    def route(self, start: Position, end: Position) -> Route:
        """The links from a core to another. Raises TargetError if networks along single axes do not lead there."""
        if (start, end) not in self._routes:
            self._routes[start, end] = self._found(start, end)
        return self._routes[start, end]

    def _found(self, start: Position, end: Position) -> Route:
        route: list[int] = []
        place = start
        for axis in range(len(start)):
            if place[axis] == end[axis]:
                continue
            corner = (*place[:axis], end[axis], *place[axis + 1 :])
            ways = [way for network in self.along(axis) if (way := self.walk(network, place, corner)) is not None]
            if not ways:
                dim = self.mesh.cores.dims[axis]
                raise TargetError(
                    f"no network of '{self.mesh.name}' leads along '{dim}' from {list(place)} to {list(corner)}",
                    hint=f"give links in both directions of '{dim}', or a ring",
                )
            shortest: Route = min(ways, key=len)
            route += shortest
            place = corner
        return tuple(route)

    def transfer(self, channel: int, core: Position, *, write: bool = False) -> Route:
        """The port of a channel and the links between it and a core, in the order in which data take them."""
        return self._transfers[channel, core, write]

    @cached_property
    def _transfers(self) -> dict[tuple[int, Position, bool], Route]:
        """Data come in, and go out, at the nearest port."""
        found: dict[tuple[int, Position, bool], Route] = {}
        ports = [(number, port) for number, port in enumerate(self.ports.ports, len(self.links))]
        for channel, place in enumerate(self.channels):
            mine = [(number, port.core) for number, port in ports if port.place == place]
            for core in self.cores:
                found[channel, core, False] = min(((n, *self.route(at, core)) for n, at in mine), key=len)
                found[channel, core, True] = min(((*self.route(core, at), n) for n, at in mine), key=len)
        return found

    def broadcast(
        self, network: MeshNetwork, cores: list[Position], first: Position | None = None
    ) -> tuple[list[Position], Route] | None:
        """The order in which a network leads through cores of one line, and the links; None if it does not.

        The first is the producer, if it is not given: that from which the way is shortest.
        """
        best: tuple[list[Position], Route] | None = None
        axis = 0 if network.axis is None else network.axis
        candidates = sorted(cores, key=lambda core: core[axis], reverse=network.stride < 0)
        for start in candidates if first is None else [first]:
            order: list[Position] = [start]
            route: Route = ()
            left = set(cores) - {start}
            while left and (step := self._step(network, order[-1], left)) is not None:
                order.append(step[0])
                route = (*route, *step[1])
                left.discard(step[0])
            if not left and (best is None or len(route) < len(best[1])):
                best = order, route
                if len(route) == len(cores) - 1:
                    break
        return best

    def _step(self, network: MeshNetwork, place: Position, wanted: set[Position]) -> tuple[Position, Route] | None:
        route: list[int] = []
        following = network.following
        at = place
        while (link := following.get(at)) is not None and len(route) < len(network.links):
            route.append(self.numbers[link.network, link.start])
            at = link.end
            if at in wanted:
                return at, tuple(route)
            if at == place:
                return None
        return None

