"""compute_at: run a loop nest inside of the later one that uses its results."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from mlir import ir

from ..errors import ScheduleError
from ..ir.module import Module
from ..ir.walk import LoopView, bound_operands, induction_variable, loops_of
from ..poly import Needed, Undecided, extract, merge_violation, moved_past, needed_iterations
from .nest.recompute import free_names, recompute
from .nest.rewrite import loop_attributes, only_child
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
    compute the same values whenever it runs, and write nothing that is used elsewhere, or all of it once.
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

    matching = _matching(nest, consumer)
    answer = None
    if matching:
        answer = merge_violation(model, [v.op for v in matching], [v.op for v in consumer])
        if answer is None or (assume_safe and isinstance(answer, Undecided)):
            _merge(module, from_loop.function, matching, consumer)
            demand_still_parallel(module, target_loop, parallel, assume_safe=assume_safe)
            return
    needed = needed_iterations(model, [view.op for view in nest], target.op)
    if not isinstance(needed, Needed):
        demand(answer, what, assume_safe=False)
        demand_repeatable(needed, what)
    else:
        recompute(model, nest, target, needed)
        demand_still_parallel(module, target_loop, parallel, assume_safe=assume_safe)


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


def _matching(nest: Sequence[LoopView], consumer: Sequence[LoopView]) -> list[LoopView]:
    """The loops of the nest that run over the same iterations as those of the consumer, if all of them do."""
    if len(nest) < len(consumer) or any(inner.op.block != outer.body for outer, inner in pairwise(consumer)):
        return []
    if consumer[0].op.block != nest[0].op.block:
        return []
    same: dict[ir.Value, ir.Value] = {}
    for mine, other in zip(nest, consumer, strict=False):
        if any(mine.op.attributes[n] != other.op.attributes[n] for n in ("lowerBoundMap", "upperBoundMap", "step")):
            return []
        operands = [same.get(value, value) for side in bound_operands(mine.op) for value in side]
        if operands != [value for side in bound_operands(other.op) for value in side]:
            return []
        same[induction_variable(mine.op)] = induction_variable(other.op)
    return list(nest[: len(consumer)])


def _merge(module: Module, function: str, merged: Sequence[LoopView], consumer: Sequence[LoopView]) -> None:
    """Move the body of the nest to the start of the target's, with the loop variables of the consumer."""
    for view in merged:
        loop_attributes(view)
    free_names(module.function(function), merged[-1].op, consumer[-1])
    for mine, other in zip(merged, consumer, strict=True):
        induction_variable(mine.op).replace_all_uses_with(induction_variable(other.op))
    first = consumer[-1].body.operations[0]
    for op in list(merged[-1].body.operations)[:-1]:
        op.operation.move_before(first)
    merged[0].op.erase()
