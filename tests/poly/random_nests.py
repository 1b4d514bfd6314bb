"""Random small affine nests: as text for the compiler, and run by enumeration of all iterations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

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
