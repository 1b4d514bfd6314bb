"""Choice of a plan for an array: tiles of the primitive and the order of npu loops, by cycles of the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from ....errors import ContractionError
from ..choose import fused
from ..plan import TecPlan
from ..rewrites import divisors
from ..values import DataType, DimType, PrimMain, Tec, TecDimension
from .program import npu_program
from .rules import XDNA_ARRAY, NpuArray

_UNITS = {DimType.M: (4,), DimType.N: (4,), DimType.K: (8, 4)}
_MOST = 128  # of a dimension of a tile
_CALL = 25  # cycles of a call of the kernel, section 6.2 of the thesis


def npu_plan(tec: Tec, array: NpuArray = XDNA_ARRAY) -> TecPlan:
    """The plan of a contraction, given as loops, whose program has the least cycles of cores and streams.

    Raises ContractionError, with the reason of the last one tried, if the array takes none.
    """
    if tec.prim_main is not PrimMain.NONE:
        raise ContractionError(f"npu_plan takes a contraction as loops, got a {tec.prim_main}")
    if tec.data_type is not DataType.BF16:
        raise ContractionError(f"an array computes {DataType.BF16}, and the contraction has {tec.data_type}")
    plan = fused(TecPlan.begin(tec))
    best: tuple[float, int, TecPlan] | None = None
    refusal: ContractionError | None = None
    for candidate in _candidates(plan):
        try:
            program = npu_program(candidate.tec, array)
        except ContractionError as error:
            refusal = error
            continue
        cycles = max(program.cycles(program.least_cycles + _CALL).values())
        if best is None or (cycles, len(program.sequence)) < best[:2]:
            best = (cycles, len(program.sequence), candidate)
    if best is None:
        reason = f": {refusal.diagnostics[0].message}" if refusal is not None else ""
        hint = "M, N and K have a divisor of 4, and each tensor a tile with a unit stride"
        raise ContractionError(f"no plan of the contraction fits the array{reason}", hint=hint)
    return best[2]


def _candidates(plan: TecPlan) -> Iterator[TecPlan]:
    of = {type: [d for d in plan.tec if d.type is type] for type in _UNITS}
    for chosen in product(*of.values()):
        for sizes in product(*(_sizes(d) for d in chosen)):
            m, n, k = sizes
            if 2 * (m * k + k * n + m * n) <= 32256:
                yield from _with_tiles(plan, chosen, sizes)


def _sizes(d: TecDimension) -> list[int]:
    """The largest tiles of a dimension; K of blocks of 4 where it has none of 8."""
    fitting = ([n for n in divisors(d.size) if n % unit == 0 and n <= _MOST][-3:] for unit in _UNITS[d.type])
    return next((sizes for sizes in fitting if sizes), [])


def _with_tiles(plan: TecPlan, chosen: Sequence[TecDimension], sizes: Sequence[int]) -> Iterator[TecPlan]:
    """Plans with these tiles: all other loops are npu, those of K last, the others in two orders."""
    names = []
    for d, size in zip(chosen, sizes, strict=True):
        if size < d.size:
            plan = plan.split(d.name, size)
        names.append(f"{d.name}.inner" if size < d.size else d.name)
    plan = plan.primitive("GEMM", *names)
    for d in plan.tec.outer:
        plan = plan.execute(d.name, "npu")
    for types in ("CMNK", "CNMK"):
        outer = [d.name for type in types for d in plan.tec.outer if d.type == type]
        yield plan.permute(*outer, *names) if outer else plan
