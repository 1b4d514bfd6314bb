"""Extents of exported programs: numbers, or expressions of symbols that get their numbers when a file is read."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping
from typing import Any

from ..errors import AlloError

_OPERATIONS: Mapping[type[ast.operator], Any] = {
    ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b, ast.Mod: lambda a, b: a % b,
}  # fmt: skip
_FUNCTIONS: Mapping[str, Any] = {
    **dict.fromkeys(("FloorDiv", "CleanDiv", "IntTrueDiv"), lambda a, b: a // b),
    **dict.fromkeys(("Mod", "PythonMod"), lambda a, b: a % b),
    "Add": lambda *values: sum(values), "Mul": lambda *values: math.prod(values), "Max": max, "Min": min,
    "Integer": int,
}  # fmt: skip
# What PyTorch calls numbers that elements of arrays decide when the model runs, which no caller can give.
_OF_ELEMENTS = re.compile(r"z?u[f0-9]*\d+")


class Extents:
    """The numbers that the symbols of a program have; `sizes` gives them by name.

    Raises AlloError for symbols that the program does not have, and numbers outside of the range that it was
    exported for.
    """

    def __init__(self, name: str, program: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
        self.name = name
        self.sizes = dict(sizes)
        self.missing: dict[str, None] = {}  # symbols without a number, in their order
        given: Mapping[str, Any] = program.get("range_constraints") or {}
        ranges = {symbol: given[symbol] for symbol in given if symbol.isidentifier()}  # others are expressions of them
        for symbol, size in sizes.items():
            if symbol not in ranges:
                listed = ", ".join(ranges) or "none"
                raise AlloError(f"'{name}' has no extent '{symbol}'", hint=f"its extents with names: {listed}")
            least, most = ranges[symbol].get("min_val"), ranges[symbol].get("max_val")
            if not isinstance(size, int) or size < (least or 1) or (most is not None and size > most):
                upto = f"{least or 1} to {most}" if most is not None else f"{least or 1} or more"
                raise AlloError(f"'{name}' was exported for {symbol} = {upto}, and {size} is asked for")
        graph = program["graph_module"]["graph"]
        self.names: Mapping[str, Any] = graph.get("sym_int_values") or {}

    def number(self, told: Mapping[str, Any]) -> int | None:
        """An extent of an array; None if it is not known."""
        if "as_int" in told:
            value = told["as_int"]
            return value if isinstance(value, int) else None
        if "as_name" in told:
            return self.number(self.names[told["as_name"]])
        if "as_expr" not in told:
            return None
        return self._evaluated(ast.parse(str(told["as_expr"]["expr_str"]), mode="eval").body)

    def _evaluated(self, node: ast.expr) -> int | None:
        match node:
            case ast.Constant(value=int(value)):
                return value
            case ast.Name(id=symbol) | ast.Call(func=ast.Name(id="Symbol"), args=[ast.Constant(value=str(symbol)), *_]):
                if symbol not in self.sizes and not _OF_ELEMENTS.fullmatch(symbol):
                    self.missing[symbol] = None
                return self.sizes.get(symbol)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                inner = self._evaluated(operand)
                return None if inner is None else -inner
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
                return self._applied(_OPERATIONS[type(op)], [left, right])
            case ast.Call(func=ast.Name(id=name), args=args) if name in _FUNCTIONS:
                return self._applied(_FUNCTIONS[name], args)
        return None

    def _applied(self, function: Any, operands: list[ast.expr]) -> int | None:
        values = [self._evaluated(operand) for operand in operands]
        if any(value is None for value in values):
            return None
        result: int = function(*values)
        return result

    def check(self) -> None:
        """Raises AlloError with all symbols that have no number."""
        if self.missing:
            example = ", ".join(f"'{symbol}': 8" for symbol in self.missing)
            raise AlloError(
                f"the extents {', '.join(self.missing)} of '{self.name}' have no numbers",
                hint=f"a kernel has one size: from_pt2(path, sizes={{{example}}}), once for each that is needed",
            )
