"""Transfers on a mesh in time: links, channels and ports that serve what asks for them, each at its bandwidth.

A transfer goes on as its first bytes arrive (cut-through); what holds up one link holds up those behind it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf

from ...mapping.tiles.choices import Delivery, Realisation
from ...target.mesh_routes import MeshRoutes
from ...target.mesh_topology import MeshNetwork

type Core = tuple[int, ...]


class Calendar:
    """When one resource is busy. Work is done as soon as there is time, also in gaps between what was asked for before.

    That stands for packets of several transfers that take turns: a resource is never idle while something waits for it.
    """

    __slots__ = ("busy", "ends", "starts")

    def __init__(self) -> None:
        self.starts: list[float] = []
        self.ends: list[float] = []
        self.busy = 0.0

    def serve(self, now: float, ready: float, cycles: float) -> tuple[float, float]:
        """Do work of so many cycles that is there from `ready` on: when it begins, and when it is done.

        Nothing is asked for before `now` any more.
        """
        self.busy += cycles
        starts, ends = self.starts, self.ends
        past = bisect_right(ends, now)
        if past > _KEPT:
            del starts[:past], ends[:past]
        k = bisect_right(ends, ready)
        first, time, left = -1.0, ready, cycles
        low, begin = k, ready
        while True:
            gap = (starts[k] if k < len(starts) else inf) - time
            if gap > 0:
                first = time if first < 0 else first
                if gap >= left:
                    time += left
                    break
                left -= gap
            time = ends[k]
            begin = min(begin, starts[k])
            k += 1
        # all from `low` to `k` has become one busy time
        end = time
        if k < len(starts) and starts[k] <= end:
            end = ends[k]
            k += 1
        if low and ends[low - 1] >= begin:
            low -= 1
            begin = starts[low]
        starts[low:k] = [begin]
        ends[low:k] = [end]
        return first, time


_KEPT = 16  # busy times in the past that are not worth to be deleted


@dataclass
class MeshFlows:
    """The state of all resources. `now` is the time of the simulation: nothing is asked for before it."""

    routes: MeshRoutes
    now: float = 0.0
    read_bytes: int = 0
    written_bytes: int = 0

    def __post_init__(self) -> None:
        self.links = [Calendar() for _ in self.routes.parts]
        self.channels = [Calendar() for _ in self.routes.channels]
        self.ports: dict[Core, Calendar] = {core: Calendar() for core in self.routes.cores}
        self.memory = self.routes.mesh.memory(self.routes.ports.memory)
        self.local = self.routes.mesh.memory(self.routes.ports.local)
        self.rates, self.latencies = self.routes.bandwidths, self.routes.latencies
        self.lines: dict[tuple[str, tuple[Core, ...]], tuple[list[Core], tuple[int, ...]] | None] = {}

    def read(self, time: float, core: Core, first_page: int, size: int) -> tuple[float, float]:
        """Load `size` bytes to a core: when the first page is there, and when all are."""
        self.read_bytes += size
        begin, end = float("inf"), time
        for channel, share in self._shares(first_page, size):
            head, tail = self._channel(time + self.memory.latency, channel, share)
            head, tail = self._along(self.routes.transfer(channel, core), head, tail, share)
            begin, end = min(begin, head), max(end, tail)
        end = self._port(core, begin, end, size)
        return min(begin + self.memory.page / self.local.bandwidth, end), end

    def write(self, time: float, core: Core, first_page: int, size: int) -> float:
        """Store `size` bytes of a core: when the last one is in the memory beside the chip."""
        self.written_bytes += size
        end = time
        for channel, share in self._shares(first_page, size):
            route = self.routes.transfer(channel, core, write=True)
            head, tail = self._along(route, time, time + share / self.local.bandwidth, share)
            end = max(end, tail, self._channel(head, channel, share)[1])
        return end + self.memory.latency

    def _shares(self, first_page: int, size: int) -> Iterable[tuple[int, float]]:
        """The channels that the pages of a transfer lie in, with the bytes in each."""
        channels = len(self.routes.channels)
        pages = -(-size // self.memory.page) if self.memory.page else 1
        used = min(pages, channels)
        first, rounds = 0, first_page
        while rounds:  # each round of the channels begins at the next one: no column of tiles is in few channels only
            first, rounds = first + rounds, rounds // channels if channels > 1 else 0
        return (((first + k) % channels, size / used) for k in range(used))

    def _channel(self, time: float, channel: int, share: float) -> tuple[float, float]:
        """Between which times a channel serves a request of `time`."""
        return self.channels[channel].serve(self.now, time, share / self.routes.channel_bandwidth)

    def _port(self, core: Core, begin: float, end: float, size: float) -> float:
        """When the local memory of a core has taken `size` bytes that arrive between two times."""
        return max(end, self.ports[core].serve(self.now, begin, size / self.local.bandwidth)[1])

    def _along(self, route: Sequence[int], head: float, tail: float, size: float) -> tuple[float, float]:
        """Send bytes that come between `head` and `tail` along links: between which times they arrive."""
        for link in route:
            head, tail = self._hop(link, head, tail, size)
        return head, tail

    def _hop(self, link: int, head: float, tail: float, size: float) -> tuple[float, float]:
        start, end = self.links[link].serve(self.now, head, size / self.rates[link])
        return start + self.latencies[link], max(tail, end) + self.latencies[link]

    def deliver(
        self, time: float, way: Realisation, cores: Sequence[Core], first_page: int, size: int
    ) -> dict[Core, float]:
        """Load a tile for several cores: when each of them has it."""
        networks = [self.routes.network[name] for name in way.networks]
        if not networks or len(cores) == 1:
            return {core: self.read(time, core, first_page, size)[1] for core in cores}
        if len(networks) == 1:
            order, route = self._line(networks[0], cores)
            return self._broadcast(way, order, route, self.read(time, order[0], first_page, size), size)
        return self._plane(time, way, networks, cores, (first_page, size))

    def _plane(
        self, time: float, way: Realisation, networks: Sequence[MeshNetwork], cores: Sequence[Core],
        tile: tuple[int, int],
    ) -> dict[Core, float]:  # fmt: skip
        """Along the first network to one core of each line of the second, then along these lines."""
        first_page, size = tile
        across, along = (0 if network.axis is None else network.axis for network in networks)
        lines: dict[int, list[Core]] = {}
        for core in cores:
            lines.setdefault(core[across], []).append(core)
        places = [{core[along] for core in line} for line in lines.values()]
        common = set.intersection(*places)
        row = min(common) if common else None
        relays = {
            k: next(core for core in line if core[along] == row) if common else self._line(networks[1], line)[0][0]
            for k, line in lines.items()
        }
        there: dict[Core, tuple[float, float]]
        if row is not None:
            order, route = self._line(networks[0], list(relays.values()))
            arrived = self.read(time, order[0], first_page, size)
            there = self._broadcast_spans(way, order, route, arrived, size)
        else:  # no line crosses all others: from one of the cores to each line by itself
            producer, *others = relays.values()
            arrived = self.read(time, producer, first_page, size)
            there = {producer: arrived}
            for core in others:
                there[core] = self._along(self.routes.route(producer, core), arrived[1], arrived[1], size)
        done = {core: end for core, (_, end) in there.items()}
        for k, line in lines.items():
            order, route = self._line(networks[1], line, relays[k])
            done |= self._broadcast(way, order, route, there[relays[k]], size)
        return done

    def _line(
        self, network: MeshNetwork, cores: Sequence[Core], first: Core | None = None
    ) -> tuple[list[Core], tuple[int, ...]]:
        """The order in which cores of a line are reached; with `first`, which gets it before, from there."""
        key = f"{network.name} {first}", tuple(cores)
        if key not in self.lines:
            self.lines[key] = self.routes.broadcast(network, list(cores), first)
        found = self.lines[key]
        if found is None:  # the network does not lead from the first core to all others: those get it by their routes
            start = first or cores[0]
            return [start, *(core for core in cores if core != start)], ()
        return found

    def _broadcast(
        self, way: Realisation, order: Sequence[Core], route: Sequence[int], source: tuple[float, float], size: int
    ) -> dict[Core, float]:
        return {core: end for core, (_, end) in self._broadcast_spans(way, order, route, source, size).items()}

    def _broadcast_spans(
        self, way: Realisation, order: Sequence[Core], route: Sequence[int], source: tuple[float, float], size: int
    ) -> dict[Core, tuple[float, float]]:
        """From the first core, which has the tile between two times, along a route through all others."""
        first, *others = order
        wave = way.delivery is Delivery.WAVEFRONT
        head, tail = source if wave else (source[1], source[1])
        spans = {first: source}
        if others and not route:
            return spans | {core: self._along(self.routes.route(first, core), tail, tail, size) for core in others}
        left = set(others)
        for link in route:
            page = self.memory.page / self.rates[link] if wave else 0.0
            head, tail = self._hop(link, head, tail, size)
            core = self.routes.links[link].end
            if core in left:
                left.discard(core)
                head, tail = head + page, max(tail, head + page)
                tail = self._port(core, head, tail, size)
                spans[core] = head, tail
        return spans
