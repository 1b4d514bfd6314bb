"""Algebras of sums: which operations add, multiply, or keep a value as it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from ...poly.linear import Linear
from .nodes import Kind, ValueNode

_MONOIDS = frozenset(f"arith.{n}" for n in ("muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui"))
_ROUNDED_MONOIDS = frozenset({"arith.mulf", "arith.maximumf", "arith.minimumf"})
_WRAPPING = frozenset({"arith.muli", "arith.andi", "arith.ori", "arith.xori"})
_IDEMPOTENT = (_MONOIDS | _ROUNDED_MONOIDS) - {"arith.muli", "arith.xori", "arith.mulf"}
_FLOAT_RING = frozenset({"arith.addf", "arith.subf", "arith.negf", "arith.mulf"})
_ZERO = re.compile(r"-?0(\.0+)?(e[+-]?\d+)?")
_ONE = re.compile(r"1(\.0+)?(e\+00)?")
_INTEGER_RING = frozenset({"arith.addi", "arith.subi", "arith.muli"})


class Role(StrEnum):
    """What a node is to a sum of products."""

    ADD = "add"
    SUBTRACT = "subtract"
    NEGATE = "negate"
    MULTIPLY = "multiply"
    CAST = "cast"
    ZERO = "zero"
    ONE = "one"
    READ = "read"
    CHOICE = "choice"
    LEAF = "leaf"


@dataclass(frozen=True, slots=True)
class Algebra:
    """A ring (`operation` is empty) or an operation whose terms may be taken in any order and grouping.

    `type` is that of the values. Integers are taken modulo 2 ** `width`; it is 0 where no bits may be dropped.
    """

    operation: str
    type: str
    width: int

    @property
    def is_idempotent(self) -> bool:
        """Whether a term that comes twice counts once, so that values are made of others of the same operation."""
        return self.operation in _IDEMPOTENT

    def role(self, node: ValueNode) -> Role:
        """What the value of a node is in a sum (product, minimum, ...) of this algebra."""
        if node.kind is Kind.READ:
            return Role.READ
        if node.kind is Kind.CHOICE:
            return Role.CHOICE
        if node.kind is Kind.INDEX:
            return self._constant(node.form) if self.width else Role.LEAF
        if node.kind is not Kind.OPERATION or "->" not in node.signature:
            return Role.LEAF
        name = node.signature[0]
        if self._keeps_low_bits(node):
            return Role.CAST
        if name == "arith.constant":  # of this algebra: the bits of 1.0 are another integer
            return self._constant(_number(node)) if self._fits(node) else Role.LEAF
        if name == self.operation:
            return Role.ADD if self._fits(node) else Role.LEAF
        return self._in_ring(node, name)

    def _fits(self, node: ValueNode) -> bool:
        kind = result_type(node)
        return _width(kind) >= self.width if self.width else kind == self.type

    def _in_ring(self, node: ValueNode, name: str) -> Role:
        ring = _INTEGER_RING if self.width else _FLOAT_RING
        if self.operation or name not in ring or not self._fits(node):
            return Role.LEAF
        match name.removeprefix("arith.")[:3]:
            case "add":
                return Role.ADD
            case "mul":
                return Role.MULTIPLY
            case "neg":
                return Role.NEGATE
        return Role.SUBTRACT

    def _constant(self, value: object) -> Role:
        if self.operation in ("", "arith.ori", "arith.xori") and value in (0, Linear(0)):
            return Role.ZERO
        return Role.ONE if not self.operation and value in (1, Linear(1)) else Role.LEAF

    def _keeps_low_bits(self, node: ValueNode) -> bool:
        """Whether a cut or extension does not change the bits that count."""
        if not self.width:
            return False
        name = node.signature[0]
        if name == "arith.trunci":
            return _width(result_type(node)) >= self.width
        return name in ("arith.extsi", "arith.extui") and _width(node.signature[2]) >= self.width


def algebras(node: ValueNode, reassociate: bool) -> tuple[Algebra, ...]:
    """Those in which a value is a sum, the most general first; floats are in none unless they may be reordered."""
    if node.kind is not Kind.OPERATION or "->" not in node.signature:
        return ()
    kind = result_type(node)
    inner = node
    while inner.kind is Kind.OPERATION and inner.signature[0] == "arith.trunci":
        inner = inner.operands[0]
    name = inner.signature[0] if inner.kind is Kind.OPERATION else ""
    found: list[Algebra] = []
    if name in _INTEGER_RING or (reassociate and name in _FLOAT_RING):
        found.append(Algebra("", kind, _width(kind)))
    wraps = name in _WRAPPING
    if (wraps or inner is node) and (name in _MONOIDS or (reassociate and name in _ROUNDED_MONOIDS)):
        found.append(Algebra(name, kind, _width(kind) if wraps else 0))
    return tuple(found)


def result_type(node: ValueNode) -> str:
    """The type of the value of an operation."""
    return node.signature[node.signature.index("->") + 1]


def _width(kind: str) -> int:
    return int(kind[1:]) if kind[:1] == "i" and kind[1:].isdigit() else 0


def _number(node: ValueNode) -> int | None:
    """0 or 1 if a constant is that number, whatever its type."""
    text = next((part for part in node.signature if part.startswith("value=")), "")
    number = text.removeprefix("value=").split(" : ")[0]
    if _ZERO.fullmatch(number) or number == "false":
        return 0
    return 1 if _ONE.fullmatch(number) or number == "true" else None
