"""Tokens of a stream in a certificate: gets take what is put, in its order, and peeks see what the next get takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

import islpy as isl

from ...ir.access import is_get, is_peek, is_put
from ...poly.computation import Computation
from ...poly.model import Access
from .sums import Wrong


def check_stream(computation: Computation, accesses: Sequence[Access], all_told: Mapping[str, isl.UnionMap]) -> None:
    """The gets take what the puts put, in the same order, and all of it; each after it was put.

    What is looked at is what the next get takes.
    """
    gets, puts, peeks = ([a for a in accesses if wanted(a.op)] for wanted in (is_get, is_put, is_peek))
    stream = f"stream '{accesses[0].buffer.name}'"
    if len(gets) + len(puts) + len(peeks) < len(accesses) or not all(access.exact for access in accesses):
        raise Wrong(f"{stream} is used in a way that is not understood")
    told = [_told(computation, get, all_told) for get in gets]
    pairs = reduce(isl.UnionMap.union, told, isl.UnionMap("{ }"))
    (taken, get_times), (put, put_times) = map(computation.relations, (gets, puts))
    own = [computation.reading(get)[0].domain() for get in gets]
    each = all(iterations.is_equal(seen.domain()) for iterations, seen in zip(own, told, strict=True))
    if not (each and put.domain().is_equal(pairs.range())):
        raise Wrong(f"a token of {stream} is not matched")
    later = taken.apply_range(taken.reverse()).intersect(get_times.lex_lt_union_map(get_times))
    turned = pairs.reverse().apply_range(later).apply_range(pairs)
    early = pairs.intersect(get_times.lex_le_union_map(put_times))
    in_order = turned.intersect(put_times.lex_ge_union_map(put_times)).is_empty() and early.is_empty()
    if not (pairs.is_bijective() and pairs.is_subset(taken.apply_range(put.reverse())) and in_order):
        raise Wrong(f"tokens of {stream} are matched wrongly")
    for peek in peeks:
        elements, time = computation.reading(peek)
        behind = elements.apply_range(taken.reverse()).intersect(time.lex_lt_union_map(get_times))
        seen = behind.subtract(behind.apply_range(later)).apply_range(pairs)
        if not (elements.domain().is_equal(seen.domain()) and _told(computation, peek, all_told).is_equal(seen)):
            raise Wrong(f"what is looked at in {stream} is told wrongly")
        if not seen.intersect(time.lex_le_union_map(put_times)).is_empty():
            raise Wrong(f"{stream} is looked at before something is put")


def _told(computation: Computation, access: Access, all_told: Mapping[str, isl.UnionMap]) -> isl.UnionMap:
    """What a get or a peek is told to have; nothing of one that never runs."""
    return all_told.get(computation.value(access.op.results[0]).name, isl.UnionMap("{ }"))
