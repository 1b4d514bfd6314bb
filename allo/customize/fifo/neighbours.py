"""Data passed between neighbouring processing elements: the first one loads, the others get, all but the last
forward."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from mlir import ir

from ...errors import Note, ScheduleError
from ...ir.access import is_affine_load, stored
from ...ir.builder import Builder, affine_constant, affine_dim, string_attr
from ...ir.context import context, unknown_location
from ...ir.module import Module
from ...ir.names import unique_name
from ...ir.walk import (
    LoopView,
    bound_operands,
    constant_bounds,
    entry_block,
    induction_variable,
    location_of,
    operations,
    string_of,
    trip_count,
)
from ...poly import Access, Model
from ..nest.band import loop_band
from ..nest.rewrite import only_child
from ..step.handles import Buffer, Nest
from ..step.resolve import buffer_note, find_buffer, loop_note
from .accesses import get_at_loads, gets_of, obstacle, stream_type
from .chain import chain
from .first_values import drop_first_values
from .stages import Stage, stages_of


@dataclass(frozen=True, slots=True)
class _Grid:
    """The processing elements: the spatial loops, and the one along which data travel."""

    outermost: ir.Operation
    spatial: tuple[LoopView, ...]
    along: LoopView

    @property
    def shape(self) -> list[int]:
        return [trip_count(view.op) or 0 for view in self.spatial]

    def others(self) -> list[LoopView]:
        return [view for view in self.spatial if view.op != self.along.op]

    def place(self, view: LoopView, value: ir.AffineExpr, step: int = 0) -> ir.AffineExpr:
        """The number of an element along a loop whose variable is `value`; `step` is added to it."""
        bounds = constant_bounds(view.op)
        assert bounds is not None
        number = value - bounds[0]
        if bounds[2] != 1:
            number = ir.AffineExpr.get_floor_div(number, affine_constant(bounds[2]))
        return number + step

    def fifo(
        self, builder: Builder, array: ir.Value, variables: dict[int, ir.Value], first: bool, step: int = 0
    ) -> ir.Value:
        """The FIFO in front of an element, of the first one along the way, or of the next one (`step` 1)."""
        results: list[ir.AffineExpr] = []
        operands: list[ir.Value] = []
        for number, view in enumerate(self.spatial):
            if first and view.op == self.along.op:
                results.append(affine_constant(0))
                continue
            moved = step if view.op == self.along.op else 0
            results.append(self.place(view, affine_dim(len(operands)), moved))
            operands.append(variables[number])
        access = ir.AffineMap.get(len(operands), 0, results, context())
        return builder.affine_load(array, access, operands)


def pass_on(
    module: Module, buffer: Buffer, dst: Nest, axis: int, depth: int, *, assume_safe: bool
) -> ir.Value:
    """Connect the elements of the unfolded nest `dst` along loop number `axis` (see `relay`); the array of FIFOs."""
    value = find_buffer(module, buffer)
    if dst.function != buffer.function:
        raise ScheduleError(f"'{buffer}' and loop nest '{dst}' are in different functions")
    grid = _grid(module, dst, axis)
    if grid.outermost not in _around(value.owner.operation):
        around = grid.outermost, grid.spatial, grid.along
        return chain(module, buffer, value, *around, depth, assume_safe=assume_safe)
    fill, others = _fill(module, buffer, value)
    copy = _copy(module, buffer, fill, grid)
    _check_invariant(fill.model, buffer, copy, grid)

    memref = ir.MemRefType(value.type)
    kind = stream_type(memref.element_type, memref.shape, depth)
    function = module.function(buffer.function)
    entry = entry_block(function)
    assert entry is not None
    taken = {name for op in operations(entry) if (name := string_of(op, "allo.name")) is not None}
    builder = Builder.before(grid.outermost)
    builder.loc = value.owner.operation.location
    array = ir.MemRefType.get(grid.shape, kind, loc=unknown_location())
    fifos = builder.alloc(array, unique_name(f"fifo_{buffer.name}", taken))
    _load_first(builder, module, buffer, grid, fifos, copy)

    gets = gets_of(others[0]) if len(others) == 1 and not others[0].writes else None
    variables = {k: induction_variable(view.op) for k, view in enumerate(grid.spatial)}

    def incoming(at: Builder, _: ir.Operation) -> ir.Value:
        return grid.fifo(at, fifos, variables, first=False)

    def forward(at: Builder, element: ir.Value) -> None:
        _forward(at, grid, fifos, variables, element)

    if gets is not None and obstacle(fill, others[0], gets) is None:
        get_at_loads(gets, incoming, forward)
        fill.op.erase()
        if not copy.loops:
            _erase_unused(copy.body)
        value.owner.operation.erase()
        return fifos
    at = Builder.before(copy.store)
    element = at.get(incoming(at, copy.store))
    forward(at, element)
    copy.store.operands[0] = element
    _erase_unused(copy.body)
    return fifos


def _grid(module: Module, dst: Nest, axis: int) -> _Grid:
    band = loop_band(module, dst)
    spatial = [view for view in band if "allo.spatial" in view.op.attributes]
    if not spatial:
        raise ScheduleError(
            f"nest '{dst.name}' is not unfolded, so it has no neighbours",
            hint=f'unfold it first: s.unfold("{dst}", axes=[{axis}])',
            notes=[loop_note(band[0])],
        )
    numbers = [k for k, view in enumerate(band) if view in spatial]
    if axis not in numbers:
        listed = ", ".join(f"{k} ({band[k].name})" for k in numbers)
        raise ScheduleError(
            f"axis {axis} of nest '{dst.name}' is not unfolded",
            hint=f"its unfolded axes are {listed}",
            notes=[loop_note(band[0])],
        )
    return _Grid(band[0].op, tuple(spatial), band[axis])


def _around(op: ir.Operation) -> list[ir.Operation]:
    found: list[ir.Operation] = []
    parent = op.parent
    while parent is not None:
        found.append(parent.operation)
        parent = parent.operation.parent
    return found


def _fill(module: Module, buffer: Buffer, value: ir.Value) -> tuple[Stage, list[Stage]]:
    """The stage that fills the array, and the others that use it."""
    stages = stages_of(module, buffer, value)
    if len(drop_first_values(stages)) < len(stages):
        stages = stages_of(module, buffer, value)
    writers = [stage for stage in stages if stage.writes]
    if len(writers) != 1 or writers[0].reads or stages.index(writers[0]) != 0:
        raise ScheduleError(
            f"'{buffer.name}' is not filled once and then read: "
            f"it is written by {' and '.join(stage.name for stage in writers) or 'nobody'}",
            notes=[*(stage.note for stage in writers), buffer_note(buffer, value)],
        )
    others = [stage for stage in stages if stage is not writers[0]]
    return writers[0], others


@dataclass(frozen=True, slots=True)
class _Copy:
    """How an element fills its array: `loops` around `store`, whose value the statements of `body` make."""

    stage: Stage
    loops: tuple[LoopView, ...]  # of the stage itself
    around: tuple[LoopView, ...]  # those outside of it, from the outermost of the nest on
    body: tuple[ir.Operation, ...]
    store: ir.Operation

    @property
    def statements(self) -> list[ir.Operation]:
        return [*(view.op for view in self.loops), *self.body, self.store]


def _copy(module: Module, buffer: Buffer, stage: Stage, grid: _Grid) -> _Copy:
    """The fill, which must be loops around one assignment, with nothing beside it but what it needs."""
    store = stage.writes[0].op
    views = module.loops(buffer.function)
    loops = tuple(view for view in views if _is_or_in(view.op, stage.op))
    around = tuple(view for view in views if view.op in _around(stage.op) and _is_or_in(view.op, grid.outermost))
    body = tuple(_feeding(store))
    plain = stage.callee is None and len(stage.writes) == 1
    plain = plain and all(only_child(outer, inner) for outer, inner in pairwise(loops))
    plain = plain and all(is_affine_load(op) or op.name.startswith("arith.") for op in body)
    if loops:
        plain = plain and store.block == loops[-1].body and len(store.block.operations) == len(body) + 2
    guards = [op for op in _around(stage.op) if _is_or_in(op, grid.outermost) and op.name != "affine.for"]
    if not plain or guards or any(view.op.name != "affine.for" for view in loops):
        raise ScheduleError(
            f"{stage.name} is not a plain copy into '{buffer.name}': loops around one assignment",
            notes=[stage.note],
        )
    return _Copy(stage, loops, around, body, store)


def _feeding(store: ir.Operation) -> list[ir.Operation]:
    """The statements before `store`, in its block, that make the value and the subscripts."""
    needed = set(store.operands)
    found: list[ir.Operation] = []
    for op in reversed([op.operation for op in store.block.operations]):
        if any(result in needed for result in op.results) and op.name not in ("memref.alloc", "memref.get_global"):
            needed.update(op.operands)
            found.append(op)
    return found[::-1]


def _is_or_in(op: ir.Operation, outer: ir.Operation) -> bool:
    return op == outer or outer in _around(op)


def _check_invariant(model: Model, buffer: Buffer, copy: _Copy, grid: _Grid) -> None:
    """What the array is filled with must be the same in all elements along the axis, whenever it is read."""
    variable = induction_variable(grid.along.op)
    for op in copy.statements:
        if variable in list(op.operands):
            text = next((f": {a.text}" for a in model.accesses if a.op == op), "")
            raise ScheduleError(
                f"the processing elements along '{grid.along.name}' fill '{buffer.name}' with different data{text}",
                hint="pass on what does not depend on that loop",
                notes=[Note("the statement is here", location_of(op)), loop_note(grid.along)],
            )
        for operand in op.operands:
            if not _is_known(operand, copy, grid):
                raise ScheduleError(
                    f"{copy.stage.name} fills '{buffer.name}' with what the processing element has computed",
                    hint="pass on what comes from outside of the nest",
                    notes=[Note("the statement is here", location_of(op))],
                )
    reads = [a for a in model.accesses if not a.is_write and a.op in copy.body]
    writes = [a for a in model.accesses if a.is_write and _is_or_in(a.op, grid.outermost)]
    for read in reads:
        write = next((w for w in writes if w.buffer.label == read.buffer.label), None)
        if write is not None:
            raise ScheduleError(
                f"the nest writes '{read.buffer.name}', so what one processing element has read may be old "
                "when the next one gets it",
                notes=[*_place(read), *_place(write)],
            )


def _is_known(value: ir.Value, copy: _Copy, grid: _Grid) -> bool:
    """Whether a value is a loop variable, is known before the nest, or is made by the fill itself."""
    if isinstance(value.owner, ir.Block):
        owner = value.owner.owner.operation
        return owner.name in ("affine.for", "func.func") or not _is_or_in(owner, grid.outermost)
    owner = value.owner.operation
    return value == copy.stage.value or owner in copy.body or not _is_or_in(owner, grid.outermost)


def _place(access: Access) -> list[Note]:
    return [Note(f"{access.text} is {'written' if access.is_write else 'read'} here", location_of(access.op))]


def _load_first(
    builder: Builder, module: Module, buffer: Buffer, grid: _Grid, fifos: ir.Value, copy: _Copy
) -> None:
    """The nest that feeds the first elements: the loops of the fill, and inside of them the lines of elements."""
    lines = grid.others()
    spatial = [view.op for view in grid.spatial]
    loops = [*(view for view in copy.around if view.op not in spatial), *copy.loops]
    needed = {v for view in loops for side in bound_operands(view.op) for v in side}
    first = [view for view in lines if induction_variable(view.op) in needed]
    loops = [*first, *loops, *(view for view in lines if view not in first)]

    nests = {view.nest for view in module.loops(buffer.function)}
    nest = string_attr(unique_name(f"load_{buffer.name}", nests))
    values: dict[ir.Value, ir.Value] = {}
    point = builder.point
    for position, view in enumerate(loops):
        attributes: dict[str, ir.Attribute] = {"allo.name": string_attr(view.name)}
        if position == 0:
            attributes["allo.nest"] = nest
        sides = [[values.get(v, v) for v in side] for side in bound_operands(view.op)]
        maps = [ir.AffineMapAttr(view.op.attributes[n]).value for n in ("lowerBoundMap", "upperBoundMap")]
        step = ir.IntegerAttr(view.op.attributes["step"]).value
        builder.loc = view.op.location
        loop = builder.affine_for((maps[0], sides[0]), (maps[1], sides[1]), step, attributes)
        values[induction_variable(view.op)] = induction_variable(loop)
        builder.point = ir.InsertionPoint.at_block_terminator(loop.regions[0].blocks[0])
    for op in copy.body:
        clone = op.clone(builder.point)
        for number, operand in enumerate(op.operands):
            clone.operands[number] = values.get(operand, operand)
        values.update(zip(op.results, clone.results, strict=True))
    variables = {
        k: values[induction_variable(view.op)] for k, view in enumerate(grid.spatial) if view.op != grid.along.op
    }
    builder.loc = copy.store.location
    value = stored(copy.store)
    builder.put(grid.fifo(builder, fifos, variables, first=True), values.get(value, value))
    builder.point = point


def _forward(
    builder: Builder, grid: _Grid, fifos: ir.Value, variables: dict[int, ir.Value], element: ir.Value
) -> None:
    """All elements but the last one along the way hand on what they got."""
    bounds = constant_bounds(grid.along.op)
    count = trip_count(grid.along.op)
    assert bounds is not None and count is not None
    if count < 2:
        return
    before_last = affine_constant(bounds[0] + (count - 2) * bounds[2]) - affine_dim(0)
    condition = ir.IntegerSet.get(1, 0, [before_last], [False], context())
    guard = builder.affine_if(condition, [induction_variable(grid.along.op)], has_else=False)
    inner = Builder(ir.InsertionPoint.at_block_terminator(guard.regions[0].blocks[0]), builder.loc)
    inner.put(grid.fifo(inner, fifos, variables, first=False, step=1), element)


def _erase_unused(ops: Sequence[ir.Operation]) -> None:
    """Erase loads and arithmetic whose results nothing uses any more."""
    for op in reversed(ops):
        if not any(len(list(result.uses)) for result in op.results):
            op.erase()
