"""The domain of TECs on XDNA, Fig. 6, and what its memories and DMA engines ask of tiles and strides.

Source: Steinert (2025), section 5.2; limits of engines: AM020 and MLIR-AIE's target model. What the thesis restricts
and this lowering does not: several npu dimensions of type K, dimensions of type C, none of type M, N or K, uneven
distribution in any of them, buffer descriptors that are used again in all unrolled loops, first values of the output,
relu at its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

from ....errors import ContractionError, Diagnostic
from ..rules import TecDomain
from ..values import TENSORS, DataType, DimType, ExecType, PrimFirst, PrimLast, PrimMain, Tec


@dataclass(frozen=True, slots=True)
class NpuArray:
    """An array of compute tiles with a memory tile and a shim a column."""

    rows: int = 4
    columns: int = 4
    tile_bytes: int = 65536
    stack_bytes: int = 1024
    descriptors: int = 16  # of a shim
    outstanding: int = 4  # transfers that wait on a channel of a shim
    stride_words: int = 1 << 20
    wrap: int = 1023
    repeat: int = 64

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ContractionError(f"{field.name} of an array is a positive whole number, got {value!r}")
        if self.rows > 4:
            raise ContractionError(f"an array has 1 to 4 rows, got {self.rows}")


XDNA_ARRAY = NpuArray()
XDNA = TecDomain(
    "XDNA",
    frozenset({ExecType.SEQ, ExecType.NPU, ExecType.PRIM}),
    frozenset({DataType.BF16}),
    frozenset(PrimFirst),
    frozenset({PrimMain.GEMM}),
    frozenset(PrimLast),
)


def check_npu(tec: Tec, array: NpuArray) -> None:
    """Raises ContractionError with all that keeps `tec` from the array."""
    found = [(message, "") for message in XDNA.violations(tec)]
    found = found or [*_order(tec), *_tiles(tec, array), *_strides(tec), *_first_values(tec)]
    if found:
        raise ContractionError.collected([Diagnostic(message, None, hint or None) for message, hint in found])


def _order(tec: Tec) -> Iterator[tuple[str, str]]:
    """A sum stays in its core until it is done, unless what a call leaves is what the next one begins with."""
    goes_on = tec.prim_first is PrimFirst.NONE and tec.prim_last is PrimLast.NONE
    npu = [d for d in tec.dimensions if d.execution is ExecType.NPU]
    for k, d in enumerate(tec.outer):
        if d.execution is ExecType.SEQ and any(e.execution is ExecType.NPU for e in tec.outer[:k]):
            yield f"dimension '{d.name}' is seq and stands in an npu loop", "seq dimensions come first"
        if d.type is DimType.K and d.execution is ExecType.SEQ and d.size > 1 and not goes_on:
            message = f"dimension '{d.name}' of type K is seq: sums end in their core"
            yield message, "make it npu, or begin with what is there: prim_first none, prim_last none"
    for k, d in enumerate(npu):
        if d.type is DimType.K and d.size > 1 and any(e.type is not DimType.K for e in npu[k:]):
            message = f"dimension '{d.name}' of type K has loops of the output inside of it"
            yield message, "npu dimensions of type K come last"


def _tiles(tec: Tec, array: NpuArray) -> Iterator[tuple[str, str]]:
    m, n, k = (d.size for d in tec.primitive)
    for d, unit in zip(tec.primitive, (4, 4, 4), strict=True):
        if d.size % unit:
            yield f"prim dimension '{d.name}' of type {d.type} has size {d.size}: a multiple of {unit} is needed", ""
    size, room = 2 * (m * k + k * n + m * n), (array.tile_bytes - array.stack_bytes) // 2
    if size > room:
        message = f"the tiles of the primitive have {size} bytes, and a core {room} for each of two sets"
        yield message, "split a prim dimension"


def turned_of(tec: Tec) -> tuple[bool, bool, bool]:
    """Whether tiles of in0, in1 and the output are transposed: M, K, or M is the dimension of unit stride."""
    m, n, k = tec.primitive
    pairs = ((m, k), (k, n), (m, n))
    one, two, three = (a.strides[t] < b.strides[t] for t, (a, b) in enumerate(pairs))
    return one, two, three


def _first_values(tec: Tec) -> Iterator[tuple[str, str]]:
    """First values come in the place of tiles of in1, for a core has two inputs: they have to be like those."""
    if tec.prim_first is PrimFirst.ZERO:
        return
    m, _, k = tec.primitive
    what = "first values of the output come as tiles of in1 do"
    if m.size != k.size:
        yield f"{what}: M and K of the primitive are {m.size} and {k.size}", "split one so that they are the same"
    if any(turned_of(tec)[1:]):
        yield f"{what}: N has the unit stride in both", "swap the inputs, or lay in1 out with N last"


def _strides(tec: Tec) -> Iterator[tuple[str, str]]:
    """Engines move words of four bytes, so that a row of two elements is the least."""
    for number, tensor in enumerate(TENSORS):
        prim = [d for d in tec.primitive if d.strides[number]]
        if not any(d.strides[number] == 1 for d in prim):
            names = " and ".join(f"'{d.name}'" for d in prim)
            yield f"{tensor} has no unit stride in the primitive: {names} step over elements", ""
        for d in tec.dimensions:
            if d.strides[number] % 2 and d.size > 1 and not (d in prim and d.strides[number] == 1):
                message = f"dimension '{d.name}' has the odd stride {d.strides[number]} in {tensor}"
                yield message, "engines move words of two elements"
