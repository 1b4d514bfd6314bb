"""Cycles of a TEC on a processor, estimated: products in registers, blocks that are packed, what memory delivers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from heapq import heapreplace
from itertools import product
from math import ceil, inf, prod

from ...errors import ContractionError
from .values import DataType, DimType, ExecType, PrimFirst, Tec, TecDimension

_PER_COPY = 0.5  # cycles for an element of whole vectors that are copied
_PER_PAGE = 20  # cycles until a copy goes on in another page
_BESIDE = 1.25  # how much longer a part takes on another core, whose cache has nothing of it, and which others use
_EARLY = 0.2  # of what a thread takes to begin: packing as long as that is shared, so that it has begun before the loop
_LINE, _PAGE, _LINES = 64, 4096, 384  # bytes of a line of the first cache, of a page; lines that a block may take


@dataclass(frozen=True, slots=True)
class Processor:
    """What the model knows of a processor; the defaults are those of cores with 256-bit vectors, `WIDE` those with
    512-bit ones that an operation takes the place of two in.

    `registers` vector registers of `vector_bytes`, `fused` multiply-additions and `loads` loads of them a cycle, and
    `fast_bytes` of cache that keep a block of the first input. `per_byte` are cycles that memory takes for a byte,
    `per_task` those until another thread has begun with its part of a loop, which threads take in `parts` each.
    """

    cores: int = 1
    vector_bytes: int = 32
    registers: int = 16
    fused: int = 2
    loads: int = 2
    fast_bytes: int = 1 << 18
    shared_bytes: int = 1 << 22
    per_byte: float = 0.1
    per_task: int = 150_000
    parts: int = 4

    def __post_init__(self) -> None:
        least = {"cores": 1, "vector_bytes": 8, "registers": 3, "fused": 1, "loads": 1, "parts": 1}
        least |= {"fast_bytes": 1, "shared_bytes": 1, "per_task": 0}
        for name, number in least.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < number:
                raise ContractionError(f"{name} of a processor is a whole number from {number} on, got {value!r}")
        cycles = self.per_byte
        if isinstance(cycles, bool) or not isinstance(cycles, int | float) or not 0 <= cycles < inf:
            raise ContractionError(f"per_byte of a processor is a number from 0 on, got {cycles!r}")

    def lanes(self, data_type: DataType) -> tuple[int, ...]:
        """Sums in a vector, and in half of one where that is as fast a cycle; those of `bfloat_16` are 32 bits wide."""
        whole = self.vector_bytes // (8 if data_type is DataType.FP64 else 4)
        return (whole, whole // 2) if self.vector_bytes >= 64 else (whole,)


WIDE = Processor(vector_bytes=64, registers=32, fused=1, loads=1)


@dataclass(frozen=True, slots=True)
class RegisterBlock:
    """The block of the output that is kept in registers: `rows` of M, `columns` of N, a multiple of `lanes`."""

    rows: int
    columns: int
    lanes: int

    def step(self, processor: Processor, data_type: DataType, rows: int, columns: int) -> float:
        """Cycles of one step of K with so many of its rows and columns; below four sums for each operation of a cycle,
        an addition waits for the one before."""
        vectors, halves = ceil(columns / self.lanes), processor.lanes(data_type)[0] // self.lanes
        fused, loads = processor.fused * halves, processor.loads * halves
        waits = 4 if rows * vectors < 4 * fused else 0
        return max(rows * vectors / fused, (rows + vectors) / loads, waits)


@lru_cache(maxsize=256)
def registers_for(processor: Processor, data_type: DataType, m: int, n: int) -> RegisterBlock:
    """The block with the fewest operations and loads for a primitive of `m` x `n`, edges included."""
    best: tuple[float, int, int, RegisterBlock] | None = None
    for lanes, vectors in product(processor.lanes(data_type), (1, 2, 3)):
        if vectors > 1 and (vectors - 1) * lanes >= n:
            continue  # the columns of a panel that none uses
        most = (processor.registers - vectors - 1) // vectors
        for rows in range(1, min(most, 8) + 1):
            block = RegisterBlock(rows, vectors * lanes, lanes)
            cost = sum(count * block.step(processor, data_type, r, c) for r, c, count in _tiles(block, m, n))
            key = (cost, n % lanes, -rows * vectors * lanes, block)  # columns that fill no vector are moved one by one
            if best is None or key[:3] < best[:3]:
                best = key
    assert best is not None
    return best[3]


def _tiles(block: RegisterBlock, m: int, n: int) -> Iterator[tuple[int, int, int]]:
    """Rows and columns of the blocks of a primitive, and how many are like that: whole ones and those at edges."""
    for rows, many in _parts(m, block.rows):
        for columns, times in _parts(n, block.columns):
            yield rows, columns, many * times


def _parts(size: int, part: int) -> list[tuple[int, int]]:
    return [pair for pair in ((part, size // part), (size % part, 1)) if all(pair)]


def shared_cycles(processor: Processor, cycles: float, trips: int) -> float:
    """Cycles until the last thread is done with a loop of so many cycles in all: each takes the next part when it is
    done with one. The first begins before the others, and has the core and the cache that it had."""
    parts = min(trips, processor.cores * processor.parts)
    threads = [(0.0, 1.0), *[(float(processor.per_task), _BESIDE)] * (processor.cores - 1)]
    for part in range(parts):
        done, slower = threads[0]
        own = cycles / trips * (trips // parts + (part < trips % parts))
        heapreplace(threads, (done + own * slower, slower))
    return max(done for done, _ in threads)


@dataclass(frozen=True)
class TecCost:
    """Where the cycles of a TEC go, estimated; `total` is for all cores that it uses."""

    tec: Tec
    processor: Processor

    @cached_property
    def outer(self) -> tuple[TecDimension, ...]:
        """The loops around the primitive."""
        return self.tec.outer

    @cached_property
    def primitive(self) -> tuple[TecDimension, ...]:
        """The dimensions of the primitive."""
        return self.tec.primitive

    @cached_property
    def registers(self) -> RegisterBlock:
        """The block in registers."""
        m, n, _ = self.block
        return registers_for(self.processor, self.tec.data_type, m, n)

    @cached_property
    def block(self) -> tuple[int, int, int]:
        """M, N and K of the primitive; K of all of a BRGEMM."""
        found = {type: 1 for type in DimType}
        for d in self.primitive:
            found[d.type] *= d.size
        return found[DimType.M], found[DimType.N], found[DimType.K]

    @property
    def calls(self) -> int:
        """How often the primitive is called."""
        return prod(d.size for d in self.outer)

    @cached_property
    def products(self) -> float:
        """Cycles in which registers are multiplied, and blocks of the output read and written."""
        m, n, k = self.block
        lanes, total = self.registers.lanes, 0.0
        column = next(d for d in self.primitive if d.type is DimType.N)
        moved = 1 if column.strides[2] == 1 else 2 * lanes  # a vector is moved at once, or number by number
        begins = 2 if self.sums_again else 1
        for r, c, count in _tiles(self.registers, m, n):
            vectors = ceil(c / lanes)
            step = self.registers.step(self.processor, self.tec.data_type, r, c)
            total += count * (k * step + 12 + begins * r * vectors * moved)
        return self.calls * total

    @cached_property
    def sums_again(self) -> bool:
        """Whether blocks of the output are read before they are added to."""
        outer = any(d.type is DimType.K and d.size > 1 for d in self.outer)
        return outer or self.tec.prim_first is not PrimFirst.ZERO

    @cached_property
    def packed(self) -> tuple[bool, bool]:
        """Whether blocks of in0 and in1 are copied, so that products read them in order: if that pays."""
        m, n, _ = self.block
        registers = self.registers
        columns = next(d for d in self.primitive if d.type is DimType.N)
        vectors = columns.strides[1] == 1 and n % registers.lanes == 0 and self.tec.data_type is not DataType.BF16
        return (
            n > 6 * registers.columns or not self._fits_cache(0),
            m > 6 * registers.rows or not vectors or not self._fits_cache(1),
        )

    def _own(self, tensor: int) -> list[TecDimension]:
        return [d for d in self.primitive if d.strides[tensor] and d.size > 1]

    def _fits_cache(self, tensor: int) -> bool:
        """Whether a block of an input lies in few lines of the first cache, and not in the same ones."""
        own, size = self._own(tensor), self.tec.data_type.bytes
        row = next((d.size for d in own if d.strides[tensor] == 1), 1)
        lines = prod(d.size for d in own) // row * ceil(row * size / _LINE)
        return lines <= _LINES and not self.aliased(tensor)

    def aliased(self, tensor: int) -> bool:
        """Whether many elements of a block are in the same lines of the first cache, whole pages apart."""
        size = self.tec.data_type.bytes
        return any(d.size > 8 and d.strides[tensor] * size % _PAGE == 0 for d in self._own(tensor))

    def level(self, tensor: int) -> int:
        """In how many of the outer loops blocks of an input are packed, those of all loops inside at a time.

        The level that takes the fewest cycles among those whose blocks fit into the cache that cores share; the
        innermost of those.
        """
        levels = range(len(self.outer), -1, -1)
        size = self.tec.data_type.bytes
        fitting = [k for k in levels if self.packed_elements(tensor, k) * size <= self.processor.shared_bytes]
        return min(fitting or [len(self.outer)], key=lambda k: self._pack_cycles(tensor, k))

    def inside(self, tensor: int, level: int) -> tuple[TecDimension, ...]:
        """The loops inside of `level` that the blocks of an input depend on."""
        return tuple(d for d in self.outer[level:] if d.strides[tensor] and d.size > 1)

    def packed_elements(self, tensor: int, level: int) -> int:
        """How many elements are packed at a time."""
        return prod(d.size for d in (*self.inside(tensor, level), *self._own(tensor)))

    def _copies(self, tensor: int, level: int) -> int:
        """How many elements are packed in all."""
        return prod(d.size for d in self.outer[:level]) * self.packed_elements(tensor, level)

    def _pack_cycles(self, tensor: int, level: int) -> float:
        """Cycles of all copies: of whole vectors, of lines that are used whole, of a line for each element."""
        moved = (*self.inside(tensor, level), *self._own(tensor))
        unit = next((d for d in moved if d.strides[tensor] == 1), None)
        each = 4.0
        if unit is not None:
            each = _PER_COPY if unit in self._own(tensor) and unit.type is not DimType.K else 1.5
        size = self.tec.data_type.bytes
        if self.packed_elements(tensor, level) * size > self.processor.fast_bytes:
            each += size * self.processor.per_byte  # what is packed leaves the cache before it is read
        return self._copies(tensor, level) * each + self._pages(tensor, level) * _PER_PAGE

    def _pages(self, tensor: int, level: int) -> int:
        """How often packing goes to another page of memory, if the one before is not packed from the same pages."""
        size = self.tec.data_type.bytes
        outside = [d for d in self.outer[:level] if d.strides[tensor] and d.size > 1]
        if self.packed_elements(tensor, 0) * size <= self.processor.fast_bytes:
            return 0
        if outside and outside[-1].strides[tensor] * size < _PAGE // 2:
            return 0
        moved = (*self.inside(tensor, level), *self._own(tensor))
        packs = prod(d.size for d in self.outer[:level])
        return packs * prod(d.size for d in moved if d.strides[tensor] * size >= _PAGE)

    @cached_property
    def packing(self) -> float:
        """Cycles in which blocks of inputs are copied."""
        return sum(self._pack_cycles(tensor, self.level(tensor)) for tensor in (0, 1) if self.packed[tensor])

    @cached_property
    def memory(self) -> float:
        """Cycles that memory takes for blocks that no cache keeps."""
        total = 0.0
        for tensor in (0, 1, 2):
            times, seen = 1, False
            for d in reversed(self.outer):
                seen = seen or d.strides[tensor] != 0
                times *= d.size if seen else 1
            block = prod(d.size for d in self.primitive if d.strides[tensor]) * self.tec.data_type.bytes
            total += times * block * self.processor.per_byte * (2 if tensor == 2 else 1)
            if block > (self.processor.fast_bytes, self.processor.shared_bytes, self.processor.shared_bytes)[tensor]:
                total += self.products * 0.5
        return total

    @property
    def shared(self) -> TecDimension | None:
        """The loop whose iterations threads share."""
        first = self.tec.dimensions[0]
        return first if first.execution is ExecType.SHARED and first.size > 1 else None

    def least(self, shared: TecDimension | None) -> float:
        """Cycles that no order of the loops around the primitive goes below, if threads share one of them."""
        loops, copies = self._least
        if shared is None or self.processor.cores == 1:
            return loops + copies
        return shared_cycles(self.processor, loops, shared.size) + copies / self.processor.cores

    @cached_property
    def _least(self) -> tuple[float, float]:
        """Cycles of products and memory, and of packing, if each tensor is moved once."""
        loops, copies = self.products, 0.0
        for tensor in (0, 1, 2):
            elements = prod(d.size for d in self.tec.dimensions if d.strides[tensor])
            loops += elements * self.tec.data_type.bytes * self.processor.per_byte * (2 if tensor == 2 else 1)
            copies += elements * _PER_COPY if tensor < 2 and self.packed[tensor] else 0
        return loops, copies

    def packed_by_threads(self, tensor: int) -> bool:
        """Whether threads share the packing of an input, too: if it is done before their loop, and is not short."""
        if self.shared is None or self.processor.cores == 1 or not self.packed[tensor] or self.level(tensor):
            return False
        return self._pack_cycles(tensor, 0) > _EARLY * self.processor.per_task

    @property
    def shareable(self) -> tuple[TecDimension | None, ...]:
        """The loops that threads can share, and none."""
        loops = [d for d in self.outer if d.type is not DimType.K and d.size > 1]
        return (None, *(loops if self.processor.cores > 1 else ()))

    @property
    def total(self) -> float:
        """Cycles until all threads are done."""
        if self.shared is None or self.processor.cores == 1:
            return self.products + self.packing + self.memory
        packed = [k for k in (0, 1) if self.packed[k] and self.level(k) == 0]  # before the loop that is shared
        before = {k: self._pack_cycles(k, 0) for k in packed}
        waits = sum(before[k] / (self.processor.cores if self.packed_by_threads(k) else 1) for k in packed)
        cycles = self.products + self.packing - sum(before.values()) + self.memory
        return waits + shared_cycles(self.processor, cycles, self.shared.size)

    def __str__(self) -> str:
        m, n, k = self.block
        return (
            f"{self.tec.prim_main} {m} x {n} x {k}, {self.calls} calls: {self.total:,.0f} cycles (products"
            f" {self.products:,.0f}, packing {self.packing:,.0f}, memory {self.memory:,.0f}; estimated)"
        )
