"""Traffic on links, channels and ports of a mesh: cycles that each resource is busy, for a byte a core."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ...errors import TargetError
from ...target.mesh_routes import MeshRoutes
from ...target.mesh_topology import MeshLink
from .choices import Delivery, Realisation
from .program import TileBox
from .space import SpaceTime

type Busy = np.ndarray[Any, np.dtype[np.float64]]  # cycles of each resource
type Core = tuple[int, ...]
type Pages = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class DeliveryCost:
    """What a transfer to all active cores costs: cycles of each resource a byte of a buffer, and how late it ends.

    `latency` are cycles beside those that the busiest resource takes, `first` those until something is at a first
    core, `repeats` the further times that the bytes of a buffer go over a link before the last core has them. `read` is
    the part of `busy` in which first cores read or write the memory beside the chip.
    """

    busy: Busy
    read: Busy
    latency: float
    first: float
    repeats: float


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

    def uneven(self, box: TileBox, numbers: Pages) -> float:
        """How many cycles more than the mean the busiest channel serves, if these tiles of an array are asked for.

        Tiles are numbered in the order of the array. Pages lie over the channels in turn, each round from another one
        on, as in the simulator.
        """
        channels, page = len(self.routes.channels), self.memory.page
        pages = -(-box.bytes // page) if page else 1
        used = min(pages, channels)
        if used == channels or not len(numbers):
            return 0.0
        rounds = numbers * pages + box.array.number
        first = np.zeros_like(rounds)
        while rounds.any():
            first, rounds = first + rounds, rounds // channels
        counts = np.bincount(((first[:, None] + np.arange(used)) % channels).ravel(), minlength=channels)
        return float(counts.max() - counts.mean()) * self.share(box)

    def share(self, box: TileBox) -> float:
        """The cycles that a channel serves one tile, whose pages lie in several."""
        pages = -(-box.bytes // self.memory.page) if self.memory.page else 1
        return box.bytes / min(pages, len(self.routes.channels)) / self.routes.channel_bandwidth

    def active(self, space_time: SpaceTime) -> tuple[int, ...]:
        """How many positions along each dimension of the cores have programs."""
        return tuple(space_time.active(axis) for axis in range(len(space_time.shape)))

    def store(self, active: tuple[int, ...]) -> DeliveryCost:
        """All active cores write their own bytes to the memory beside the chip."""
        if active not in self._stores:
            chosen = [self._writes[core] for core in product(*map(range, active))]
            busy = np.sum([busy for busy, _ in chosen], axis=0)
            busy[self.port] += 1 / self.local.bandwidth
            self._stores[active] = DeliveryCost(busy, busy, latency := max(late for _, late in chosen), latency, 0.0)
        return self._stores[active]

    def load(self, active: tuple[int, ...], way: Realisation) -> DeliveryCost:
        """All active cores get their bytes in a way of delivery."""
        if (active, way) not in self._known:
            self._known[active, way] = self._delivered(active, way)
        return self._known[active, way]

    def _delivered(self, active: tuple[int, ...], way: Realisation) -> DeliveryCost:
        networks = [self.routes.network[name] for name in way.networks]
        axes = [0 if network.axis is None else network.axis for network in networks]
        busy, read, latency, first = np.zeros(self.size), np.zeros(self.size), 0.0, 0.0
        corners = [range(1) if axis in axes else range(extent) for axis, extent in enumerate(active)]
        for corner in product(*corners):
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
            read += self._reads[corner][0]
            first = max(first, self._reads[corner][1])
            latency = max(latency, behind + self._reads[corner][1])
        busy[self.port] += 1 / self.local.bandwidth
        # A core passes on what it has as a whole, but in a wavefront.
        repeats = 0.0 if way.delivery is Delivery.WAVEFRONT else sum(1 / network.bandwidth for network in networks)
        return DeliveryCost(busy + read, read, latency, first, repeats)

    def _moved(self, corner: Core, axis: int, producer: Core) -> Core:
        return (*corner[:axis], producer[axis], *corner[axis + 1 :])

    def _behind(self, route: Sequence[int], way: Realisation) -> float:
        """The cycles until the first byte is at the last core of a line."""
        hops = float(sum(self.routes.latencies[link] for link in route))
        if way.delivery is Delivery.WAVEFRONT:  # a core passes a page on when it has it
            hops += sum(self.memory.page * self._link[link] for link in route)
        return hops
