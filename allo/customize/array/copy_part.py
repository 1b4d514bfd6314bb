"""Small copies of the part of an array that one iteration of a loop touches: filled before, written back after."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mlir import ir

from ...errors import ScheduleError
from ...ir.builder import Builder, affine_constant, affine_dim, string_attr
from ...ir.context import context, unknown_location
from ...ir.names import unique_name
from ...ir.walk import LoopView, buffers_of, induction_variable
from ...poly import Footprint, Model, footprint
from ..step.handles import Buffer
from ..step.resolve import buffer_note, loop_note
from .box import Box, check_rewritable, loop_labels, loop_names, turn_to_copy, uses_inside


@dataclass(frozen=True, slots=True)
class PartCopy:
    """A copy that was made, and the operations that load its first values, if it has some."""

    name: str
    loaded: tuple[ir.Operation, ...]


def copy_part(
    function: ir.OpView, model: Model, buffer: Buffer, value: ir.Value, view: LoopView, *, as_used: bool = False
) -> PartCopy:
    """Let each iteration of an `affine.for` work on a copy of what it touches of an array.

    The dimensions of the copy, and the loops that copy, are in the order of the array, or (`as_used`) in that of the
    loops that the first statement which uses it runs in.
    Raises ScheduleError, and changes nothing, where that has no constant extents or is used otherwise than by accesses.
    """
    touched = _touched(model, buffer, value, view)
    uses = uses_inside(value, view)
    box = Box.of(model, touched, view)
    if as_used:
        box = replace(box, kept=_in_order_of_use(model, value, view, box))
    for op in uses:
        check_rewritable(buffer, op, box)
    taken = loop_names(view.chain[0])
    name = unique_name(f"buf_{buffer.name}", set(buffers_of(function)))
    builder = Builder(ir.InsertionPoint.at_block_begin(view.body), view.op.location)
    memref = ir.MemRefType(value.type)
    local = builder.alloc(
        ir.MemRefType.get([box.sizes[d] for d in box.kept], memref.element_type, loc=unknown_location()), name
    )
    labels = loop_labels(buffer, uses, view, box)
    loaded: tuple[ir.Operation, ...] = ()
    # Before the accesses are rewritten: the insertion point is in front of an operation that may be one of them.
    if touched.exposed or (touched.written and not touched.covers):
        loaded = (_copy(builder, box, labels, "init", taken, source=value, target=local, inward=True),)
    for op in uses:
        turn_to_copy(op, local, box)
    if touched.written:
        builder.point = ir.InsertionPoint.at_block_terminator(view.body)
        _copy(builder, box, labels, "back", taken, source=local, target=value, inward=False)
    return PartCopy(name, loaded)


def _in_order_of_use(model: Model, value: ir.Value, view: LoopView, box: Box) -> tuple[int, ...]:
    """The dimensions that a copy has, by the loops of the first access inside of a loop that go along them."""
    first = next(access for access in model.inside(model.loop(view.op)) if access.buffer.value == value)
    depths = {
        d: max((n for n, at in enumerate(first.variables) if at in dict(first.subscripts[d].terms)), default=-1)
        for d in box.kept
    }
    return tuple(sorted(box.kept, key=lambda d: depths[d]))


def _touched(model: Model, buffer: Buffer, value: ir.Value, view: LoopView) -> Footprint:
    """The footprint of the buffer in one iteration, if there is a box for it."""
    touched = footprint(model, value, view.op)
    notes = [loop_note(view), buffer_note(buffer, value)]
    if touched is None:
        raise ScheduleError(f"loop '{view.name}' does not touch '{buffer.name}'", notes=notes)
    if any(member.op == view.op for member in touched.buffer.scope):
        raise ScheduleError(
            f"'{buffer.name}' is declared inside loop '{view.name}' and is local already", notes=notes
        )
    for dimension, extent in enumerate(touched.extents):
        if extent.lower is None or extent.size is None:
            raise ScheduleError(
                f"the part of dimension {dimension + 1} of '{buffer.name}' that an iteration of '{view.name}' "
                f"touches has no constant extent: {extent.reason}",
                notes=notes,
            )
    return touched


def _copy(
    builder: Builder,
    box: Box,
    labels: dict[int, str],
    suffix: str,
    taken: set[str],
    *,
    source: ir.Value,
    target: ir.Value,
    inward: bool,
) -> ir.Operation:
    """Loops that copy the box from the array to the copy (`inward`) or back; returns the load."""
    start = builder.point
    _guard(builder, box)
    variables: list[ir.Value] = []
    for dimension in box.kept:
        name = unique_name(f"{labels[dimension]}_{suffix}", taken)
        lower_operands: list[ir.Value] = []
        upper_operands: list[ir.Value] = []
        lowers, uppers = [affine_constant(0)], [affine_constant(box.sizes[dimension])]
        below, above = box.escapes[dimension]
        if below:
            lowers.append(affine_constant(0) - box.lower(dimension, lower_operands))
        if above:
            uppers.append(affine_constant(box.extents[dimension]) - box.lower(dimension, upper_operands))
        loop = builder.affine_for(
            (ir.AffineMap.get(len(lower_operands), 0, lowers, context()), lower_operands),
            (ir.AffineMap.get(len(upper_operands), 0, uppers, context()), upper_operands),
            1,
            {"allo.name": string_attr(name)},
        )
        variables.append(induction_variable(loop))
        builder.point = ir.InsertionPoint.at_block_terminator(loop.regions[0].blocks[0])
    inside = ir.AffineMap.get(len(variables), 0, [affine_dim(k) for k in range(len(variables))], context())
    operands = list(variables)
    results = []
    for dimension in range(len(box.sizes)):
        lower = box.lower(dimension, operands)
        results.append(lower + affine_dim(box.kept.index(dimension)) if dimension in box.kept else lower)
    outside = ir.AffineMap.get(len(operands), 0, results, context())
    if inward:
        loaded = builder.affine_load(source, outside, operands)
        builder.affine_store(loaded, target, inside, variables)
    else:
        loaded = builder.affine_load(source, inside, variables)
        builder.affine_store(loaded, target, outside, operands)
    builder.point = start
    made: ir.Operation = loaded.owner.operation
    return made


def _guard(builder: Builder, box: Box) -> None:
    """Skip a copy whose dropped dimensions lie outside of the array; the loops clip the others."""
    operands: list[ir.Value] = []
    inside: list[ir.AffineExpr] = []
    for dimension, extent in enumerate(box.extents):
        below, above = box.escapes[dimension]
        if dimension not in box.kept and (below or above):
            lower = box.lower(dimension, operands)
            inside += [lower] * below + [affine_constant(extent - 1) - lower] * above
    if inside:
        condition = ir.IntegerSet.get(len(operands), 0, inside, [False] * len(inside), context())
        guard = builder.affine_if(condition, operands, has_else=False)
        builder.point = ir.InsertionPoint.at_block_terminator(guard.regions[0].blocks[0])
