"""Line buffers as loop nests: the last rows of an array, from which windows are taken as they become complete."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from ...ir.builder import Builder, affine_constant, affine_dim, string_attr
from ...ir.context import context
from ...ir.names import unique_name
from ...ir.walk import buffers_of, induction_variable, loops_of
from ...layout import LineBuffer, Slide
from ..nest.rewrite import constant_for
from .accesses import Get
from .stages import Stage
from .walking import (
    ConverterNest,
    address_at,
    converter_marks,
    inner_loop,
    inside_of,
    map_of,
    memref_of,
    place_at,
    read_in_order,
)


def insert_line_buffer(function: ir.OpView, array: str, consumer: Stage, get: Get, made: LineBuffer) -> ConverterNest:
    """Put a line buffer in front of the consumer, which then reads an array of one dimension, in its order.

        for p, p1 in grid(h, w):
            for x in range(c):
                rows[p % r, p1, x] = A[p, p1, x]
            if p >= r - 1 and p1 >= r - 1:            # and one in so many, for windows that step over some
                for y, y1 in grid(r, c * r):
                    A_in_order[...] = rows[that element of the window that ends at p, p1]
    """
    names, nests = set(buffers_of(function)), {view.nest for view in loops_of(function)}
    nest = unique_name(f"convert_{array}", nests)
    rows_name = unique_name(f"{array}_rows", names)
    result_name = unique_name(f"{array}_in_order", names)
    element = ir.MemRefType(consumer.value.type).element_type
    builder = Builder.before(consumer.op)
    rows = builder.alloc(memref_of([made.rows, made.width], element), rows_name)
    result = builder.alloc(memref_of([made.rounds * len(made.drain)], element), result_name)
    variables: list[ir.Value] = []
    for k, slide in enumerate(made.slides):
        marks = {"allo.name": string_attr(f"p{k}")} if k else converter_marks(nest, "p")
        loop = constant_for(builder, slide.trip, marks)
        variables.append(induction_variable(loop))
        builder = inside_of(loop, builder)
    _fill(builder, variables, made, consumer.value, rows)
    guarded = _where_complete(builder, variables, made.slides)
    _drain(guarded, variables, made, rows, result)
    read_in_order(get, get.loads[0].loops[consumer.fixed : get.depth], result)
    return ConverterNest(nest, rows_name, result_name)


def _fill(builder: Builder, variables: Sequence[ir.Value], made: LineBuffer, array: ir.Value, rows: ir.Value) -> None:
    """Store what the source gives in one iteration of all slides."""
    builder, operands, number = _counted(builder, variables, len(made.fill), "x")
    inside = [_of_slides(made, back=False) + address_at(made.fill, number)]
    builder.affine_store(
        builder.affine_load(array, map_of(len(operands), place_at(made.source, number, len(made.slides))), operands),
        rows, map_of(len(operands), [_row(made, affine_dim(made.rolling)), *inside]), operands,
    )  # fmt: skip


def _drain(builder: Builder, variables: Sequence[ir.Value], made: LineBuffer, rows: ir.Value, result: ir.Value) -> None:
    """Give the elements of the window that is complete, in loops of which each goes on evenly."""
    operands, number = list(variables), affine_constant(0)
    row = affine_dim(made.rolling) - made.slides[made.rolling].reach + made.back.offset
    inside = _of_slides(made, back=True) + made.drain.offset
    extents = made.drain.extents
    for k, extent in enumerate(extents):
        builder, y = inner_loop(builder, extent, f"y{k or ''}", is_pipeline=k == len(extents) - 1)
        operands.append(y)
        at = affine_dim(len(operands) - 1)
        number = number * extent + at
        row, inside = row + at * made.back.strides[k], inside + at * made.drain.strides[k]
    window = affine_constant(0)
    for k, slide in enumerate(made.slides):
        steps = affine_dim(k) - slide.first
        if slide.step > 1:
            steps = ir.AffineExpr.get_floor_div(steps, affine_constant(slide.step))
        window = window * slide.windows + steps
    builder.affine_store(
        builder.affine_load(rows, map_of(len(operands), [_row(made, row), inside]), operands),
        result, map_of(len(operands), [window * len(made.drain) + number]), operands,
    )  # fmt: skip


def _counted(
    builder: Builder, variables: Sequence[ir.Value], count: int, name: str
) -> tuple[Builder, list[ir.Value], ir.AffineExpr]:
    """The builder in a loop that counts elements, if there are several, the variables there, and the number."""
    if count == 1:
        return builder, list(variables), affine_constant(0)
    builder, x = inner_loop(builder, count, name)
    return builder, [*variables, x], affine_dim(len(variables))


def _where_complete(builder: Builder, variables: Sequence[ir.Value], slides: Sequence[Slide]) -> Builder:
    """The builder where a window ends."""
    rows: list[tuple[ir.AffineExpr, bool]] = []
    for k, slide in enumerate(slides):
        since, last = affine_dim(k) - slide.first, slide.first + slide.step * (slide.windows - 1)
        if slide.first:
            rows.append((since, False))
        if last < slide.trip - 1:
            rows.append((affine_constant(last) - affine_dim(k), False))
        if slide.step > 1:
            rows.append((ir.AffineExpr.get_mod(since, affine_constant(slide.step)), True))
    if not rows:
        return builder
    forms, equal = zip(*rows, strict=True)
    condition = ir.IntegerSet.get(len(variables), 0, list(forms), list(equal), context())
    guard = builder.affine_if(condition, list(variables), has_else=False)
    return inside_of(guard, builder)


def _of_slides(made: LineBuffer, *, back: bool) -> ir.AffineExpr:
    """What the slides count in the place in a row: of the element that comes, or of the first one of the window."""
    found = affine_constant(0)
    for k, (slide, stride) in enumerate(zip(made.slides, made.strides, strict=True)):
        if stride:
            found = found + (affine_dim(k) - (slide.reach if back else 0)) * stride
    return found


def _row(made: LineBuffer, number: ir.AffineExpr) -> ir.AffineExpr:
    return ir.AffineExpr.get_mod(number, affine_constant(made.rows)) if made.rows > 1 else affine_constant(0)
