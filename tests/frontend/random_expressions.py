"""Random kernels of typed expressions, each expression with the function that gives its exact value."""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from allo.frontend.typing.rules import TypingRules, literal_type, shifted_type
from allo.ir.types import (
    OVERFLOWS,
    ROUNDINGS,
    AlloType,
    Bool,
    Fixed,
    Float,
    Int,
    UFixed,
    UInt,
    bfloat16,
    float16,
    float32,
    float64,
    index,
)
from allo.ir.types import bool as bool_type

from . import exact_model as model

FLOATS = (float16, bfloat16, float32, float64)
ARITHMETIC = ("+", "-", "*", "/", "//", "%", "&", "|", "^", "<<", ">>", "min", "max")
Row = dict[str, Any]


@dataclass(frozen=True)
class Node:
    """An expression: its text, its type, and its value for the variables of one iteration."""

    text: str
    type: AlloType
    value: Callable[[Row], Any]
    literal: bool = False


@dataclass
class Program:
    """A kernel `kernel(A, B, X, W, O)`: rows of two integers and a float, and for each row words of the results."""

    rules: TypingRules
    random: random.Random
    types: dict[AlloType, str] = field(default_factory=dict)
    variables: list[Node] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    results: list[tuple[Node, int]] = field(default_factory=list)  # with the position of the first word
    made: dict[str, Node] = field(default_factory=dict)  # every expression, also the parts of others

    # -- types and variables ------------------------------------------------------------------------------

    def named(self, scalar: AlloType) -> str:
        """The name of a type in the text."""
        return self.types.setdefault(scalar, f"T{len(self.types)}")

    def width(self) -> int:
        common, odd, wide = (
            self.random.choice((1, 8, 16, 32, 64)),
            self.random.randint(1, 70),
            self.random.randint(65, 250),
        )
        return self.random.choices((common, odd, wide, self.random.choice((500, 1024))), (6, 8, 2, 0.3))[0]

    def any_type(self) -> AlloType:
        kind = self.random.choice((Int, UInt, Int, UInt, Fixed, UFixed, "float", "bool"))
        if kind == "float":
            return self.random.choice(FLOATS)
        if kind == "bool":
            return bool_type
        width = min(self.width(), 300) if kind in (Fixed, UFixed) else self.width()
        if kind in (Int, UInt):
            return kind(width)
        fracs = self.random.randint(0, width)
        modes = (
            (self.random.choice(ROUNDINGS), self.random.choice(OVERFLOWS))
            if self.random.random() < 0.6
            else ()
        )
        return kind(width, fracs, *modes)

    def declare(self, scalar: AlloType, value: Node) -> Node:
        """`vN: scalar = value`."""
        name = f"v{len(self.variables)}"
        self.lines.append(f"{name}: {self.named(scalar)} = {value.text}")
        self.variables.append(Node(name, scalar, lambda row: row[name]))
        node, convert = value, model.convert
        made = self.variables[-1]
        self.steps.append((name, lambda row: convert(node.value(row), node.type, scalar)))
        return made

    def __post_init__(self) -> None:
        self.steps: list[tuple[str, Callable[[Row], Any]]] = []
        self.inputs = [
            Node(n, t, lambda row, n=n: row[n]) for n, t in (("a", Int(64)), ("b", UInt(64)), ("x", float64))
        ]

    def seed_variable(self, scalar: AlloType) -> None:
        """A variable of this type with many different values."""
        a, b, x = self.inputs
        if isinstance(scalar, Float) or (isinstance(scalar, Fixed | UFixed) and self.random.random() < 0.5):
            self.declare(scalar, x)
            return
        high = self.random.choice((0, 0, 20, 60, min(max(scalar.bits - 64, 0), 480)))  # `<<` adds bits again
        shifted = self.moved(self.cast(a, Int(64 + high)), "<<", high)
        assert shifted is not None
        mixed = self.apply("^", shifted, b) if self.random.random() < 0.7 else shifted
        if isinstance(scalar, Bool):
            mixed = self.compared("<", a, self.literal())
        elif isinstance(scalar, Fixed | UFixed):
            mixed = self.moved(self.cast(mixed, type(scalar)(scalar.width, 0)), ">>", scalar.fracs)
        self.declare(scalar, mixed)

    # -- expressions --------------------------------------------------------------------------------------

    def literal(self) -> Node:
        number = self.random.choice((0, 1, 2, 3, 5, 7, 100, 255, -1, -2, -9, -128, 1 << 31, (1 << 40) + 1))
        return Node(f"({number})", literal_type(number), lambda row: number, literal=True)

    def leaf(self) -> Node:
        choice = self.random.random()
        if choice < 0.08:
            return Node("s", index, lambda row: row["s"])
        if choice < 0.16:
            return self.bits()
        return self.random.choice(self.variables)

    def bits(self) -> Node:
        """A bit or some bits of an integer variable, at constant or run-time positions."""
        words = [v for v in self.variables if isinstance(v.type, Int | UInt)]
        if not words:
            return self.random.choice(self.variables)
        word, width = (chosen := self.random.choice(words)), chosen.type.bits
        if self.random.random() < 0.3:
            return Node(
                f"{word.text}[s % {width}]", UInt(1), lambda row: word.value(row) >> (row["s"] % width) & 1
            )
        low = self.random.randrange(width)
        high = self.random.randint(low + 1, width)
        if high == low + 1:
            return Node(f"{word.text}[{low}]", UInt(1), lambda row: word.value(row) >> low & 1)
        mask = (1 << (high - low)) - 1
        return Node(f"{word.text}[{low}:{high}]", UInt(high - low), lambda row: word.value(row) >> low & mask)

    def expression(self, depth: int) -> Node:
        """A random expression; never a constant."""
        while True:
            made = self.leaf() if depth == 0 or self.random.random() < 0.1 else self.operation(depth)
            if made is not None:
                self.made[made.text] = made
                return made

    def operand(self, depth: int) -> Node:
        return self.literal() if self.random.random() < 0.15 else self.expression(depth)

    def operation(self, depth: int) -> Node | None:
        kind = self.random.choices(
            ("binary", "unary", "compare", "select", "cast", "shift"), (10, 2, 2, 2, 3, 2)
        )[0]
        first = self.expression(depth - 1)
        match kind:
            case "binary":
                second = self.operand(depth - 1)
                pair = (first, second) if self.random.random() < 0.5 else (second, first)
                return self.apply(self.random.choice(ARITHMETIC), *pair)
            case "unary":
                return self.unary(self.random.choice(("-", "~", "abs", "not")), first)
            case "compare":
                return self.compared(self.random.choice(list(model.COMPARE)), first, self.operand(depth - 1))
            case "select":
                return self.selected(self.expression(depth - 1), first, self.operand(depth - 1))
            case "cast":
                return self.cast(first, self.any_type())
        return self.moved(first, self.random.choice(("<<", ">>")), self.random.randint(0, 12))

    def counted(self, first: Node, second: Node) -> tuple[AlloType, AlloType]:
        """The types that two operands count as: literals beside fixed point have the bits that they need."""
        if isinstance(first.type, Fixed | UFixed) or isinstance(second.type, Fixed | UFixed):
            return first.type, second.type
        left, right = (self.rules.literal_operand(n.type) if n.literal else n.type for n in (first, second))
        return left, right

    def apply(self, op: str, lhs: Node, rhs: Node) -> Node | None:
        left, right = self.counted(lhs, rhs)
        if op in ("<<", ">>") and rhs.literal:
            return None
        if op in ("/", "//", "%") and rhs.literal and rhs.text == "(0)":
            return None
        try:
            result = self.rules.result(op, left, right)
            if op in ("/", "//", "%"):
                self.rules.result("compare", left, right)
        except TypeError:  # wider than there is
            return None
        if result is None:
            return None
        if op in ("<<", ">>") and lhs.literal and not self.rules.wraps:
            return None
        text = f"{op}({lhs.text}, {rhs.text})" if op in ("min", "max") else f"({lhs.text} {op} {rhs.text})"
        rules = self.rules
        return Node(
            text, result, lambda row: model.binary(rules, op, (left, lhs.value(row)), (right, rhs.value(row)))
        )

    def moved(self, operand: Node, op: str, amount: int) -> Node | None:
        """A shift by a constant: exact, except that digits of integers drop on the right; in C++ it keeps the type."""
        text = f"({operand.text} {op} {amount})"
        if isinstance(operand.type, Float):
            return None
        signed = amount if op == "<<" else -amount
        try:
            if self.rules.wraps:
                kept = self.rules.result(op, operand.type, Int(32))
                assert kept is not None
                return Node(
                    text,
                    kept,
                    lambda row: model.shift(
                        op, kept, model.convert(operand.value(row), operand.type, kept), amount
                    ),
                )
            if isinstance(operand.type, Fixed | UFixed):
                return Node(
                    text,
                    shifted_type(operand.type, signed),
                    lambda row: operand.value(row) * Fraction(2) ** signed,
                )
            whole = self.rules.result(op, operand.type, UInt(4))
            assert isinstance(whole, Int | UInt)
            if op == "<<":
                return Node(
                    text, type(whole)(whole.width + amount), lambda row: int(operand.value(row)) << amount
                )
            return Node(text, whole, lambda row: int(operand.value(row)) >> amount)
        except TypeError:
            return None

    def unary(self, op: str, operand: Node) -> Node | None:
        rules = self.rules
        if op == "not":
            return Node(f"(not {operand.text})", bool_type, lambda row: not operand.value(row))
        if op == "~":
            try:
                result = rules.result("^", operand.type, rules.literal_operand(Int(1)))
            except TypeError:  # wider than there is
                result = None
            if result is None:
                return None
            flipped = self.apply("^", operand, Node("-1", Int(1), lambda row: -1, literal=True))
            return None if flipped is None else Node(f"(~{operand.text})", result, flipped.value)
        try:
            result = rules.unary_result("neg" if op == "-" else "abs", operand.type)
        except TypeError:
            return None
        assert result is not None
        text, value = (
            (f"(-{operand.text})", model.negated) if op == "-" else (f"abs({operand.text})", model.absolute)
        )
        return Node(text, result, lambda row: value(rules, operand.type, operand.value(row)))

    def compared(self, op: str, lhs: Node, rhs: Node) -> Node | None:
        (left, right), rules = self.counted(lhs, rhs), self.rules
        try:
            if rules.result("compare", left, right) is None:
                return None
        except TypeError:
            return None
        return Node(
            f"({lhs.text} {op} {rhs.text})",
            bool_type,
            lambda row: model.compare(rules, op, (left, lhs.value(row)), (right, rhs.value(row))),
        )

    def selected(self, condition: Node, first: Node, second: Node) -> Node | None:
        left, right = self.counted(first, second)
        try:
            common = (
                left if left == right and not second.literal else self.rules.result("compare", left, right)
            )
        except TypeError:
            return None
        if common is None:
            return None

        def value(row: Row) -> Any:
            taken, kind = (first, left) if condition.value(row) else (second, right)
            return model.convert(taken.value(row), kind, common)

        return Node(f"({first.text} if {condition.text} else {second.text})", common, value)

    def cast(self, operand: Node, target: AlloType) -> Node:
        text = f"{self.named(target)}({operand.text})"
        return Node(text, target, lambda row: model.convert(operand.value(row), operand.type, target))

    # -- the kernel ---------------------------------------------------------------------------------------

    def store(self, node: Node, position: int) -> int:
        """Statements that store the value of `node` as words of 64 bits; returns how many."""
        if isinstance(node.type, Float):
            self.lines.append(f"F[s, {position}] = {node.text}")
            self.results.append((node, position))
            return 1
        shown = node.text
        scalar = node.type
        if isinstance(scalar, Fixed | UFixed):
            number = f"r{position}"
            self.lines.append(f"{number}: {self.named(type(scalar)(scalar.width, scalar.fracs))} = {shown}")
            whole = (Int if isinstance(scalar, Fixed) else UInt)(scalar.width)
            shown = f"q{position}"
            self.lines.append(f"{shown}: {self.named(whole)} = {number} * {1 << scalar.fracs}")
        elif scalar.bits > 64:
            shown = f"r{position}"
            self.lines.append(f"{shown}: {self.named(scalar)} = {node.text}")
        count = -(-scalar.bits // 64)
        for k in range(count):
            self.lines.append(
                f"O[s, {position + k}] = {shown} >> {64 * k}" if k else f"O[s, {position}] = {shown}"
            )
        self.results.append((node, position))
        return count

    def fill(self, variables: int, results: int, depth: int) -> int:
        """Make the body; returns the number of words of a row."""
        for scalar in (Int(32), UInt(8), *(self.any_type() for _ in range(variables - 2))):
            self.seed_variable(scalar)
        position = 0
        for _ in range(results):
            position += self.store(self.expression(depth), position)
        return position

    def text(self, rows: int, words: int) -> str:
        head = [
            "from allo.ir.types import *",
            "",
            *(f"{name} = {_spelled(scalar)}" for scalar, name in self.types.items()),
        ]
        arguments = f"A: int64[{rows}], B: uint64[{rows}], X: float64[{rows}]"
        arguments += f", O: uint64[{rows}, {words}], F: float64[{rows}, {words}]"
        body = ["a: int64 = A[s]", "b: uint64 = B[s]", "x: float64 = X[s]", *self.lines]
        return "\n".join(
            [
                *head,
                "",
                "",
                f"def kernel({arguments}):",
                f"    for s in range({rows}):",
                *(f"        {line}" for line in body),
                "",
            ]
        )

    def expected(self, row: Row) -> list[Any]:
        """The value of each result."""
        known = dict(row)
        for name, value in self.steps:
            known[name] = value(known)
        return [node.value(known) for node, _ in self.results]


def _spelled(scalar: AlloType) -> str:
    """A type as Python."""
    if isinstance(scalar, Int | UInt):
        return f"{type(scalar).__name__}({scalar.width})"
    return repr(scalar)


def words_of(value: Any, scalar: AlloType) -> list[int]:
    """A value as the words that the kernel stores: those of the bits, extended by the sign."""
    fracs = scalar.fracs if isinstance(scalar, Fixed | UFixed) else 0
    bits = int(value * 2**fracs)
    return [(bits >> 64 * k) & ((1 << 64) - 1) for k in range(-(-scalar.bits // 64))]


def inputs(generator: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Edges of the ranges, small numbers, and random ones."""
    bits = generator.integers(0, 1 << 63, rows, np.int64) >> generator.integers(0, 63, rows)
    a = np.where(generator.random(rows) < 0.5, bits, ~bits)
    b = generator.integers(0, 1 << 63, rows, np.int64).astype(np.uint64) >> generator.integers(
        0, 63, rows
    ).astype(np.uint64)
    a[:2], b[:2] = (-(1 << 63), 0), ((1 << 64) - 1, 1)
    x = generator.normal(size=rows) * 2.0 ** generator.integers(-12, 20, rows)
    x[::3] = np.round(x[::3] * 8) / 8
    return a, b, x


def load(text: str, folder: Path) -> Any:
    """The kernel of a program, from a file, so that it has a source."""
    path = folder / "kernel.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(f"random_expressions_{abs(hash(text))}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel
