"""Expressions of a computation graph in the terms of the user, and the place where two of them part."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .constants import float_value
from .engine import UNDEFINED, Constant, ExpressionGraph, OpNode
from .operators import BF16, F16, F32, F64, OpKind, ScalarOperator, ScalarType

_INFIX = {
    "arith.addf": "+",
    "arith.subf": "-",
    "arith.mulf": "*",
    "arith.divf": "/",
    "arith.remf": "%",
    "arith.addi": "+",
    "arith.subi": "-",
    "arith.muli": "*",
    "arith.divsi": "/",
    "arith.divui": "/",
    "arith.floordivsi": "//",
    "arith.remsi": "%",
    "arith.remui": "%",
    "arith.andi": "&",
    "arith.ori": "|",
    "arith.xori": "^",
    "arith.shli": "<<",
    "arith.shrsi": ">>",
    "arith.shrui": ">>",
}
_STRENGTH = {"|": 1, "^": 2, "&": 3, "<<": 4, ">>": 4, "+": 5, "-": 5, "*": 6, "/": 6, "//": 6, "%": 6}
_CASTS = frozenset(
    {"arith.extsi", "arith.extui", "arith.trunci", "arith.extf", "arith.truncf", "arith.bitcast"}
    | {"arith.sitofp", "arith.uitofp"}
)
_INTEGER_PREDICATES = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")
_FLOAT_PREDICATES = {1: "==", 4: "<", 5: "<=", 6: "!=", 8: "==", 11: "<", 12: "<=", 13: "!="}
_NAMES = {"minsi": "min", "maxsi": "max", "minui": "min", "maxui": "max"}


@dataclass(frozen=True, slots=True)
class ArgumentShapes:
    """The names and the shapes of the arguments."""

    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]

    def element(self, argument: int, position: int) -> tuple[int, ...]:
        """The subscripts of an element by its position row by row."""
        shape = self.shapes[argument]
        return tuple(int(x) for x in np.unravel_index(position, shape)) if shape else ()

    def place(self, argument: int, position: int) -> str:
        """An input, such as `A[3, 4]`."""
        element = self.element(argument, position)
        name = self.names[argument]
        return f"{name}[{', '.join(map(str, element))}]" if element else name


def position_of(leaf: OpNode) -> int:
    """Which element of its argument an input is."""
    return leaf.operands[0] | leaf.operands[1] << 32


def is_unwritten(graph: ExpressionGraph, number: int) -> bool:
    """Whether an expression is an element that nothing has written."""
    node = UNDEFINED if number == UNDEFINED else graph.read(number)
    if not isinstance(node, OpNode):
        return node == UNDEFINED
    return node.operator.kind == OpKind.LEAF and node.operator.extra < 0


def text(graph: ExpressionGraph, number: int, inputs: ArgumentShapes, depth: int = 6) -> str:
    """The expression, with `...` for what is deeper than `depth` operations."""
    return _text(graph, number, inputs, depth)[0]


def _text(graph: ExpressionGraph, number: int, inputs: ArgumentShapes, depth: int) -> tuple[str, int]:
    """The text, and how strongly its operator binds (9: no operator)."""
    if is_unwritten(graph, number):
        return "undefined", 9
    node = graph.read(number)
    if isinstance(node, Constant):
        return _constant(node), 9
    operator = node.operator
    if operator.kind == OpKind.LEAF:
        return inputs.place(operator.extra, position_of(node)), 9
    if operator.name in _CASTS:
        return _text(graph, node.operands[0], inputs, depth)
    if depth == 0:
        return "...", 9
    told = [_text(graph, operand, inputs, depth - 1) for operand in node.operands]
    infix = _infix(operator)
    if all(t == "..." for t, _ in told):
        return "...", 9
    if infix is not None:
        strength = _STRENGTH.get(infix, 0)
        left = told[0][0] if told[0][1] >= strength else f"({told[0][0]})"
        right = told[1][0] if told[1][1] > strength else f"({told[1][0]})"
        return f"{left} {infix} {right}", strength
    if operator.kind == OpKind.SELECT:
        yes, no = (told[k][0] if told[k][1] > 0 else f"({told[k][0]})" for k in (1, 2))
        return f"{yes} if {told[0][0]} else {no}", -1
    if operator.kind == OpKind.NEGF:
        return f"-{told[0][0]}" if told[0][1] > 5 else f"-({told[0][0]})", 6
    name = operator.name.split(".")[-1]
    return f"{_NAMES.get(name, name)}({', '.join(t for t, _ in told)})", 9


def _infix(operator: ScalarOperator) -> str | None:
    if operator.kind == OpKind.COMPARE:
        return _INTEGER_PREDICATES[operator.extra]
    if operator.name == "arith.cmpf":
        return _FLOAT_PREDICATES.get(operator.extra)
    return _INFIX.get(operator.name)


def _constant(constant: Constant) -> str:
    scalar, bits = constant.type, constant.bits
    if scalar.code:
        return _float(scalar, bits)
    if scalar.width == 1:
        return "True" if bits else "False"
    return str(bits - (1 << scalar.width) if bits >> (scalar.width - 1) else bits)


def _float(scalar: ScalarType, bits: int) -> str:
    value = float_value(bits, scalar)
    if scalar in (F32, F16, BF16):
        return str(np.float32(value))
    assert scalar == F64
    return repr(value)


def difference(graph: ExpressionGraph, left: int, right: int, inputs: ArgumentShapes) -> str:
    """What the second of two different expressions does otherwise than the first, as far down as one place tells it."""
    while True:
        a, b = _stripped(graph, left), _stripped(graph, right)
        if a == b:
            return "converts to another type"
        nothing = [is_unwritten(graph, side) for side in (a, b)]
        if any(nothing):
            which = "first" if nothing[0] else "second"
            return f"the {which} program reads an element that nothing has written"
        x, y = graph.read(a), graph.read(b)
        if isinstance(x, Constant) and isinstance(y, Constant):
            return f"{_constant(y)} instead of {_constant(x)}"
        if isinstance(x, Constant) or isinstance(y, Constant):
            break
        if x.operator.kind == OpKind.LEAF and y.operator.kind == OpKind.LEAF:
            first = inputs.place(x.operator.extra, position_of(x))
            second = inputs.place(y.operator.extra, position_of(y))
            return f"reads {second} instead of {first}"
        pairs = _different_operands(x, y)
        if x.operator != y.operator or len(pairs) != 1:
            break
        ((left, right),) = pairs
    return f"computes {text(graph, right, inputs, 3)} instead of {text(graph, left, inputs, 3)}"


def _stripped(graph: ExpressionGraph, number: int) -> int:
    """Without the conversions around it."""
    while number != UNDEFINED:
        node = graph.read(number)
        if isinstance(node, Constant) or node.operator.name not in _CASTS:
            break
        number = node.operands[0]
    return number


def _different_operands(x: OpNode, y: OpNode) -> list[tuple[int, int]]:
    if x.operator != y.operator:
        return []
    pairs = [(a, b) for a, b in zip(x.operands, y.operands, strict=True) if a != b]
    if x.operator.commutative and len(pairs) == 2:
        crossed = [(a, b) for a, b in zip(x.operands, y.operands[::-1], strict=True) if a != b]
        if len(crossed) < 2:
            return crossed
    return pairs
