"""Integer expressions of any width equal those of Python's unbounded integers, wrapped by the assignment."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np
from hypothesis import strategies as st

import allo
from allo.frontend.typing.convert import wrap
from allo.ir import types
from allo.ir.types import Int, UInt
from tests.seeds import drawn, sweep

VARIABLES: dict[str, Int | UInt] = {
    "a": Int(8),
    "b": UInt(8),
    "c": Int(5),
    "d": UInt(12),
    "e": Int(32),
    "f": UInt(32),
    "g": Int(64),
    "h": UInt(64),
    "k": UInt(1),
}
ROWS = 6
Environment = dict[str, int]


@dataclass(frozen=True)
class Expression:
    """The text of an expression, and its exact value."""

    text: str
    value: Callable[[Environment], int]


def truncated(x: int, y: int) -> int:
    quotient = abs(x) // abs(y)
    return quotient if (x < 0) == (y < 0) else -quotient


BINARY: dict[str, Callable[[int, int], int]] = {
    "{} + {}": lambda x, y: x + y,
    "{} - {}": lambda x, y: x - y,
    "{} * {}": lambda x, y: x * y,
    "{} & {}": lambda x, y: x & y,
    "{} | {}": lambda x, y: x | y,
    "{} ^ {}": lambda x, y: x ^ y,
    "{} < {}": lambda x, y: x < y,
    "{} <= {}": lambda x, y: x <= y,
    "{} == {}": lambda x, y: x == y,
    "{} != {}": lambda x, y: x != y,
    "min({}, {})": min,
    "max({}, {})": max,
    "{} > 0 and {} > 0": lambda x, y: x > 0 and y > 0,
    "{} > 0 or {} > 0": lambda x, y: x > 0 or y > 0,
    "{0} // {1} if {1} != 0 else 7": lambda x, y: x // y if y else 7,
    "{0} / {1} if {1} != 0 else 7": lambda x, y: truncated(x, y) if y else 7,
    "{0} % {1} if {1} != 0 else 7": lambda x, y: x % y if y else 7,
    "{0} >> {1} if {1} >= 0 else {0}": lambda x, y: x >> y if y >= 0 else x,
    "{0} if {0} < {1} else {1}": min,
}
UNARY: dict[str, Callable[[int], int]] = {
    "-{}": lambda x: -x,
    "~{}": lambda x: ~int(x),
    "abs({})": abs,
    "not {}": lambda x: not x,
    "{} << 3": lambda x: x << 3,
    "{} >> 2": lambda x: x >> 2,
    "{} // 3": lambda x: x // 3,
    "{} % 5": lambda x: x % 5,
    "{} % -5": lambda x: x % -5,
    "{} / -3": lambda x: truncated(x, -3),
    "{} ** 2": lambda x: x**2,
}


def unary(pattern: str, x: Expression) -> Expression:
    return Expression(f"({pattern.format(x.text)})", lambda env: int(UNARY[pattern](x.value(env))))


def binary(pattern: str, x: Expression, y: Expression) -> Expression:
    text = f"({pattern.format(x.text, y.text)})"
    return Expression(text, lambda env: int(BINARY[pattern](x.value(env), y.value(env))))


def variable(name: str) -> Expression:
    return Expression(name, lambda env: env[name])


def literal(number: int) -> Expression:
    return Expression(f"({number})", lambda env: number)


leaves = st.sampled_from(sorted(VARIABLES)).map(variable) | st.integers(-300, 300).map(literal)
shallow = leaves | st.builds(unary, st.sampled_from(sorted(UNARY)), leaves)
middle = st.builds(binary, st.sampled_from(sorted(BINARY)), shallow, shallow)
expressions = (
    st.builds(binary, st.sampled_from(sorted(BINARY)), middle, shallow | middle)
    | st.builds(unary, st.sampled_from(sorted(UNARY)), middle)
    | middle
)
targets = st.sampled_from([Int(8), UInt(8), Int(13), UInt(27), Int(32), Int(64), UInt(64)])


def numbers(kind: Int | UInt) -> st.SearchStrategy[int]:
    half = 1 << kind.width - 1
    low, high = (0, 2 * half - 1) if isinstance(kind, UInt) else (-half, half - 1)
    return st.integers(low, high) | st.sampled_from([low, high, high >> 1])


rows = st.fixed_dictionaries({name: numbers(kind) for name, kind in VARIABLES.items()})


def kernel_of(assignments: list[tuple[Expression, Int | UInt]]) -> Callable[..., Any]:
    """A kernel that writes the value of each expression, converted to its type, for each row of variables."""
    lines = ["def kernel("]
    lines += [f"    {name.upper()}: {kind!r}[{ROWS}]," for name, kind in VARIABLES.items()]
    lines += [f"    out: int64[{ROWS}, {len(assignments)}],", "):", f"    for i in range({ROWS}):"]
    lines += [f"        {name}: {kind!r} = {name.upper()}[i]" for name, kind in VARIABLES.items()]
    for position, (expression, target) in enumerate(assignments):
        lines.append(f"        x{position}: {target!r} = {expression.text}")
        lines.append(f"        out[i, {position}] = x{position}")
    file, text = "<random integers>", "\n".join(lines) + "\n"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope: dict[str, Any] = dict(vars(types))
    exec(compile(text, file, "exec"), scope)
    assert isinstance(scope["kernel"], FunctionType)
    return scope["kernel"]


@sweep(3)
@drawn(
    14,
    st.lists(st.tuples(expressions, targets), min_size=8, max_size=8),
    st.lists(rows, min_size=ROWS, max_size=ROWS),
)
def test_random_expressions(assignments: list[tuple[Expression, Int | UInt]], values: list[Environment]) -> None:
    built = allo.customize(kernel_of(assignments)).build()
    out = np.zeros((ROWS, len(assignments)), np.int64)
    containers = {1: "8", 5: "8", 8: "8", 12: "16", 32: "32", 64: "64"}
    arrays = [
        np.array([row[name] for row in values], f"{'u' if isinstance(kind, UInt) else ''}int{containers[kind.width]}")
        for name, kind in VARIABLES.items()
    ]
    built(*arrays, out)
    wanted = [[wrap(wrap(e.value(row), target), Int(64)) for e, target in assignments] for row in values]
    assert out.tolist() == wanted
