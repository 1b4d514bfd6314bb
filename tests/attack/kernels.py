"""Random kernels as text: nests, stages, state, structs, systolic arrays, run-time extents, `while`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .expressions import FIXED, FLOATS, INTEGERS, Array, Draw, Scope, affine_test, element, leaf, test, value
from .reductions import reductions

HEADER = """import allo
from allo.ir.types import *

"""
EXTENT = 8


@dataclass(frozen=True)
class Kernel:
    """A kernel, its text, and the name of the family that it was drawn from."""

    function: Callable[..., Any]
    text: str
    family: str
    functions: dict[str, Callable[..., Any]]


def kernel(seed: int, folder: Path | None = None, small: bool = False) -> Kernel:
    """The kernel of a seed."""
    draw = Draw(f"kernel {seed}", small)
    family = draw.choice(list(FAMILIES))
    kind = draw.choice([*INTEGERS, *INTEGERS[:5], *FIXED, *FLOATS, *FLOATS])
    return loaded(HEADER + "\n".join(FAMILIES[family](draw, kind)) + "\n", family, folder)


def loaded(text: str, family: str = "given", folder: Path | None = None) -> Kernel:
    """The kernel of a text, whose entry is `top`; the text is kept in a file, which messages quote."""
    with tempfile.NamedTemporaryFile("w", suffix=".py", dir=folder, delete=False) as file:
        file.write(text)
    names: dict[str, Any] = {"__name__": "attack"}
    exec(compile(text, file.name, "exec"), names)
    made = {name: f for name, f in names.items() if getattr(f, "__module__", "") == "attack" and callable(f)}
    return Kernel(names["top"], text, family, {name: f for name, f in made.items() if name != "top"})


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _bounds(scope: Scope) -> tuple[str, int, int]:
    """The arguments of `range`, and the least and greatest value of the loop."""
    draw = scope.draw
    if scope.loops and draw.random() < 0.25:
        other = draw.choice(list(scope.loops))
        low, high = scope.loops[other]
        forms = [
            (f"{other} + 1", 0, high),
            (f"{other}, {EXTENT}", low, EXTENT - 1),
            (f"{other}", 0, max(high - 1, 0)),
        ]
        return draw.choice(forms)
    low = draw.choice([0, 0, 0, 1, 2])
    high = draw.choice([low + 2, 4, 5, 6, EXTENT])
    if high <= low:
        high = low + 1
    if draw.random() < 0.12:
        return f"{low}, {high}, 2", low, high - 1
    return (str(high) if low == 0 else f"{low}, {high}"), low, high - 1


def _store(scope: Scope, target: Array) -> list[str]:
    place = element(scope, target)
    sign = scope.draw.choice(["=", "=", "+=", "-=", "*="])
    if target.fields and scope.draw.random() < 0.3:
        place = place.rpartition(".")[0]
        values = ", ".join(f"{name}={value(scope, target.kind, 1)}" for name in target.fields)
        return [f"{place} = P({values})"]
    return [f"{place} {sign} {value(scope, target.kind)}"]


def _statement(scope: Scope, targets: list[Array], depth: int = 0) -> list[str]:
    draw = scope.draw
    target = draw.choice(targets)
    choice = draw.random()
    if choice < 0.55 or depth > 1:
        return _store(scope, target)
    if choice < 0.7:
        lines = [f"if {affine_test(scope)}:", *_indented(_statement(scope, targets, depth + 1))]
        return lines if draw.random() < 0.6 else [*lines, "else:", *_indented(_store(scope, target))]
    if choice < 0.8:
        return [f"if {test(scope)}:", *_indented(_statement(scope, targets, depth + 1))]
    if choice < 0.92:
        name = f"t{len(scope.scalars)}_{depth}"
        inner = scope.with_scalar(name, target.kind)
        first = [f"{name}: {target.kind} = {value(scope, target.kind, 1)}"]
        return [*first, *_store(inner, target)]
    name = f"c{len(scope.scalars)}_{depth}"
    inner = scope.with_scalar(name, "int32")
    return [
        f"{name}: int32 = 0",
        f"while {name} < {draw.choice([2, 3, leaf(scope)])} and {name} < 4:",
        *_indented([*_store(inner, target), f"{name} += 1"]),
    ]


def _nest(scope: Scope, targets: list[Array], names: list[str], label: str = "") -> list[str]:
    """A nest of the loops `names`, with statements between them now and then."""
    draw = scope.draw
    if not names:
        lines: list[str] = []
        for _ in range(draw.choice([1, 1, 2])):
            lines += _statement(scope, targets)
        return lines
    bounds, low, high = _bounds(scope)
    inner = scope.inside(names[0], low, high)
    body = _nest(inner, targets, names[1:])
    if len(names) > 1 and draw.random() < 0.25:
        body = [*_statement(inner, targets), *body]
    if len(names) > 1 and draw.random() < 0.15:
        body = [*body, *_statement(inner, targets)]
    named = f', name="{label}"' if label else ""
    return [f"for {names[0]} in range({bounds}{named}):", *_indented(body)]


def _declared(arrays: list[Array]) -> str:
    kinds = {a.name: "P" if a.fields else a.kind for a in arrays}
    return ", ".join(f"{a.name}: {kinds[a.name]}[{', '.join(map(str, a.shape))}]" for a in arrays)


def _arguments(kind: str) -> list[Array]:
    return [
        Array("A", kind, (EXTENT, EXTENT)),
        Array("B", kind, (EXTENT, EXTENT)),
        Array("V", kind, (EXTENT,)),
    ]


def nests(draw: Draw, kind: str) -> list[str]:
    """Two to four nests over arguments and a local array that starts with a value."""
    arrays = _arguments(kind)
    local = Array("L", kind, (EXTENT, EXTENT))
    lines = [f"L: {kind}[{EXTENT}, {EXTENT}] = {draw.choice([0, 1])}"]
    scope = Scope(draw, (*arrays, local))
    for _ in range(draw.choice(draw.nests)):
        lines += _nest(scope, [*arrays, local], ["i", "j", "k"][: draw.choice([1, 2, 2, 3])])
    return [f"def top({_declared(arrays)}):", *_indented(lines)]


def _pointwise(
    draw: Draw, name: str, kind: str, source: str, target: str, scalars: tuple[tuple[str, str], ...]
) -> list[str]:
    """A stage that writes each element of `target` once from `source`: what streams can be made of."""
    order = draw.choice([("i", "j"), ("i", "j"), ("i", "j"), ("j", "i")])
    weights = (Array("V", kind, (EXTENT,)),)
    scope = Scope(draw, weights, scalars=scalars).inside("i", 0, EXTENT - 1).inside("j", 0, EXTENT - 1)
    read = f"{source}[{draw.choice(['i, j'] * 6 + ['j, i', f'{EXTENT - 1} - i, j'])}]"
    body = [
        f"{target}[i, j] = {draw.choice([read, f'({read} + {leaf(scope)})', f'({read} - {value(scope, kind)})'])}"
    ]
    if draw.random() < 0.3:
        guard = draw.choice([affine_test(scope), f"{read} > 2"])
        body = [f"t: {kind} = {read}", f"if {guard}:", f"    t = {value(scope.with_scalar('t', kind), kind)}"]
        body += [f"{target}[i, j] = t"]
    if draw.random() < 0.25:
        body = [f"acc: {kind} = {leaf(scope)}", f"for k in range({draw.choice([2, 3])}):"]
        body += [f"    acc += {read}", f"{target}[i, j] = acc"]
    bounds = f"range({EXTENT})"
    return [
        f'for {order[0]} in {bounds[:-1]}, name="{name}"):',
        *_indented([f"for {order[1]} in {bounds}:", *_indented(body)]),
    ]


def stages(draw: Draw, kind: str) -> list[str]:
    """Two to four stages in a row, as nests or as kernels that are called, with local arrays between them.

    All of them may use scalars of several widths: processes get these beside streams and arrays.
    """
    count = draw.choice(draw.nests) + draw.choice([0, 1, 1])
    names = ["A", *(f"T{k}" for k in range(1, count)), "B"]
    kinds = draw.choice([(), (kind,), (kind, "int32"), ("int8", kind), ("float32", "int64", "int8")])
    scalars = tuple((f"p{place}", scalar) for place, scalar in enumerate(kinds))
    given = "".join(f", {name}: {scalar}" for name, scalar in scalars)
    helpers: list[str] = []
    lines = [f"T{k}: {kind}[{EXTENT}, {EXTENT}]" for k in range(1, count)]
    for k in range(count):
        source, target = names[k], names[k + 1]
        if k > 1 and draw.random() < 0.2:
            source = names[k - 1]
        if draw.random() < 0.5:
            stage = _pointwise(draw, f"n{k}", kind, "X", "Y", scalars)
            pair = f"X: {kind}[{EXTENT}, {EXTENT}], Y: {kind}[{EXTENT}, {EXTENT}], V: {kind}[{EXTENT}]{given}"
            state: list[str] = []
            if draw.random() < 0.25:
                state = [f"seen: Stateful[{kind}] = {draw.choice([0, 1])}"]
                stage = [*stage, "seen += Y[1, 2]"] if draw.random() < 0.5 else ["seen += 1", *stage]
                stage = [line.replace("Y[i, j] = ", "Y[i, j] = seen + ") for line in stage]
            helpers += [f"def f{k}({pair}):", *_indented([*state, *stage]), "", ""]
            lines.append(f"f{k}({source}, {target}, V{''.join(f', {name}' for name, _ in scalars)})")
        else:
            lines += _pointwise(draw, f"n{k}", kind, source, target, scalars)
    calls = [line for line in lines if line.startswith("f") and line[2] == "("]
    if draw.random() < 0.2 and calls:  # a kernel that is called twice
        lines.append(calls[0].replace("(A,", "(B,"))
    return [*helpers, f"def top({_declared(_arguments(kind))}{given}):", *_indented(lines)]


def stateful(draw: Draw, kind: str) -> list[str]:
    """State in the kernel and in one that it calls twice."""
    arrays = tuple(_arguments(kind))
    state = Array("S", kind, (EXTENT,))
    scope = Scope(draw, (*arrays, state), scalars=(("count", kind),))
    inner = Scope(draw, arrays[:1], scalars=(("total", "int32"),))
    helper = ["total: Stateful[int32] = 3", *_nest(inner, list(arrays[:1]), ["i", "j"])]
    helper += [f"total += {draw.choice(['1', 'int32(A[0, 1])', 'total'])}"]
    lines = [f"count: Stateful[{kind}] = 1", f"S: Stateful[{kind}[{EXTENT}]] = 0"]
    lines += _nest(scope, [*arrays, state], ["i", "j"])
    lines += ["g(A)"] if draw.random() < 0.5 else ["g(A)", "g(B)"]
    lines += [f"count += {value(scope, kind, 1)}"]
    lines += _nest(scope, [*arrays, state], ["i", "j", "k"][: draw.choice([1, 2, 3])])
    return [
        *(f"def g({_declared(list(arrays[:1]))}):", *_indented(helper), "", ""),
        *(f"def top({_declared(list(arrays))}):", *_indented(lines)),
    ]


def structs(draw: Draw, kind: str) -> list[str]:
    """Arrays of structs, read and written by fields and as a whole."""
    other = draw.choice([*INTEGERS, *FLOATS])
    record = Array("R", kind, (EXTENT, EXTENT), ("x", "y"))
    arrays = [record, Array("B", kind, (EXTENT, EXTENT)), Array("V", kind, (EXTENT,))]
    local = Array("L", kind, (EXTENT, EXTENT), ("x", "y"))
    scope = Scope(draw, (*arrays, local))
    copies = ["for a in range(8):", "    for b in range(8):", "        L[a, b] = R[a, b]"]
    lines = [f"L: P[{EXTENT}, {EXTENT}]", *copies]
    for _ in range(draw.nests[-1] - 1):
        lines += _nest(scope, [*arrays, local], ["i", "j", "k"][: draw.choice([1, 2, 3])])
    first = [f'P = Struct({{"x": {kind}, "y": {other}}})', "", ""]
    return [*first, f"def top({_declared(arrays)}):", *_indented(lines)]


def systolic(draw: Draw, kind: str) -> list[str]:
    """A nest of processing elements, whose data neighbours can pass on; or a chain of them."""
    m, n, k = (draw.choice([2, 3, 4]) for _ in range(3))
    start = draw.choice(["0", "1", "C[i, j]"])
    term = draw.choice(["A[i, k] * B[k, j]", "A[i, k] + B[k, j]", "A[i, k] * (B[k, j] - A[i, k])"])
    sign = draw.choice(["+=", "+=", "-="])
    if draw.random() < 0.65:
        guarded = [f"        if {draw.choice(['k > 0', 'i >= j', 'k != j'])}:"] if draw.random() < 0.2 else []
        lines = [
            f'for i, j in allo.grid({m}, {n}, name="PE"):',
            f"    acc: {kind} = {start}",
            f"    for k in range({k}):",
            *guarded,
            f"        {'    ' if guarded else ''}acc {sign} {term}",
            "    C[i, j] = acc",
        ]
        return [f"def top(A: {kind}[{m}, {k}], B: {kind}[{k}, {n}], C: {kind}[{m}, {n}]):", *_indented(lines)]
    step = draw.choice(["X[p, t] + W[p]", "X[p, t] * W[p]", "(X[p, t] if p != t else W[p])", "X[p, t] - p"])
    reverse = draw.choice(["t", "t", f"{k} - t"])
    lines = [
        f"X: {kind}[{m + 1}, {k + 1}]",
        f'for t in range({k + 1}, name="load"):',
        "    X[0, t] = A[t]",
        f'for p in range({m}, name="PE"):',
        f"    for t in range({k + 1}):",
        f"        X[p + 1, t] = {step}",
        f'for t in range({k + 1}, name="store"):',
        f"    C[{reverse}] = X[{m}, t]",
    ]
    return [f"def top(A: {kind}[{k + 1}], W: {kind}[{m}], C: {kind}[{k + 1}]):", *_indented(lines)]


def dynamic(draw: Draw, kind: str) -> list[str]:
    """Arrays of run-time extents, loops up to them and up to scalars."""
    lines = [f"s: {kind} = 0"]
    for _ in range(draw.choice([1, 2])):
        bound = draw.choice(["X.shape[0]", "n", f"{EXTENT}"])
        scope = Scope(draw, (Array("V", kind, (EXTENT,)),), scalars=(("s", kind),))
        at = draw.choice(["i", "i", f"{EXTENT} - 1 - i" if bound == str(EXTENT) else "i"])
        right = value(scope, kind).replace("V[", "V[")
        body = [f"Y[{at}] {draw.choice(['=', '+='])} X[i] {draw.choice('+-*')} {right}"]
        if draw.random() < 0.4:
            body.append(f"s += {draw.choice(['X[i]', 'Y[i]', 'V[0] - s'])}")
        if draw.random() < 0.3:
            inner = [f"for j in range({draw.choice(['i + 1', '3', 'n'])}):", "    Y[i] += X[j]"]
            body += inner
        if draw.random() < 0.3:
            body = [f"if {draw.choice(['i < n', 'X[i] > 1', 'i >= 2'])}:", *_indented(body)]
        lines += [f"for i in range({bound}):", *_indented(body)]
    return [f"def top(X: {kind}[...], Y: {kind}[...], V: {kind}[{EXTENT}], n: index):", *_indented(lines)]


def tensors(draw: Draw, kind: str) -> list[str]:
    """Statements on whole arrays and slices."""
    forms = [
        *("L = A + B", "L[1:] = A[:-1] * 2", "B[:, ::2] = A[:, 1::2]", "A[2] = V", "L = A - V", "B += A"),
        *("B[1:5, 3] = V[0:4]", "A[1:] = A[:-1] + B[1:]", "L = B.T", "V = A[3] + 1", "B = A * V[2] + B"),
    ]
    lines = [f"L: {kind}[{EXTENT}, {EXTENT}] = 0", *draw.sample(forms, 3)]
    arrays = [*_arguments(kind), Array("L", kind, (EXTENT, EXTENT))]
    lines += _nest(Scope(draw, tuple(arrays)), arrays, ["i", "j"])
    lines.append(draw.choice(["A = L + 1", "B = L", "A = L.T"]))
    return [f"def top({_declared(_arguments(kind))}):", *_indented(lines)]


FAMILIES: dict[str, Callable[[Draw, str], list[str]]] = {
    family.__name__: family for family in (nests, stages, stateful, structs, systolic, dynamic, tensors, reductions)
}
