"""Choice of a plan for a processor: which dimensions a primitive has, of which sizes, and the order of the loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

from .cost import Processor, TecCost, shared_cycles
from .plan import TecPlan
from .rewrites import can_fuse, divisors
from .values import DimType, Tec, TecDimension

# The largest blocks of M, N and K that are tried; what is left of a dimension becomes a loop.
_MOST = {DimType.M: 256, DimType.N: 1024, DimType.K: 512}
_NEAR = 0.95  # of the cycles of a plan: what another one may save has to be more than the model is wrong by
_PER_ELEMENT = 0.5  # cycles of plain loops, which are those of vectors
_WORTH = 0.8  # of the cycles of one thread: what threads that share plain loops have to reach
_LONG = 64  # elements of a line in a part
_LEAST_FOR_PRODUCTS = 4  # fewer columns or steps of K leave vector registers empty: plain loops are as good


def chosen_plan(tec: Tec, processor: Processor | None = None) -> TecPlan:
    """The plan that the cost model likes best: fused dimensions, then a GEMM or BRGEMM where there is one in `tec`.

    `tec` has loops only. With several cores, a loop of type C, M or N is shared where that pays.
    """
    processor = processor or Processor()
    plan = fused(TecPlan.begin(tec))
    if tec.is_unary or not _has_products(plan.tec):
        return _plain_loops(plan, processor)
    if any(d.type is DimType.M and d.strides[2] == 1 for d in plan.tec.dimensions):
        plan = plan.swap()  # vectors are along N, which has to be next to each other in the output
    best, cost = plan, float("inf")
    ways = []
    for made in _primitives(plan, processor):
        bound = TecCost(made.tec, processor)
        ways += [(bound.least(shared), made, shared) for shared in bound.shareable]
    for least, made, shared in sorted(ways, key=lambda way: way[0]):
        if least >= _NEAR * cost:
            break  # whatever the order of its loops is, it is hardly better
        for candidate in _ordered(made, shared):
            found = TecCost(candidate.tec, processor).total
            if found < cost:
                best, cost = candidate, found
    return best


def _plain_loops(plan: TecPlan, processor: Processor) -> TecPlan:
    """Loops around one statement: those of sums in the order of memory of the inputs, the others in that of the output.

    Parts of the outermost loop of the result are shared where that pays.
    """
    dimensions, cycles = plan.tec.dimensions, _PER_ELEMENT * prod(plan.tec.dim_sizes)
    first, is_sum = dimensions[0], DimType.K in plan.tec.dim_types
    count = _parts_of(first, processor) if is_sum or len(dimensions) == 1 else first.size
    shared = first.type is not DimType.K and shared_cycles(processor, cycles, count) < _WORTH * cycles
    if shared and count < first.size:
        plan = plan.split(first.name, first.size // count)
    order = [d.name for d in plan.tec.dimensions]
    if is_sum:
        inner = sorted(plan.tec.dimensions[shared:], key=lambda d: -max(d.strides[:2]))
        order[shared:] = [d.name for d in inner]
    if order != [d.name for d in plan.tec.dimensions]:
        plan = plan.permute(*order)
    return plan.execute(order[0], "shared") if shared else plan


def _parts_of(d: TecDimension, processor: Processor) -> int:
    """How many parts of a loop threads share, if no loop is inside of it or others come between it and its parts: many,
    if what one has of a line of an input stays long."""
    counts = [n for n in divisors(d.size) if processor.cores <= n <= processor.cores * processor.parts]
    long = [n for n in counts if d.size // n * max(d.strides[:2]) >= _LONG]
    return max(long) if long else min(counts, default=1)


def fused(plan: TecPlan) -> TecPlan:
    """All dimensions fused that lie behind each other in all tensors."""
    while pair := next(_fusable(plan.tec.dimensions), None):
        first, second = pair
        plan = plan.fuse(first.name, second.name, first.name + second.name)
    return plan


def _fusable(dimensions: Sequence[TecDimension]) -> Iterator[tuple[TecDimension, TecDimension]]:
    for first, second in product(dimensions, repeat=2):
        if first is not second and can_fuse(first, second):
            yield first, second


def _has_products(tec: Tec) -> bool:
    largest = {type: max((d.size for d in tec if d.type is type), default=1) for type in DimType}
    least = _LEAST_FOR_PRODUCTS
    return largest[DimType.K] >= least and largest[DimType.N] >= 2 and largest[DimType.M] >= 2 and (
        max(largest[DimType.M], largest[DimType.N]) >= least
    )


def _primitives(plan: TecPlan, processor: Processor) -> Iterator[TecPlan]:
    """Plans with a primitive: its dimensions and their sizes."""
    of = {type: [d for d in plan.tec if d.type is type] for type in DimType}
    columns = [d for d in of[DimType.N] if d.strides[2] == 1] or of[DimType.N]
    for m, n, k in product(_largest(of[DimType.M]), columns, _largest(of[DimType.K])):
        for sizes in product(*(_blocks(d, processor) for d in (m, n, k))):
            split, names = _split(plan, (m, n, k), sizes)
            more = sorted((d for d in of[DimType.K] if d is not k), key=lambda d: d.size)
            batch = next((d for d in more if d.size * sizes[2] <= _MOST[DimType.K]), None)
            yield split.primitive("GEMM", *names)
            if batch is not None:
                yield split.primitive("BRGEMM", batch.name, *names)


def _largest(dimensions: Sequence[TecDimension], count: int = 2) -> list[TecDimension]:
    """Those that are worth a try."""
    return sorted(dimensions, key=lambda d: -d.size)[:count]


def _blocks(d: TecDimension, processor: Processor) -> list[int]:
    """Sizes for the part of a dimension that the primitive has: the largest, one about half and one about a quarter;
    with several cores, one that leaves them many parts of it."""
    most = _MOST[d.type]
    fitting = [size for size in divisors(d.size) if size <= most]
    if fitting[-1] * 8 < min(most, d.size):
        return [d.size]  # a prime number, or nearly: loops over its parts would be the slower
    parts = [most // 4, most // 2, d.size // 2]
    if processor.cores > 1 and d.type is not DimType.K:
        parts.append(d.size // (processor.cores * processor.parts))
    wanted = [fitting[-1], *(min(fitting, key=lambda s: abs(s - part)) for part in parts)]
    return list(dict.fromkeys(size for size in wanted if size >= min(8, fitting[-1])))


def _split(
    plan: TecPlan, dimensions: Sequence[TecDimension], sizes: Sequence[int]
) -> tuple[TecPlan, tuple[str, ...]]:
    names = []
    for d, size in zip(dimensions, sizes, strict=True):
        if size < d.size:
            plan = plan.split(d.name, size)
        names.append(f"{d.name}.inner" if size < d.size else d.name)
    return plan, tuple(names)


def _ordered(plan: TecPlan, shared: TecDimension | None) -> Iterator[TecPlan]:
    """The loops in the orders in which blocks are packed seldom, behind the one that threads share."""
    outer, inner = plan.tec.outer, [d.name for d in plan.tec.primitive]
    orders = []
    for types in ("CNKM", "CMKN"):
        order = [d.name for type in types for d in _outermost_first(outer) if d.type == type]
        orders.append(order)
        input = 1 if types == "CNKM" else 0  # the one that is packed seldom, in the order of its memory
        orders.append([d.name for type in types for d in _outermost_first(outer, input) if d.type == type])
        # what lies next to each other in an input is packed together if its loop is the innermost
        units = [d.name for d in outer if 1 in d.strides[:2]]
        orders += [[*(name for name in order if name != unit), unit] for unit in units]
    first = [] if shared is None else [shared.name]
    for names in dict.fromkeys((*first, *(name for name in order if name not in first)) for order in orders):
        same = list(names) == [d.name for d in outer]
        made = plan if same else plan.permute(*names, *inner)
        yield made if shared is None else made.execute(shared.name, "shared")


def _outermost_first(dimensions: Sequence[TecDimension], tensor: int = 2) -> list[TecDimension]:
    """In the order of memory of a tensor, then of the others."""
    return sorted(dimensions, key=lambda d: (-d.strides[tensor], -d.strides[2], -d.strides[0], -d.strides[1]))
