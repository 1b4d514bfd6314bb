"""Checker of what a `for` runs over: ranges with their bounds, the name of the nest, how hardware runs the loops."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .. import dsl, tiles
from ..typing.convert import constant
from ..typing.nodes import Const, Expr, KernelCall, Load, StreamAsked, StreamGet, Symbol, SymbolKind, Var
from ..typing.rules import as_integer
from ..typing.scope import Scope, static_value
from ..typing.writes import parts
from .expressions import ExpressionChecker

type Range = tuple[Expr, Expr, Expr]  # lower and upper bound, step
type Marks = tuple[tuple[str, int], ...]

_MAX_FACTOR = 1 << 31


@dataclass(frozen=True, slots=True)
class Iteration:
    """The ranges of the loops of one `for`, None after an error; the name and the marks that it gives them."""

    ranges: list[Range] | None
    name: str | None = None
    marks: tuple[Marks, ...] = ()

    def marks_of(self, position: int) -> Marks:
        """The attributes that a loop starts with."""
        return self.marks[position] if self.marks else ()


def read_iteration(node: ast.For, scope: Scope, expressions: ExpressionChecker) -> Iteration:
    """What `range(...)`, `allo.grid(...)`, `allo.reduction(...)` or `tile.programs(...)` runs over."""
    call = node.iter
    if not isinstance(call, ast.Call):
        _refuse(scope, call)
        return Iteration(None)
    callee = expressions.calls.callee(call)
    if not any(callee is known for known in (range, dsl.grid, dsl.reduction, tiles.programs)):
        if callee is not None:
            _refuse(scope, call)
        return Iteration(None)
    name, marks = _name(scope, call), _marks(scope, call) if callee is dsl.grid else ()
    if callee is tiles.programs:
        marks = tuple(((tiles.PROGRAM, dimension),) for dimension in range(len(call.args)))
    _refuse_keywords(scope, call, ("name", "pipeline", "unroll") if callee is dsl.grid else ("name",))
    return Iteration(_ranges(scope, expressions, call, callee), name, marks)


def _refuse(scope: Scope, node: ast.expr) -> None:
    scope.error(node, f"a kernel cannot iterate over `{ast.unparse(node)}`", "use range() or allo.grid()")


def _ranges(scope: Scope, expressions: ExpressionChecker, call: ast.Call, callee: Any) -> list[Range] | None:
    if not call.args or (callee is range and len(call.args) > 3):
        scope.error(
            call,
            f"{ast.unparse(call.func)}() takes {'1 to 3 bounds' if callee is range else 'extents'}, "
            f"got {len(call.args) or 'none'}",
        )
        return None
    values = expressions.operands(*call.args)
    if values is None:
        return None
    for value, place in zip(values, call.args, strict=True):
        if as_integer(value.type) is None:
            scope.error(place, f"a loop bound must be an integer, got {value.type!r}", "convert it with int()")
            return None
        if isinstance(value, Const) and not -(1 << 31) <= value.value <= 1 << 31:
            scope.error(place, f"{value.value} is too large for a loop: `index` has 32 bits")
            return None
    values = [v if isinstance(v, Const) else expressions.builder.settled(v) for v in values]
    at = scope.source.position(call)
    if callee is not range:
        zero, one = constant(0, at), constant(1, at)
        return [(zero, value, one) for value in expressions.builder.extents_once(values)]
    if len(values) == 1:
        return [(constant(0, at), values[0], constant(1, at))]
    step = values[2] if len(values) == 3 else constant(1, at)
    if isinstance(step, Const) and step.value == 0:
        scope.error(call.args[2], "the step of range() must not be 0")
        return None
    return [(values[0], values[1], step)]


def _value(scope: Scope, call: ast.Call, name: str) -> tuple[ast.keyword, Any] | None:
    """A keyword of a call with its compile-time value, which is None for a value of run time."""
    for keyword in call.keywords:
        if keyword.arg == name:
            try:
                return keyword, static_value(scope, keyword.value)
            except (NameError, ValueError):
                return keyword, None
    return None


def _refuse_keywords(scope: Scope, call: ast.Call, known: tuple[str, ...]) -> None:
    for keyword in call.keywords:
        if keyword.arg not in known:
            scope.error(keyword, f'{ast.unparse(call.func)}() takes no keyword but name="..."')


def _name(scope: Scope, call: ast.Call) -> str | None:
    found = _value(scope, call, "name")
    if found is None or isinstance(found[1], str):
        return None if found is None else found[1]
    scope.error(found[0], f'{ast.unparse(call.func)}() takes no keyword but name="..."')
    return None


def _marks(scope: Scope, call: ast.Call) -> tuple[Marks, ...]:
    """`pipeline=True` or an initiation interval, for the last loop; `unroll=` a factor for it, or one for each loop."""
    count = len(call.args)
    marks: list[list[tuple[str, int]]] = [[] for _ in range(count)]
    if count and (found := _value(scope, call, "pipeline")) is not None and found[1] is not False:
        interval = 1 if found[1] is True else found[1]
        if type(interval) is int and 1 <= interval < _MAX_FACTOR:
            marks[-1].append(("allo.pipeline", interval))
        else:
            scope.error(found[0], f"`{ast.unparse(found[0].value)}` is no initiation interval", "write pipeline=True")
    if count and (found := _value(scope, call, "unroll")) is not None:
        given = found[1]
        factors = list(given) if isinstance(given, list | tuple) else [0] * (count - 1) + [given]
        if len(factors) == count and all(type(factor) is int and 0 <= factor < _MAX_FACTOR for factor in factors):
            for loop, factor in zip(marks, factors, strict=True):
                loop += [("allo.unroll", factor)] if factor else []
        else:
            text = ast.unparse(found[0].value)
            scope.error(found[0], f"`{text}` is no list of unroll factors", f"write one for each of {count} loops")
    return tuple(tuple(loop) for loop in marks)


def differs_by_position(ranges: Sequence[Range], positions: Sequence[Symbol]) -> bool:
    """Whether positions of a task may run loops another number of times: bounds are no constants of all of them."""
    for part in parts(tuple(ranges)):
        if isinstance(part, Load | KernelCall | StreamGet | StreamAsked):
            return True
        if isinstance(part, Var) and (part.symbol in positions or part.symbol.kind is SymbolKind.SCALAR):
            return True
    return False
