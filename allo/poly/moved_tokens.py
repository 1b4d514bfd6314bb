"""Elements that a nest only hands on: which element of one stream it puts, as which one, into another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

import islpy as isl
from mlir import ir

from ..ir.access import is_get, is_load, is_put, is_store, stored
from ..layout import ITensor
from .effort import Exhausted, limited
from .flow import NoFlow, flow_of, instances
from .model import Access, Model
from .relations import Relations, plain
from .tokens import Unnumbered, token_numbers

_FOLLOWED, _COMPARED = 60_000, 100_000  # operations of isl, tenths of a second: large layers would take minutes


def moved_tokens(model: Model, source: ir.Value, target: ir.Value) -> isl.Map | None:
    """{ [number of an element put into `target`] -> [its number among those that came from `source`] }.

    Elements may be kept in memory between. None if other values are put too, or if which ones is not known; there may
    be elements that the map does not have, but what it has holds.
    """
    gets = [a for a in model.accesses if a.buffer.value == source and is_get(a.op)]
    puts = [a for a in model.accesses if a.buffer.value == target and is_put(a.op)]
    ends = [*gets, *puts]
    if not gets or not puts or not all(end.exact and not end.subscripts and not end.buffer.scope for end in ends):
        return None
    relations = Relations({p.variable: p.name for p in model.parameters}, model.depth)
    try:
        with limited(_FOLLOWED):
            came, went = token_numbers(relations, gets), token_numbers(relations, puts)
            known = {get.op: (get, came[get.id]) for get in gets if get.id in came}
            found: list[isl.Map] = []
            for put in (put for put in puts if put.id in went):
                part = _handed_on(relations, model, put, known)
                if part is None:
                    return None
                found.append(plain(went[put.id].reverse().apply_range(part)))
            return reduce(isl.Map.union, found).coalesce() if found else None
    except (Exhausted, NoFlow, Unnumbered, isl.Error):
        return None


@dataclass(frozen=True, slots=True)
class Misplaced:
    """The element that is put as the `number`-th one: its place where it came from, and the one that it should have."""

    number: int
    given: tuple[int, ...]
    wanted: tuple[int, ...]


def misplaced(moved: isl.Map, came: ITensor, went: ITensor) -> Misplaced | None:
    """The first element that `moved_tokens` has at another place than the orders of both streams, if one is known.

    Only emptiness is asked: differences of sets with remainders take isl minutes.
    """
    given, wanted = came.places_by_number, went.places_by_number
    try:
        with limited(_COMPARED):
            wrong = [moved.intersect(wanted.lex_lt_map(given)), moved.intersect(wanted.lex_gt_map(given))]
            found = [_point(one.domain().lexmin()) for one in wrong if not one.is_empty()]
            if not found:
                return None
            number = isl.Set(f"{{ [{min(found)[0]}] }}")
            return Misplaced(
                min(found)[0],
                _point(number.apply(moved).apply(given)),
                _point(number.apply(wanted)),
            )
    except (Exhausted, isl.Error):
        return None


def _point(points: isl.Set) -> tuple[int, ...]:
    point = points.sample_point()
    return tuple(point.get_coordinate_val(isl.dim_type.set, d).to_python() for d in range(points.dim(isl.dim_type.set)))


type _Known = Mapping[ir.Operation, tuple[Access, isl.Map]]  # gets, with the numbers of what they take


def _handed_on(relations: Relations, model: Model, put: Access, known: _Known) -> isl.Map | None:
    """{ put[iteration] -> [number of what it puts among what came] }"""
    direct = _taken(relations, put, known)
    if direct is not None:
        return direct
    load = _access_of(model, _made_by(put))
    if load is None or not is_load(load.op) or load.op.block != put.op.block:
        return None
    used = [a for a in model.accesses if a.buffer.label == load.buffer.label]
    writes = [a for a in used if a.is_write]
    if not all(a.exact and (is_load(a.op) or is_store(a.op)) for a in used):
        return None
    flow = flow_of(instances(relations, load), [instances(relations, write) for write in writes], complete=False)
    seen = [write for write in writes if write.id in flow.sources]
    numbers = [_taken(relations, write, known) for write in seen]
    if not flow.rest.is_empty() or not seen:
        return None
    parts: list[isl.Map] = []
    for write, number in zip(seen, numbers, strict=True):
        if number is None:
            return None
        parts.append(flow.sources[write.id].apply_range(number))
    return _together(relations, put, load).apply_range(reduce(isl.Map.union, parts))


def _taken(relations: Relations, end: Access, known: _Known) -> isl.Map | None:
    """{ end[iteration] -> [number of what came] }, if a put or a store is of what a get beside it has taken."""
    made = _made_by(end)
    if made is None or made not in known or made.block != end.op.block:
        return None
    get, numbers = known[made]
    return _together(relations, end, get).apply_range(numbers)


def _made_by(end: Access) -> ir.Operation | None:
    """The operation that makes what a put or a store is of."""
    if not (is_put(end.op) or is_store(end.op)):
        return None
    owner = stored(end.op).owner
    return None if isinstance(owner, ir.Block) else owner.operation


def _access_of(model: Model, op: ir.Operation | None) -> Access | None:
    return next((access for access in model.accesses if access.op == op), None)


def _together(relations: Relations, one: Access, other: Access) -> isl.Map:
    """{ one[iteration] -> other[iteration] } of accesses of one block."""
    same: isl.Map = relations.identity(len(relations.counted(one)))
    return same.set_tuple_name(isl.dim_type.in_, one.id).set_tuple_name(isl.dim_type.out, other.id)
