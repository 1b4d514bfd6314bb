"""Waits at streams of grids of tasks, ranked for all positions at once: what has a rank waits for nothing for ever.

An instance of a put or get waits for those before it in its process; the n-th get of a FIFO for the n-th put, and the
n-th put for the get that makes room. A function that rises along all of these waits is a proof that none is in a circle
of them. isl's scheduler looks for an affine one; it is checked, so that the scheduler need not be trusted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise, permutations, product

import islpy as isl
from mlir import ir

from ..ir.access import callee_name, is_end, is_load, is_put
from ..ir.elements import SPATIAL
from ..ir.module import Module
from ..ir.processes import DATAFLOW, is_region, region_statements, spatial_loops
from ..ir.stream_facts import facts_of, made_streams
from ..ir.streams import is_stream_type
from ..ir.walk import (
    LOOP_OPERATIONS,
    constant_bounds,
    entry_block,
    induction_variable,
    operations,
    statements,
)
from .apart import Apartness
from .effort import Exhausted, limited
from .extract import model_of
from .linear import Linear, Row, variable
from .model import Access, ModelLoop
from .relations import Relations, plain
from .tokens import Unnumbered, same_shape, token_numbers

_IN, _OUT, _SET = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set
_OPERATIONS = 3_000_000  # of isl: some tenths of a second
_MOST_ENDS = 40
_FIRST = 1 << 40  # the variables of a process and its position; the model has lower ones


class _Unseen(Exception):
    """A region is not of the form that is looked at, or has no ranks."""


@dataclass(frozen=True, slots=True)
class _End:
    """Puts or gets of a stream, or an array of them, at all positions of a process, which has so many `places`."""

    access: Access
    stream: int
    process: int
    places: int


def waits_are_ranked(module: Module) -> bool:
    """Whether it is proven, without looking at each position, that streams are used by one process an end, that all
    which is put is taken, and that nobody waits for ever with FIFOs of their depths."""
    return module.once(_are_ranked)


def _are_ranked(module: Module) -> bool:
    made = [op for function in module.functions() for op in made_streams(function)]
    try:
        ends = list(_ends(module, made))
        if len(ends) > _MOST_ENDS:
            return False
        with limited(_OPERATIONS):
            return _ranked(ends, [facts_of(module, op).depth for op in made])
    except (_Unseen, Unnumbered, Exhausted):
        return False


def number_of_tasks(block: ir.Block) -> int:
    """How many processes the spatial loops of a region make."""
    return sum(
        reduce(
            lambda count, loop: count * len(range(*(constant_bounds(loop) or (0, 0, 1)))),
            spatial_loops(op),
            1,
        )
        for op in statements(block)[:-1]
    )


# -- what is at the ends of streams --------------------------------------------------------------------


def _ends(module: Module, made: Sequence[ir.Operation]) -> Iterator[_End]:
    """All puts and gets of a region; raises _Unseen."""
    blocks = {op.block for op in made}
    if len(blocks) != 1:
        raise _Unseen
    (block,) = blocks
    if not is_region(block) or block != entry_block(module.function(module.top)):
        raise _Unseen
    numbers = {op.results[0]: number for number, op in enumerate(made)}
    are_apart = Apartness(module)
    for place, statement in enumerate(region_statements(are_apart.effects, block, are_apart)):
        if statement.after:
            raise _Unseen
        if not are_apart.effects.touched(statement.op).streams:
            continue
        if not statement.is_process:
            raise _Unseen
        yield from _of_process(module, statement.op, place, numbers)


def _of_process(
    module: Module, process: ir.Operation, place: int, numbers: dict[ir.Value, int]
) -> Iterator[_End]:
    spatial = spatial_loops(process)
    call = process
    for loop in spatial:
        if call != loop:
            raise _Unseen
        call, *others = statements(loop.regions[0].blocks[0])[:-1]
        if others:
            raise _Unseen
    entry = entry_block(module.function(callee_name(call))) if call.name == "func.call" else None
    if entry is None or any(_has_processes(op) for op in (entry.owner, *operations(entry, *LOOP_OPERATIONS))):
        raise _Unseen
    given = dict(zip(entry.arguments, call.operands, strict=True))
    at = _Place(place, spatial, given)
    at_ends = [op for op in operations(entry) if any(is_stream_type(value.type) for value in op.operands)]
    model = model_of(module, callee_name(call))
    accesses = {access.op: access for access in model.accesses if access.buffer.is_stream}
    for op in at_ends:
        if is_load(op):  # one of an array, whose use is an operation too
            continue
        access = accesses.get(op)
        buffer = None if access is None else access.buffer.value
        if (
            not is_end(op)
            or access is None
            or not access.exact
            or buffer is None
            or given.get(buffer) not in numbers
        ):
            raise _Unseen
        yield _End(at.placed(access), numbers[given[buffer]], place, len(spatial) + 1)


@dataclass(frozen=True, slots=True)
class _Place:
    """A process at all positions of its grid; `given` are what its function gets, by its arguments."""

    number: int
    spatial: Sequence[ir.Operation]
    given: dict[ir.Value, ir.Value]

    def placed(self, access: Access) -> Access:
        """An access whose outermost loops are the process and the position."""
        rows: list[Row] = [Row(variable(_FIRST).plus(-self.number), True)]
        for k, loop in enumerate(self.spatial):
            low, high, step = constant_bounds(loop) or (0, 0, 0)
            if step != 1:
                raise _Unseen
            position = variable(_FIRST + 1 + k)
            rows += [Row(position.plus(-low)), Row((Linear(high - 1)) - position)]
        fixed = [
            Row(variable(parameter.variable) - self._value(self.given.get(parameter.value)), True)
            for parameter in access.parameters
        ]
        around = tuple(
            ModelLoop(_FIRST + k, f"p{k}", access.op, k, (0,) * (k + 1), (), True, access.source, None)
            for k in range(len(self.spatial) + 1)
        )
        return replace(
            access,
            id=f"{access.id}_{self.number}",
            loops=(*around, *access.loops),
            path=((0,) * len(around)) + access.path,
            pieces=tuple((*rows, *fixed, *piece) for piece in access.pieces),
            rows=(*fixed, *access.rows),
            parameters=(),
        )

    def _value(self, operand: ir.Value | None) -> Linear:
        """What the task is given for a parameter, by its position."""
        for k, loop in enumerate(self.spatial):
            if operand == induction_variable(loop):
                return variable(_FIRST + 1 + k)
        op = None if operand is None or isinstance(operand.owner, ir.Block) else operand.owner.operation
        if op is None or op.name != "arith.constant":
            raise _Unseen
        return Linear(int(ir.IntegerAttr(op.attributes["value"]).value))


def _has_processes(op: ir.Operation) -> bool:
    """Whether what is in a function or loop runs at the same time."""
    return DATAFLOW in op.attributes or SPATIAL in op.attributes


# -- the proof -----------------------------------------------------------------------------------------


def _ranked(ends: Sequence[_End], depths: Sequence[int]) -> bool:
    relations = Relations({}, max((len(end.access.loops) for end in ends), default=0))
    waits = _orders(relations, ends)
    for stream, depth in enumerate(depths):
        puts, gets = (
            [end for end in ends if end.stream == stream and is_put(end.access.op) == side]
            for side in (True, False)
        )
        if not puts and not gets:
            continue
        if not puts or not gets or not (_is_of_one(relations, puts) and _is_of_one(relations, gets)):
            return False
        found = _waits_of(relations, puts, gets, depth)
        if found is None:
            return False
        waits += found
    return _rise(reduce(isl.UnionSet.union, (_domain(relations, end) for end in ends)), waits)


def _waits_of(
    relations: Relations, puts: Sequence[_End], gets: Sequence[_End], depth: int
) -> list[isl.Map] | None:
    """What waits for what at streams of one depth; None if not all that is put is taken. Raises Unnumbered."""
    try:
        put_numbers, get_numbers = (
            token_numbers(relations, [end.access for end in side]) for side in (puts, gets)
        )
    except Unnumbered:
        return _waits_of_one_shape(relations, puts, gets)
    if not _all_of(put_numbers).is_equal(_all_of(get_numbers)):
        return None
    found: list[isl.Map] = []
    for put, get in product(put_numbers.values(), get_numbers.values()):
        found += [put.apply_range(get.reverse()), _later(get, depth).apply_range(put.reverse())]
    return found


def _waits_of_one_shape(
    relations: Relations, puts: Sequence[_End], gets: Sequence[_End]
) -> list[isl.Map] | None:
    """The waits if both sides run over iterations of one shape, as if FIFOs had room for one element."""
    if len(puts) > 1 or len(gets) > 1:
        return None
    put, get = puts[0].access, gets[0].access
    taken = same_shape(relations, put, get)  # from gets to puts
    if taken is None:
        return None
    streams, time = plain(relations.elements(put)), plain(relations.time(put))
    next_ones = streams.apply_range(streams.reverse()).intersect(time.lex_lt_map(time))
    full = taken.apply_range(next_ones)
    return [
        taken.reverse().set_tuple_name(_IN, put.id).set_tuple_name(_OUT, get.id),
        full.set_tuple_name(_IN, get.id).set_tuple_name(_OUT, put.id),
    ]


def _domain(relations: Relations, end: _End) -> isl.UnionSet:
    return isl.UnionSet.from_set(relations.domain(end.access).set_tuple_name(end.access.id))


def _all_of(numbers: dict[str, isl.Map]) -> isl.Set:
    """All tokens, each with its stream and number."""
    return reduce(isl.Set.union, (found.range() for found in numbers.values()))


def _is_of_one(relations: Relations, side: Sequence[_End]) -> bool:
    """Whether each stream is used by one process at one position."""
    most = max(end.places for end in side)
    users = None
    for end in side:
        user = plain(relations.elements(end.access)).reverse()
        user = user.project_out(_OUT, end.places, user.dim(_OUT) - end.places).add_dims(
            _OUT, most - end.places
        )
        for k in range(end.places, most):
            user = user.fix_val(_OUT, k, isl.Val.zero(isl.DEFAULT_CONTEXT))
        users = user if users is None else users.union(user)
    return users is not None and bool(users.is_single_valued())


def _later(numbers: isl.Map, count: int) -> isl.Map:
    """The numbers of tokens, and `count` more."""
    last = numbers.dim(_OUT) - 1
    space = numbers.get_space().range()
    moved = isl.MultiAff.identity_on_domain_space(space)
    moved = moved.set_aff(
        last, moved.get_aff(last).add_constant_val(isl.Val.int_from_si(isl.DEFAULT_CONTEXT, count))
    )
    return numbers.apply_range(isl.Map.from_multi_aff(moved))


def _orders(relations: Relations, ends: Sequence[_End]) -> list[isl.Map]:
    """What comes before what in one process at one position, but for what follows from other orders."""
    groups: dict[object, list[_End]] = {}
    for end in sorted(ends, key=lambda end: end.access.path):
        of_one_body = end.process, end.access.variables, end.access.path[:-1], end.access.pieces
        groups.setdefault(of_one_body, []).append(end)
    found: list[isl.Map] = []
    for group in (
        groups.values()
    ):  # each comes after the one before it, the first after the last of an iteration before
        iterations = relations.domain(group[0].access)
        same = isl.Map.identity(iterations.get_space().map_from_set())
        found += [_between(one, other, same, iterations, iterations) for one, other in pairwise(group)]
        found.append(
            _between(group[-1], group[0], isl.Map.lex_lt(iterations.get_space()), iterations, iterations)
        )
    for one, other in permutations(groups.values(), 2):
        if one[0].process != other[0].process:
            continue
        domains = [relations.domain(side[0].access) for side in (one, other)]
        places = [
            domain.project_out(_SET, end.places, domain.dim(_SET) - end.places)
            for domain, end in zip(domains, (one[0], other[0]), strict=True)
        ]
        if places[0].is_disjoint(places[1]):
            continue
        for first, second in product(one, other):
            times = plain(relations.time(first.access)), plain(relations.time(second.access))
            found.append(_between(first, second, times[0].lex_lt_map(times[1]), *domains))
    return [order for order in found if not order.is_empty()]


def _between(one: _End, other: _End, order: isl.Map, before: isl.Set, after: isl.Set) -> isl.Map:
    """The order of these iterations of two ends of a process at one position."""
    for k in range(one.places):
        order = order.equate(_IN, k, _OUT, k)
    order = order.intersect_domain(before).intersect_range(after)
    return order.set_tuple_name(_IN, one.access.id).set_tuple_name(_OUT, other.access.id)


def _rise(instances: isl.UnionSet, waits: Sequence[isl.Map]) -> bool:
    """Whether a function that rises along all waits is found.

    It is looked for first as if waits went on beyond the instances: that takes as long for all sizes of a grid.
    """
    union = reduce(isl.UnionMap.union, (isl.UnionMap.from_map(wait) for wait in waits), isl.UnionMap("{ }"))
    try:
        unbounded = union.gist_domain(instances).gist_range(instances)
        if _rises(instances, union, _schedule(instances, unbounded)):
            return True
    except _Unseen:
        pass
    return _rises(instances, union, _schedule(instances, union))


def _rises(instances: isl.UnionSet, union: isl.UnionMap, ranks: isl.UnionMap) -> bool:
    """Whether the ranks of all instances rise along all waits."""
    for rise in _maps(union.apply_domain(ranks).apply_range(ranks)):
        if rise.dim(_IN) != rise.dim(_OUT):
            return False
        if not rise.is_subset(isl.Map.lex_lt(rise.get_space().domain())):
            return False
    return bool(instances.is_subset(ranks.domain()))


def _schedule(instances: isl.UnionSet, waits: isl.UnionMap) -> isl.UnionMap:
    """What isl schedules, by Feautrier's algorithm: its other one takes seconds for the coefficients of a grid."""
    context = isl.DEFAULT_CONTEXT
    before = context.get_schedule_algorithm()
    context.set_schedule_algorithm(isl.schedule_algorithm.FEAUTRIER)
    try:
        return isl.ScheduleConstraints.on_domain(instances).set_validity(waits).compute_schedule().get_map()
    except isl.Error as error:  # of waits in a circle
        raise _Unseen from error
    finally:
        context.set_schedule_algorithm(before)


def _maps(union: isl.UnionMap) -> list[isl.Map]:
    found: list[isl.Map] = []
    union.foreach_map(found.append)
    return found
