"""A mesh in time: cores that compute and wait, issues of loads that start when all cores have a buffer, stores."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import ceil, inf, prod

from ...errors import InternalError
from ...mapping.tiles.choices import TileMapping
from ...mapping.tiles.model import ON_THEIR_WAY, compute_cycles
from ...mapping.tiles.program import TileBox, TileProgram
from ...target.mesh_routes import MeshRoutes
from .expansion import Compute, Core, CorePrograms, Issue, Place, Release, StoreTile
from .flows import MeshFlows
from .held import HeldTiles
from .views import CoreViews

_INSTRUCTIONS = 4  # pages move in the time that the instructions of a segment take on this machine


@dataclass(frozen=True, slots=True)
class CoreSpan:
    """What a core did from one cycle to another: compute a segment, or wait for a tile or a store."""

    core: Core
    what: str
    start: float
    end: float


@dataclass(frozen=True)
class MeshRun:
    """A simulated run: its cycles, how long the busiest core, link and channel were busy, and bytes moved."""

    cycles: float
    compute: float
    link: float
    channel: float
    read_bytes: int
    written_bytes: int
    spans: tuple[CoreSpan, ...]

    def __str__(self) -> str:
        busiest = {"core": self.compute, "link": self.link, "channel": self.channel}
        used = ", ".join(f"busiest {name} {busy / self.cycles:.0%}" for name, busy in busiest.items())
        moved = f"{self.read_bytes} bytes read, {self.written_bytes} written"
        return f"{self.cycles:.0f} cycles, simulated: {used}; {moved}"


@dataclass
class _CoreState:
    at: int = 0
    waiting: bool = False
    since: float = 0.0
    busy: float = 0.0
    stored: dict[int, float] = field(default_factory=dict)  # when the last tile of a store is gone
    released: dict[int, int] = field(default_factory=dict)


def simulation_work(program: TileProgram, routes: MeshRoutes) -> float:
    """How much work a simulation is: the segments that run, and the pages of tiles that move for them."""
    page = routes.mesh.memory(routes.ports.memory).page or inf
    total = 0.0
    for segment, loops in program.segments:
        moved = sum(min(ceil(box.bytes / page), len(routes.channels)) for box in (*segment.loads, *segment.stores))
        total += prod(loop.mean for loop in loops) * (_INSTRUCTIONS + moved)
    return total * prod(program.grid)


class MeshSimulation:
    """One run of a mapped program."""

    def __init__(
        self,
        program: TileProgram,
        mapping: TileMapping,
        routes: MeshRoutes,
        views: CoreViews | HeldTiles | None = None,
        *,
        traced: bool = False,
    ) -> None:
        self.program, self.mapping, self.views = program, mapping, views
        self.flows = MeshFlows(routes)
        self.cores = CorePrograms(program, mapping, routes)
        self.state = {core: _CoreState() for core in self.cores.instructions}
        self.cycles_of = {s.number: compute_cycles(s.work, routes.mesh) for s, _ in program.segments}
        self.events: list[tuple[float, int, Core, Issue | None, Place]] = []
        self.number = 0
        self.ahead: dict[Issue, Iterator[tuple[Place, list[Core]]]] = {}  # tiles that are still to be asked for
        self.spans: list[CoreSpan] | None = [] if traced else None
        self.last = 0.0

    def run(self) -> MeshRun:
        """Run to the end."""
        found = self.within(inf)
        assert found is not None
        return found

    def within(self, limit: float) -> MeshRun | None:
        """Run to the end; None as soon as it surely takes, by what is left to compute, `limit` cycles or more."""
        left = {
            core: sum(self.cycles_of[one.segment] for one in instructions if isinstance(one, Compute))
            for core, instructions in self.cores.instructions.items()
        }
        for (core, load), issues in self.cores.issues.items():
            for first in issues[: self.mapping.loads[load].buffers]:
                self._ready(first, core, 0.0)
        for core in self.state:
            self._event(0.0, core)
        while self.events:
            time, _, core, issue, place = heapq.heappop(self.events)
            self.flows.now = time
            if issue is not None and not place:
                self._send(issue, time)
                continue
            if issue is not None:
                self._arrive(issue, core, place)
                if not self.state[core].waiting:
                    continue
                self.state[core].waiting = False
            if time + left[core] - self.state[core].busy >= limit:
                return None
            self._advance(core, time)
        if self.last >= limit:
            return None
        for core, state in self.state.items():
            if state.at < len(self.cores.instructions[core]):
                raise InternalError(f"core {list(core)} of the mesh waits for ever at instruction {state.at}")
        return MeshRun(
            self.last, max((state.busy for state in self.state.values()), default=0.0),
            max((link.busy for link in self.flows.links[: len(self.flows.routes.links)]), default=0.0),
            max(channel.busy for channel in self.flows.channels), self.flows.read_bytes,
            self.flows.written_bytes, tuple(self.spans or ()),
        )  # fmt: skip

    def _event(self, time: float, core: Core, issue: Issue | None = None, place: Place = ()) -> None:
        self.number += 1
        heapq.heappush(self.events, (time, self.number, core, issue, place))

    def _ready(self, issue: Issue, core: Core, time: float) -> None:
        """A core has a buffer for an issue; it starts when all of its cores have one."""
        issue.ready += 1
        if issue.ready < len(issue.members):
            return
        self.ahead[issue] = iter(issue.tiles.items())
        for _ in range(ON_THEIR_WAY):
            self._send(issue, time)

    def _send(self, issue: Issue, time: float) -> None:
        """Ask for the next tile of an issue; the one after the following when this one has come to a first core."""
        if (tile := next(self.ahead[issue], None)) is None:
            return
        place, cores = tile
        load, way = self.cores.loads[issue.load], self.mapping.loads[issue.load].realisation
        arrivals = self.flows.deliver(time, way, cores, self._page(load.box, place), load.box.bytes_at(place))
        for receiver, end in arrivals.items():
            self._event(end, receiver, issue, place)
        self._event(min(arrivals.values()), cores[0], issue)

    def _page(self, box: TileBox, place: Sequence[int]) -> int:
        """The page that a tile begins in: arrays lie tile after tile, and pages over the channels in turn."""
        number = 0
        for start, size, extent in zip(place, box.shape, box.array.shape, strict=True):
            number = number * -(-extent // size) + max(start, 0) // size
        page = self.flows.memory.page
        return (number * -(-box.bytes // page) if page else number) + box.array.number

    def _arrive(self, issue: Issue, core: Core, place: Place) -> None:
        issue.missing[core] -= 1
        if self.views is not None:
            self.views.arrived(core, self.cores.loads[issue.load].box, place)

    def _advance(self, core: Core, time: float) -> None:
        """Go on with the instructions of a core until one takes time, or waits."""
        state, program = self.state[core], self.cores.instructions[core]
        while state.at < len(program):
            instruction = program[state.at]
            match instruction:
                case Compute():
                    if any(issue.missing[core] for issue in instruction.needs):
                        state.waiting = True
                        return
                    end = self._compute(core, instruction, time)
                    state.at += 1
                    if end > time:
                        self._event(end, core)
                        return
                case Release():
                    self._release(core, instruction.issue, time)
                    state.at += 1
                case StoreTile():
                    before = state.stored.get(instruction.store, 0.0)
                    if before > time:  # the second buffer is not free yet
                        self._event(before, core)
                        return
                    end = self._store(core, instruction, time)
                    state.at += 1
                    if self.mapping.stores[instruction.store] > 1:
                        state.stored[instruction.store] = end
                    else:
                        self._note(core, "store", time, end)
                        state.since = end
                        self._event(end, core)
                        return
        self.last = max(self.last, time)

    def _compute(self, core: Core, instruction: Compute, time: float) -> float:
        state, cycles = self.state[core], self.cycles_of[instruction.segment]
        if self.views is not None:
            self.views.compute(core, instruction.segment, instruction.indices)
        self._note(core, "wait", state.since, time)
        self._note(core, f"segment {instruction.segment}", time, time + cycles)
        state.busy += cycles
        state.since = time + cycles
        return time + cycles

    def _store(self, core: Core, instruction: StoreTile, time: float) -> float:
        if self.views is not None:
            self.views.stored(core, instruction.box, instruction.place)
        page = self._page(instruction.box, instruction.place)
        end = self.flows.write(time, core, page, instruction.box.bytes_at(instruction.place))
        self.last = max(self.last, end)
        return end

    def _release(self, core: Core, issue: Issue, time: float) -> None:
        state = self.state[core]
        done = state.released[issue.load] = state.released.get(issue.load, 0) + 1
        if self.views is not None:
            box = self.cores.loads[issue.load].box
            for place, cores in issue.tiles.items():
                if core in cores:
                    self.views.released(core, box, place)
        following = done + self.mapping.loads[issue.load].buffers - 1
        issues = self.cores.issues[core, issue.load]
        if following < len(issues):
            self._ready(issues[following], core, time)

    def _note(self, core: Core, what: str, start: float, end: float) -> None:
        if self.spans is not None and end > start:
            self.spans.append(CoreSpan(core, what, start, end))
