"""Parts of an array that the tasks of a region use: which, at each position, and arrays of their own for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mlir import ir

from ...errors import Note, ScheduleError
from ...ir.access import access_map, callee_name, is_access, is_load, stored, subscripts
from ...ir.builder import Builder, affine_constant, affine_dim, i32_attr, string_attr
from ...ir.context import context, unknown_location
from ...ir.module import Module
from ...ir.partitions import divisions_of, with_divisions
from ...ir.processes import spatial_loops
from ...ir.walk import (
    entry_block,
    induction_variable,
    location_of,
    operations,
    statements,
    string_of,
    trip_count,
)
from ...poly import Footprint, extract, footprint
from ..function.inlining import inline_inside
from ..step.handles import Buffer
from .subscripts import computed

type Lower = tuple[int, tuple[tuple[int, int], ...]]  # constant + sum(coefficient * position along an axis of the grid)


@dataclass(frozen=True, slots=True)
class TaskPart:
    """What the positions of one task use of an array: from `lowers` on, `sizes` elements in each dimension.

    Each of `calls`, of which positions with functions of their own have one, passes the array as the operand of that
    number. `covers`: each position surely writes all of its part.
    """

    process: ir.Operation
    calls: tuple[tuple[ir.Operation, int], ...]
    spatial: tuple[ir.Operation, ...]
    lowers: tuple[Lower, ...]
    sizes: tuple[int, ...]
    read: bool
    written: bool
    covers: bool

    @property
    def name(self) -> str:
        """The name of the task."""
        return string_of(self.process, "allo.nest") or callee_name(self.calls[0][0])

    @property
    def grid(self) -> tuple[int, ...]:
        """The extents of the grid of the task; none of a task without one."""
        return tuple(trip_count(loop) or 0 for loop in self.spatial)

    @property
    def kept(self) -> tuple[int, ...]:
        """The dimensions in which a part has several elements."""
        return tuple(k for k, size in enumerate(self.sizes) if size > 1)

    def same_for_all(self, axis: int) -> bool:
        """Whether positions that differ along an axis of the grid only use the same elements."""
        return not any(dimension == axis for _, terms in self.lowers for dimension, _ in terms)

    def lower(self, dimension: int, places: Sequence[ir.AffineExpr]) -> ir.AffineExpr:
        """Where the part begins, from the place along each axis of the grid."""
        constant, terms = self.lowers[dimension]
        result = affine_constant(constant)
        for axis, coefficient in terms:
            result = result + places[axis] * coefficient
        return result


def task_part(module: Module, buffer: Buffer, value: ir.Value, process: ir.Operation, why: str) -> TaskPart:
    """The part of an array that a process of its region uses.

    Raises ScheduleError, which begins with `why`, unless the process is a call, at each position of its grid, of a
    function that nothing else calls and that only loads and stores elements.
    """
    spatial = tuple(spatial_loops(process))
    notes = [Note("the process is here", location_of(process))]
    calls = _only_calls(process, spatial)
    places = [[k for k, operand in enumerate(call.operands) if operand == value] for call in calls]
    if not calls or any(len(own) != 1 for own in places):
        raise ScheduleError(
            f"{why}: a process that uses it is not one call that takes it once",
            hint="write it as a task, or as a function that takes the array",
            notes=notes,
        )
    passed = tuple((call, own[0]) for call, own in zip(calls, places, strict=True))
    for call, number in passed:
        _demand_accesses(module, call, number, why, notes)
    return _touched(module, buffer, value, process, passed, spatial)


def _only_calls(process: ir.Operation, spatial: Sequence[ir.Operation]) -> list[ir.Operation]:
    """The calls that a process consists of: one, or one for each group of positions with a function of its own."""
    if not spatial:
        return [process] if process.name == "func.call" else []
    found: list[ir.Operation] = []
    pending = [spatial[-1].regions[0].blocks[0]]
    while pending:
        block = pending.pop()
        calls = [op for op in statements(block) if op.name == "func.call"]
        choices = [op for op in statements(block) if op.name == "affine.if"]
        if len(calls) + len(choices) != 1:
            return []
        found += calls
        pending += [arm for op in choices for region in op.regions for arm in region.blocks]
    return found


def _demand_accesses(module: Module, call: ir.Operation, number: int, why: str, notes: list[Note]) -> None:
    """Refuse a callee that others call, or that does more with the array than to load and store elements."""
    name = callee_name(call)
    others = [op for f in module.functions() for op in _calls_of(f, name) if op != call]
    entry = entry_block(module.function(name))
    if others or entry is None:
        reason = "has no body here" if entry is None else "is called from elsewhere too"
        raise ScheduleError(
            f"{why}: '{name}', which takes it, {reason}", hint="give it a function of its own", notes=notes
        )
    for use in entry.arguments[number].uses:
        op = use.owner.operation
        if not is_access(op):
            is_call = op.name == "func.call"
            what = f"hands it on to '{callee_name(op)}'" if is_call else "uses it as a whole"
            raise ScheduleError(
                f"{why}: '{name}' {what}",
                hint=f"put what it does into the task first: s.inline('{callee_name(op)}')" if is_call else None,
                notes=[Note("it does that here", location_of(op))],
            )


def _calls_of(function: ir.OpView, name: str) -> list[ir.Operation]:
    entry = entry_block(function)
    return [] if entry is None else [op for op in operations(entry, "func.call") if callee_name(op) == name]


def _touched(
    module: Module, buffer: Buffer, value: ir.Value, process: ir.Operation,
    calls: tuple[tuple[ir.Operation, int], ...], spatial: tuple[ir.Operation, ...],
) -> TaskPart:  # fmt: skip
    shape = tuple(ir.MemRefType(value.type).shape)
    uses = [use.owner.operation for call, k in calls for use in _parameter(module, call, k).uses]
    read, written = any(is_load(op) for op in uses), any(not is_load(op) for op in uses)
    several: Sequence[int | None] = [None] if len(calls) == 1 else range(len(calls))
    found = [_footprint(module, buffer, process, only) for only in several] if spatial else []
    boxes = {_box(part, spatial) for part in found}
    if len(boxes) > 1:  # positions with functions of their own use other elements
        found = [_footprint(module, buffer, process)]
        boxes = {_box(part, spatial) for part in found}
    box = boxes.pop() if boxes else None
    if box is None:
        return TaskPart(process, calls, spatial, ((0, ()),) * len(shape), shape, read, written, covers=False)
    covers = all(part is not None and part.covers and not part.exposed for part in found)
    return TaskPart(process, calls, spatial, *box, read, written, covers)


def _box(found: Footprint | None, spatial: Sequence[ir.Operation]) -> tuple[tuple[Lower, ...], tuple[int, ...]] | None:
    """Where the part of a position begins, and its extents, if these are constants."""
    if found is None or found.shape is None or any(any(sides) for sides in found.escapes):
        return None
    lowers = _lowers(found, spatial)
    return None if lowers is None else (lowers, found.shape)


def _parameter(module: Module, call: ir.Operation, number: int) -> ir.Value:
    entry = entry_block(module.function(callee_name(call)))
    assert entry is not None
    return entry.arguments[number]


def _footprint(
    module: Module, buffer: Buffer, process: ir.Operation, only: int | None = None
) -> Footprint | None:
    """What one position of a grid touches, found where the body of the task stands in the grid.

    With `only`, as if the call of that number stood at all positions.
    """
    copy = module.clone()
    nest = string_of(process, "allo.nest")
    function = copy.function(buffer.function)
    own = next(op for op in operations(entry_block(function), "affine.for") if string_of(op, "allo.nest") == nest)
    spatial = spatial_loops(own)
    innermost = spatial[-1]  # which only a grid has in which there are calls
    if only is not None:
        kept = _only_calls(own, spatial)[only]
        (choice,) = (op for op in statements(innermost.regions[0].blocks[0]) if op.name == "affine.if")
        kept.move_before(choice)
        choice.erase()
    inline_inside(copy, own)
    value = copy.buffers(buffer.function)[buffer.name]
    return footprint(extract(function, own), value, innermost)


def _lowers(found: Footprint, spatial: Sequence[ir.Operation]) -> tuple[Lower, ...] | None:
    """Where parts begin, by position; None if something else moves them too."""
    names = [string_of(loop, "allo.name") for loop in spatial]
    result: list[Lower] = []
    for extent in found.extents:
        assert extent.lower is not None
        if any(name not in names for name, _ in extent.lower.terms):
            return None
        result.append((extent.lower.constant, tuple((names.index(name), c) for name, c in extent.lower.terms)))
    return tuple(result)


def own_array(part: TaskPart, name: str, value: ir.Value, builder: Builder) -> ir.Value:
    """An array for the parts of all positions, each in banks of its own."""
    memref = ir.MemRefType(value.type)
    shape = [*part.grid, *(part.sizes[k] for k in part.kept)]
    kind = ir.MemRefType.get(shape, memref.element_type, None, memref.memory_space, unknown_location())
    divisions = divisions_of(memref)
    banks = [*(("complete", 0) for _ in part.grid), *(divisions[k] for k in part.kept)]
    if any(division[0] != "none" for division in banks):
        kind = with_divisions(kind, banks)
    return builder.alloc(kind, name)


def use_own(module: Module, part: TaskPart, own: ir.Value) -> None:
    """Let a task use its array instead of the one that it was given."""
    for call, number in part.calls:
        _use_own(module, part, call, number, own)


def _use_own(module: Module, part: TaskPart, call: ir.Operation, number: int, own: ir.Value) -> None:
    function = module.function(callee_name(call))
    entry = entry_block(function)
    assert entry is not None
    argument = entry.arguments[number]
    given = {operand: k for k, operand in enumerate(call.operands)}
    places = [
        entry.arguments[given[v]] if (v := induction_variable(loop)) in given else None for loop in part.spatial
    ]
    accesses = [use.owner.operation for use in argument.uses]
    argument.set_type(own.type)
    for op in accesses:
        _turn(op, part, argument, [place for place in places if place is not None])
    call.operands[number] = own
    inputs = [a.type for a in entry.arguments]
    results = ir.FunctionType(ir.TypeAttr(function.operation.attributes["function_type"]).value).results
    signature = ir.FunctionType.get(inputs, results, context())
    function.operation.attributes["function_type"] = ir.TypeAttr.get(signature, context())


def _turn(op: ir.Operation, part: TaskPart, own: ir.Value, places: list[ir.Value]) -> None:
    """Turn an access to the part of the position."""
    access, operands = access_map(op), subscripts(op)
    builder = Builder.before(op)
    count = access.n_dims if access is not None else len(operands)
    axes = [affine_dim(count + k) for k in range(len(places))]
    if access is not None:
        dims, symbols = [*operands[:count], *places], operands[count:]
        results = [*axes, *(access.results[k] - part.lower(k, axes) for k in part.kept)]
        made = ir.AffineMap.get(len(dims), len(symbols), results, context())
        if is_load(op):
            op.results[0].replace_all_uses_with(builder.affine_load(own, made, [*dims, *symbols]))
        else:
            builder.affine_store(stored(op), own, made, [*dims, *symbols])
    else:
        formulas = [*axes, *(affine_dim(k) - part.lower(k, axes) for k in part.kept)]
        indices = computed(builder, formulas, [*operands, *places])
        if is_load(op):
            op.results[0].replace_all_uses_with(builder.load(own, indices))
        else:
            builder.store(stored(op), own, indices)
    op.erase()


def copy_parts(part: TaskPart, own: ir.Value, whole: ir.Value, builder: Builder, label: str, *, inward: bool) -> None:
    """Loops, named after `label`, that bring the parts of all positions in, or (not `inward`) out.

    What positions have in common is read once, and goes to all of them at the same time.
    """
    start, grid = builder.point, part.grid
    common = [axis for axis in range(len(grid)) if inward and part.same_for_all(axis)]
    nest = _Nest(builder, label)
    for axis in range(len(grid)):
        if axis not in common:
            nest.loop(f"p{axis}", grid[axis])
    for k in part.kept:
        nest.loop(f"d{k}", part.sizes[k])

    def outside() -> list[ir.AffineExpr]:
        places = [nest.known(f"p{axis}") for axis in range(len(grid))]
        return [part.lower(k, places) + nest.known(f"d{k}") for k in range(len(part.sizes))]

    def inside() -> list[ir.AffineExpr]:
        return [nest.known(name) for name in [*(f"p{a}" for a in range(len(grid))), *(f"d{k}" for k in part.kept)]]

    value = builder.affine_load(whole if inward else own, nest.map(outside() if inward else inside()), nest.values)
    for axis in common:
        nest.loop(f"p{axis}", grid[axis], {"allo.unroll": i32_attr(0)})
    target = own if inward else whole
    builder.affine_store(value, target, nest.map(inside() if inward else outside()), nest.values)
    builder.point = start


class _Nest:
    """Loops that are being built, one in the other."""

    def __init__(self, builder: Builder, label: str) -> None:
        self.builder = builder
        self.label = label
        self.names: list[str] = []
        self.values: list[ir.Value] = []

    def loop(self, name: str, extent: int, marks: Mapping[str, ir.Attribute] | None = None) -> None:
        """A further loop, around what is built next."""
        bounds = [ir.AffineMap.get(0, 0, [affine_constant(bound)], context()) for bound in (0, extent)]
        named = {"allo.name": string_attr(f"{self.label}_{name}"), **(marks or {})}
        if not self.names:
            named["allo.nest"] = string_attr(f"S_{self.label}")
        made = self.builder.affine_for((bounds[0], ()), (bounds[1], ()), 1, named)
        self.names.append(name)
        self.values.append(induction_variable(made))
        self.builder.point = ir.InsertionPoint.at_block_terminator(made.regions[0].blocks[0])

    def known(self, name: str) -> ir.AffineExpr:
        """The variable of a loop, and 0 where there is none."""
        return affine_dim(self.names.index(name)) if name in self.names else affine_constant(0)

    def map(self, results: list[ir.AffineExpr]) -> ir.AffineMap:
        """Subscripts over all loops that there are."""
        return ir.AffineMap.get(len(self.names), 0, results, context())
