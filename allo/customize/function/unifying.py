"""Two bodies as one: loops that both run, and around and in them the statements of one or of the other."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from ...ir.builder import Builder, string_attr
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
) -> None:
    """Let `first` do what `second` does where `control` is false; `second` is used up."""
    entry, other = entry_block(first), entry_block(second)
    assert entry is not None and other is not None
    _rename(first, second, loops[1])
    for mine, its in zip(entry.arguments, other.arguments, strict=False):
        its.replace_all_uses_with(mine)
    end = statements(entry)[-1]
    negated = _negated(entry, control)
    own, added = statements(entry), statements(other)
    outer = loops[0][0] if loops[0] else None
    split = own.index(outer) if outer is not None else own.index(end)
    its_split = added.index(loops[1][0]) if loops[1] else len(added) - 1
    before, behind = own[:split], own[split + (outer is not None) : -1]
    its_before, its_behind = added[:its_split], added[its_split + bool(loops[1]) : -1]
    anchor = outer or end
    for op in its_before:
        op.move_before(anchor)
    for op in its_behind:
        op.move_before(end)
    _join_results(end, added[-1], control)
    _guard(before, control)
    _guard(its_before, negated)
    _guard(behind, control)
    _guard(its_behind, negated)
    if outer is not None:
        _join_loops(loops, control)


def _negated(entry: ir.Block, control: ir.Value) -> ir.Value:
    """`not control`, in front of everything."""
    builder = Builder(ir.InsertionPoint.at_block_begin(entry), entry.owner.location)
    return builder.value("arith.xori", control.type, [control, builder.constant(control.type, 1)])


def _guard(ops: Sequence[ir.Operation], condition: ir.Value) -> None:
    """Run those of some statements only where a condition holds that do something; values are computed anyway."""
    block: ir.Block | None = None
    for op in ops:
        if len(op.results):
            block = None
            continue
        if block is None:
            block = Builder.before(op).scf_if(condition, (), False).regions[0].blocks[0]
        op.move_before(statements(block)[-1])


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


def _join_results(end: ir.Operation, other: ir.Operation, control: ir.Value) -> None:
    """Arrays that both give are one; of two numbers, that of the chosen body is given."""
    for position, (mine, its) in enumerate(zip(list(end.operands), list(other.operands), strict=True)):
        if mine == its:
            continue
        if isinstance(mine.type, ir.MemRefType):
            made = its.owner.operation
            its.replace_all_uses_with(mine)
            made.erase()
        else:
            chosen = Builder.before(end).value("arith.select", mine.type, [control, mine, its])
            end.operands[position] = chosen


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
