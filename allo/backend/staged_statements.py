"""Single statements of a loop of stages as functions that it calls: stages like others, values pass in scalars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlir import ir

from ..ir.access import is_store, makes_stream
from ..ir.builder import Builder
from ..ir.context import context, unknown_location
from ..ir.names import unique_name
from ..ir.walk import LOOP_OPERATIONS, argument_names, entry_block, operations, statements, string_of
from ..ir.widths import INDEX_BITS
from .outlining import outline

PLAIN = ("arith.constant", "affine.apply", "arith.index_cast", "memref.get_global")
_NO_TIME = (*PLAIN, "memref.alloc")
type _Stage = list[ir.Operation]  # neighbours


def gather(function: ir.OpView, loop: ir.Operation, taken: set[str]) -> None:
    """Make calls of all neighbours in a loop that are neither loops nor calls nor places for values.

    A value that goes from one stage to another is written to a scalar by the first and read by the other.
    """
    body = statements(loop.regions[0].blocks[0])[:-1]
    inside = set(body)
    plain: set[ir.Operation] = set()
    for op in body:  # what all stages may have copies of, and arrays, come first
        if makes_stream(op) or (op.name in _NO_TIME and not _made_by(op, inside - plain)):
            plain.add(op)
    _move_to_front(body, [op for op in body if op in plain])
    stages = list(_stages([op for op in body if op not in plain]))
    if all(len(stage) == 1 and _stands_alone(stage[0]) for stage in stages):
        return
    entry = entry_block(function)
    assert entry is not None
    names = dict(zip(entry.arguments, argument_names(function), strict=True))
    base = string_of(function.operation, "sym_name") or "region"
    reads = _pass_values(stages)
    for stage, before in zip(stages, reads, strict=True):
        if before or len(stage) > 1 or not _stands_alone(stage[0]):
            outline(function, [*before, *stage], unique_name(f"{base}_{_named(stage)}", taken), names)


def _stands_alone(op: ir.Operation) -> bool:
    """Whether an operation is a stage by itself."""
    return op.name in (*LOOP_OPERATIONS, "func.call") or any(
        inner.name in (*LOOP_OPERATIONS, "func.call")
        for region in op.regions for block in region.blocks for inner in operations(block)
    )  # fmt: skip


def _made_by(op: ir.Operation, others: set[ir.Operation]) -> bool:
    """Whether an operand is a value of one of these operations."""
    return any(not isinstance(value.owner, ir.Block) and value.owner.operation in others for value in op.operands)


def _move_to_front(body: Sequence[ir.Operation], moved: Sequence[ir.Operation]) -> None:
    """Without a change of their order."""
    first = next((op for op in body if op not in moved), None)
    for op in moved:
        if first is not None:
            op.move_before(first)


def _stages(body: Sequence[ir.Operation]) -> Iterator[_Stage]:
    """Neighbours that are one stage; what makes values that only the next stage needs is a part of it."""
    run: _Stage = []
    for op in body:
        if not _stands_alone(op):
            run.append(op)
            continue
        inside = [op, *(inner for region in op.regions for block in region.blocks for inner in operations(block))]
        before: _Stage = []
        while run and not is_store(run[-1]) and len(run[-1].results) and _all_uses_in(run[-1], [*before, *inside]):
            before.insert(0, run.pop())
        if run:
            yield run
        run = []
        yield [*before, op]
    if run:
        yield run


def _all_uses_in(op: ir.Operation, others: Sequence[ir.Operation]) -> bool:
    return all(use.owner.operation in others for result in op.results for use in result.uses)


def _named(stage: _Stage) -> str:
    return next((name for op in stage if (name := string_of(op, "allo.name")) is not None), "statement")


def _pass_values(stages: Sequence[_Stage]) -> list[_Stage]:
    """Let stages read values of others from scalars: for each, what stands in front of it and does."""
    reads: list[_Stage] = [[] for _ in stages]
    for number, stage in enumerate(stages):
        for result in [result for op in stage for result in op.results if not isinstance(result.type, ir.MemRefType)]:
            users: dict[int, list[ir.Operation]] = {}
            for user in [use.owner.operation for use in result.uses]:
                users.setdefault(_place(user, stages), []).append(user)
            users.pop(number, None)
            if users:
                _pass_value(result, stages, number, users, reads)
    return reads


def _place(op: ir.Operation, stages: Sequence[_Stage]) -> int:
    """The number of the stage in which an operation is."""
    while True:  # hashes of operations change with their operands
        for number, stage in enumerate(stages):
            if op in stage:
                return number
        assert op.parent is not None
        op = op.parent.operation


def _pass_value(
    value: ir.Value, stages: Sequence[_Stage], number: int, users: dict[int, list[ir.Operation]], reads: list[_Stage]
) -> None:
    """Write a value to a scalar where it is made, and read it in front of the stages of its users."""
    stage, made_by, is_index = stages[number], value.owner.operation, isinstance(value.type, ir.IndexType)
    kind = ir.IntegerType.get_signless(INDEX_BITS, context()) if is_index else value.type
    memref = ir.MemRefType.get([], kind, None, None, unknown_location())
    scalar = Builder.before(stage[0]).alloc(memref, string_of(made_by, "allo.name") or "passed")
    behind = Builder(ir.InsertionPoint.after(made_by), made_by.location)
    kept = behind.value("arith.index_cast", kind, [value]) if is_index else value
    behind.store(kept, scalar, [])
    (store,) = (use.owner.operation for use in scalar.uses)
    place = stage.index(made_by) + 1
    stage[place:place] = [kept.owner.operation, store] if is_index else [store]
    for where, found in users.items():
        at = Builder.before(stages[where][0])
        read = at.load(scalar, [])
        reads[where].append(read.owner.operation)
        if is_index:
            read = at.value("arith.index_cast", value.type, [read])
            reads[where].append(read.owner.operation)
        for user in found:
            replace_operands(user, {value: read})


def replace_operands(op: ir.Operation, values: dict[ir.Value, ir.Value]) -> None:
    """Let an operation take others in the places of these values."""
    for number, operand in enumerate(op.operands):
        if operand in values:
            op.operands[number] = values[operand]
