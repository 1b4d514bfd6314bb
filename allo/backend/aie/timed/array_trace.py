"""Trace of a mapped program: what the sequence, DMA channels and cores take and give, object by object.

An object FIFO is two channels, as its locks are: objects that have come, and credits for places that are free. Who
fills an object takes a credit first and gives the object when it is complete; who is done with it gives a credit back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mlir import ir

from ....dataflow.trace import RecordedProcess, Trace, TracedChannel, recorded_trace
from ....errors import TargetError
from ....ir.access import callee_name
from ....ir.walk import entry_block, induction_variable, location_of, operations, statements
from ....mapping import ArrayFifo, ArrayPlan, MappedCore, Route, RuntimeSequence, ShimTransfer, StreamFifo
from ....poly.formula import compile_set, evaluate, satisfies
from ....target import Tile
from ..core_body import CONSUME, CORE, CoreBodies, FifoAction
from .core_cycles import CoreCycles, trips_of


@dataclass(frozen=True, slots=True)
class _Pool:
    """The two channels of the objects of a FIFO in the memory of a tile."""

    data: int
    credits: int
    depth: int


@dataclass(frozen=True, slots=True)
class _Arrival:
    """Where objects arrive, so many cycles after they were sent: those of the switches on their way."""

    pool: _Pool
    later: int


@dataclass(slots=True)
class ArrayTrace:
    """The trace of one call of a planned program; `multiplied` are the products that its cores sum, by element."""

    plan: ArrayPlan
    sequence: RuntimeSequence
    bodies: CoreBodies
    cycles: CoreCycles
    channels: list[TracedChannel] = field(default_factory=list)
    processes: list[RecordedProcess] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)
    pools: dict[tuple[str, str], _Pool] = field(default_factory=dict)  # of a FIFO, on a core
    multiplied: Counter[str] = field(default_factory=Counter)

    def trace(self) -> Trace:
        """The trace. Raises TargetError where the time of a core is not known."""
        for fifo in self.plan.fifos.arrays:
            for name in fifo.cores:
                way = f"{fifo.name} to {name}" if fifo.to_core else f"{fifo.name} from {name}"
                kind = "objects to cores" if fifo.to_core else "objects from cores"
                self.pools[fifo.name, name] = self._pool(way, fifo.depth, fifo.bytes, kind)
        for between in self.plan.fifos.streams:
            self._between(between)
        self._sequence()
        for route in self.plan.routes:
            self._route(route)
        for core in self.plan.mapping.cores:
            _CoreWalk(self, core).run()
        return recorded_trace(self.processes, self.channels)

    def process(self, name: str, kind: str) -> RecordedProcess:
        """A new process; those of one kind are a row of a table that would be long."""
        made = RecordedProcess(name, kind)
        self.processes.append(made)
        return made

    def _moving(self, size: int) -> int:
        """The cycles in which a stream moves bytes."""
        return -(-size // self.plan.array.timing.stream)

    def _channel(self, name: str, depth: int, kind: str, size: int = 0) -> int:
        if name not in self.numbers:
            self.numbers[name] = len(self.channels)
            self.channels.append(TracedChannel(name, depth, 8 * size, element_of=kind))
        return self.numbers[name]

    def _pool(self, name: str, depth: int, size: int, kind: str) -> _Pool:
        data = self._channel(name, depth, kind, size)
        return _Pool(data, self._channel(f"{name} free", 0, f"places for {kind}"), depth)

    # -- the sequence and DMA engines --------------------------------------------------------------

    def _between(self, between: StreamFifo) -> None:
        """A stream between two cores: one pool in the memory that both see, or one each and a DMA engine."""
        stream = between.stream
        if between.shared:
            pool = self._pool(stream.name, between.depth, between.bytes, "streams")
            self.pools[stream.name, between.producer] = self.pools[stream.name, between.consumer] = pool
            return
        source, sink = (
            self._pool(f"{stream.name} {way}", between.depth, between.bytes, "streams")
            for way in (f"from {between.producer}", f"to {between.consumer}")
        )
        self.pools[stream.name, between.producer], self.pools[stream.name, between.consumer] = source, sink
        engine = self.process(f"core DMA {stream.name}", "core DMA")
        arrival = _Arrival(sink, self._later(stream.name, self.plan.placement.tile(between.consumer)))
        self._pass_on(engine, source, [arrival], between.bytes, stream.tokens // stream.block)

    def _sequence(self) -> None:
        process = self.process("runtime_sequence", "runtime_sequence")
        for step in self.sequence.steps:
            if isinstance(step, ShimTransfer):
                process.put(self._queue(step.route))
            else:
                process.get(self._tokens(step.route))

    def _queue(self, route: str) -> int:
        return self._channel(f"{route} queue", self.plan.array.queue, "queues")

    def _tokens(self, route: str) -> int:
        return self._channel(f"{route} tokens", 0, "tokens")

    def _route(self, route: Route) -> None:
        """The channel of the shim tile, and those of the memory tile for each FIFO."""
        tile = self.plan.placement.tile
        ends = [
            [_Arrival(self.pools[fifo.name, core], self._later(fifo.name, tile(core)) if route.to_core else 0)
             for core in fifo.cores] for fifo in route.fifos
        ]  # fmt: skip
        near = ends
        if route.hub is not None:
            kind = "objects in memory tiles"
            near = [
                [_Arrival(
                    self._pool(f"{fifo.name} in memory tile", route.hub_depth, fifo.bytes, kind),
                    self._later(route.name if route.to_core else fifo.name, route.near),
                )] for fifo in route.fifos
            ]  # fmt: skip
        self._shim(route, near)
        if route.hub is None:
            return
        for fifo, (middle,), cores in zip(route.fifos, near, ends, strict=True):
            engine = self.process(f"memory tile {fifo.name}", "memory tiles")
            source, sinks = (middle.pool, cores) if route.to_core else (cores[0].pool, [middle])
            self._pass_on(engine, source, sinks, fifo.bytes, route.rounds)

    def _later(self, name: str, sink: Tile) -> int:
        """The cycles of a word on its way to one end of a stream."""
        return self.plan.array.timing.hop * self.plan.routing.of(name).switches(sink)

    def _shim(self, route: Route, ends: Sequence[Sequence[_Arrival]]) -> None:
        """The channel of a shim tile: transfers, of which a part of an object, one or several are made."""
        process = self.process(f"shim {route.name}", "shim inputs" if route.to_core else "shim outputs")
        if not route.to_core:
            for (end,) in ends:
                process.put(end.pool.credits, end.pool.depth)
        pieces = self._pieces(route, ends)
        left = 0  # bytes of the piece that is being moved
        piece: tuple[ArrayFifo, Sequence[_Arrival]] | None = None
        last = 0 if route.to_core else self._later(route.name, Tile(route.shim, 0))  # cycles until all is there
        for transfer in self.sequence.transfers(route.name):
            process.get(self._queue(route.name))
            count = len(transfer.walk) * transfer.argument.bits // 8
            while count:
                if piece is None:
                    piece = next(pieces)
                    left = piece[0].bytes
                    for end in piece[1]:
                        process.get(end.pool.credits if route.to_core else end.pool.data)
                moved = min(left, count)
                process.cycle += self._moving(moved)
                left, count = left - moved, count - moved
                if left == 0:
                    for end in piece[1]:
                        if route.to_core:
                            process.put(end.pool.data, later=end.later)
                        else:
                            process.put(end.pool.credits)
                    piece = None
            if transfer.token:
                process.put(self._tokens(route.name), later=last)

    def _pieces(
        self, route: Route, ends: Sequence[Sequence[_Arrival]]
    ) -> Iterator[tuple[ArrayFifo, Sequence[_Arrival]]]:
        for _ in range(route.rounds):
            yield from zip(route.fifos, ends, strict=True)

    def _pass_on(
        self, engine: RecordedProcess, source: _Pool, sinks: Sequence[_Arrival], size: int, rounds: int
    ) -> None:
        engine.put(source.credits, source.depth)
        for _ in range(rounds):
            engine.get(source.data)
            for sink in sinks:
                engine.get(sink.pool.credits)
            engine.cycle += self._moving(size)
            for sink in sinks:
                engine.put(sink.pool.data, later=sink.later)
            engine.put(source.credits)


class _CoreWalk:
    """The events of a core, statement by statement: loops in which it takes or gives objects are run."""

    def __init__(self, array: ArrayTrace, core: MappedCore) -> None:
        self.array = array
        self.core = core
        self.process = array.process(core.name, "cores")
        self.module = array.bodies.body(core, 1)
        self.actions: Mapping[str, FifoAction] = {name: action for action, name in array.bodies.actions.items()}
        self.acting: dict[ir.Operation, bool] = {}

    def run(self) -> None:
        """Let it do all of its body once."""
        fifos = self.array.plan.fifos
        names = [fifo.name for fifo in fifos.arrays_of(self.core.name, True)]
        names += [fifo.stream.name for fifo in fifos.streams if fifo.consumer == self.core.name]
        for name in names:
            pool = self.array.pools[name, self.core.name]
            self.process.put(pool.credits, pool.depth)
        entry = entry_block(self.module.function(CORE))
        assert entry is not None
        self._block(entry, {})

    def _block(self, block: ir.Block, values: Mapping[ir.Value, int]) -> None:
        for op in statements(block):
            if op.name == "func.call" and callee_name(op) in self.actions:
                self._act(self.actions[callee_name(op)])
            elif not self._acts(op):
                self.process.cycle += self.array.cycles.of(op, values)
                self.array.multiplied.update(self.array.cycles.multiplied(op, values))
            elif op.name == "affine.for":
                variable, body = induction_variable(op), op.regions[0].blocks[0]
                for k in trips_of(op, values):
                    self._block(body, {**values, variable: k})
            elif op.name == "affine.if" and all(value in values for value in op.operands):
                formula, equalities = compile_set(op.attributes["condition"])
                holds = satisfies(evaluate(formula, [values[value] for value in op.operands]), equalities)
                for chosen in op.regions[0 if holds else 1].blocks:
                    self._block(chosen, values)
            else:
                raise TargetError(
                    "when a core takes or gives an object depends on data here", at=location_of(op),
                    hint="put and get in loops with affine bounds",
                )  # fmt: skip

    def _acts(self, op: ir.Operation) -> bool:
        """Whether objects are taken or given within a statement."""
        if op not in self.acting:
            blocks = [block for region in op.regions for block in region.blocks]
            calls = [call for block in blocks for call in operations(block, "func.call")]
            self.acting[op] = any(callee_name(call) in self.actions for call in calls)
        return self.acting[op]

    def _act(self, action: FifoAction) -> None:
        pool = self.array.pools[action.fifo, self.core.name]
        if action.index is not None:
            self.process.get(pool.data if action.port == CONSUME else pool.credits)
        else:
            self.process.put(pool.credits if action.port == CONSUME else pool.data, action.count)
