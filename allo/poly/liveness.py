"""Live instances of reads: those whose values reach, through memory, what is left behind or what decides on others."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import islpy as isl
from mlir import ir

from ..ir.access import is_store, stored
from .flow import Flow
from .model import Access
from .relations import Relations

_ROUNDS = 3  # after each, the instances that are called live are fewer, and still enough; or more, and still live
# What neither traps nor does anything else, whatever the operands are.
_TOTAL = frozenset({
    *(f"arith.{name}{kind}" for name in ("add", "sub", "mul") for kind in "if"),
    *(f"arith.{name}" for name in ("andi", "ori", "xori", "select", "cmpi", "cmpf", "negf", "divf")),
    *(f"arith.{name}" for name in ("extsi", "extui", "extf", "trunci", "truncf", "sitofp", "uitofp")),
    *(f"arith.{name}" for name in ("maxsi", "maxui", "minsi", "minui", "maximumf", "minimumf")),
    "allo.sign_cast",
})


def final_reads(
    relations: Relations, accesses: Sequence[Access], known: Collection[str], ends: Sequence[Flow]
) -> dict[str, isl.Set]:
    """The instances of all reads of the arrays `known` that are live at once: they feed a write that is seen in the
    `ends`, or something else than memory. Both `live_reads` and `reaching_reads` have them.
    """
    kept = _seen(ends)
    whole = _whole(relations, accesses, known)
    return {read: _feeding(whole[read], into, kept) for read, into in _fed_by(accesses, known).items()}


def live_reads(
    relations: Relations,
    accesses: Sequence[Access],
    known: Collection[str],
    reads: Mapping[str, Flow],
    ends: Sequence[Flow],
) -> dict[str, isl.Set]:
    """The live instances of all reads of the arrays `known`, and more, by what they see and what is seen in the `ends`.

    Writes of other arrays are live in all instances.
    """
    fed = _fed_by(accesses, known)
    live = whole = _whole(relations, accesses, known)
    for _ in range(_ROUNDS):
        live = _one_read_back(live, whole, fed, reads, ends)
    return live


def surely_live_reads(
    final: Mapping[str, isl.Set],
    relations: Relations,
    accesses: Sequence[Access],
    known: Collection[str],
    reads: Mapping[str, Flow],
    ends: Sequence[Flow],
) -> dict[str, isl.Set]:
    """The `final_reads`, and the instances whose values reach them through few writes."""
    fed, whole, live = _fed_by(accesses, known), _whole(relations, accesses, known), final
    for _ in range(_ROUNDS):
        live = _one_read_back(live, whole, fed, reads, ends)
    return dict(live)


def _one_read_back(
    live: Mapping[str, isl.Set],
    whole: Mapping[str, isl.Set],
    fed: Mapping[str, list[Access] | None],
    reads: Mapping[str, Flow],
    ends: Sequence[Flow],
) -> dict[str, isl.Set]:
    """The instances that feed what `live` ones see, or what is left."""
    seen = _seen([*ends, *(restricted(flow, live[read]) for read, flow in reads.items())])
    return {read: _feeding(whole[read], into, seen) for read, into in fed.items()}


def reaching_reads(
    live: Mapping[str, isl.Set],
    accesses: Sequence[Access],
    known: Collection[str],
    reads: Mapping[str, Flow],
    ends: Sequence[Flow],
) -> dict[str, isl.Set]:
    """Those of the instances that `live_reads` says are live whose values go on, however often, to one that is kept."""
    kept = _seen(ends)
    goals, steps = isl.UnionSet("{ }"), isl.UnionMap("{ }")
    for read, into in _fed_by(accesses, known).items():
        goals = goals.union(isl.UnionSet.from_set(_feeding(live[read], into, kept)))
        for write in into or ():
            for later, flow in reads.items():
                if write.id in flow.sources:
                    step = flow.sources[write.id].reverse().set_tuple_name(isl.dim_type.in_, read)
                    step = step.intersect_domain(live[read]).intersect_range(live[later])
                    steps = steps.union(isl.UnionMap.from_map(step))
    onwards = steps.transitive_closure()[0]  # or more than that
    reaching = onwards.reverse().intersect_domain(goals).range().union(goals)
    return {read: found.intersect(reaching.extract_set(found.get_space())) for read, found in live.items()}


def restricted(flow: Flow, reads: isl.Set) -> Flow:
    sources = {write: seen.intersect_domain(reads) for write, seen in flow.sources.items()}
    return Flow(sources, flow.rest.intersect_domain(reads))


def _seen(flows: Sequence[Flow]) -> dict[str, isl.Set]:
    """The instances of writes whose values are seen, by their ids."""
    found: dict[str, isl.Set] = {}
    for flow in flows:
        for write, sources in flow.sources.items():
            one = sources.range()
            found[write] = found[write].union(one) if write in found else one
    return found


def _feeding(whole: isl.Set, into: Sequence[Access] | None, seen: Mapping[str, isl.Set]) -> isl.Set:
    """The instances of a read that feed a write that is seen; all if it is not known what they feed."""
    if into is None:
        return whole
    name, found = whole.get_tuple_name(), isl.Set.empty(whole.get_space())
    for write in into:
        if write.id in seen:
            found = found.union(seen[write.id].set_tuple_name(name))
    return found.intersect(whole)


def _reads(accesses: Sequence[Access], known: Collection[str]) -> list[Access]:
    return [access for access in accesses if not access.is_write and access.buffer.label in known]


def _whole(relations: Relations, accesses: Sequence[Access], known: Collection[str]) -> dict[str, isl.Set]:
    """All instances of all reads of the arrays `known`."""
    return {read.id: relations.elements(read).domain() for read in _reads(accesses, known)}


def _fed_by(accesses: Sequence[Access], known: Collection[str]) -> dict[str, list[Access] | None]:
    """For each read of the arrays `known` what `_fed` tells."""
    writes = {access.op: access for access in accesses if access.is_write and access.buffer.label in known}
    return {read.id: _fed(read, writes) for read in _reads(accesses, known)}


def _fed(read: Access, writes: Mapping[ir.Operation, Access]) -> list[Access] | None:
    """The writes, in the same loops, into which alone a value goes; None if it is used otherwise, or not at all."""
    found: list[Access] = []
    waiting = list(read.op.results)
    while waiting:
        value = waiting.pop()
        for use in value.uses:
            user = use.owner.operation
            if user.name in _TOTAL:
                waiting += user.results
                continue
            write = writes.get(user)
            if write is None or write.loops != read.loops or not is_store(user) or stored(user) != value:
                return None
            found.append(write)
    return found or None
