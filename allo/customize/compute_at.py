"""compute_at: run a loop nest inside of the later one that uses its results."""

from __future__ import annotations

from mlir import ir

from ..errors import ScheduleError
from ..ir.module import Module
from ..ir.walk import LoopView, loops_of, statements
from ..poly import Needed, Undecided, extract, merge_violation, moved_past, needed_iterations
from .nest.absorb import absorb, absorbed_by
from .nest.merge import matching, merge
from .nest.recompute import recompute
from .nest.rewrite import only_child
from .step.handles import Loop
from .step.legality import demand, demand_repeatable, demand_still_parallel, parallel_loops
from .step.primitive import primitive
from .step.resolve import find_loop, loop_note


@primitive
def compute_at(module: Module, from_loop: Loop, target_loop: Loop, assume_safe: bool = False) -> None:
    """Run the nest of `from_loop` at the start of each iteration of `target_loop`, a loop of a later nest.

        for i in range(n): B[i] = f(i)
        for j in range(n):            for j in range(n):
            C[j] = B[j]        ->         B[j] = f(j)
                                          C[j] = B[j]

    Where the iterations of the loops down to the target are the same in both nests and no value changes by it, the
    nests are merged, and each statement runs as often as before. Else each iteration of the target computes again
    what it reads, in the box of the iterations that write it (three rows of a stencil, say): for this, the nest must
    compute the same values whenever it runs, and write nothing that is used later, or all of it once; first values of
    what it sums up (`B: int32[n] = 0`) are written with each sum.
    Refused: a target that does not follow the nest in the same block; a dependence with a statement in between; what
    neither merging nor computing again can respect, with the two statements, the array and a pair of iterations.
    `assume_safe=True` merges where that cannot be decided.
    Source: Allo paper, Table 2; Halide (Ragan-Kelley et al., PLDI 2013).
    """
    producer, target = find_loop(module, from_loop), find_loop(module, target_loop)
    if from_loop.function != target_loop.function:
        raise ScheduleError(f"loops '{from_loop}' and '{target_loop}' are in different functions")
    nest, consumer = _nests(module.function(from_loop.function), producer, target)
    model = extract(module.function(from_loop.function), producer.chain[0].op, target.chain[0].op)
    what = f"the nest of loop '{from_loop.name}' cannot be computed at loop '{target_loop.name}'"
    demand(moved_past(model, nest[0].op, target.op), what, assume_safe=assume_safe)
    parallel = parallel_loops(module, target_loop)

    same = matching(nest, consumer)
    answer = None
    if same:
        answer = merge_violation(model, [v.op for v in same], [v.op for v in consumer])
        if answer is None or (assume_safe and isinstance(answer, Undecided)):
            merge(module, from_loop.function, same, consumer)
            demand_still_parallel(module, target_loop, parallel, assume_safe=assume_safe)
            return
    needed = needed_iterations(model, [view.op for view in nest], target.op)
    if not isinstance(needed, Needed) and _begin_with_first_values(module.function(from_loop.function), nest[0].op):
        producer, target = find_loop(module, from_loop), find_loop(module, target_loop)
        nest, consumer = _nests(module.function(from_loop.function), producer, target)
        model = extract(module.function(from_loop.function), producer.chain[0].op, target.chain[0].op)
        needed = needed_iterations(model, [view.op for view in nest], target.op)
    if not isinstance(needed, Needed):
        demand(answer, what, assume_safe=False)
        demand_repeatable(needed, what)
    else:
        recompute(model, nest, target, needed)
        demand_still_parallel(module, target_loop, parallel, assume_safe=assume_safe)


def _begin_with_first_values(function: ir.OpView, nest: ir.Operation) -> bool:
    """Let a nest write itself the first values of arrays that it goes on with, where its loops are the same."""
    block = statements(nest.block)
    before = block[: block.index(nest)]
    found = [op for op in before if (user := absorbed_by(op, block)) is not None and user == nest]
    return any([absorb(function, op, nest, merge_only=True) for op in found])


def _nests(function: ir.OpView, producer: LoopView, target: LoopView) -> tuple[list[LoopView], list[LoopView]]:
    """The loops of the nest that are directly nested, and those of the later nest down to the target."""
    common = [view.op for view in target.chain]
    own = [view for view in producer.chain if view.op not in common]
    notes = [loop_note(producer), loop_note(target)]
    if not own:
        raise ScheduleError(f"loops '{producer.name}' and '{target.name}' are in one nest", notes=notes)
    root = own[0]
    consumer = list(target.chain[len(producer.chain) - len(own) :])
    around = _ancestor_in(root.op.block, target.op)
    body = [op.operation for op in root.op.block.operations]
    if not consumer or around is None or body.index(around) < body.index(root.op):
        raise ScheduleError(
            f"loop '{target.name}' is not in a nest that follows that of loop '{producer.name}' in the same block",
            notes=notes,
        )
    for view in (root, *consumer):
        if view.op.name != "affine.for":
            raise ScheduleError(f"loop '{view.name}' has run-time bounds", notes=[loop_note(view)])
    views = loops_of(function)
    nest = [root]
    while (inner := next((v for v in views if v.parent is not None and v.parent.op == nest[-1].op), None)) is not None:
        if inner.op.name != "affine.for" or not only_child(nest[-1], inner):
            break
        nest.append(inner)
    return nest, consumer


def _ancestor_in(block: ir.Block, op: ir.Operation) -> ir.Operation | None:
    current: ir.Operation | None = op
    while current is not None and current.block != block:
        current = None if current.parent is None or current.parent.name == "func.func" else current.parent.operation
    return current
