"""peel: the first or the last iterations of a loop become a loop of their own."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from ..errors import ScheduleError
from ..ir.builder import Builder, constant_map_attr, string_attr
from ..ir.context import context
from ..ir.module import Module
from ..ir.names import unique_name
from ..ir.walk import (
    LOOP_OPERATIONS,
    LoopView,
    bound_operands,
    buffers_of,
    constant_bounds,
    induction_variable,
    loops_of,
    operations,
    string_of,
)
from .nest.bounds import Bound, joined
from .nest.rewrite import check_free_name, loop_attributes, move_body
from .step.handles import Loop
from .step.primitive import primitive
from .step.resolve import find_loop, loop_note


@primitive(any_layout=True)
def peel(module: Module, loop: Loop, front: int = 0, back: int = 0) -> tuple[Loop, Loop]:
    """Take the `front` first or the `back` last iterations of `loop` out. Returns the handles of them and of the rest.

        for i in range(n):            for i.front in range(front):
            S(i)               ->         S(i)
                                      for i.rest in range(front, n):
                                          S(i)

    The peeled loop is `i.front` or `i.back`; at the top of a function it is a nest of its own, `S_i_0_front`. Inner
    loops and arrays of the copied body get names that are free. Always legal, but for a process of a dataflow region
    that uses streams: its parts would be two processes at one end. Refused too: not exactly one of `front` and
    `back`, more iterations than the loop has, run-time bounds that are not a single affine expression, an annotated
    loop.
    """
    view = find_loop(module, loop)
    side, count = ("front", front) if front else ("back", back)
    if bool(front) == bool(back):
        raise ScheduleError("give one of front and back, the number of iterations to peel", notes=[loop_note(view)])
    if count < 0:
        raise ScheduleError(f"{side} must be positive, got {count}", notes=[loop_note(view)])
    parts = _parts(view, side, count)
    peeled_name, rest_name = f"{loop.name}.{side}", f"{loop.name}.rest"
    loop_attributes(view)
    check_free_name(view, peeled_name, rest_name)

    copy = view.op.clone(ir.InsertionPoint(view.op))
    nest = loop.nest
    if view.parent is None:
        nests = {v.own_nest for v in module.loops(loop.function) if v.own_nest}
        nest = unique_name(f"{loop.nest}_{side}", nests)
        copy.attributes["allo.nest"] = string_attr(nest)
    _rename(module.function(loop.function), copy, view)
    if side == "back":
        copy.move_after(view.op)
    _with_bounds(copy, peeled_name, parts.peeled)
    _with_bounds(view.op, rest_name, parts.rest)
    return Loop(loop.function, nest, peeled_name), Loop(loop.function, loop.nest, rest_name)


@dataclass(frozen=True, slots=True)
class Parts:
    """The bounds of the peeled loop and of the rest."""

    peeled: tuple[Bound, Bound]
    rest: tuple[Bound, Bound]


def _parts(view: LoopView, side: str, count: int) -> Parts:
    if view.op.name != "affine.for":
        raise ScheduleError(f"loop '{view.name}' has run-time bounds", notes=[loop_note(view)])
    bounds = constant_bounds(view.op)
    if bounds is not None:
        lower, upper, step = bounds
        trips = max(0, -(-(upper - lower) // step))
        if count > trips:
            raise ScheduleError(
                f"loop '{view.name}' has {trips} iterations, fewer than {side}={count}", notes=[loop_note(view)]
            )
        cut = lower + step * (count if side == "front" else trips - count)
        first, middle, last = (_constant(value) for value in (lower, cut, upper))
        return Parts(*((first, middle), (middle, last))[:: 1 if side == "front" else -1])
    maps = [ir.AffineMapAttr(view.op.attributes[n]).value for n in ("lowerBoundMap", "upperBoundMap")]
    lowers, uppers = zip(maps, bound_operands(view.op), strict=True)
    step = ir.IntegerAttr(view.op.attributes["step"]).value
    single = maps[0] if side == "front" else maps[1]
    if len(single.results) != 1 or (side == "back" and step != 1):
        raise ScheduleError(
            f"the {"first" if side == "front" else "last"} iteration of loop '{view.name}' is not a single affine "
            "expression",
            notes=[loop_note(view)],
        )
    if side == "front":
        middle = _plus(lowers, count * step)
        return Parts((lowers, joined(uppers, middle)), (middle, uppers))
    middle = _plus(uppers, -count)
    return Parts((joined(lowers, middle), uppers), (lowers, middle))


def _plus(bound: Bound, distance: int) -> Bound:
    found = bound[0]
    results = [result + distance for result in found.results]
    return ir.AffineMap.get(found.n_dims, found.n_symbols, results, context()), bound[1]


def _rename(function: ir.OpView, copy: ir.Operation, view: LoopView) -> None:
    """Give the arrays in the copied body, and its loops if they stay in the nest, names that are free."""
    arrays = set(buffers_of(function))
    loops = {v.name for v in loops_of(function) if v.nest == view.nest}
    nests = {v.own_nest for v in loops_of(function) if v.own_nest is not None}
    for op in operations(copy.regions[0].blocks[0]):
        name = string_of(op, "allo.name")
        is_loop = op.name in LOOP_OPERATIONS
        if name is not None and (not is_loop or view.parent is not None):
            op.attributes["allo.name"] = string_attr(unique_name(name, loops if is_loop else arrays))
        inner_nest = string_of(op, "allo.nest")
        if inner_nest is not None:
            op.attributes["allo.nest"] = string_attr(unique_name(inner_nest, nests))


def _with_bounds(op: ir.Operation, name: str, bounds: tuple[Bound, Bound]) -> None:
    """Build the loop anew with other bounds and another name."""
    attributes = {key: value for key, value in op.attributes.items() if key.startswith("allo.")}
    step = ir.IntegerAttr(op.attributes["step"]).value
    made = Builder.before(op).affine_for(*bounds, step, {**attributes, "allo.name": string_attr(name)})
    move_body(op, made.regions[0].blocks[0], induction_variable(made))


def _constant(value: int) -> Bound:
    return ir.AffineMapAttr(constant_map_attr(value)).value, []
