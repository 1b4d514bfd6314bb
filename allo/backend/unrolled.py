"""Module as it is scheduled for hardware: rewritten, with the loops unrolled that the schedule unrolls."""

from __future__ import annotations

from mlir import ir

from ..errors import TargetError
from ..ir.access import global_name
from ..ir.builder import i32_attr, memory_attr
from ..ir.linalg import lower_linalg
from ..ir.memory import Memory
from ..ir.module import Module
from ..ir.partitions import divisions_of, is_partitioned
from ..ir.passes import run_passes
from ..ir.streams import is_stream_type, uses_streams
from ..ir.subnormals import flush_subnormals
from ..ir.task_facts import number_tasks
from ..ir.walk import LOOP_OPERATIONS, LoopView, entry_block, location_of, loops_of, operations, trip_count
from ..poly.apart import mark_apart
from ..target import Fpga
from ..timing.problem.memory import array_memory
from ..timing.problem.region import unbounded_loop
from ..timing.rewrites import RewriteOptions, plain_operations, prepared
from ..timing.rewrites.packed_products import NAME as PACKED
from ..timing.roles import Roles, is_nested, is_unrolled
from .instantiate import BankMemory, folded
from .staged_loops import stage_loops

_UNROLL, _WITHOUT_CLEANING = "allo.unroll", "allo-unroll-annotated{max-operations=4000000000}"


def unrolled(module: Module, target: Fpga, *, banks: bool = False) -> Module:
    """A copy of a module in which each datapath is plain operations without loops.

    Grids are calls of their elements, which keep marks of what uses other parts of arrays. With `banks` they take banks
    of memory by themselves, which machine code cannot pass, as neighbours in one are apart. It is rewritten once before
    that, while sums of copies are loops, and once after, when copies can be forwarded, and their products by one factor
    can share a DSP. Meanwhile one element of each class stands for all.
    """
    module = stage_loops(module)
    if any(uses_streams(function) for function in module.functions()):
        module = module.clone()
        number_tasks(module)
        mark_apart(module)
    nests = folded(module, _bank_memory(target) if banks else None)
    made = plain_operations(nests.module)
    if target.flushes:
        lower_linalg(made)
        flush_subnormals(made, units=True)
    made = prepared(made, RewriteOptions(own=True)).module
    _unroll_loops(made)
    made = prepared(made, RewriteOptions()).module
    while _unroll_loops(made):  # bounds that were not constant before
        made = prepared(made, RewriteOptions()).module
    made = prepared(made, RewriteOptions(target=target), only=[PACKED]).module
    nests.unfold(made)
    return made


def _bank_memory(target: Fpga) -> BankMemory:
    """What says of which memory the banks are that elements may take: of arrays whose banks are rows or columns."""

    def bank_memory(value: ir.Value) -> ir.Attribute | None:
        kind = value.type
        if not is_partitioned(kind) or is_stream_type(kind) or global_name(value) is not None:
            return None
        if {name for name, _ in divisions_of(kind)} != {"none", "complete"}:
            return None
        memory = array_memory(value, "", target)
        is_own = memory.is_register or memory.bound
        return None if is_own else memory_attr(Memory(memory.kind.name))

    return bank_memory


def _unroll_loops(module: Module) -> bool:
    """Unroll the loops that the schedule unrolls, in place; whether that left fewer loops."""
    before = len(operations(module.mlir.body, *LOOP_OPERATIONS))
    for function in module.functions():
        if entry_block(function) is not None:
            _mark(function)
            run_passes(f"func.func({_WITHOUT_CLEANING},canonicalize)", function.operation)
    return len(operations(module.mlir.body, *LOOP_OPERATIONS)) < before


def _mark(function: ir.OpView) -> None:
    """Mark all loops that the schedule unrolls, and no other."""
    views = {view.op: view for view in loops_of(function)}
    roles = Roles(views, auto_pipeline=False)
    inside: set[ir.Operation] = set()
    empty: list[ir.Operation] = []
    for view in views.values():
        chain = roles.chain(view)
        if not chain or view.op in inside:
            continue
        inside.update(loop.op for loop in chain)
        within = operations(chain[-1].body, *LOOP_OPERATIONS)
        if unbounded_loop(within) is None:
            for op in within:
                _unroll(op)
                inside.add(op)
            empty += [op for op in within if trip_count(op) == 0 and not len(op.results)]
    for view in views.values():
        if view.op not in inside and not is_unrolled(view.op):
            _leave(view)
    for op in reversed(empty):  # those inside first
        op.erase()


def _unroll(op: ir.Operation) -> None:
    if op.name != "affine.for":
        raise TargetError(
            "a loop inside of a pipelined one is unrolled in hardware, and this one has no affine bounds",
            at=location_of(op),
            hint="pipeline the innermost loop, or give the loop constant bounds",
        )
    op.attributes[_UNROLL] = i32_attr(0)


def _leave(view: LoopView) -> None:
    """A loop that is not a datapath: with loops inside, copies would gain nothing."""
    if _UNROLL not in view.op.attributes:
        return
    factor = ir.IntegerAttr(view.op.attributes[_UNROLL]).value
    trips = trip_count(view.op)
    if is_nested(view) or not factor or trips is None or trips % factor:
        del view.op.attributes[_UNROLL]
