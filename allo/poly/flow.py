"""Value-based flow: for each read the write whose value it sees, or that it sees what the array held before.

P. Feautrier, "Dataflow analysis of array and scalar references" (IJPP 1991). What isl computes is not trusted:
`fault` shows that each source found is a write of that element before the read with no other write in between, by
tests of emptiness alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from .model import Access, Source
from .relations import Relations

_IN = isl.dim_type.in_
_END = "End"


class NoFlow(Exception):
    """isl finds no flow that is right."""


@dataclass(frozen=True, slots=True)
class Instances:
    """The instances of a read or a write: the element that each touches, and when it runs."""

    id: str
    text: str
    source: Source | None
    elements: isl.Map
    time: isl.Map


def instances(relations: Relations, access: Access) -> Instances:
    """In the order of the program."""
    elements, time = relations.elements(access), relations.time(access)
    return Instances(access.id, access.text, access.source, elements, time)


def at_end(relations: Relations, elements: isl.Set, length: int, last: int) -> Instances:
    """A read of some elements after everything else: times have `length` numbers, the first less than `last`."""
    rank = elements.dim(isl.dim_type.set)
    time = isl.Map.universe(relations.map_space(rank, length).set_tuple_name(_IN, _END))
    for k in range(length):
        time = time.fix_val(isl.dim_type.out, k, last if k == 0 else 0)
    same = relations.identity(rank).intersect_domain(elements).set_tuple_name(_IN, _END)
    return Instances(_END, "the end", None, same, time)


@dataclass(frozen=True, slots=True)
class Flow:
    """For each write, by its id, the map from the reads that see it; and the elements of the reads that see none."""

    sources: Mapping[str, isl.Map]
    rest: isl.Map


def _unlimited(_: Source | None) -> None:
    """No limit of effort."""


def flow_of(
    read: Instances,
    writes: Sequence[Instances],
    check: Callable[[Source | None], None] = _unlimited,
    complete: bool = True,
) -> Flow:
    """What a read sees of the writes; raises NoFlow. `check` is called between steps, with the write in question.

    Without `complete`, all that it says holds, but there may be reads that it says nothing about: to show that there
    are none takes minutes where subscripts have several remainders.
    """
    if not writes:
        return Flow({}, read.elements)
    found = last_writes(read, writes)
    if fault(found, read, writes, check, complete):
        found = not_overwritten(read, writes)
        wrong = fault(found, read, writes, check, complete)
        if wrong:
            raise NoFlow(f"isl finds no right dataflow: {wrong}")
    return found


def fault(
    flow: Flow,
    read: Instances,
    writes: Sequence[Instances],
    check: Callable[[Source | None], None] = _unlimited,
    complete: bool = True,
) -> str:
    """What is wrong with a flow, whatever computed it; empty if nothing is."""
    covered = flow.rest.domain()
    times = {write.id: write.time for write in writes}
    for write in writes:
        check(write.source)
        earlier = _earlier(read, write)
        if write.id in flow.sources:
            covered = covered.union(flow.sources[write.id].domain())
            if not flow.sources[write.id].is_subset(earlier):
                return f"{write.text} is not earlier"
        if not earlier.intersect_domain(flow.rest.domain()).is_empty():
            return f"{write.text} has written what is said to be unwritten"
        for other, seen in flow.sources.items():
            between = seen.reverse().apply_range(earlier)
            if not between.intersect(times[other].lex_lt_map(write.time)).is_empty():
                source = next(one for one in writes if one.id == other)
                return f"{write.text} overwrites {source.text}"
    known = not complete or read.elements.domain().is_subset(covered)
    return "" if known and flow.rest.is_subset(read.elements) else "a read without a source"


def last_writes(read: Instances, writes: Sequence[Instances]) -> Flow:
    """The flow as isl computes it."""
    sources = isl.UnionMap.from_map(writes[0].elements)
    schedule = isl.UnionMap.from_map(read.time.intersect_domain(read.elements.domain()))
    for k, write in enumerate(writes):
        if k:
            sources = sources.union(isl.UnionMap.from_map(write.elements))
        schedule = schedule.union(isl.UnionMap.from_map(write.time.intersect_domain(write.elements.domain())))
    access = isl.UnionAccessInfo.from_sink(isl.UnionMap.from_map(read.elements))
    flow = access.set_must_source(sources).set_schedule_map(schedule).compute_flow()
    found: dict[str, isl.Map] = {}
    must = flow.get_must_dependence()
    for k in range(must.n_map()):
        one = must.get_map_list().get_at(k)
        found[one.get_tuple_name(_IN)] = one.reverse().coalesce()
    rest = flow.get_must_no_source()
    if rest.is_empty():
        return Flow(found, isl.Map.empty(read.elements.get_space()))
    return Flow(found, rest.get_map_list().get_at(0).coalesce())


def not_overwritten(read: Instances, writes: Sequence[Instances]) -> Flow:
    """The same by set differences alone: earlier writes without those after which another one is earlier."""
    earlier = {write.id: _earlier(read, write) for write in writes}
    rest = read.elements
    found: dict[str, isl.Map] = {}
    for write in writes:
        flow = earlier[write.id]
        for other in writes:
            overwritten = earlier[other.id].apply_range(other.time.lex_gt_map(write.time))
            flow = flow.subtract(overwritten)
        rest = rest.subtract(rest.intersect_domain(earlier[write.id].domain()))
        if not flow.is_empty():
            found[write.id] = flow.coalesce()
    return Flow(found, rest.coalesce())


def _earlier(read: Instances, write: Instances) -> isl.Map:
    """{ read -> write of the same element before it }"""
    return read.elements.apply_range(write.elements.reverse()).intersect(read.time.lex_gt_map(write.time))
