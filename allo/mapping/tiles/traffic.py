"""Traffic on links, channels and ports of a mesh: cycles that each resource is busy, for a byte a core."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np

from ...errors import TargetError
from ...target.mesh_routes import MeshRoutes
from ...target.mesh_topology import MeshLink
from .choices import Delivery, Realisation
from .space import SpaceTime

type Busy = np.ndarray[Any, np.dtype[np.float64]]  # cycles of each resource
type Core = tuple[int, ...]


@dataclass(frozen=True)
class DeliveryCost:
    """What a transfer to all active cores costs: cycles of each resource a byte of a buffer, and how late it ends.

    `latency` are cycles beside those that the busiest resource takes, `repeats` the further times that the bytes of a
    buffer go over a link before the last core has them, `tiles` how many tiles the memory gives or takes.
    """

    busy: Busy
    latency: float
    repeats: float
    tiles: int


class TrafficModel:
    """The resources of a mesh and what transfers cost on them.

    Links and ports of muxes come first, by their numbers, then channels, then ports of the memory of a core.
    """

    def __init__(self, routes: MeshRoutes) -> None:
        self.routes = routes
        mesh = routes.mesh
        self.memory = mesh.memory(routes.ports.memory)
        self.local = mesh.memory(routes.ports.local)
        links, channels = len(routes.parts), len(routes.channels)
        self.size = links + channels + 1
        self.channel = slice(links, links + channels)
        self.port = links + channels
        self._link = np.array([1 / bandwidth for bandwidth in routes.bandwidths])
        self._reads = {core: self._global(core, write=False) for core in routes.cores}
        self._writes = {core: self._global(core, write=True) for core in routes.cores}
        self._known: dict[tuple[tuple[int, ...], Realisation], DeliveryCost] = {}
        self._stores: dict[tuple[int, ...], DeliveryCost] = {}

    def name(self, resource: int) -> str:
        """What a resource is called in reports."""
        if resource < self.channel.start:
            part = self.routes.parts[resource]
            return f"network {part.network}" if isinstance(part, MeshLink) else f"ports {part.mux}"
        if resource < self.channel.stop:
            return f"memory {self.memory.name}"
        return f"ports of {self.local.name}"

    def _global(self, core: Core, *, write: bool) -> tuple[Busy, float]:
        """A byte between all channels, in turn, and a core."""
        busy = np.zeros(self.size)
        share = 1 / len(self.routes.channels)
        hops = 0.0
        for channel in range(len(self.routes.channels)):
            busy[self.channel.start + channel] += share / self.routes.channel_bandwidth
            route = self.routes.transfer(channel, core, write=write)
            for link in route:
                busy[link] += share * self._link[link]
            hops = max(hops, sum(self.routes.latencies[link] for link in route))
        return busy, hops + self.memory.latency

    def spread(self, tiles: int, size: int) -> float:
        """How unevenly tiles of so many bytes lie over channels: the variance of a channel's cycles for all of them.

        Pages of a tile lie in channels that follow one another, and where they begin is as good as random.
        """
        channels = len(self.routes.channels)
        pages = -(-size // self.memory.page) if self.memory.page else 1
        used = min(pages, channels)
        share = size / used / self.routes.channel_bandwidth
        return tiles * used / channels * (1 - used / channels) * share * share

    def active(self, space_time: SpaceTime) -> tuple[int, ...]:
        """How many positions along each dimension of the cores have programs."""
        return tuple(space_time.active(axis) for axis in range(len(space_time.shape)))

    def store(self, active: tuple[int, ...]) -> DeliveryCost:
        """All active cores write their own bytes to the memory beside the chip."""
        if active not in self._stores:
            chosen = [self._writes[core] for core in product(*map(range, active))]
            busy = np.sum([busy for busy, _ in chosen], axis=0)
            busy[self.port] += 1 / self.local.bandwidth
            self._stores[active] = DeliveryCost(busy, max(latency for _, latency in chosen), 0.0, len(chosen))
        return self._stores[active]

    def load(self, active: tuple[int, ...], way: Realisation) -> DeliveryCost:
        """All active cores get their bytes in a way of delivery."""
        if (active, way) not in self._known:
            self._known[active, way] = self._delivered(active, way)
        return self._known[active, way]

    def _delivered(self, active: tuple[int, ...], way: Realisation) -> DeliveryCost:
        networks = [self.routes.network[name] for name in way.networks]
        axes = [0 if network.axis is None else network.axis for network in networks]
        busy, latency = np.zeros(self.size), 0.0
        first = [range(1) if axis in axes else range(extent) for axis, extent in enumerate(active)]
        for corner in product(*first):
            sources: list[Core] = [corner]
            behind = 0.0
            for position, (network, axis) in enumerate(zip(networks, axes, strict=True)):
                reached: list[Core] = []
                for source in sources:
                    line = [(*source[:axis], k, *source[axis + 1 :]) for k in range(active[axis])]
                    found = self.routes.broadcast(network, line)
                    if found is None:
                        raise TargetError(f"the network '{network.name}' does not lead along a line of cores")
                    order, route = found
                    if source is sources[0]:
                        behind += self._behind(route, way)
                        if position == 0:
                            corner = self._moved(corner, axis, order[0])
                    for link in route:
                        busy[link] += self._link[link]
                    reached += order
                sources = reached
            busy += self._reads[corner][0]
            latency = max(latency, behind + self._reads[corner][1])
        busy[self.port] += 1 / self.local.bandwidth
        # A core passes on what it has as a whole, but in a wavefront.
        repeats = 0.0 if way.delivery is Delivery.WAVEFRONT else sum(1 / network.bandwidth for network in networks)
        return DeliveryCost(busy, latency, repeats, prod(map(len, first)))

    def _moved(self, corner: Core, axis: int, producer: Core) -> Core:
        return (*corner[:axis], producer[axis], *corner[axis + 1 :])

    def _behind(self, route: Sequence[int], way: Realisation) -> float:
        """The cycles until the first byte is at the last core of a line."""
        hops = float(sum(self.routes.latencies[link] for link in route))
        if way.delivery is Delivery.WAVEFRONT:  # a core passes a page on when it has it
            hops += sum(self.memory.page * self._link[link] for link in route)
        return hops
