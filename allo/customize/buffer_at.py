"""buffer_at: work on a small copy of the part of an array that one iteration of a loop touches."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from ..errors import Note, ScheduleError
from ..ir.builder import Builder, affine_constant, affine_dim, string_attr
from ..ir.context import context, unknown_location
from ..ir.module import Module
from ..ir.names import unique_name
from ..ir.walk import LoopView, buffers_of, induction_variable, location_of, loops_of, operations
from ..poly import AffineForm, Footprint, Model, extract, footprint
from .handles import Buffer, Loop
from .legality import demand_still_parallel, parallel_loops
from .loop_rewrite import compose_affine
from .primitive import primitive
from .resolve import buffer_note, find_buffer, find_loop, loop_note

_AFFINE_ACCESSES = frozenset({"affine.load", "affine.store"})


@primitive
def buffer_at(module: Module, buffer: Buffer, axis: Loop) -> Buffer:
    """Keep what each iteration of loop `axis` touches of `buffer` in a new local array; returns its handle.

        for i in range(m):            for i in range(m):
            for j in range(n):            buf: T[n]
                A[i, j] += ...   ->       for j_init in range(n): buf[j_init] = A[i, j_init]
                                          for j in range(n):      buf[j] += ...
                                          for j_back in range(n): A[i, j_back] = buf[j_back]

    The array has the extents of the touched box; dimensions of extent 1 are dropped. It is filled first only if an
    element may be read before it is written (or not all are written), and written back only if it is written.
    Refused: a loop that does not touch the buffer, a box without constant extents, a buffer declared inside the loop,
    accesses inside the loop that go through calls, and a parallel loop whose iterations would write back elements
    of each other. Source: Allo paper, Table 2 and section 3.1 (Fig. 2).
    """
    view = find_loop(module, axis)
    value = find_buffer(module, buffer)
    if axis.function != buffer.function:
        raise ScheduleError(f"'{buffer}' and loop '{axis}' are in different functions")
    if view.op.name != "affine.for":
        raise ScheduleError(f"loop '{axis.name}' has run-time bounds", notes=[loop_note(view)])
    model = extract(module.function(buffer.function))
    touched = _touched(model, buffer, value, view)
    uses = _uses_inside(buffer, value, view)
    box = _Box.of(model, touched, view)
    for op in uses:
        _check_rewritable(buffer, op, box)

    parallel = parallel_loops(module, axis)
    function = module.function(buffer.function)
    taken = {loop.name for loop in loops_of(function) if loop.nest == view.nest}
    name = unique_name(f"buf_{buffer.name}", set(buffers_of(function)))
    builder = Builder(ir.InsertionPoint.at_block_begin(view.body), view.op.location)
    memref = ir.MemRefType(value.type)
    local = builder.alloc(
        ir.MemRefType.get([box.sizes[d] for d in box.kept], memref.element_type, loc=unknown_location()), name
    )
    labels = _loop_labels(buffer, uses, view, box)
    # Before the accesses are rewritten: the insertion point is in front of an operation that may be one of them.
    if touched.exposed or (touched.written and not touched.covers):
        _copy(builder, box, labels, "init", taken, source=value, target=local, inward=True)
    for op in uses:
        _rewrite(op, local, box)
    if touched.written:
        builder.point = ir.InsertionPoint.at_block_terminator(view.body)
        _copy(builder, box, labels, "back", taken, source=local, target=value, inward=False)
    compose_affine(module)
    demand_still_parallel(module, axis, parallel)
    return Buffer(buffer.function, name)


@dataclass(frozen=True, slots=True)
class _Box:
    """The touched part: per dimension the lower bound as (constant, [(value, coefficient)]), and the size."""

    lowers: tuple[tuple[int, tuple[tuple[ir.Value, int], ...]], ...]
    sizes: tuple[int, ...]
    extents: tuple[int, ...]
    escapes: tuple[tuple[bool, bool], ...]
    kept: tuple[int, ...]

    @classmethod
    def of(cls, model: Model, touched: Footprint, view: LoopView) -> _Box:
        values = {p.name: p.value for p in model.parameters}
        values.update(
            {loop.name: induction_variable(loop.op) for loop in view.chain if loop.op.name == "affine.for"}
        )
        lowers, sizes = [], []
        for extent in touched.extents:
            assert extent.lower is not None and extent.size is not None
            lowers.append(_terms(extent.lower, values))
            sizes.append(extent.size)
        shape = tuple(e if e is not None else 0 for e in touched.buffer.shape)
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


def _terms(form: AffineForm, values: dict[str, ir.Value]) -> tuple[int, tuple[tuple[ir.Value, int], ...]]:
    return form.constant, tuple((values[name], coefficient) for name, coefficient in form.terms)


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


def _uses_inside(buffer: Buffer, value: ir.Value, view: LoopView) -> list[ir.Operation]:
    """The operations in the loop that use the buffer, in the order of the text."""
    return [op for op in operations(view.body) if any(operand == value for operand in op.operands)]


def _check_rewritable(buffer: Buffer, op: ir.Operation, box: _Box) -> None:
    """Refuse uses that cannot be turned to the copy."""
    if op.name in _AFFINE_ACCESSES:
        return
    whole = box.sizes == box.extents and len(box.kept) == len(box.sizes)
    if op.name in ("memref.load", "memref.store") and whole:
        return
    what = "passes it to a call" if op.name == "func.call" else "has subscripts that are not affine"
    raise ScheduleError(
        f"'{buffer.name}' cannot be buffered here: a statement in the loop {what}",
        notes=[Note("the statement is here", location_of(op))],
    )


def _loop_labels(buffer: Buffer, uses: list[ir.Operation], view: LoopView, box: _Box) -> dict[int, str]:
    """For each kept dimension the name of the loop that runs over it, to name the copy loops."""
    names: dict[ir.Value, str] = {}
    owner = view.op.parent
    while owner is not None and owner.operation.name != "func.func":
        owner = owner.operation.parent
    assert owner is not None
    for loop in loops_of(owner.opview):
        if loop.op.name == "affine.for":
            names[induction_variable(loop.op)] = loop.name
    outer = {induction_variable(loop.op) for loop in view.chain if loop.op.name == "affine.for"}
    labels: dict[int, str] = {}
    for op in uses:
        if op.name not in _AFFINE_ACCESSES:
            continue
        access = ir.AffineMapAttr(op.attributes["map"]).value
        operands = list(op.operands)[-access.n_inputs :] if access.n_inputs else []
        for dimension in box.kept:
            used = [v for v in _dims_of(access.results[dimension], operands) if v in names and v not in outer]
            if used and dimension not in labels:
                labels[dimension] = names[used[-1]]
    return {d: labels.get(d, f"{buffer.name}_{d}") for d in box.kept}


def _dims_of(expr: ir.AffineExpr, operands: list[ir.Value]) -> list[ir.Value]:
    if isinstance(expr, ir.AffineDimExpr):
        return [operands[expr.position]]
    if isinstance(expr, ir.AffineBinaryExpr):
        return _dims_of(expr.lhs, operands) + _dims_of(expr.rhs, operands)
    return []


def _rewrite(op: ir.Operation, local: ir.Value, box: _Box) -> None:
    """Turn one access to the copy: subtract the lower bounds, drop the dimensions of extent 1."""
    position = 0 if op.name.endswith("load") else 1
    if op.name not in _AFFINE_ACCESSES:
        op.operands[position] = local
        return
    access = ir.AffineMapAttr(op.attributes["map"]).value
    operands = list(op.operands)[position + 1 :]
    dims, symbols = operands[: access.n_dims], operands[access.n_dims :]
    lowers = [box.lower(dimension, dims) for dimension in box.kept]
    results = [access.results[d] - lower for d, lower in zip(box.kept, lowers, strict=True)]
    made_map = ir.AffineMap.get(len(dims), len(symbols), results, context())
    builder = Builder.before(op)
    if position == 0:
        op.results[0].replace_all_uses_with(builder.affine_load(local, made_map, [*dims, *symbols]))
    else:
        builder.affine_store(op.operands[0], local, made_map, [*dims, *symbols])
    op.erase()


def _copy(
    builder: Builder,
    box: _Box,
    labels: dict[int, str],
    suffix: str,
    taken: set[str],
    *,
    source: ir.Value,
    target: ir.Value,
    inward: bool,
) -> None:
    """Loops that copy the box from the array to the copy (`inward`) or back."""
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
        builder.affine_store(builder.affine_load(source, outside, operands), target, inside, variables)
    else:
        builder.affine_store(builder.affine_load(source, inside, variables), target, outside, operands)
    builder.point = start


def _guard(builder: Builder, box: _Box) -> None:
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
