"""Origins of what gets take from streams: the k-th get of a stream takes the k-th token (`poly/tokens.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl

from ...ir.access import asks_stream, is_at_stream, is_end, is_get, is_peek, is_put
from ...poly.model import Access
from ...poly.relations import plain
from ...poly.tokens import Unnumbered, next_numbers, same_shape, token_numbers
from .flow import Flows, Origin
from .nodes import Gap

_SET = isl.dim_type.set


@dataclass(frozen=True, slots=True)
class Fault:
    """A stream that cannot work: what is wrong, in which stream (its subscripts in `channel`), at which token."""

    reason: str
    access: Access
    channel: tuple[int, ...]
    token: int


def check_streams(flows: Flows) -> Fault | None:
    """Number the tokens of all streams of a program and enter the origins of its gets."""
    for label, accesses in flows.graph.accesses.items():
        ends = [a for a in accesses if is_at_stream(a.op)]
        if not ends:
            continue
        for access in accesses:
            if asks_stream(access.op):
                raise Gap(f"what is found in stream '{label}' depends on when tasks run", access.source)
            if not (is_end(access.op) or is_peek(access.op)):
                raise Gap(f"stream '{label}' is used by `{access.op.name}`", access.source)
            if not access.exact:
                raise Gap(f"{access.op.name} of '{label}' {access.reason or 'is not affine'}", access.source)
        flows.effort.check(ends[0].source)
        puts = [a for a in ends if is_put(a.op)]
        gets = [a for a in ends if is_get(a.op)]
        peeks = [a for a in ends if is_peek(a.op)]
        try:
            fault = _check_stream(flows, puts, gets, peeks)
        except Unnumbered as error:
            one_each = len(puts) == 1 and len(gets) == 1 and not peeks
            pairs = same_shape(flows.graph.relations, puts[0], gets[0]) if one_each else None
            if pairs is None:
                raise Gap(str(error), error.at) from error
            flows.enter(gets[0], (_origin(flows, puts[0], pairs),))
            fault = None
        if fault is not None:
            return fault
    return None


def _check_stream(
    flows: Flows, puts: Sequence[Access], gets: Sequence[Access], peeks: Sequence[Access]
) -> Fault | None:
    relations = flows.graph.relations
    of_puts, of_gets = token_numbers(relations, puts), token_numbers(relations, gets)
    puts, gets = [put for put in puts if put.id in of_puts], [get for get in gets if get.id in of_gets]  # that run
    seen = {peek.id: next_numbers(relations, peek, gets, of_gets) for peek in peeks}
    taken: dict[str, isl.Set] = {}
    for get in (*gets, *peeks):
        number = of_gets[get.id] if get.id in of_gets else seen[get.id]
        origins: list[Origin] = []
        for put in puts:
            pairs = number.apply_range(of_puts[put.id].reverse())
            if pairs.is_empty():
                continue
            early = pairs.intersect(relations.time(get).lex_lt_map(relations.time(put)))
            if not early.is_empty():
                return _fault("deadlock: taken before it is put, token", get, number.intersect_domain(early.domain()))
            origins.append(_origin(flows, put, plain(pairs)))
            if get.id in seen:
                continue
            taken[put.id] = pairs.range() if put.id not in taken else taken[put.id].union(pairs.range())
        missing = number
        for origin in origins:
            missing = missing.subtract(number.intersect_domain(origin.map.domain().set_tuple_name(get.id)))
        if not missing.is_empty():
            return _fault("deadlock: never put, token", get, missing)
        flows.enter(get, tuple(origins))
    for put in puts:
        number = of_puts[put.id]
        rest = number if put.id not in taken else number.subtract(number.intersect_domain(taken[put.id]))
        if not rest.is_empty():
            return _fault("counts: put and never taken, token", put, rest)
    return None


def _origin(flows: Flows, put: Access, pairs: isl.Map) -> Origin:
    return Origin(flows.graph.node(put.op.operands[1]), pairs, put.id)


def _fault(reason: str, access: Access, numbers: isl.Map) -> Fault:
    """The first token of a set, of the first stream."""
    points = numbers.range()
    found: list[int] = []
    for k in range(points.dim(_SET)):
        value = points.dim_min_val(k)
        points = points.fix_val(_SET, k, value)
        found.append(int(value.to_python()))
    return Fault(f"{reason} {found[-1]}", access, tuple(found[:-1]), found[-1])
