"""Random small affine nests: every answer of the polyhedral model against the enumeration of all iterations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import permutations
from typing import Any

import islpy as isl

from allo.poly import (
    Count,
    Trips,
    Undecided,
    Violation,
    carried_by,
    extract,
    footprint,
    order_violation,
    runs_of,
    trips_of,
)
from tests.seeds import drawn, sweep

from .random_nests import SIZE, Access, Event, For, If, Trace, function_text, programs, run


def conflicts(events: list[Event]) -> Iterator[tuple[Event, Event]]:
    for k, first in enumerate(events):
        for second in events[k + 1 :]:
            if first.element == second.element and "write" in (first.kind, second.kind):
                yield first, second


def new_key(event: Event, order: list[str], side: Callable[[Event], int]) -> tuple[tuple[int, int], ...]:
    outside = sum(name not in event.iteration for name in order)
    return tuple((0, event.iteration[n]) if n in event.iteration else (side(event) * outside, 0) for n in order)


def only_inside(program: list[Any], loop: str) -> set[str]:
    """Allocated variables that are used in a loop only."""
    outside: set[str] = set()

    def used(nodes: list[Any], inside: bool) -> None:
        for node in nodes:
            match node:
                case Access(_, array, _) if not inside:
                    outside.add(array)
                case If(_, then, otherwise):
                    used(then, inside)
                    used(otherwise, inside)
                case For(name, _, _, _, body):
                    used(body, inside or name == loop)

    used(program, False)
    return {f"x{k}" for k in range(3)} - outside


def private_arrays(program: list[Any], trace: Trace, innermost: str) -> set[str]:
    """Allocated variables that single iterations of the innermost loop use as scratch space."""
    result = only_inside(program, innermost)
    for _, start, end in trace.iterations.get(innermost, []):
        written: set[Any] = set()
        for event in trace.events[start:end]:
            if event.kind == "write":
                written.add(event.element)
            elif event.element not in written:
                result.discard(event.element[0])
    return result


def before_inner(program: list[Any], names: list[str]) -> set[int]:
    """Statements that are textually before the next loop at their level."""
    result: set[int] = set()
    nodes = program
    for name in [*names]:
        at = next(k for k, node in enumerate(nodes) if isinstance(node, For) and node.name == name)
        for node in nodes[:at]:
            result.add(id(node))
            if isinstance(node, If):
                result.update(id(inner) for inner in (*node.body, *node.otherwise))
        nodes = nodes[at].body
    return result


type Sources = dict[int, Event | None]


def flow(events: list[Event]) -> tuple[Sources, dict[Any, Event]]:
    """The write that each read sees, and the last write of each element."""
    sources: Sources = {}
    last: dict[Any, Event] = {}
    for event in events:
        if event.kind == "write":
            last[event.element] = event
        else:
            sources[id(event)] = last.get(event.element)
    return sources, last


def keeps_values(before: list[Event], after: list[Event], *, is_dead: bool) -> bool:
    """Do the accesses of an array see and leave the same values in another order?"""
    (old, kept), (new, left) = flow(before), flow(after)
    same = all(old[event] is new[event] for event in old)
    is_dead = is_dead and all(source is not None for source in old.values())
    return same and (is_dead or all(kept[element] is left[element] for element in kept))


def check_orders(program: list[Any], names: list[str], trace: Trace, model: Any, function: Any) -> None:
    early = before_inner(program, names)
    private = private_arrays(program, trace, names[-1])
    events = [event for event in trace.events if names[0] in event.iteration]
    found = [pair for pair in conflicts(events) if pair[0].element[0] not in private]
    dead = only_inside(program, names[0])
    for order in permutations(names):
        keys = {
            id(e): new_key(e, list(order), lambda e: -1 if id(e.statement) in early else 1) for e in events
        }
        later = sorted(events, key=lambda e: keys[id(e)])
        harmless = {
            array
            for array in ("A", "B", "x0", "x1", "x2")
            if keeps_values(
                *([e for e in run if e.element[0] == array] for run in (events, later)), is_dead=array in dead
            )
        }
        reversed_pairs = [
            (a, b) for a, b in found if keys[id(b)] < keys[id(a)] and a.element[0] not in harmless
        ]
        answer = order_violation(
            model, [function.loops[n] for n in names], [function.loops[n] for n in order]
        )
        if isinstance(answer, Undecided):
            assert "is a new variable in each iteration" in answer.reason
            assert not reversed_pairs
        else:
            assert (answer is not None) == bool(reversed_pairs), (order, answer)
            if isinstance(answer, Violation):
                assert witness(answer) in [witness_of(a, b) for a, b in reversed_pairs]


def witness(answer: Violation) -> tuple[Any, ...]:
    source, sink = dict(answer.source_iteration), dict(answer.sink_iteration)
    return int(answer.source.id[1:]), source, int(answer.sink.id[1:]), sink


def witness_of(first: Event, second: Event) -> tuple[Any, ...]:
    return first.access, first.iteration, second.access, second.iteration


def check_carried(names: list[str], trace: Trace, model: Any, function: Any) -> None:
    found = list(conflicts(trace.events))
    for level, name in enumerate(names):
        outer = names[:level]
        pairs = [
            (a, b)
            for a, b in found
            if name in a.iteration
            and name in b.iteration
            and all(a.iteration[n] == b.iteration[n] for n in outer)
            and a.iteration[name] != b.iteration[name]
        ]
        answer = carried_by(model, function.loops[name])
        assert not isinstance(answer, Undecided)
        assert (answer is not None) == bool(pairs), name
        if answer is not None:
            assert witness(answer) in [witness_of(a, b) for a, b in pairs]


def check_footprint(name: str, array: str, trace: Trace, model: Any, function: Any) -> None:
    answer = footprint(model, function.values[array], function.loops[name])
    iterations = trace.iterations.get(name, [])
    touched = [e for _, s, t in iterations for e in trace.events[s:t] if e.element[0] == array]
    if answer is None or not touched:
        assert not touched
        return
    assert answer.shape is not None and answer.exact
    exposed, covered, inside = False, True, True
    largest = [0] * len(answer.extents)
    for loops, start, end in iterations:
        lower = [e.lower.constant + sum(c * loops[n] for n, c in e.lower.terms) for e in answer.extents]
        sizes = [e.size for e in answer.extents]
        inside &= all(low >= 0 and low + size <= SIZE for low, size in zip(lower, sizes, strict=True))
        written: set[tuple[int, ...]] = set()
        for event in trace.events[start:end]:
            if event.element[0] != array:
                continue
            element = event.element[2:]
            for d, e in enumerate(element):
                assert lower[d] <= e < lower[d] + sizes[d]
                largest[d] = max(largest[d], e - lower[d] + 1)
            if event.kind == "write":
                written.add(element)
            exposed |= element not in written
        box: list[tuple[int, ...]] = [()]
        for low, size in zip(lower, sizes, strict=True):
            box = [(*p, e) for p in box for e in range(max(0, low), min(SIZE, low + size))]
        covered &= written.issuperset(box)
    assert largest == list(answer.shape)
    assert (answer.exposed, answer.covers, not any(map(any, answer.escapes))) == (exposed, covered, inside)
    inside_loop = [a for a in model.accesses if a.buffer.name == array and name in a.loop_names]
    assert answer.written == any(access.is_write for access in inside_loop)


@sweep(3)
@drawn(134, programs())
def test_answers_equal_enumeration(parse: Callable[..., Any], drawn: tuple[list[Any], list[str]]) -> None:
    program, names = drawn
    function = parse(function_text(program))
    model, trace = extract(function.op), run(program)
    assert all(access.exact for access in model.accesses)
    check_orders(program, names, trace, model, function)
    check_carried(names, trace, model, function)
    for name in names:
        trips = trace.trips.get(name, [])
        if trips:
            assert trips_of(function.loops[name]) == Trips(Fraction(sum(trips), len(trips)), min(trips), max(trips))
            assert runs_of(function.loops[name].regions[0].blocks[0]) == Count(sum(trips))
        for array in "AB":
            check_footprint(name, array, trace, model, function)


def coordinates(point: Any) -> tuple[int, ...]:
    kind = isl.dim_type.set
    count = point.get_space().dim(kind)
    return tuple(point.get_coordinate_val(kind, k).to_python() for k in range(count))
