"""Orders of FIFOs as iterative tensors: in which a stage puts the elements of an array, and in which one takes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import islpy as isl
from mlir import ir

from ...errors import InternalError, Note, ScheduleError
from ...ir.walk import constant_bounds, location_of
from ...layout import ITensor, visits_once
from ...poly import Access, Linear, ModelLoop, Quotient
from ..function.calls import function_around
from .accesses import Get
from .stages import Stage


def order_between(producer: Stage, consumer: Stage, gets: Sequence[Get], *, is_part: bool) -> ITensor | None:
    """The order in which elements pass, by the loops of both ends; None if it is none of loops with constant bounds.

    If `is_part`, the producer does not put all that it writes.
    """
    given = None if is_part or len(producer.writes) > 1 else _known(lambda: order_of_put(producer))
    taken = _known(lambda: order_of_get(consumer, gets[0])) if len(gets) == 1 else None
    if given is not None and taken is not None and not given.is_same_order(taken):
        raise InternalError(f"{producer.name} puts {given}, but {consumer.name} takes {taken}")
    return given or taken


def expected_order(text: str | None) -> ITensor | None:
    """The order that a user writes as a type; None if there is none. Raises ScheduleError if it is no such type."""
    try:
        return None if text is None else ITensor.parse(text)
    except ValueError as error:
        raise ScheduleError(f"itensor={text!r}: {error}") from None


def demand_expected(
    array: str, order: ITensor | None, expected: ITensor | None, puts: Sequence[Access], gets: Sequence[Access]
) -> None:
    """Raises ScheduleError if elements of an array do not pass in the order that a user expects, if any."""
    if expected is None or (order is not None and order.is_same_order(expected)):
        return
    found = f"pass as {order}" if order is not None else "pass in no order of one loop nest with constant bounds"
    places = [(access, "written") for access in puts] + [(access, "read") for access in gets]
    raise ScheduleError(
        f"the elements of '{array}' {found}, not as {expected}",
        hint="reorder() the loops, or leave itensor= out",
        notes=[Note(f"it is {done} here", location_of(access.op)) for access, done in places],
    )


def _known(order: Callable[[], ITensor]) -> ITensor | None:
    try:
        return order()
    except ScheduleError:
        return None


def order_of_get(stage: Stage, get: Get) -> ITensor:
    """The order in which a stage takes elements. Raises ScheduleError where loops with constant bounds give none."""
    access = get.loads[0]
    return _order(stage, access, access.loops[stage.fixed : get.depth], get.anchor, may_split=True)


def order_of_put(stage: Stage) -> ITensor:
    """The order of the one write of a stage. Raises ScheduleError where loops with constant bounds give none."""
    (write,) = stage.writes
    return _order(stage, write, write.loops[stage.fixed :], write.op, may_split=True)


def order_of_puts(stage: Stage) -> ITensor:
    """The order in which a stage completes the elements that it writes, by loops that each go on to others.

    What it sums up in inner loops is complete behind them, and passes in the order of memory, as `relay` has it.
    Raises ScheduleError where loops with constant bounds give no such order.
    """
    writes = sorted(stage.writes, key=lambda write: -len(write.loops))
    orders = [_order(stage, write, write.loops[stage.fixed :], write.op) for write in writes]
    alone = all(write.loops == writes[0].loops and write.subscripts == writes[0].subscripts for write in writes)
    still = [[n for n, loop in enumerate(o.loops) if loop.trip > 1 and not any(loop.stride)] for o in orders]
    counts = [min(found, default=len(order.loops)) for found, order in zip(still, orders, strict=True)]
    together = zip(*(write.loops for write in writes), strict=False)
    shared = next((n for n, same in enumerate(together) if len(set(same)) > 1), None)
    outer = min(counts if shared is None or alone else [*counts, shared - stage.fixed])
    first = orders[0]
    while outer and not visits_once(_box_order(orders, outer).scalars.normal, first.rank):
        outer -= 1
    if any(order.loops[:outer] != first.loops[:outer] for order in orders):
        raise ScheduleError(
            f"{stage.name} writes '{writes[0].buffer.name}' at several places, in no order of one loop nest",
            notes=[Note(f"{stage.name} writes here", location_of(write.op)) for write in writes],
        )
    return _box_order(orders, outer)


def _box_order(orders: Sequence[ITensor], outer: int) -> ITensor:
    """The order in which the outer loops, the same in all orders, complete boxes with all that is in them."""
    first = orders[0]
    boxes = [_inner_box(order, outer) for order in orders]
    low = tuple(min(ends[d][0] for ends in boxes) for d in range(first.rank))
    size = tuple(max(ends[d][1] for ends in boxes) + 1 - low[d] for d in range(first.rank))
    rows = tuple(row[:outer] for row in first.map)
    return ITensor(size, first.trips[:outer], first.steps[:outer], rows, low, first.kind)


def _inner_box(order: ITensor, outer: int) -> list[tuple[int, int]]:
    """The least and the greatest subscript of each dimension in the first iteration of the outer loops."""
    moves = [[loop.stride[d] * (loop.trip - 1) for loop in order.loops[outer:]] for d in range(order.rank)]
    return [
        (start + sum(min(0, move) for move in own), start + sum(max(0, move) for move in own))
        for start, own in zip(order.offset, moves, strict=True)
    ]


def _order(
    stage: Stage, access: Access, loops: Sequence[ModelLoop], anchor: ir.Operation, *, may_split: bool = False
) -> ITensor:
    """The order of the elements of an access that happens once in each iteration of the loops."""
    name = access.buffer.name
    bounds = [constant_bounds(loop.op) for loop in loops]
    if (branch := _branch(stage, anchor)) is not None:
        box = _guarded(access, loops) if branch.name == "affine.if" else None
        if box is None:
            raise _unordered(stage, name, "in a branch, or in a loop with run-time bounds", branch)
        bounds = box
    known = [b for b in bounds if b is not None]
    if len(known) < len(loops):
        loop = loops[bounds.index(None)]
        raise _unordered(stage, name, f"in loop '{loop.name}', whose bounds are no constants", loop.op)
    trips = tuple(max(0, -(-(upper - lower) // step)) for lower, upper, step in known)
    if prod(trips) == 0:
        raise _unordered(stage, name, "in loops without iterations", stage.op)
    digits = _digits(access.quotients if may_split else (), [loop.variable for loop in loops], known)
    rows, low = [], []
    for form in access.subscripts:
        counted = _counted(form, digits) if access.exact_elements else None
        if counted is None:
            raise _unordered(stage, name, f"as {access.text}, no sum of its loops", access.op)
        constant, factors = counted
        rows.append(tuple(factors.get(digit, 0) for digit in digits))
        low.append(constant)
    memref = ir.MemRefType(stage.value.type)
    extents, steps = tuple(digit.trip for digit in digits), tuple(digit.step for digit in digits)
    return ITensor((1,) * memref.rank, extents, steps, tuple(rows), tuple(low), str(memref.element_type))


def _branch(stage: Stage, anchor: ir.Operation) -> ir.Operation | None:
    """The innermost operation around an access that is no loop with affine bounds."""
    op = anchor
    while op not in (stage.op, function_around(anchor).operation):
        assert op.parent is not None
        op = op.parent.operation
        if op.name != "affine.for":
            return op
    return None


def _guarded(access: Access, loops: Sequence[ModelLoop]) -> list[tuple[int, int, int] | None] | None:
    """The bounds of loops of a step of one, of the iterations in which an access is, if these are a box of them."""
    bounds = [constant_bounds(loop.op) for loop in loops]
    if not access.exact_domain or any(known is None or known[2] != 1 for known in bounds):
        return None
    inside = [loop.variable for loop in loops]
    domain = access.domain
    first = len(access.loops) - len(inside)
    if [loop.variable for loop in access.loops[first:]] != inside or domain.is_empty():
        return None
    ends = [(domain.dim_min_val(first + k), domain.dim_max_val(first + k)) for k in range(len(inside))]
    if not all(low.is_int() and high.is_int() for low, high in ends):
        return None
    found = [(low.to_python(), high.to_python() + 1, 1) for low, high in ends]
    box = domain
    for k, (low, end, _) in enumerate(found):
        box = box.drop_constraints_involving_dims(isl.dim_type.set, first + k, 1)
        box = box.lower_bound_val(isl.dim_type.set, first + k, isl.Val(low))
        box = box.upper_bound_val(isl.dim_type.set, first + k, isl.Val(end - 1))
    return [*found] if box.is_equal(domain) else None


@dataclass(frozen=True, slots=True)
class _Digit:
    """A loop, or one of two that it is the same as: those of `i // c` and `i % c`, c = `weight` of the first one."""

    variable: int
    lower: int
    trip: int
    step: int
    weight: int
    quotient: int | None = None  # the variable that stands for `i // weight`


def _digits(
    quotients: Sequence[Quotient], variables: Sequence[int], bounds: Sequence[tuple[int, int, int]]
) -> list[_Digit]:
    """The loops of an access, outermost first; one of which a subscript has a quotient is two."""
    found: list[_Digit] = []
    for variable, (lower, upper, step) in zip(variables, bounds, strict=True):
        trip = -(-(upper - lower) // step)
        own = [q for q in quotients if q.numerator.terms == ((variable, 1),) and q.numerator.constant == 0]
        if len(own) == 1 and (lower, step) == (0, 1) and trip % own[0].divisor == 0:
            divisor = own[0].divisor
            found.append(_Digit(variable, 0, trip // divisor, 1, divisor, own[0].variable))
            found.append(_Digit(variable, 0, divisor, 1, 1))
        else:
            found.append(_Digit(variable, lower, trip, step, 1))
    return found


def _counted(form: Linear, digits: Sequence[_Digit]) -> tuple[int, dict[_Digit, int]] | None:
    """A subscript in the first iteration, and what each loop counts in it; None if it is no sum of loops."""
    constant, factors = form.constant, dict.fromkeys(digits, 0)
    for number, factor in form.terms:
        own = [digit for digit in digits if digit.variable == number]
        whole = [digit for digit in digits if digit.quotient == number]
        if not own and not whole:
            return None
        for digit in own:
            factors[digit] += factor * digit.weight
            constant += factor * digit.lower
        for digit in whole:
            factors[digit] += factor
    return constant, factors


def _unordered(stage: Stage, array: str, where: str, op: ir.Operation) -> ScheduleError:
    return ScheduleError(
        f"{stage.name} uses '{array}' {where}, and its order is no iterative tensor",
        hint="a converter is between loop nests with constant bounds and without branches around the array",
        notes=[Note("it is here", location_of(op))],
    )
