"""Ranges of subscripts, from the ranges of loops alone: a proof that all stay inside of their arrays."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import Any

from ...ir.types import Index, Int, TensorType, UInt
from .nodes import (
    Binary,
    CallSite,
    Cast,
    CheckedFunction,
    Const,
    Expr,
    For,
    Load,
    Stmt,
    Store,
    Symbol,
    SymbolKind,
    TaskGrid,
    Var,
)

Interval = tuple[int, int]


def surely_inside(function: CheckedFunction) -> bool:
    """Whether interval arithmetic proves every subscript of `function`; False only means that it cannot tell.

    Conditions are not taken into account, so a guarded subscript is usually left to `allo.poly`.
    """
    proof = _Proof()
    return all(proof.holds(statement) for statement in function.body)


@cache
def _parts(node_type: Any) -> tuple[str, ...]:
    """The fields of a node that may hold other nodes."""
    leaves = ("at", "type", "op", "exact", "nest", "symbol", "tensor", "function", "declares", "targets", "callee")
    return tuple(f.name for f in fields(node_type) if f.name not in leaves)


class _Proof:
    """The ranges of the loops around the place where the walk is."""

    def __init__(self) -> None:
        self.ranges: dict[Symbol, Interval] = {}

    def holds(self, node: Any) -> bool:
        """Whether all subscripts in `node` are proven."""
        match node:
            case Const() | Var() | Symbol():
                return True
            case Load():  # a subscript whose range is known reads nothing
                return self._subscripts(node.tensor, node.indices)
            case Binary(lhs=lhs, rhs=rhs):
                return self.holds(lhs) and self.holds(rhs)
            case Store():
                return self._subscripts(node.tensor, node.indices) and self.holds(node.value)
            case For():
                return self._loop(node)
            case TaskGrid(positions=positions, extents=extents):
                for symbol, extent in zip(positions, extents, strict=False):
                    self.ranges[symbol] = (0, extent - 1)
                return self.holds(node.call)
            case Stmt() | Expr() | CallSite():
                if hasattr(node, "indices"):  # a kind of access that this proof does not know
                    return False
                kind: Any = type(node)
                return all(self.holds(getattr(node, name)) for name in _parts(kind))
            case tuple():
                return all(map(self.holds, node))
        return True

    def _loop(self, loop: For) -> bool:
        lower, upper, step = (self.interval(bound) for bound in (loop.lower, loop.upper, loop.step))
        if lower is not None and upper is not None and step is not None:
            if step[0] > 0:
                self.ranges[loop.symbol] = (lower[0], upper[1] - 1)
            elif step[1] < 0:
                self.ranges[loop.symbol] = (upper[0] + 1, lower[1])
            return all(map(self.holds, loop.body))
        return all(map(self.holds, (loop.lower, loop.upper, loop.step))) and all(map(self.holds, loop.body))

    def _subscripts(self, tensor: Symbol, indices: tuple[Expr, ...]) -> bool:
        assert isinstance(tensor.type, TensorType)
        for index, extent in zip(indices, tensor.type.shape, strict=True):
            found = self.interval(index)
            if found is None or not isinstance(extent, int) or found[0] < 0 or found[1] >= extent:
                return False
        return True

    def interval(self, expr: Expr) -> Interval | None:
        """The least and the greatest value of an integer expression, as far as loops and constants decide them."""
        match expr:
            case Const(value=int() as value):
                return int(value), int(value)
            case Var(symbol=symbol) if symbol.kind is SymbolKind.LOOP:
                return self.ranges.get(symbol)
            case Cast(operand=operand):
                inner = self.interval(operand)
                return inner if inner is not None and _holds_range(expr.type, inner) else None
            case Binary():
                lhs, rhs = self.interval(expr.lhs), self.interval(expr.rhs)
                return None if lhs is None or rhs is None else combined(expr.op, lhs, rhs)
        return None


def _holds_range(scalar: Any, values: Interval) -> bool:
    match scalar:
        case Index():
            return True
        case Int():
            return -(1 << (scalar.width - 1)) <= values[0] and values[1] < 1 << (scalar.width - 1)
        case UInt():
            return values[0] >= 0 and values[1] < 1 << scalar.width
    return False


def combined(op: str, lhs: Interval, rhs: Interval) -> Interval | None:
    match op:
        case "+":
            return lhs[0] + rhs[0], lhs[1] + rhs[1]
        case "-":
            return lhs[0] - rhs[1], lhs[1] - rhs[0]
        case "*":
            corners = [a * b for a in lhs for b in rhs]
            return min(corners), max(corners)
        case "//" if rhs[0] > 0:
            corners = [a // b for a in lhs for b in rhs]
            return min(corners), max(corners)
        case "%" if rhs[0] > 0:
            return lhs if lhs[0] >= 0 and lhs[1] < rhs[0] else (0, rhs[1] - 1)
        case "min":
            return min(lhs[0], rhs[0]), min(lhs[1], rhs[1])
        case "max":
            return max(lhs[0], rhs[0]), max(lhs[1], rhs[1])
    return None
