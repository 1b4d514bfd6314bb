"""Two bodies as one: loops that both run, and around and in them the statements of one or of the other."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from ...ir.builder import Builder, string_attr
from ...ir.context import context
from ...ir.names import unique_name
from ...ir.walk import (
    LOOP_OPERATIONS,
    argument_names,
    entry_block,
    loops_of,
    operations,
    statements,
    string_of,
)

# what is done for both bodies: it has no effect, and a value for all operands
_ANYWAY = frozenset({
    "memref.alloc", "memref.get_global", "memref.dim", "memref.cast", "allo.element_cast", "allo.sign_cast",
    "arith.constant", "arith.index_cast", "arith.extsi", "arith.extui", "arith.trunci", "arith.addi", "arith.subi",
    "arith.muli",
})  # fmt: skip


def shared_loops(function: ir.OpView, count: int) -> list[ir.Operation]:
    """The first `count` loops of the last nest of a function; fewer if other statements stand between them."""
    entry = entry_block(function)
    assert entry is not None
    found: list[ir.Operation] = []
    inside = [op for op in statements(entry) if op.name in LOOP_OPERATIONS][-1:]
    while len(inside) == 1 and inside[0].name == "affine.for" and len(found) < count:
        found.append(inside[0])
        inside = statements(inside[0].regions[0].blocks[0])[:-1]
    return found


def unify_bodies(
    first: ir.OpView, second: ir.OpView, control: ir.Value, loops: tuple[list[ir.Operation], list[ir.Operation]]
) -> bool:
    """Let `first` do what `second` does where `control` is false; `second` is used up.

    False if values that one of them computes outside of the shared loops are needed elsewhere: they are computed for
    one body only, and have no place to be kept. Then the module is of no use any more.
    """
    entry, other = entry_block(first), entry_block(second)
    assert entry is not None and other is not None
    _rename(first, second, loops[1])
    for mine, its in zip(entry.arguments, other.arguments, strict=False):
        its.replace_all_uses_with(mine)
    end, other_end = statements(entry)[-1], statements(other)[-1]
    _join_results(end, other_end)
    anchor = loops[0][0] if loops[0] else end
    before, behind = _around(entry, loops[0])
    its_before, its_behind = _around(other, loops[1])
    other_end.erase()
    for op in its_before:
        op.move_before(anchor)
    for op in its_behind:
        op.move_before(end)
    negated = _negated(entry, control)
    parts = ((before, control), (its_before, negated)), ((behind, control), (its_behind, negated))
    for bodies, place in zip(parts, (anchor, end), strict=True):
        if not all(_guarded(ops, condition, place) for ops, condition in bodies):
            return False
    if loops[0]:
        _join_loops(loops, control)
    _load_results(end)
    return True


def _around(body: ir.Block, loops: Sequence[ir.Operation]) -> tuple[list[ir.Operation], list[ir.Operation]]:
    """The statements of a body before its shared loops, and those behind them but for the last; all before, if none."""
    ops = statements(body)[:-1]
    split = ops.index(loops[0]) if loops else len(ops)
    return ops[:split], ops[split + 1 :]


def _negated(entry: ir.Block, control: ir.Value) -> ir.Value:
    """`not control`, in front of everything."""
    builder = Builder(ir.InsertionPoint.at_block_begin(entry), entry.owner.location)
    return builder.value("arith.xori", control.type, [control, builder.constant(control.type, 1)])


def _guarded(ops: Sequence[ir.Operation], condition: ir.Value, place: ir.Operation) -> bool:
    """Let statements run, in front of `place`, only where a condition holds; whether all that needs them is among them.

    Arrays are made anyway, and numbers that follow from constants and arguments without reading memory.
    """
    chosen: list[ir.Operation] = []
    for op in ops:
        made_here = [v for v in op.operands if not isinstance(v.owner, ir.Block) and v.owner.operation in chosen]
        if op.name not in _ANYWAY or made_here:
            chosen.append(op)
        elif op.name == "memref.alloc":
            block = op.block
            op.move_before(statements(block)[0])
    if not chosen:
        return True
    end = statements(Builder.before(place).scf_if(condition, (), False).regions[0].blocks[0])[-1]
    for op in chosen:
        op.move_before(end)
    users = [use.owner.operation for op in chosen for result in op.results for use in result.uses]
    return all(_is_inside(user, end.block) for user in users)


def _is_inside(op: ir.Operation, block: ir.Block) -> bool:
    current: ir.Operation | None = op
    while current is not None:
        if current.block == block:
            return True
        parent = current.parent
        current = None if parent is None or parent.operation.name == "func.func" else parent.operation
    return False


def _join_loops(loops: tuple[list[ir.Operation], list[ir.Operation]], control: ir.Value) -> None:
    """The innermost bodies as two branches in the loops of the first."""
    for mine, its in zip(*loops, strict=True):
        its.regions[0].blocks[0].arguments[0].replace_all_uses_with(mine.regions[0].blocks[0].arguments[0])
    body, other = (nest[-1].regions[0].blocks[0] for nest in loops)
    own, added = statements(body)[:-1], statements(other)[:-1]
    branch = Builder.before(statements(body)[-1]).scf_if(control, (), True)
    for op, region in [*((op, branch.regions[0]) for op in own), *((op, branch.regions[1]) for op in added)]:
        op.move_before(statements(region.blocks[0])[-1])
    loops[1][0].erase()


def _join_results(end: ir.Operation, other: ir.Operation) -> None:
    """Arrays that both give are one; numbers that they give go to one variable, which the end takes instead."""
    builder = Builder.before(end)
    for position, (mine, its) in enumerate(zip(list(end.operands), list(other.operands), strict=True)):
        if mine == its and not isinstance(mine.owner, ir.Block):
            continue
        if not isinstance(mine.type, ir.MemRefType):
            variable = builder.alloc(ir.MemRefType.get([], mine.type, loc=end.location), f"result{position}")
            for value, place in ((mine, end), (its, other)):
                Builder.before(place).affine_store(value, variable, ir.AffineMap.get(0, 0, [], context()), [])
            end.operands[position] = variable
        elif mine != its:
            made = its.owner.operation
            its.replace_all_uses_with(mine)
            made.erase()


def _load_results(end: ir.Operation) -> None:
    """The numbers that the variables of `_join_results` hold."""
    signature = ir.FunctionType(ir.TypeAttr(end.parent.operation.attributes["function_type"]).value)
    for position, (value, wanted) in enumerate(zip(list(end.operands), signature.results, strict=True)):
        if value.type != wanted:
            empty = ir.AffineMap.get(0, 0, [], context())
            end.operands[position] = Builder.before(end).affine_load(value, empty, [])


def _rename(first: ir.OpView, second: ir.OpView, shared: Sequence[ir.Operation]) -> None:
    """Give loops, nests and arrays of the second body names that the first has not."""
    entry, other = entry_block(first), entry_block(second)
    assert entry is not None and other is not None
    arrays = {name for op in operations(entry) if op.name not in LOOP_OPERATIONS and (name := _name(op)) is not None}
    arrays |= set(argument_names(first))
    nests = {name for op in operations(entry) if (name := string_of(op, "allo.nest")) is not None}
    names = {view.name for view in loops_of(first)}
    for op in operations(other):
        is_loop = op.name in LOOP_OPERATIONS
        if op in shared or (name := _name(op)) is None:
            continue
        op.attributes["allo.name"] = string_attr(unique_name(name, names if is_loop else arrays))
        if (nest := string_of(op, "allo.nest")) is not None:
            op.attributes["allo.nest"] = string_attr(unique_name(nest, nests))


def _name(op: ir.Operation) -> str | None:
    return string_of(op, "allo.name")
