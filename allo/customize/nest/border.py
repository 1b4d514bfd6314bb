"""A border of constants and the part inside of it, written by one loop nest, an element at a time in any order."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from ...ir.access import access_map, accessed, is_load, is_store, stored, subscripts
from ...ir.builder import Builder, affine_constant, affine_dim, constant_map_attr
from ...ir.context import context, unknown_location
from ...ir.names import unique_name
from ...ir.walk import (
    LoopView,
    buffers_of,
    constant_bounds,
    induction_variable,
    loops_of,
    statements,
    string_of,
)
from ...poly import Model, extract
from .absorb import first_values_of
from .merge import chain_of


def with_border(function: ir.OpView, around: ir.Operation, inside: ir.Operation) -> bool:
    """Let the nest `inside`, which writes a box of an array that `around` fills, write the rest too; whether it can.

        for h in range(H + 2):                for h in range(-1, H + 1):
            P[h] = 0                              t = 0
        for h in range(H):             ->         if 0 <= h < H:
            P[h + 1] = X[h]                           t = X[h]
                                                  P[h + 1] = t

    The nest has no statements between its loops, each of which goes along one dimension of the array by ones.
    """
    array = first_values_of(around)
    views = loops_of(function)
    band, outer = chain_of(views, inside), chain_of(views, around)
    if array is None or not band or not outer:
        return False
    body = statements(band[-1].body)[:-1]
    if not body or not is_store(body[-1]) or accessed(body[-1]) != array or sum(map(is_store, body)) > 1:
        return False
    if any(len(statements(view.body)) > 2 for view in band[:-1]) or any(map(_may_not_wait, body)):
        return False
    if any(is_load(op) and accessed(op) == array for op in body):
        return False
    model = extract(function, around, inside)
    if _widened(model, outer) != [constant_bounds(view.op) for view in outer]:
        return False
    wider = _widened(model, band)
    if wider is None or wider == [constant_bounds(view.op) for view in band]:
        return False
    _widen(function, around, band, body[-1], wider)
    return True


def _may_not_wait(op: ir.Operation) -> bool:
    """Whether it matters how often an operation of a body runs, or how it is put together."""
    pure = op.name.startswith(("arith.", "math.", "affine.apply", "allo.sign_cast", "allo.fixed"))
    return bool(len(op.regions)) or not (is_load(op) or is_store(op) or pure)


def _widened(model: Model, band: Sequence[LoopView]) -> list[tuple[int, int, int]] | None:
    """The bounds with which loops go over all elements of the array that they write; None if they cannot so.

    Each loop goes along one dimension of the array by ones.
    """
    loops = [model.loop(view.op) for view in band]
    writes = [access for access in model.inside(loops[0]) if access.is_write]
    if len(writes) != 1 or not writes[0].exact or len(writes[0].loops) != len(loops):
        return None
    found: dict[int, tuple[int, int, int]] = {}
    shape = ir.MemRefType(accessed(writes[0].op).type).shape
    for form, extent in zip(writes[0].subscripts, shape, strict=True):
        number = next((k for k, loop in enumerate(loops) if form.terms == ((loop.variable, 1),)), None)
        bounds = None if number is None else constant_bounds(band[number].op)
        if number is None or bounds is None or bounds[2] != 1 or bounds[0] >= bounds[1]:
            return None
        found[number] = (-form.constant, extent - form.constant, 1)
    return [found[k] for k in range(len(loops))] if len(found) == len(loops) else None


def _widen(
    function: ir.OpView,
    around: ir.Operation,
    band: Sequence[LoopView],
    store: ir.Operation,
    wider: Sequence[tuple[int, int, int]],
) -> None:
    """Let the loops of a nest go over the whole array; `around` is erased."""
    body = statements(band[-1].body)[:-2]
    fill = next(op for op in statements(chain_of(loops_of(function), around)[-1].body) if is_store(op))
    builder = Builder.before(body[0] if body else store)
    for op in statements(fill.block)[:-1]:
        if op != fill:
            op.move_before(body[0] if body else store)
    array = accessed(store)
    element = ir.MemRefType.get([], ir.MemRefType(array.type).element_type, loc=unknown_location())
    name = unique_name(f"{string_of(array.owner.operation, 'allo.name')}_element", set(buffers_of(function)))
    value = builder.alloc(element, name)
    scalar = ir.AffineMap.get(0, 0, [], context())
    builder.affine_store(stored(fill), value, scalar, [])
    rows: list[ir.AffineExpr] = []
    variables: list[ir.Value] = []
    for view, (low, end, _) in zip(band, wider, strict=True):
        bounds = constant_bounds(view.op)
        assert bounds is not None
        at = affine_dim(len(variables))
        if (low, end) != bounds[:2]:
            rows += [at - bounds[0]] * (low < bounds[0]) + [affine_constant(bounds[1] - 1) - at] * (end > bounds[1])
            variables.append(induction_variable(view.op))
        view.op.attributes["lowerBoundMap"] = constant_map_attr(low)
        view.op.attributes["upperBoundMap"] = constant_map_attr(end)
    condition = ir.IntegerSet.get(len(variables), 0, rows, [False] * len(rows), context())
    guard = builder.affine_if(condition, variables, has_else=False)
    end_of_guard = guard.regions[0].blocks[0].operations[0]
    for op in body:
        op.move_before(end_of_guard)
    inner = Builder(ir.InsertionPoint.at_block_terminator(guard.regions[0].blocks[0]), store.location)
    inner.affine_store(stored(store), value, scalar, [])
    behind = Builder.before(store)
    place = access_map(store)
    assert place is not None
    behind.affine_store(behind.affine_load(value, scalar, []), array, place, subscripts(store))
    store.erase()
    around.erase()

