"""Line buffers filled in the loop whose window reads them, so that both take one pass."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from ...ir.access import access_map, accessed, is_affine_access, is_load, subscripts
from ...ir.builder import Builder, affine_constant, affine_dim, index_type
from ...ir.context import context
from ...ir.effects import Effects
from ...ir.walk import LoopView, annotations_of, constant_bounds, induction_variable, operations
from ...poly import Access, Model, extract
from ..function.calls import function_around
from ..nest.rewrite import constant_for

_FILLING = frozenset({"affine.for", "affine.if", "affine.apply", "affine.yield"})
_MOVABLE = frozenset({"memref.alloc", "arith.constant"})


@dataclass(frozen=True, slots=True)
class _Columns:
    """In each iteration x the window takes the columns `scale * x + offset + r`, for r in 0 .. `count` - 1."""

    scale: int
    offset: int
    count: int
    clipped: bool


@dataclass(frozen=True, slots=True)
class _Plan:
    """`fill` is a nest before `loop` (or before the condition `guard` around it) with a loop `column` to dissolve."""

    fill: ir.Operation
    column: ir.Operation
    columns: _Columns
    loop: ir.Operation
    guard: ir.Operation | None


def merge_fill(function: ir.OpView, model: Model, view: LoopView, load: ir.Operation) -> None:
    """Fill the buffer that `load`, in loop `view`, reads in that loop too, column by column, where that is possible.

        for x_fill in range(X): F(x_fill)          for x in range(-n, N):
        if c:                                          F(x + n)
            for x in range(-n, N):            ->       if c:
                S(buffer[x + n])                           S(buffer[x + n])

    The same is tried for the buffer from which it is filled. The function is left as it is where another statement
    uses the buffer, the columns differ, other work stands between, or the fill loop has annotations. `model` is that
    of the function as it is.
    """
    while (plan := _plan(model, view.op, load)) is not None:
        source = _merge(plan, load.operands[0])
        if source is None:
            return
        load, model = source, extract(function, view.chain[0].op)


def _plan(model: Model, loop: ir.Operation, load: ir.Operation) -> _Plan | None:
    buffer = load.operands[0]
    if isinstance(buffer.owner, ir.Block) or buffer.owner.operation.name != "memref.alloc":
        return None
    guard = _owner(loop)
    if guard.name != "affine.if" or len(guard.regions[1].blocks):
        guard = None
    before = guard or loop
    fills = {
        _child_of(before.block, use.owner.operation) for use in buffer.uses if use.owner.operation != load
    }
    if len(fills) != 1:
        return None
    (fill,) = fills
    if fill is None or fill.name != "affine.for" or not _independent(fill, before, buffer):
        return None
    if guard is not None and any(op.name not in _MOVABLE for op in _ahead(guard, loop)):
        return None
    access = next(access for access in model.accesses if access.op == load)
    moving = [d for d, form in enumerate(access.subscripts) if _variable(access, loop) in dict(form.terms)]
    column = _column_loop(fill, buffer, moving[0]) if len(moving) == 1 else None
    if column is None or annotations_of(column):
        return None
    columns = _columns(access, loop, moving[0], ir.MemRefType(buffer.type).shape[moving[0]])
    return None if columns is None else _Plan(fill, column, columns, loop, guard)


def _variable(access: Access, loop: ir.Operation) -> int:
    return next(outer.variable for outer in access.loops if outer.op == loop)


def _owner(op: ir.Operation) -> ir.Operation:
    parent = op.parent
    assert parent is not None
    return parent.operation


def _child_of(block: ir.Block, op: ir.Operation) -> ir.Operation | None:
    """The operation of `block` that is or holds `op`."""
    while op.name != "func.func":
        if op.block == block:
            return op
        op = _owner(op)
    return None


def _ahead(guard: ir.Operation, loop: ir.Operation) -> list[ir.Operation]:
    """What stands before the loop in the condition."""
    found: list[ir.Operation] = []
    for op in guard.regions[0].blocks[0].operations:
        if op.operation == loop:
            break
        found.append(op.operation)
    return found


def _independent(fill: ir.Operation, before: ir.Operation, buffer: ir.Value) -> bool:
    """Does the nest only fill `buffer`, from arrays that nothing after it, up to the end of the block, may write?"""
    inside = [fill, *operations(fill.regions[0].blocks[0])]
    if any(op.name not in _FILLING and not is_affine_access(op) for op in inside):
        return False
    effects = Effects(function_around(fill).operation.parent.operation)
    own = effects.touched(fill)
    if own.writes != {buffer}:
        return False
    siblings = [op.operation for op in fill.block.operations]
    start, end = siblings.index(fill), siblings.index(before)
    if start > end:
        return False
    return not any(own.reads & effects.touched(sibling).writes for sibling in siblings[start + 1 :])


def _column_loop(fill: ir.Operation, buffer: ir.Value, dimension: int) -> ir.Operation | None:
    """The loop of the nest over one whole dimension of the buffer, each iteration of which stays in its column."""
    accesses = [
        op
        for op in operations(fill.regions[0].blocks[0])
        if any(operand == buffer for operand in op.operands)
    ]
    extent = ir.MemRefType(buffer.type).shape[dimension]
    loop: ir.Operation | None = fill
    while loop is not None and loop.name == "affine.for":
        variable = induction_variable(loop)
        if constant_bounds(loop) == (0, extent, 1) and all(
            _is_at(op, dimension, variable) for op in accesses
        ):
            return loop
        body = [op.operation for op in loop.regions[0].blocks[0].operations]
        loop = body[0] if len(body) == 2 else None
    return None


def _is_at(op: ir.Operation, dimension: int, variable: ir.Value) -> bool:
    """Is the subscript of an access in one dimension the variable?"""
    access = access_map(op)
    assert access is not None
    result = access.results[dimension]
    return isinstance(result, ir.AffineDimExpr) and subscripts(op)[result.position] == variable


def _columns(access: Access, loop: ir.Operation, dimension: int, extent: int) -> _Columns | None:
    """The columns that the load takes, if all iterations together take each one exactly once."""
    bounds = constant_bounds(loop)
    subscript = access.subscripts[dimension]
    loops = {inner.variable: inner.op for inner in access.loops}
    scale, count = 0, 1
    for number, coefficient in subscript.terms:
        op = loops.get(number)
        if op == loop:
            scale = coefficient
            continue
        inner = None if op is None else constant_bounds(op)
        if inner is None or coefficient != 1 or inner[0] or inner[2] != 1 or count != 1:
            return None
        count = inner[1]
    if bounds is None or abs(scale * bounds[2]) != count:
        return None
    lower, upper, step = bounds
    last = lower + (upper - 1 - lower) // step * step
    ends = sorted((scale * lower + subscript.constant, scale * last + subscript.constant))
    least, greatest = ends[0], ends[1] + count - 1
    if least > 0 or greatest < extent - 1:
        return None
    return _Columns(scale, subscript.constant, count, least < 0 or greatest > extent - 1)


def _merge(plan: _Plan, buffer: ir.Value) -> ir.Operation | None:
    """Move the fill into the loop; the load from the array that it fills from, if there is just one."""
    body = plan.loop.regions[0].blocks[0]
    if plan.guard is not None:
        _turn_inside_out(plan.guard, plan.loop, body)
    builder = Builder(ir.InsertionPoint.at_block_begin(body), plan.fill.location)
    operands = [induction_variable(plan.loop)]
    position = affine_dim(0) * plan.columns.scale + plan.columns.offset
    if plan.columns.count > 1:
        name = plan.column.attributes["allo.name"]
        inner = constant_for(builder, plan.columns.count, {"allo.name": name})
        operands.append(induction_variable(inner))
        position = position + affine_dim(1)
        builder.point = ir.InsertionPoint.at_block_terminator(inner.regions[0].blocks[0])
    extent = constant_bounds(plan.column)
    assert extent is not None
    if plan.columns.clipped:
        inside = [position, affine_constant(extent[1] - 1) - position]
        condition = ir.IntegerSet.get(len(operands), 0, inside, [False, False], context())
        guard = builder.affine_if(condition, operands, has_else=False)
        builder.point = ir.InsertionPoint.at_block_terminator(guard.regions[0].blocks[0])
    column_map = ir.AffineMapAttr.get(ir.AffineMap.get(len(operands), 0, [position], context()))
    column = builder.value("affine.apply", index_type(), operands, {"map": column_map})
    assert isinstance(column.owner, ir.Operation | ir.OpView)
    anchor = column.owner.operation
    induction_variable(plan.column).replace_all_uses_with(column)
    moved = [op.operation for op in plan.column.regions[0].blocks[0].operations][:-1]
    if plan.column != plan.fill:
        for op in moved:
            op.move_before(plan.column)
        moved = [plan.fill]
    for op in moved:
        op.move_after(anchor)
        anchor = op
    plan.column.erase()
    nested = [op for top in moved for op in (top, *_inside(top))]
    sources = [op for op in nested if is_load(op) and accessed(op) != buffer]
    return sources[0] if len(sources) == 1 else None


def _inside(op: ir.Operation) -> list[ir.Operation]:
    return [inner for region in op.regions for block in region for inner in operations(block)]


def _turn_inside_out(guard: ir.Operation, loop: ir.Operation, body: ir.Block) -> None:
    """`if c: loop: S` becomes `loop: if c: S`; what else the condition holds stays in it, after the loop."""
    for op in [*_ahead(guard, loop), loop]:
        op.move_before(guard)
    builder = Builder(ir.InsertionPoint.at_block_begin(body), guard.location)
    attributes = {"condition": guard.attributes["condition"]}
    inner = builder.op("affine.if", (), list(guard.operands), attributes, 2)
    block = inner.regions[0].blocks.append(arg_locs=[])
    end = ir.Operation.create("affine.yield", loc=guard.location, ip=ir.InsertionPoint(block))
    for op in list(body.operations)[1:-1]:
        op.operation.move_before(end)
    if len(guard.regions[0].blocks[0].operations) == 1:
        guard.erase()
