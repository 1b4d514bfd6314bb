"""Cycles of a program on an array: DMA engines, streams, double buffers and cores as processes, replayed with waits.

Every engine moves the bytes of a stream that the hardware documents, and every pool has two objects, as the object
FIFOs of section 5.1 of the thesis. What a call of the kernel takes is given: cycles of one tile, measured or simulated.
At a clock, main memory has a rate of requests, which engines share; its latency is not in the model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil, prod

from ....dataflow.replay import replay
from ....dataflow.trace import RecordedProcess, Trace, TracedChannel, recorded_trace
from ....errors import ContractionError
from ..values import ExecType
from .program import NpuProgram
from .transfers import NpuTransfer

_STREAM, _STORE = 4, 32  # bytes a cycle: of a stream, of the store unit of a core
_DEPTH = 2  # objects of a pool: one is filled while the other is used


@dataclass(frozen=True, slots=True)
class MainMemory:
    """Requests that main memory serves for all shims: a run of elements takes one for each `request_bytes` of it.

    The default rate is that of the documented channels: four bytes a cycle, two channels a way and a shim, four shims,
    at 1 GHz (AM020: 8 GB/s of reads and 8 of writes for each). That main memory keeps this rate in any power mode, and
    that requests, not bytes, bound it, are assumptions. A copy by all shims has 66.6 GB/s (MLIR-AIE pull request 2559).
    """

    gigabytes: float = 64.0
    request_bytes: int = 256

    def __post_init__(self) -> None:
        for name in ("gigabytes", "request_bytes"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
                raise ContractionError(f"{name} of main memory is a positive number, got {value!r}")

    def requests(self, transfer: NpuTransfer) -> int:
        """Those of one tile of a transfer."""
        rows, row = transfer.sizes[2:]
        together = transfer.strides[2] == row
        runs, run = (1, rows * row) if together else (rows, row)
        return runs * ceil(2 * run / self.request_bytes)

    def cycles(self, megahertz: float) -> float:
        """Cycles of the array for one request."""
        return megahertz * 1e-3 * self.request_bytes / self.gigabytes


@dataclass(frozen=True, slots=True)
class NpuRun:
    """One call of a program, *simulated*: its cycles, and the products of its cores.

    `waiting` are the cycles in which the core that works most waits for a tile or for room.
    """

    cycles: int
    products: int
    cores: int
    array_cores: int
    waiting: int

    @property
    def utilisation(self) -> float:
        """The part of what all cores of the array can multiply in these cycles: 128 products each."""
        return self.products / 128 / self.cycles / self.array_cores

    def gflops(self, megahertz: float) -> float:
        """Billions of multiplications and additions a second at a clock, such as that of a power mode."""
        return 2 * self.products / self.cycles * megahertz / 1e3

    def __str__(self) -> str:
        return (
            f"{self.cycles:,} cycles on {self.cores} of {self.array_cores} cores: {self.utilisation:.1%} of peak"
            f" (simulated)"
        )


def timed_on_array(
    program: NpuProgram, kernel: int, megahertz: float | None = None, memory: MainMemory | None = None
) -> NpuRun:
    """One call, if the primitive takes `kernel` cycles on a core with its tiles there.

    With a clock, that of a power mode, transfers wait for main memory too, whose rate does not change with it; without
    one, memory delivers what streams take. Raises ContractionError for a number of cycles that no kernel of the tile
    can have, and for a clock that is none.
    """
    given = isinstance(megahertz, int | float) and not isinstance(megahertz, bool)
    if megahertz is not None and not (given and 0 < megahertz < float("inf")):
        raise ContractionError(f"a clock is a positive number of megahertz, got {megahertz!r}")
    tile = prod(d.size for d in program.tec.primitive)
    least = program.least_cycles
    if isinstance(kernel, bool) or not isinstance(kernel, int) or kernel < least:
        raise ContractionError(f"a kernel of {tile:,} products takes {least:,} cycles at least, got {kernel!r}")
    request = 0.0 if megahertz is None else (memory or MainMemory()).cycles(megahertz)
    trace = _ProgramTrace(program, kernel, memory or MainMemory(), request).trace()
    found = replay(trace)
    if found.stuck:
        raise ContractionError(f"the program waits for ever: {found.trace.processes[found.stuck[0].process].name}")
    own = {k: p.length for k, p in enumerate(trace.processes) if p.position_of == "cores"}
    busiest = max(own, key=lambda k: own[k])
    products = prod(d.size for d in program.tec.dimensions if d.execution is not ExecType.SEQ)
    waiting = int(found.ends[busiest] - found.begins[busiest]) - own[busiest]
    array = program.array
    return NpuRun(found.total, products, len(own), array.rows * array.columns, waiting)


@dataclass(slots=True)
class _Pool:
    """The channels of objects in a memory, and of places that are free."""

    data: int
    free: int


class _ProgramTrace:
    def __init__(self, program: NpuProgram, kernel: int, memory: MainMemory, request: float) -> None:
        self.program, self.kernel = program, kernel
        self.memory, self.request = memory, request
        self.requests: Counter[tuple[int, int, tuple[int, ...]]] = Counter()
        for t in program.transfers:
            self.requests[t.path, t.column, t.rows] += t.tiles * memory.requests(t)
        self.channels: list[TracedChannel] = []
        self.engines: list[RecordedProcess] = []
        rows, columns = program.loops.rows.parts, program.loops.columns.parts
        self.cores = list(product(range(rows), range(columns)))
        m, n, k = (d.size for d in program.tec.primitive)
        self.bytes = [size * program.tec.data_type.bytes for size in (m * k, k * n, m * n)]
        self.of_core = {(core, tensor): self.pool(f"{core} {tensor}") for core in self.cores for tensor in range(3)}
        self.queues: dict[tuple[int, int, tuple[int, ...]], tuple[int, int]] = {}

    def channel(self, name: str, depth: int = 0) -> int:
        self.channels.append(TracedChannel(name, depth))
        return len(self.channels) - 1

    def pool(self, name: str) -> _Pool:
        return _Pool(self.channel(name), self.channel(f"{name} free"))

    def engine(self, name: str, kind: str, *sources: _Pool) -> RecordedProcess:
        """An engine or a core; the places of the pools that it takes objects from are free at first."""
        made = RecordedProcess(name, kind)
        for pool in sources:
            made.put(pool.free, _DEPTH)
        self.engines.append(made)
        return made

    def trace(self) -> Trace:
        self.host()
        inputs = [(tensor, column) for tensor, column, _ in self.queues if tensor < 2]
        for tensor, column in inputs:
            near = self.pool(f"memory tile {column} {tensor}")
            self.shim_input(tensor, column, near)
            self.broadcast(tensor, column, near)
        joined = {core: self.joined(core) for core in self.cores}
        for tensor, column, rows in self.queues:
            if tensor == 2:
                self.shim_output(column, rows, [joined[row, column] for row in rows])
        for core in self.cores:
            self.core(core)
        return recorded_trace(self.engines, self.channels)

    def host(self) -> None:
        """The run-time sequence: it puts transfers into queues, and waits for tokens."""
        host = self.engine("host", "host")
        for item in self.program.sequence:
            tensor = item.path if isinstance(item, NpuTransfer) else 2
            key = (tensor, item.column, item.rows if tensor == 2 else ())
            if key not in self.queues:
                queue = self.channel(f"queue {key}", self.program.array.outstanding)
                self.queues[key] = (queue, self.channel(f"tokens {key}"))
            if isinstance(item, NpuTransfer):
                host.put(self.queues[key][0])
            else:
                host.get(self.queues[key][1])

    def transfers(self, tensor: int, column: int, rows: tuple[int, ...]) -> list[NpuTransfer]:
        """Those of one channel of a shim."""
        found = (t for t in self.program.transfers if t.path == tensor and t.column == column)
        return [t for t in found if tensor < 2 or t.rows == rows]

    def moved(self, engine: RecordedProcess, tensor: int) -> None:
        engine.cycle += self.bytes[tensor] // _STREAM

    def fetched(self, engine: RecordedProcess, transfer: NpuTransfer) -> None:
        """A tile between main memory and a stream.

        Engines share requests in the proportion of what they have in all; those that have few, and are seldom at
        work, get what would be theirs if all had as many.
        """
        own = self.requests[transfer.path, transfer.column, transfer.rows]
        share = min(self.requests.total() / own, len(self.requests)) * self.request
        tile = self.bytes[2 if transfer.tensor == 2 else transfer.path]
        engine.cycle += max(tile // _STREAM, round(self.memory.requests(transfer) * share))

    def shim_input(self, tensor: int, column: int, near: _Pool) -> None:
        engine = self.engine(f"shim {column} in{tensor}", "shims")
        for transfer in self.transfers(tensor, column, ()):
            engine.get(self.queues[tensor, column, ()][0])
            for _ in range(transfer.tiles):
                engine.get(near.free)
                self.fetched(engine, transfer)
                engine.put(near.data)

    def broadcast(self, tensor: int, column: int, near: _Pool) -> None:
        """From a memory tile along a row, or a column."""
        engine = self.engine(f"memory tile {column} in{tensor}", "memory tiles", near)
        to = [self.of_core[core, tensor] for core in self.cores if core[tensor] == column]
        tiles = sum(t.tiles for t in self.transfers(tensor, column, ()))
        for _ in range(tiles):
            engine.get(near.data)
            for pool in to:
                engine.get(pool.free)
            self.moved(engine, tensor)
            for pool in to:
                engine.put(pool.data)
            engine.put(near.free)

    def joined(self, core: tuple[int, int]) -> _Pool:
        """The engine of a core that sends its output to the memory tile of its column."""
        own, near = self.of_core[core, 2], self.pool(f"memory tile out of {core}")
        engine = self.engine(f"core {core} out", "core engines", own)
        for event in self.program.core(*core):
            if event.kind == "send":
                engine.get(own.data)
                engine.get(near.free)
                self.moved(engine, 2)
                engine.put(near.data)
                engine.put(own.free)
        return near

    def shim_output(self, column: int, rows: tuple[int, ...], pools: Sequence[_Pool]) -> None:
        engine = self.engine(f"shim {column} out of rows {rows}", "shims", *pools)
        queue, tokens = self.queues[2, column, rows]
        for transfer in self.transfers(2, column, rows):
            engine.get(queue)
            for _ in range(transfer.tiles // len(rows)):
                for pool in pools:
                    engine.get(pool.data)
                    self.fetched(engine, transfer)
                    engine.put(pool.free)
            engine.put(tokens)

    def core(self, core: tuple[int, int]) -> None:
        """The loops of a core: a tile of the output is cleared, added to, and sent."""
        one, two, out = (self.of_core[core, tensor] for tensor in range(3))
        engine = self.engine(f"core {core}", "cores", one, two)
        for event in self.program.core(*core):
            if event.kind == "zero":
                engine.get(out.free)
                engine.cycle += self.bytes[2] // _STORE
            elif event.kind == "first":
                engine.get(out.free)
                engine.get(two.data)
                engine.cycle += self.bytes[2] // _STORE
                engine.put(two.free)
            elif event.kind == "relu":
                engine.cycle += self.bytes[2] // _STORE
            elif event.kind == "send":
                engine.put(out.data)
            elif event.kind == "drop":
                for _ in range(event.count):
                    engine.get((one, two)[event.tensor].data)
                    engine.put((one, two)[event.tensor].free)
            else:
                for _ in range(event.count):
                    engine.get(one.data)
                    engine.get(two.data)
                    engine.cycle += self.kernel
                    engine.put(one.free)
                    engine.put(two.free)
