"""Random small affine nests: every answer of the polyhedral model against the enumeration of all iterations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

import islpy as isl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from allo.poly import (
    Undecided,
    Violation,
    carried_by,
    dependences,
    extract,
    footprint,
    max_trip_count,
    order_violation,
    trip_count,
)

SIZE = 6  # of every dimension of the arrays; the oracle does not mind subscripts outside

# An expression is (constant, coefficient of each loop, "" | "floordiv" | "mod" | "ceildiv", divisor).
type Expr = tuple[int, tuple[tuple[str, int], ...], str, int]


@dataclass
class Access:
    kind: str
    array: str
    subscripts: list[Expr]


@dataclass
class Alloc:
    array: str


@dataclass
class If:
    conditions: list[tuple[Expr, str]]
    body: list[Any]
    otherwise: list[Any]


@dataclass
class For:
    name: str
    lower: list[Expr]
    upper: list[Expr]
    step: int
    body: list[Any]


@dataclass
class Event:
    access: int
    iteration: dict[str, int]
    kind: str
    element: tuple[Any, ...]
    statement: Access


@dataclass
class Trace:
    """What a program does: accesses, iterations of loops (with the range of their events), trip counts."""

    events: list[Event] = field(default_factory=list)
    iterations: dict[str, list[tuple[dict[str, int], int, int]]] = field(default_factory=dict)
    trips: dict[str, list[int]] = field(default_factory=dict)


def value(expr: Expr, loops: dict[str, int]) -> int:
    total = expr[0] + sum(c * loops[name] for name, c in expr[1])
    match expr[2]:
        case "floordiv":
            return total // expr[3]
        case "mod":
            return total % expr[3]
        case "ceildiv":
            return -(-total // expr[3])
    return total


def text(expr: Expr) -> str:
    inner = " + ".join([*(f"{c} * %{name}" for name, c in expr[1]), str(expr[0])])
    return f"({inner}) {expr[2]} {expr[3]}" if expr[2] else inner


def affine(exprs: list[Expr], loops: list[str]) -> str:
    dims = ", ".join(f"d{k}" for k in range(len(loops)))
    body = ", ".join(text(e) for e in exprs)
    for k, name in enumerate(loops):
        body = body.replace(f"%{name}", f"d{k}")
    return f"({dims}) -> ({body})"


def emit(body: list[Any], loops: list[str], arrays: dict[str, str]) -> Iterator[str]:
    operands = ", ".join(f"%{name}" for name in loops)
    for node in body:
        match node:
            case Alloc(array):
                yield f'%{array} = memref.alloc() {{allo.name = "{array}"}} : memref<f32>'
            case Access(kind, array, subscripts):
                kept = f"%{array}[{', '.join(map(text, subscripts))}] : {arrays[array]}"
                yield f"%v{id(node)} = affine.load {kept}" if kind == "read" else f"affine.store %cst, {kept}"
            case If(conditions, then, otherwise):
                tests = affine([e for e, _ in conditions], loops).split(" -> (", 1)
                parts = tests[1][:-1].split(", ")
                rows = ", ".join(f"{p} {c} 0" for p, (_, c) in zip(parts, conditions, strict=True))
                yield f"affine.if affine_set<{tests[0]} : ({rows})>({operands}) {{"
                yield from emit(then, loops, arrays)
                if otherwise:
                    yield "} else {"
                    yield from emit(otherwise, loops, arrays)
                yield "}"
            case For(name, lower, upper, step, inner):
                low = f"max affine_map<{affine(lower, loops)}>({operands})"
                high = f"min affine_map<{affine(upper, loops)}>({operands})"
                yield f"affine.for %{name} = {low} to {high} step {step} {{"
                yield from emit(inner, [*loops, name], arrays)
                yield f'}} {{allo.name = "{name}"}}'


def function_text(program: list[Any]) -> str:
    arrays = {"A": f"memref<{SIZE}xf32>", "B": f"memref<{SIZE}x{SIZE}xf32>"} | {
        f"x{k}": "memref<f32>" for k in range(3)
    }
    body = "\n".join(emit(program, [], arrays))
    arguments = ", ".join(f'%{name}: {arrays[name]} {{allo.name = "{name}"}}' for name in "AB")
    return f"func.func @f({arguments}) {{\n%cst = arith.constant 0.0 : f32\n{body}\nreturn\n}}"


def run(program: list[Any]) -> Trace:
    """Enumerate the program; an allocated variable is a new element each time."""
    trace = Trace()
    numbers: dict[int, int] = {}
    fresh: dict[str, int] = {}

    def number(nodes: list[Any]) -> None:
        for node in nodes:
            match node:
                case Access():
                    numbers[id(node)] = len(numbers)
                case If(_, then, otherwise):
                    number(then)
                    number(otherwise)
                case For(_, _, _, _, body):
                    number(body)

    def step(nodes: list[Any], loops: dict[str, int]) -> None:
        for node in nodes:
            match node:
                case Alloc(array):
                    fresh[array] = fresh.get(array, 0) + 1
                case Access(kind, array, subscripts):
                    element = (array, fresh.get(array, 0), *(value(e, loops) for e in subscripts))
                    trace.events.append(Event(numbers[id(node)], dict(loops), kind, element, node))
                case If(conditions, then, otherwise):
                    holds = all(
                        value(e, loops) >= 0 if c == ">=" else value(e, loops) == 0 for e, c in conditions
                    )
                    step(then if holds else otherwise, loops)
                case For(name, lower, upper, stride, body):
                    first = max(value(e, loops) for e in lower)
                    values = range(first, min(value(e, loops) for e in upper), stride)
                    trace.trips.setdefault(name, []).append(len(values))
                    for v in values:
                        start = len(trace.events)
                        step(body, loops | {name: v})
                        trace.iterations.setdefault(name, []).append(
                            (loops | {name: v}, start, len(trace.events))
                        )

    number(program)
    step(program, {})
    return trace


@st.composite
def expressions(draw: st.DrawFn, loops: list[str], divisions: bool = True) -> Expr:
    chosen = draw(st.lists(st.sampled_from(loops), max_size=2, unique=True)) if loops else []
    terms = tuple((name, draw(st.sampled_from([1, 1, 1, -1, 2]))) for name in chosen)
    kind = draw(st.sampled_from(["", "", "", "", "floordiv", "mod", "ceildiv"])) if divisions else ""
    return draw(st.integers(-2, 2)), terms, kind, draw(st.integers(2, 3)) if kind else 1


@st.composite
def accesses(draw: st.DrawFn, loops: list[str], scalars: list[str]) -> Access:
    array = draw(st.sampled_from(["A", "A", "B", *scalars]))
    rank = {"A": 1, "B": 2}.get(array, 0)
    kind = draw(st.sampled_from(["read", "write"]))
    return Access(kind, array, [draw(expressions(loops)) for _ in range(rank)])


@st.composite
def bounds(draw: st.DrawFn, loops: list[str], low: int, high: int) -> list[Expr]:
    exprs: list[Expr] = [(draw(st.integers(low, high)), (), "", 1)]
    if loops and draw(st.booleans()):
        other = draw(expressions(loops))
        exprs = [other] if draw(st.booleans()) and low <= 0 else [*exprs, other]
    return exprs


@st.composite
def programs(draw: st.DrawFn) -> tuple[list[Any], list[str]]:
    """A nest of up to three loops with statements anywhere, and the names of its loops."""
    names = ["i", "j", "k"][: draw(st.integers(1, 3))]
    count = 0

    def statements(loops: list[str], scalars: list[str], most: int) -> list[Any]:
        result: list[Any] = []
        for _ in range(draw(st.integers(0, most))):
            access = draw(accesses(loops, scalars))
            if loops and draw(st.integers(0, 4)) == 0:
                conditions = [
                    (draw(expressions(loops)), draw(st.sampled_from([">=", ">=", "=="])))
                    for _ in range(draw(st.integers(1, 2)))
                ]
                otherwise = [draw(accesses(loops, scalars))] if draw(st.booleans()) else []
                result.append(If(conditions, [access], otherwise))
            else:
                result.append(access)
        return result

    def nest(depth: int, scalars: list[str]) -> list[Any]:
        nonlocal count
        loops = names[:depth]
        allocs: list[Any] = []
        if draw(st.integers(0, 3)) == 0:
            allocs = [Alloc(f"x{count}")]
            scalars = [*scalars, f"x{count}"]
            count += 1 if count < 2 else 0
            if allocs[0].array in scalars[:-1]:
                allocs, scalars = [], scalars[:-1]
        if depth == len(names):
            return allocs + statements(loops, scalars, 3)
        imperfect = draw(st.integers(0, 2)) == 0
        before = statements(loops, scalars, 1 if imperfect else 0)
        inner = nest(depth + 1, scalars)
        after = statements(loops, scalars, 1 if imperfect else 0)
        lower = draw(bounds(loops, -1, 1))
        upper = draw(bounds(loops, 2, 4))
        if all(e[1] for e in upper):
            upper.append((4, (), "", 1))
        if all(e[1] for e in lower):
            lower.append((-1, (), "", 1))
        loop = For(names[depth], lower, upper, draw(st.sampled_from([1, 1, 1, 2, 3])), inner)
        return [*allocs, *before, loop, *after]

    return nest(0, []), names


def conflicts(events: list[Event]) -> Iterator[tuple[Event, Event]]:
    for k, first in enumerate(events):
        for second in events[k + 1 :]:
            if first.element == second.element and "write" in (first.kind, second.kind):
                yield first, second


def new_key(event: Event, order: list[str], side: Callable[[Event], int]) -> tuple[tuple[int, int], ...]:
    return tuple((0, event.iteration[n]) if n in event.iteration else (side(event), 0) for n in order)


def private_arrays(program: list[Any], trace: Trace, innermost: str) -> set[str]:
    """Allocated variables that single iterations of the innermost loop use as scratch space."""
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
                    used(body, inside or name == innermost)

    used(program, False)
    result = {f"x{k}" for k in range(3)} - outside
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


def check_orders(program: list[Any], names: list[str], trace: Trace, model: Any, function: Any) -> None:
    early = before_inner(program, names)
    private = private_arrays(program, trace, names[-1])
    events = [event for event in trace.events if names[0] in event.iteration]
    found = [pair for pair in conflicts(events) if pair[0].element[0] not in private]
    for order in permutations(names):
        keys = {
            id(e): new_key(e, list(order), lambda e: -1 if id(e.statement) in early else 1) for e in events
        }
        reversed_pairs = [(a, b) for a, b in found if keys[id(b)] < keys[id(a)]]
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
    assert answer.boxed and answer.exact
    exposed = covered = False
    covered = inside = True
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
    assert (answer.exposed, answer.covers, answer.in_bounds) == (exposed, covered, inside)
    inside_loop = [a for a in model.accesses if a.buffer.name == array and name in a.loop_names]
    assert answer.written == any(access.is_write for access in inside_loop)


@settings(max_examples=250, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs())
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
            assert max_trip_count(function.loops[name]) == max(trips)
            assert trip_count(function.loops[name]) == (trips[0] if len(set(trips)) == 1 else None)
        for array in "AB":
            check_footprint(name, array, trace, model, function)


@settings(max_examples=60, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs())
def test_dependences_equal_enumeration(
    parse: Callable[..., Any], drawn: tuple[list[Any], list[str]]
) -> None:
    program, _ = drawn
    function = parse(function_text(program))
    model, trace = extract(function.op), run(program)
    found: set[tuple[int, ...]] = set()
    for relation in dependences(model):
        numbers = int(relation.source.id[1:]), int(relation.sink.id[1:])
        relation.map.wrap().foreach_point(
            lambda point, numbers=numbers: found.add((*numbers, *coordinates(point)))
        )
    assert found == {
        (a.access, b.access, *a.iteration.values(), *b.iteration.values())
        for a, b in conflicts(trace.events)
    }


def coordinates(point: Any) -> tuple[int, ...]:
    kind = isl.dim_type.set
    count = point.get_space().dim(kind)
    return tuple(point.get_coordinate_val(kind, k).to_python() for k in range(count))
