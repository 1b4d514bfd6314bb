"""Uses of arrays and streams by the processes of a region, each at its position: which of them meet in one element."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement, product

import islpy as isl
from mlir import ir

from ..ir.access import callee_name
from ..ir.module import Module
from ..ir.processes import spatial_loops
from ..ir.walk import constant_bounds, entry_block, induction_variable, statements
from .extract import model_of
from .model import Access

type Wanted = Callable[[Access], bool]


@dataclass(frozen=True, slots=True)
class TaskUse:
    """What one operation of a process does to elements of an array or stream, by the position of the process.

    `relation` is over-approximated unless it is `exact`.
    """

    process: ir.Operation = field(repr=False)
    access: Access
    relation: isl.Map = field(compare=False)
    exact: bool


@dataclass(frozen=True, slots=True)
class TaskClash:
    """Two uses of one `element`, at these positions of their processes."""

    first: TaskUse
    second: TaskUse
    positions: tuple[tuple[int, ...], tuple[int, ...]]
    element: tuple[int, ...]


def task_uses(module: Module, process: ir.Operation, value: ir.Value, wanted: Wanted) -> Iterator[TaskUse]:
    """The uses of an array or stream of the region around `process`, also in the functions that it calls."""
    spatial = spatial_loops(process)
    function = process
    while function.name != "func.func":
        assert function.parent is not None
        function = function.parent.operation
    name = ir.StringAttr(function.attributes["sym_name"]).value
    model = model_of(module, name)
    buffer = model.buffer(value)
    called: dict[ir.Operation, isl.Set] = {}
    for access in model.accesses if buffer is not None else ():
        if access.buffer.label != buffer.label or not _is_in(access.op, process):  # type: ignore[union-attr]
            continue
        if access.op.name == "func.call":
            called[access.op] = _own(access, spatial).domain()
            continue
        if wanted(access):
            yield TaskUse(process, access, _own(access, spatial), access.exact)
    for call in _calls(process):
        for number, operand in enumerate(call.operands):
            if operand == value:
                for use in _of_call(module, process, spatial, call, number, wanted):
                    at = called.get(call)
                    relation = use.relation if at is None else use.relation.intersect_domain(at)
                    yield TaskUse(process, use.access, relation, use.exact)


def _own(access: Access, spatial: Sequence[ir.Operation]) -> isl.Map:
    """From positions to elements, without the loops inside of an element."""
    relation = access.map.intersect_domain(access.domain)
    places = [k for k, loop in enumerate(access.loops) if loop.op in spatial]
    for k in reversed(range(len(access.loops))):
        if k not in places:
            relation = relation.project_out(isl.dim_type.in_, k, 1)
    return _plain(relation)


def _plain(relation: isl.Map) -> isl.Map:
    """A relation of tuples without names and parameters."""
    relation = relation.project_out(isl.dim_type.param, 0, relation.dim(isl.dim_type.param))
    return relation.reset_tuple_id(isl.dim_type.in_).reset_tuple_id(isl.dim_type.out)


def _calls(process: ir.Operation) -> list[ir.Operation]:
    if process.name == "func.call":
        return [process]
    found = []
    for region in process.regions:
        for block in region.blocks:
            for op in statements(block):
                found += _calls(op)
    return found


def _of_call(
    module: Module, process: ir.Operation, spatial: Sequence[ir.Operation], call: ir.Operation, number: int,
    wanted: Wanted,
) -> Iterator[TaskUse]:  # fmt: skip
    name = callee_name(call)
    entry = entry_block(module.function(name))
    if entry is None:
        return
    inner = entry.arguments[number]
    model = model_of(module, name)
    buffer = model.buffer(inner)
    for access in model.accesses if buffer is not None else ():
        if access.buffer.label != buffer.label:  # type: ignore[union-attr]
            continue
        if access.op.name == "func.call":
            for position, operand in enumerate(access.op.operands):
                if operand == inner:  # at which position of the task is not followed through a second call
                    for use in _of_call(module, process, spatial, access.op, position, wanted):
                        yield TaskUse(process, use.access, use.relation, use.exact and not spatial)
            continue
        if wanted(access):
            relation, exact = _through(access, entry, call, spatial)
            yield TaskUse(process, access, relation, exact)


def _through(
    access: Access, entry: ir.Block, call: ir.Operation, spatial: Sequence[ir.Operation]
) -> tuple[isl.Map, bool]:
    """From positions of the caller to elements, and whether that is exact."""
    elements = access.map.intersect_domain(access.domain).range()
    inside = isl.Map.from_range(elements)
    count = inside.dim(isl.dim_type.param)
    inside = inside.move_dims(isl.dim_type.in_, 0, isl.dim_type.param, 0, count)
    inside = inside.reset_tuple_id(isl.dim_type.in_).reset_tuple_id(isl.dim_type.out)
    context = isl.DEFAULT_CONTEXT
    given = isl.Map.universe(isl.Space.alloc(context, 0, len(spatial), count))
    exact = access.exact
    for k, parameter in enumerate(access.parameters):
        operand = next((call.operands[n] for n, a in enumerate(entry.arguments) if a == parameter.value), None)
        known = None if operand is None else _place(operand, spatial)
        if isinstance(known, int):
            given = given.fix_val(isl.dim_type.out, k, isl.Val.int_from_si(context, known))
        elif known is not None:
            given = given.equate(isl.dim_type.in_, spatial.index(known), isl.dim_type.out, k)
        else:
            exact = False
    for k, loop in enumerate(spatial):
        bounds = constant_bounds(loop)
        assert bounds is not None
        given = given.lower_bound_val(isl.dim_type.in_, k, isl.Val.int_from_si(context, bounds[0]))
        given = given.upper_bound_val(isl.dim_type.in_, k, isl.Val.int_from_si(context, bounds[1] - 1))
    return given.apply_range(inside), exact


def _place(value: ir.Value, spatial: Sequence[ir.Operation]) -> ir.Operation | int | None:
    """The loop whose variable a value is, or the constant that it is."""
    for loop in spatial:
        if induction_variable(loop) == value:
            return loop
    made = None if isinstance(value.owner, ir.Block) else value.owner.operation
    if made is None or made.name != "arith.constant":
        return None
    return int(ir.IntegerAttr(made.attributes["value"]).value)


def first_clash(uses: Iterable[tuple[TaskUse, TaskUse]]) -> TaskClash | None:
    """The first two of these uses that surely meet in an element, at two positions or in two processes."""
    for first, second in uses:
        if not (first.exact and second.exact):
            continue
        common = first.relation.apply_range(second.relation.reverse())
        if first.process == second.process:
            common = common.subtract(isl.Map.identity(common.get_space()))
        if common.is_empty():
            continue
        point = common.lexmin().sample()
        positions = _numbers(point.domain()), _numbers(point.range())
        element = isl.Set.from_basic_set(point.domain()).apply(first.relation)
        element = element.intersect(isl.Set.from_basic_set(point.range()).apply(second.relation))
        return TaskClash(first, second, positions, _numbers(element.lexmin().sample()))
    return None


def first_outside(
    uses: Iterable[TaskUse], extents: Sequence[int]
) -> tuple[TaskUse, tuple[int, ...], tuple[int, ...]] | None:
    """The first of these uses that surely is of no element of an array, with the position and the subscripts."""
    for use in uses:
        inside = isl.Set.universe(use.relation.get_space().range())
        for dimension, extent in enumerate(extents):
            inside = inside.lower_bound_val(isl.dim_type.set, dimension, isl.Val.zero(isl.DEFAULT_CONTEXT))
            last = isl.Val.int_from_si(isl.DEFAULT_CONTEXT, extent - 1)
            inside = inside.upper_bound_val(isl.dim_type.set, dimension, last)
        beyond = use.relation.subtract_range(inside) if use.exact else None
        if beyond is not None and not beyond.is_empty():
            position = beyond.domain().lexmin()
            element = position.apply(beyond).lexmin()
            return use, _numbers(position.sample()), _numbers(element.sample())
    return None


def may_meet(module: Module, value: ir.Value, first: ir.Operation, second: ir.Operation, wanted: Wanted) -> bool:
    """Whether two processes, or two positions if they are one, may use one element of an array or stream."""
    uses = [list(task_uses(module, process, value, wanted)) for process in (first, second)]
    for one, other in product(*uses):
        if first != second:
            if not one.relation.range().is_disjoint(other.relation.range()):
                return True
            continue
        if one.relation.dim(isl.dim_type.in_) != other.relation.dim(isl.dim_type.in_):
            return True
        common = one.relation.apply_range(other.relation.reverse())
        if not common.is_subset(isl.Map.identity(common.get_space())):
            return True
    return False


def pairs_of(uses: Sequence[TaskUse]) -> Iterator[tuple[TaskUse, TaskUse]]:
    """Any two of some uses, one with itself too."""
    yield from combinations_with_replacement(uses, 2)


def _numbers(point: isl.BasicSet) -> tuple[int, ...]:
    found = point.sample_point()
    return tuple(
        found.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(point.dim(isl.dim_type.set))
    )


def _is_in(op: ir.Operation, process: ir.Operation) -> bool:
    current: ir.Operation | None = op
    while current is not None and current != process:
        current = None if current.parent is None else current.parent.operation
    return current is not None
