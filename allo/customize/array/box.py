"""Box of an array that one iteration of a loop touches: its bounds as SSA values, and accesses to a copy of it."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from ...errors import Note, ScheduleError
from ...ir.access import access_map, is_access, is_affine_access, is_load, stored, subscripts
from ...ir.builder import Builder, affine_constant, affine_dim
from ...ir.context import context
from ...ir.linalg import is_structured
from ...ir.walk import LOOP_OPERATIONS, LoopView, induction_variable, location_of, operations, string_of
from ...poly import AffineForm, Footprint, Model
from ..step.handles import Buffer
from ..step.resolve import loop_note


@dataclass(frozen=True, slots=True)
class Box:
    """The touched part: per dimension the lower bound as (constant, [(value, coefficient)]), and the size."""

    lowers: tuple[tuple[int, tuple[tuple[ir.Value, int], ...]], ...]
    sizes: tuple[int, ...]
    extents: tuple[int, ...]
    escapes: tuple[tuple[bool, bool], ...]
    kept: tuple[int, ...]

    @classmethod
    def of(cls, model: Model, touched: Footprint, view: LoopView) -> Box:
        values = {p.name: p.value for p in model.parameters}
        values.update(
            {loop.name: induction_variable(loop.op) for loop in view.chain if loop.op.name == "affine.for"}
        )
        lowers, sizes = [], []
        for extent in touched.extents:
            assert extent.lower is not None and extent.size is not None
            lowers.append(_terms(extent.lower, values, touched.buffer.name, view))
            sizes.append(extent.size)
        shape = tuple(extent for extent in touched.buffer.shape if extent is not None)
        if len(shape) < len(touched.buffer.shape):
            raise ScheduleError(
                f"'{touched.buffer.name}' has an extent that is known at run time only, "
                "so a part of it cannot be clipped",
                hint="declare the argument with all extents",
            )
        kept = tuple(d for d, size in enumerate(sizes) if size > 1)
        return cls(tuple(lowers), tuple(sizes), shape, touched.escapes, kept)

    def lower(self, dimension: int, operands: list[ir.Value]) -> ir.AffineExpr:
        """The lower bound over `operands`, which grow by the values it needs."""
        constant, terms = self.lowers[dimension]
        result = affine_constant(constant)
        for value, coefficient in terms:
            if value not in operands:
                operands.append(value)
            result = result + affine_dim(operands.index(value)) * coefficient
        return result


def _terms(
    form: AffineForm, values: dict[str, ir.Value], array: str, view: LoopView
) -> tuple[int, tuple[tuple[ir.Value, int], ...]]:
    for around in view.chain[:-1]:
        if around.name not in values and any(name == around.name for name, _ in form.terms):
            raise ScheduleError(
                f"where the part of '{array}' begins that an iteration of '{view.name}' touches depends on loop "
                f"'{around.name}', which has run-time bounds",
                hint=f"let the bounds of '{around.name}' be constants or arguments of the kernel",
                notes=[loop_note(around)],
            )
    return form.constant, tuple((values[name], coefficient) for name, coefficient in form.terms)


def uses_inside(value: ir.Value, view: LoopView) -> list[ir.Operation]:
    """The operations in the loop that use the buffer, in the order of the text."""
    return [op for op in operations(view.body) if any(operand == value for operand in op.operands)]


def check_rewritable(buffer: Buffer, op: ir.Operation, box: Box) -> None:
    """Refuse uses that cannot be turned to the copy."""
    if is_affine_access(op):
        return
    whole = box.sizes == box.extents and len(box.kept) == len(box.sizes)
    if is_access(op) and whole:
        return
    what = "passes it to a call" if op.name == "func.call" else "has subscripts that are not affine"
    hint = None
    if is_structured(op):
        what, hint = (
            "is an operator on the whole array",
            "customize with lower_linalg=True, which makes loops of it",
        )
    raise ScheduleError(
        f"'{buffer.name}' cannot be buffered here: a statement in the loop {what}",
        hint=hint,
        notes=[Note("the statement is here", location_of(op))],
    )


def loop_labels(buffer: Buffer, uses: list[ir.Operation], view: LoopView, box: Box) -> dict[int, str]:
    """For each kept dimension the name of the loop that runs over it, to name the copy loops."""
    inside = operations(view.body, "affine.for")
    names = {induction_variable(op): string_of(op, "allo.name") or "loop" for op in inside}
    outer = {induction_variable(loop.op) for loop in view.chain if loop.op.name == "affine.for"}
    labels: dict[int, str] = {}
    for op in uses:
        if not is_affine_access(op):
            continue
        access, operands = access_map(op), subscripts(op)
        assert access is not None
        for dimension in box.kept:
            used = [v for v in _dims_of(access.results[dimension], operands) if v in names and v not in outer]
            if used and dimension not in labels:
                labels[dimension] = names[used[-1]]
    return {d: labels.get(d, f"{buffer.name}_{d}") for d in box.kept}


def loop_names(nest: LoopView) -> set[str]:
    """The names that the loops of a nest have."""
    inside = operations(nest.body, *LOOP_OPERATIONS)
    return {nest.name, *(name for op in inside if (name := string_of(op, "allo.name")) is not None)}


def _dims_of(expr: ir.AffineExpr, operands: list[ir.Value]) -> list[ir.Value]:
    if isinstance(expr, ir.AffineDimExpr):
        return [operands[expr.position]]
    if isinstance(expr, ir.AffineBinaryExpr):
        return _dims_of(expr.lhs, operands) + _dims_of(expr.rhs, operands)
    return []


def turn_to_copy(op: ir.Operation, local: ir.Value, box: Box) -> None:
    """Turn one access to the copy: subtract the lower bounds, drop the dimensions of extent 1."""
    access, operands = access_map(op), subscripts(op)
    if access is None:
        op.operands[0 if is_load(op) else 1] = local
        return
    dims, symbols = operands[: access.n_dims], operands[access.n_dims :]
    lowers = [box.lower(dimension, dims) for dimension in box.kept]
    results = [access.results[d] - lower for d, lower in zip(box.kept, lowers, strict=True)]
    made_map = ir.AffineMap.get(len(dims), len(symbols), results, context())
    builder = Builder.before(op)
    if is_load(op):
        op.results[0].replace_all_uses_with(builder.affine_load(local, made_map, [*dims, *symbols]))
    else:
        builder.affine_store(stored(op), local, made_map, [*dims, *symbols])
    op.erase()
