"""Sizes of the FIFOs of a module, by a strategy, from its static trace: the depths, with a reason for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..customize.fifo.depths import FifoKind, fifo_name
from ..customize.fifo.sizes import DepthPoint, FifoSize, FifoSizes
from ..customize.step.handles import FifoName
from ..dataflow.replay import Replayed
from ..dataflow.sizing.curves import TraceCurves, curves_of
from ..dataflow.sizing.exact import Depths, DepthSearch
from ..dataflow.sizing.front import FrontPoint, front
from ..dataflow.sizing.linear import LinearDepths, linear_depths
from ..dataflow.trace import Numbers, Trace
from ..errors import DataflowError, ScheduleError, TargetError, counted
from ..ir.hang import Hang
from ..ir.module import Module
from ..ir.stream_facts import made_streams
from ..poly import hang_of
from ..target import Fpga, load_target
from .report.result import Resources
from .resources import fifo_resources
from .traces.recorder import TooManyEvents
from .traces.static import MOST_EVENTS, StaticTrace, static_trace
from .traces.text import NoTrace


def fifo_sizes(
    module: Module,
    strategy: str,
    budget: int | None,
    target: str,
    trips: Mapping[str, int] | None,
    kinds: Sequence[FifoKind],
) -> FifoSizes:
    """The depths that `strategy` gives to the FIFOs of some types.

    Raises DataflowError where data decide what passes through a FIFO, and where tasks wait for ever whatever the depths
    are, ScheduleError if no point on the front keeps the `budget`, and TargetError for a target that does not exist.
    """
    device = load_target(target)
    if not isinstance(device, Fpga):
        raise TargetError(f"cycles are those of FPGAs, and target '{device.name}' is none", hint="take u280")
    found = _trace(module, target, trips, scheduled=True)
    written = None if found.is_as_written else _trace(module, target, trips, scheduled=False)
    numbers = _kinds(module, found, kinds)
    search = DepthSearch(found.trace, numbers, len(kinds), None if written is None else written.trace)
    if written is not None and search.run(None).stuck:  # by its schedule, though not as it is written
        search = DepthSearch(written.trace, numbers, len(kinds))
    sizing = _Sizing(module, device, search, kinds)
    match strategy:
        case "exact":
            return sizing.exact()
        case "pareto":
            return sizing.pareto(budget)
        case _:
            return sizing.linear(strategy)


def _trace(module: Module, target: str, trips: Mapping[str, int] | None, *, scheduled: bool) -> StaticTrace:
    try:
        found = static_trace(module, target, trips, scheduled=scheduled)
    except NoTrace as error:
        hint = error.hint or "give the depths yourself: s.size_fifos(fifos=[...], depths=[...])"
        what = f"what passes through '{error.stream}'" if error.stream else "when FIFOs are used"
        message = f"depths cannot be computed, since it is not known {what} at which time: {error.reason}"
        raise DataflowError(message, at=error.at, hint=hint) from None
    except TooManyEvents as error:
        raise DataflowError(
            f"depths are not computed: at least {error.events:,} puts and gets, and {MOST_EVENTS:,} are the most",
            hint="size the FIFOs of a smaller instance, and give the depths: s.size_fifos(fifos=[...], depths=[...])",
        ) from None
    trace = found.trace
    for channel, puts, gets in zip(trace.channels, trace.puts, trace.gets, strict=True):
        if len(puts) != len(gets):
            raise DataflowError(
                f"{len(puts)} elements are put into '{channel.name}' and {len(gets)} taken: no depth is right",
                at=channel.made,
                hint="put as many elements into streams as are taken out" + (", or state other trips" if trips else ""),
            )
    return found


def _kinds(module: Module, found: StaticTrace, kinds: Sequence[FifoKind]) -> Numbers:
    """Of each channel of a trace, the type that it has among `kinds`; -1 for those that are not sized."""
    number = {made.fifo: n for n, kind in enumerate(kinds) for made in kind.fifos}
    made = [
        number.get(FifoName(function.name.value, fifo_name(op)), -1)
        for function in module.functions()
        for op in made_streams(function)
    ]
    return np.array([made[stream] for stream in found.streams], np.int64)


@dataclass(slots=True, eq=False)
class _Sizing:
    """A search of depths for the `types` of FIFOs; `free` is a run in which none of them is ever full."""

    module: Module
    device: Fpga
    search: DepthSearch
    types: Sequence[FifoKind]
    free: Replayed = field(init=False)

    def __post_init__(self) -> None:
        self.free = self.search.run(None)
        if self.search.cycles((0,) * len(self.types)) is None:
            hang = hang_of(self.module)
            if isinstance(hang, Hang):
                raise hang.error()
            raise DataflowError(f"tasks of '{self.module.top}' wait for ever, whatever the depths of FIFOs are")

    @property
    def trace(self) -> Trace:
        return self.search.trace

    @property
    def kinds(self) -> Numbers:
        """Of each channel, the number of its type."""
        return self.search.kinds

    # -- strategies ------------------------------------------------------------------------------------

    def exact(self) -> FifoSizes:
        """The least depths that slow nothing down."""
        depths = self._least()
        return self._sizes("exact", depths, [self._bound(depths, kind) for kind in range(len(self.types))])

    def pareto(self, budget: int | None) -> FifoSizes:
        """A point on the front."""
        points = front(self.search, self._least(), self._price, budget)
        chosen = next((point for point in points if budget is None or point.blocks <= budget), None)
        if chosen is None:
            least = min(points, key=lambda point: point.blocks)
            raise ScheduleError(
                f"no FIFOs fit into {counted(budget or 0, 'block')} of BRAM: the smallest with which nothing waits for "
                f"ever take {least.blocks}, and {least.cycles:,} cycles",
                hint=f"budget={least.blocks}, or narrower elements",
            )
        reasons = [self._bound(chosen.depths, kind) for kind in range(len(self.types))]
        found = self._sizes("pareto", chosen.depths, reasons)
        return replace(found, points=tuple(self._shown(point) for point in points))

    def linear(self, strategy: str) -> FifoSizes:
        """The depths of the linear program, deeper where these would wait for ever."""
        found = linear_depths(self.trace, self.free, conservative=False)
        if strategy == "conservative":
            slower = linear_depths(self.trace, self.free, conservative=True)
            found = replace(slower, depths=np.minimum(found.depths, slower.depths))
        depths, reasons = [1] * len(self.types), ["nothing passes through it"] * len(self.types)
        kinds = self.kinds[found.curves.fifos]
        for row in np.argsort(found.depths, kind="stable").tolist():
            if kinds[row] >= 0:
                depths[kinds[row]], reasons[kinds[row]] = int(found.depths[row]), self._told(found, row)
        enough = self.search.enough() if self.search.cycles(tuple(depths)) is None else ()
        while self.search.cycles(tuple(depths)) is None:
            for kind in self._too_shallow(tuple(depths), enough):
                reasons[kind] = f"with {depths[kind]:,}, tasks would wait for one another for ever"
                depths[kind] = enough[kind]
        return self._sizes(strategy, tuple(depths), reasons)

    def _least(self) -> Depths:
        enough = self.search.enough()
        order = sorted(range(len(self.types)), key=lambda kind: -enough[kind] * self.types[kind].bits)
        return self.search.least(enough, self.free.total, order)

    def _too_shallow(self, depths: Depths, enough: Depths) -> list[int]:
        """FIFOs that are full when all waits, and less deep than is enough."""
        waits = self.search.run(depths).stuck
        full = {int(self.kinds[wait.channel]) for wait in waits if wait.kind == "full" and wait.channel is not None}
        lower = [kind for kind in range(len(depths)) if depths[kind] < enough[kind]]
        return [kind for kind in lower if kind in full] or lower

    # -- reasons ---------------------------------------------------------------------------------------

    def _bound(self, depths: Depths, kind: int) -> str:
        """What a depth would lose if it were lower by one."""
        if depths[kind] == 1:
            return "no FIFO is shallower"
        less, now = self.search.with_one_less(depths, kind), self.search.cycles(depths)
        assert now is not None
        if less is None:
            return f"with {depths[kind] - 1:,}, tasks would wait for one another for ever"
        return f"with {depths[kind] - 1:,}, {counted(less - now, 'cycle')} more"

    def _told(self, found: LinearDepths, row: int) -> str:
        """Which part of the linear program a depth comes from."""
        depth, gets = int(found.depths[row]), int(found.at_first[row])
        consumer = self.trace.processes[int(found.curves.sinks[row])].name
        if found.circles[row]:
            return f"{depth:,} are in it when no FIFO of the circle through '{consumer}' is full"
        if found.at_last[row] > gets:
            producer = self.trace.processes[int(found.curves.sources[row])].name
            return f"{depth:,} wait when '{producer}', which is faster, puts the last one"
        first = int(found.waits_for[row])
        if first == found.curves.fifos[row] or depth == 1:
            return f"{depth:,} {'is' if depth == 1 else 'are'} put before '{consumer}' gets the first one"
        return f"{depth:,} are put before '{consumer}' begins, which waits for '{self.trace.channels[first].name}'"

    # -- results ---------------------------------------------------------------------------------------

    def _sizes(self, strategy: str, depths: Depths, reasons: Sequence[str]) -> FifoSizes:
        """The result, with the curves of the FIFO of each type through which most elements pass."""
        curves = curves_of(self.trace)
        used = self._resources(depths)
        sizes: list[FifoSize] = []
        rows = self._rows(curves)
        for kind, (depth, reason) in enumerate(zip(depths, reasons, strict=True)):
            row = rows.get(kind)
            ends = (None, None) if row is None else (curves.puts.row(row), curves.gets.row(row))
            passed = 0 if row is None else int(curves.puts.count[row])
            own = self.types[kind]
            if len(own.fifos) > 1:
                reason += f"; of one type: {', '.join(made.fifo.name for made in own.fifos)}"
            sizes += [
                FifoSize(str(made.fifo), depth, own.depth, made.count, own.bits, reason, passed, *ends)
                for made in own.fifos
            ]
        return FifoSizes(
            strategy, self.device.name, tuple(sizes), self.search.cycles(depths), self.free.total, used.bram18, used.lut
        )

    def _rows(self, curves: TraceCurves) -> dict[int, int]:
        """Of each type, the row of the channel that most elements pass through."""
        found: dict[int, int] = {}
        kinds = self.kinds[curves.fifos].tolist()
        for row in np.argsort(curves.puts.count, kind="stable").tolist():
            found[kinds[row]] = row
        return found

    def _resources(self, depths: Depths) -> Resources:
        total = Resources()
        for depth, own in zip(depths, self.types, strict=True):
            total += fifo_resources(own.bits, depth, self.device).times(sum(made.count for made in own.fifos))
        return total

    def _price(self, depths: Depths) -> tuple[int, int]:
        pairs = zip(depths, self.types, strict=True)
        bits = sum(depth * own.bits * sum(made.count for made in own.fifos) for depth, own in pairs)
        return self._resources(depths).bram18, bits

    def _shown(self, point: FrontPoint) -> DepthPoint:
        """One depth for each FIFO, of which several may be of one type."""
        depths = (d for d, own in zip(point.depths, self.types, strict=True) for _ in own.fifos)
        lut = self._resources(point.depths).lut
        return DepthPoint(point.cycles, point.blocks, lut, point.bits, tuple(depths))
