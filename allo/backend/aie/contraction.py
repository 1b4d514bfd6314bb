"""MLIR-AIE text of a contraction on an array: FIFOs with layouts of tiles, nested loops of cores, the sequence.

Source: Steinert (2025), section 5.3: Fig. 7 for the FIFOs, List. 4 for cores.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...errors import ContractionError
from ...mapping.teir import PrimFirst
from ...mapping.teir.npu import CoreEvent, CoreLoop, NpuProgram, NpuTransfer, NpuWait, TileLayout
from ...mapping.teir.values import TENSORS
from .text import RELEASES, AieRelease

PREFIX, OBJECT = "contraction_", "contraction.o"
KERNEL = f"{PREFIX}gemm"
_PRODUCE, _CONSUME = 0, 1
_FOREVER = 0x7FFFFFFF


def contraction_text(program: NpuProgram, dialect: str = "current") -> str:
    """The module of one call of a program for MLIR-AIE; loops that are `seq` are those of the host around it.

    Cores link `contraction.o`, which is made of `contraction_kernels(program)`. Raises ContractionError for releases
    that are not known, and for arrays that the device does not have.
    """
    if dialect not in RELEASES:
        listed = ", ".join(map(repr, RELEASES))
        raise ContractionError(f"there is no release {dialect!r} of MLIR-AIE; there is {listed}")
    if program.array.columns > 4:
        raise ContractionError(f"npu1 has 4 columns, and the program is for {program.array.columns}")
    return _ContractionText(program, RELEASES[dialect]).text()


@dataclass(frozen=True, slots=True)
class _ContractionText:
    program: NpuProgram
    release: AieRelease

    def text(self) -> str:
        device = self.release.devices.get("npu1", "npu1")
        parts = (self.tiles(), self.fifos(), self.kernels(), self.cores(), self.sequence())
        lines = [f"    {line}" for part in parts for line in part]
        return "\n".join(["module {", f"  aie.device({device}) {{", *lines, "  }", "}", ""])

    @property
    def columns(self) -> range:
        """Those with a memory tile in use."""
        return range(max(self.program.loops.rows.parts, self.program.loops.columns.parts))

    def cores_of(self, tensor: int, number: int) -> list[tuple[int, int]]:
        """The cores, (row, column), of the row (tensor 0) or column of a number."""
        rows, columns = range(self.program.loops.rows.parts), range(self.program.loops.columns.parts)
        return [(number, c) for c in columns] if tensor == 0 else [(r, number) for r in rows]

    def kind(self, tensor: int, tiles: int = 1) -> str:
        """The type of an object of so many tiles."""
        m, n, k = (d.size for d in self.program.tec.primitive)
        return f"memref<{tiles * (m * k, k * n, m * n)[tensor]}xbf16>"

    def groups(self) -> list[tuple[int, ...]]:
        """Rows of which each column joins the outputs."""
        return self.program.loops.rows.groups()

    def tiles(self) -> Iterator[str]:
        cores = [(c, r + 2) for r, c in self.cores_with_loops()]
        for column, row in sorted([*((c, r) for c in self.columns for r in (0, 1)), *cores]):
            yield f"{_tile(column, row)} = aie.tile({column}, {row})"

    def cores_with_loops(self) -> list[tuple[int, int]]:
        """All cores in use."""
        return [core for row in range(self.program.loops.rows.parts) for core in self.cores_of(0, row)]

    def fifos(self) -> Iterator[str]:
        """From each shim by its memory tile along a row and a column, and back from the cores of a column."""
        loops = self.program.loops
        for tensor, parts in ((0, loops.rows), (1, loops.columns)):
            for number in range(parts.parts):
                name, near = f"in{tensor}_{number}", _tile(number, 1)
                to = ", ".join(_tile(c, r + 2) for r, c in self.cores_of(tensor, number))
                yield _fifo(name, _tile(number, 0), near, self.kind(tensor))
                dims = _dimensions(self.program.layout(tensor))
                yield _fifo(f"{name}_cores", f"{near} {dims}", to, self.kind(tensor))
                yield f"aie.objectfifo.link [@{name}] -> [@{name}_cores] ([] [0])"
        dims = _dimensions(self.program.layout(2))
        m, n, _ = (d.size for d in self.program.tec.primitive)
        for column in range(loops.columns.parts):
            near = _tile(column, 1)
            for rows in self.groups():
                for row in rows:
                    yield _fifo(f"out_{row}_{column}", _tile(column, row + 2), near, self.kind(2))
                name = _output(column, rows)
                yield _fifo(name, f"{near} {dims}", _tile(column, 0), self.kind(2, len(rows)))
                joined = ", ".join(f"@out_{row}_{column}" for row in rows)
                offsets = ", ".join(str(k * m * n) for k in range(len(rows)))
                yield f"aie.objectfifo.link [{joined}] -> [@{name}] ([{offsets}] [])"

    def kernels(self) -> Iterator[str]:
        mark = "" if self.release.links_cores else f' attributes {{link_with = "{OBJECT}"}}'
        for kind, tensors in kernels_of(self.program).items():
            yield f"func.func private @{PREFIX}{kind}({', '.join(map(self.kind, tensors))}){mark}"

    def cores(self) -> Iterator[str]:
        for row, column in self.cores_with_loops():
            yield f"%core_{column}_{row + 2} = aie.core({_tile(column, row + 2)}) {{"
            yield "  %c0 = arith.constant 0 : index"
            yield "  %c1 = arith.constant 1 : index"
            body = _CoreText(self, row, column)
            yield from (f"  {line}" for line in body.loop(_FOREVER, self.program.core_loop(row, column).body))
            yield "  aie.end"
            yield f'}} {{link_with = "{OBJECT}"}}' if self.release.links_cores else "}"

    def sequence(self) -> Iterator[str]:
        kinds = [f"memref<{self.program.tec.extent(tensor)}xbf16>" for tensor in (0, 1, 2, 2)]
        names = [*TENSORS, "init" if self.program.tec.prim_first is PrimFirst.COPY else "out"]
        given = dict(zip(names, kinds, strict=True))
        listed = ", ".join(f"%{name}: {kind}" for name, kind in given.items())
        yield f"{self.release.sequence}({listed}) {{"
        for item in self.program.sequence:
            if isinstance(item, NpuWait):
                yield f"  aiex.npu.dma_wait {{symbol = @{_output(item.column, item.rows)}}}"
            else:
                yield f"  {_transfer(item, names[item.tensor], kinds[item.tensor])}"
        yield "}"


class _CoreText:
    """The loops of one core; each loop has names of its own."""

    def __init__(self, whole: _ContractionText, row: int, column: int) -> None:
        self.whole, self.number = whole, 0
        self.names = (f"in0_{row}_cores", f"in1_{column}_cores", f"out_{row}_{column}")

    def fresh(self, stem: str) -> str:
        self.number += 1
        return f"%{stem}_{self.number}"

    def loop(self, trips: int, body: Sequence[CoreEvent | CoreLoop]) -> Iterator[str]:
        """A loop, or its body alone if it is run once."""
        inner = list(self.block(body))
        if trips == 1:
            yield from inner
        elif trips:
            yield from self.counted(trips, inner)

    def counted(self, trips: int, inner: Sequence[str]) -> Iterator[str]:
        variable, bound = self.fresh("i"), self.fresh("bound")
        yield f"{bound} = arith.constant {trips} : index"
        yield f"scf.for {variable} = %c0 to {bound} step %c1 {{"
        yield from (f"  {line}" for line in inner)
        yield "}"

    def block(self, body: Sequence[CoreEvent | CoreLoop]) -> Iterator[str]:
        out = ""
        for part in body:
            if isinstance(part, CoreLoop):
                yield from self.loop(part.trips, part.body)
            elif part.kind in ("zero", "first"):
                out = self.fresh("out")
                yield from self.acquire(2, _PRODUCE, out)
                yield from self.first(out) if part.kind == "first" else [self.call("zero", out)]
            elif part.kind == "relu":
                yield self.call("relu", out)
            elif part.kind == "send":
                yield self.release(2, _PRODUCE)
            else:
                inner = list(self.product(out) if part.kind == "multiply" else self.drop(part.tensor))
                yield from inner if part.count == 1 else self.counted(part.count, inner)

    def product(self, out: str) -> Iterator[str]:
        names = [self.fresh("in0"), self.fresh("in1"), out]
        for tensor in (0, 1):
            yield from self.acquire(tensor, _CONSUME, names[tensor])
        yield self.call("gemm", *names)
        for tensor in (0, 1):
            yield self.release(tensor, _CONSUME)

    def first(self, out: str) -> Iterator[str]:
        """First values, which come as a tile of in1."""
        name = self.fresh("in1")
        yield from self.acquire(1, _CONSUME, name)
        yield self.call("first", name, out)
        yield self.release(1, _CONSUME)

    def call(self, kind: str, *operands: str) -> str:
        """The call of a kernel."""
        kinds = ", ".join(map(self.whole.kind, kernels_of(self.whole.program)[kind]))
        return f"func.call @{PREFIX}{kind}({', '.join(operands)}) : ({kinds}) -> ()"

    def drop(self, tensor: int) -> Iterator[str]:
        """What others of the row or column still need."""
        yield from self.acquire(tensor, _CONSUME, self.fresh("dropped"))
        yield self.release(tensor, _CONSUME)

    def acquire(self, tensor: int, port: int, name: str) -> Iterator[str]:
        kind, view = self.whole.kind(tensor), self.fresh("view")
        subview = f"!aie.objectfifosubview<{kind}>"
        given = f"objFifo_name = @{self.names[tensor]}, port = {port} : i32, size = 1 : i32"
        yield f'{view} = "aie.objectfifo.acquire"() {{{given}}} : () -> {subview}'
        yield f'{name} = "aie.objectfifo.subview.access"({view}) {{index = 0 : i32}} : ({subview}) -> {kind}'

    def release(self, tensor: int, port: int) -> str:
        given = f"objFifo_name = @{self.names[tensor]}, port = {port} : i32, size = 1 : i32"
        return f'"aie.objectfifo.release"() {{{given}}} : () -> ()'


def kernels_of(program: NpuProgram) -> dict[str, tuple[int, ...]]:
    """The kernels that cores call, and the tensors whose tiles they take."""
    found: dict[str, tuple[int, ...]] = {"gemm": (0, 1, 2)}
    found["first" if program.loops.has_first else "zero"] = (1, 2) if program.loops.has_first else (2,)
    return found | ({"relu": (2,)} if program.tec.prim_last == "relu" else {})


def contraction_kernels(program: NpuProgram) -> str:
    """The kernels of a program in C++ with the AIE API, on tiles in blocks of the vector unit.

    `contraction_gemm(in0, in1, out)` adds a product, for M and N that 4 divides, K that 8 divides, and tiles of all
    three tensors that may be turned; `contraction_zero(out)` or `contraction_first(tile, out)` begin a tile,
    `contraction_relu(out)` ends one. Source: Steinert (2025), section 4.3. They include `allo_contraction.h`, which
    lies with the package.
    """
    m, n, k = (d.size for d in program.tec.primitive)
    turned = ", ".join(str(way).lower() for way in program.turned)
    bodies = {
        "gemm": f"gemm_blocks<{m}, {k}, {n}, {turned}>(in0, in1, out);",
        "zero": f"zero_blocks<{m * n}>(out);",
        "first": f"first_blocks<{m}, {n}, {str(program.tec.prim_first == 'relu').lower()}>(in1, out);",
        "relu": f"relu_blocks<{m * n}>(out);",
    }
    lines = ['#include "allo_contraction.h"', ""]
    for kind, tensors in kernels_of(program).items():
        given = ", ".join(f"{'' if t == 2 else 'const '}bfloat16 *__restrict {TENSORS[t]}" for t in tensors)
        lines += [f'extern "C" void {PREFIX}{kind}({given}) {{', f"  allo_kernels::{bodies[kind]}", "}"]
    return "\n".join(lines) + "\n"


def _tile(column: int, row: int) -> str:
    return f"%tile_{column}_{row}"


def _fifo(name: str, producer: str, consumers: str, kind: str) -> str:
    return f"aie.objectfifo @{name}({producer}, {{{consumers}}}, 2 : i32) : !aie.objectfifo<{kind}>"


def _output(column: int, rows: Sequence[int]) -> str:
    return f"out_{column}_rows_{rows[0]}_{rows[-1]}"


def _dimensions(layout: TileLayout) -> str:
    pairs = zip(layout.sizes, layout.strides, strict=True)
    return f"dimensionsToStream [{', '.join(f'<size = {size}, stride = {stride}>' for size, stride in pairs)}]"


def _transfer(transfer: NpuTransfer, array: str, kind: str) -> str:
    name = _output(transfer.column, transfer.rows) if transfer.tensor == 2 else f"in{transfer.path}_{transfer.column}"
    token = ", issue_token = true" if transfer.tensor == 2 else ""
    sizes, strides = (", ".join(map(str, numbers)) for numbers in (transfer.sizes, transfer.strides))
    return (
        f"aiex.npu.dma_memcpy_nd(%{array}[0, 0, 0, {transfer.offset}][{sizes}][{strides}])"
        f" {{id = {transfer.descriptor} : i64, metadata = @{name}{token}}} : {kind}"
    )
