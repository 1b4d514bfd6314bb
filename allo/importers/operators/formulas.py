"""Formulas of layers that compute each element on its own, written once for NumPy and for typed values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from ...frontend.read.source import Position
from ...frontend.typing.convert import convert
from ...frontend.typing.nodes import Binary, Compare, Const, Expr, Logic, MathCall, Not, Select, Shared, Var
from ...ir.types import AlloType, Float, UInt
from ...ir.types import bool as bool_type


class Numbers(Protocol):
    """The functions of formulas; operators are those of the values."""

    def function(self, name: str, *values: Any) -> Any: ...
    def absolute(self, x: Any) -> Any: ...
    def maximum(self, a: Any, b: Any) -> Any: ...
    def minimum(self, a: Any, b: Any) -> Any: ...
    def where(self, condition: Any, a: Any, b: Any) -> Any: ...
    def erf(self, x: Any) -> Any: ...
    def floor(self, x: Any) -> Any: ...
    def once(self, x: Any) -> Any: ...


class ArrayNumbers:
    """Formulas on NumPy arrays."""

    def function(self, name: str, *values: Any) -> Any:
        return {"powf": np.power}.get(name, getattr(np, name, None))(*values)  # type: ignore[misc]

    def absolute(self, x: Any) -> Any:
        return np.abs(x)

    def maximum(self, a: Any, b: Any) -> Any:
        return np.maximum(a, b)

    def minimum(self, a: Any, b: Any) -> Any:
        return np.minimum(a, b)

    def where(self, condition: Any, a: Any, b: Any) -> Any:
        return np.where(condition, a, b)

    def floor(self, x: Any) -> Any:
        return np.floor(x)  # `x // 1.0` makes infinities what is no number

    def erf(self, x: Any) -> Any:
        from scipy.special import erf

        return erf(x)

    def once(self, x: Any) -> Any:
        return x


class TypedNumber:
    """A value of one element type, with Python's operators, which compute in that type."""

    __slots__ = ("expr",)

    def __init__(self, expr: Expr) -> None:
        self.expr = expr

    def _other(self, other: Any) -> Expr:
        if isinstance(other, TypedNumber):
            return other.expr
        return convert(Const(self.expr.type, self.expr.at, other), self.expr.type)

    def _binary(self, op: str, other: Any, swapped: bool = False) -> TypedNumber:
        left, right = self.expr, self._other(other)
        if swapped:
            left, right = right, left
        return TypedNumber(Binary(self.expr.type, self.expr.at, op, left, right))

    def __add__(self, other: Any) -> TypedNumber:
        return self._binary("+", other)

    def __radd__(self, other: Any) -> TypedNumber:
        return self._binary("+", other, swapped=True)

    def __sub__(self, other: Any) -> TypedNumber:
        return self._binary("-", other)

    def __rsub__(self, other: Any) -> TypedNumber:
        return self._binary("-", other, swapped=True)

    def __mul__(self, other: Any) -> TypedNumber:
        return self._binary("*", other)

    def __rmul__(self, other: Any) -> TypedNumber:
        return self._binary("*", other, swapped=True)

    def __truediv__(self, other: Any) -> TypedNumber:
        return self._binary("/", other)

    def __rtruediv__(self, other: Any) -> TypedNumber:
        return self._binary("/", other, swapped=True)

    def __floordiv__(self, other: Any) -> TypedNumber:
        return self._binary("//", other)

    def __mod__(self, other: Any) -> TypedNumber:
        return self._binary("%", other)

    def __neg__(self) -> TypedNumber:
        zero = -0.0 if isinstance(self.expr.type, Float) else 0
        return self._binary("-", zero, swapped=True)

    def compare(self, op: str, other: Any) -> TypedNumber:
        """A truth value."""
        return TypedNumber(Compare(bool_type, self.expr.at, op, self.expr, self._other(other)))

    def __lt__(self, other: Any) -> TypedNumber:
        return self.compare("<", other)

    def __le__(self, other: Any) -> TypedNumber:
        return self.compare("<=", other)

    def __gt__(self, other: Any) -> TypedNumber:
        return self.compare(">", other)

    def __ge__(self, other: Any) -> TypedNumber:
        return self.compare(">=", other)

    def __eq__(self, other: object) -> TypedNumber:  # type: ignore[override]
        return self.compare("==", other)

    def __ne__(self, other: object) -> TypedNumber:  # type: ignore[override]
        return self.compare("!=", other)

    def __and__(self, other: TypedNumber) -> TypedNumber:
        return TypedNumber(Logic(bool_type, self.expr.at, "and", self.expr, other.expr))

    def __or__(self, other: TypedNumber) -> TypedNumber:
        return TypedNumber(Logic(bool_type, self.expr.at, "or", self.expr, other.expr))

    def __invert__(self) -> TypedNumber:
        return TypedNumber(Not(bool_type, self.expr.at, self.expr))

    __hash__ = None  # type: ignore[assignment]


def once(operand: Expr) -> Expr:
    """An operand that formulas may use several times."""
    return operand if isinstance(operand, Var | Const | Shared) else Shared(operand.type, operand.at, operand)


class TypedNumbers:
    """Formulas on typed values."""

    def __init__(self, kind: AlloType, at: Position) -> None:
        self.kind = kind
        self.at = at

    def function(self, name: str, *values: Any) -> TypedNumber:
        return TypedNumber(MathCall(self.kind, self.at, f"math.{name}", tuple(map(self._expr, values))))

    def once(self, x: TypedNumber) -> TypedNumber:
        """A value that is computed once, however often a formula has it."""
        return TypedNumber(once(x.expr))

    def _expr(self, value: Any) -> Expr:
        return value.expr if isinstance(value, TypedNumber) else convert(Const(self.kind, self.at, value), self.kind)

    def absolute(self, x: TypedNumber) -> TypedNumber:
        if isinstance(self.kind, UInt):
            return x
        return self.function("absf" if isinstance(self.kind, Float) else "absi", x)

    def maximum(self, a: TypedNumber, b: Any) -> TypedNumber:
        return self._chosen("max", a, b)

    def minimum(self, a: TypedNumber, b: Any) -> TypedNumber:
        return self._chosen("min", a, b)

    def _chosen(self, op: str, a: TypedNumber, b: Any) -> TypedNumber:
        """As Python does, `a` unless `b` is better: what is not a number stays so if it is `a`, or `b` is asked."""
        better = a._binary(op, b)
        if not isinstance(b, TypedNumber) or isinstance(b.expr, Const) or not isinstance(b.expr.type, Float):
            return better
        return self.where(b != b, b, better)

    def where(self, condition: TypedNumber, a: Any, b: Any) -> TypedNumber:
        kind = a.expr.type if isinstance(a, TypedNumber) else self.kind
        return TypedNumber(Select(kind, self.at, condition.expr, self._expr(a), self._expr(b)))

    def floor(self, x: TypedNumber) -> TypedNumber:
        return x // 1.0

    def erf(self, x: TypedNumber) -> TypedNumber:
        """The error function, off by at most 1.5e-7 (Abramowitz and Stegun, formula 7.1.26)."""
        size = self.absolute(x)
        t = 1.0 / (1.0 + 0.3275911 * size)
        sum_ = t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))
        rest = t * (0.254829592 + t * (-0.284496736 + sum_)) * self.function("exp", -(size * size))
        return self.where(x < 0.0, rest - 1.0, 1.0 - rest)


def _gelu(m: Numbers, x: Any, approximate: str = "none") -> Any:
    if approximate == "tanh":
        return 0.5 * x * (1.0 + m.function("tanh", math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))
    return 0.5 * x * (1.0 + m.erf(x * math.sqrt(0.5)))


def _clamp(m: Numbers, x: Any, low: float | None = None, high: float | None = None) -> Any:
    x = x if low is None else m.maximum(x, low)
    return x if high is None else m.minimum(x, high)


def _elu(m: Numbers, x: Any, alpha: float) -> Any:
    return m.where(x > 0.0, x, (m.function("exp", m.minimum(x, 0.0)) - 1.0) * alpha)


def _softplus(m: Numbers, x: Any) -> Any:
    """`log(1 + exp(x))`, without powers that are too large."""
    return m.maximum(x, 0.0) + m.function("log", 1.0 + m.function("exp", -m.absolute(x)))


def _pow(m: Numbers, x: Any, exponent: Any) -> Any:
    return m.function("powf", x, exponent)


def _sigmoid(m: Numbers, x: Any) -> Any:
    return 1.0 / (1.0 + m.function("exp", -x))


def _log1p(m: Numbers, x: Any) -> Any:
    """`log(1 + x)`, also of small numbers: what rounding does to `1 + x` is the same in both factors (Kahan)."""
    above = m.once(1.0 + x)
    less = m.once(above - 1.0)
    return m.where(less == 0.0, x, m.function("log", above) * m.where(less == x, 1.0, x / less))


def _expm1(m: Numbers, x: Any) -> Any:
    """`exp(x) - 1`, also of small numbers, as `_log1p`."""
    power = m.once(m.function("exp", x))
    less = m.once(power - 1.0)
    near = less * (x / m.function("log", power))
    return m.where(less == 0.0, x, m.where(m.absolute(x) > 1.0, less, near))


def _sinh(m: Numbers, x: Any) -> Any:
    less = m.once(_expm1(m, x))
    power = less + 1.0
    far = m.function("exp", x) - m.function("exp", -x)
    return 0.5 * m.where(m.absolute(x) > 1.0, far, less + less / power)


def _ceil(m: Numbers, x: Any) -> Any:
    return -m.floor(-x)


def _trunc(m: Numbers, x: Any) -> Any:
    return m.where(x < 0.0, _ceil(m, x), m.floor(x))


def _round(m: Numbers, x: Any) -> Any:
    """To the nearest whole number, halves to the even one."""
    below = m.once(m.floor(x))
    over = m.once(x - below)
    even = 2.0 * m.floor(0.5 * (below + 1.0))
    return m.where(over == 0.5, even, m.where(over > 0.5, below + 1.0, below))


def _fmod(m: Numbers, a: Any, b: Any) -> Any:
    """The rest of a division that rounds to 0, with the sign of `a`."""
    return m.absolute(a) % m.absolute(b) * m.where(a < 0, -1, 1)


def _trunc_div(m: Numbers, a: Any, b: Any) -> Any:
    """The quotient of integers, rounded to 0."""
    return m.absolute(a) // m.absolute(b) * m.where((a < 0) == (b < 0), 1, -1)


def _floor_quotient(m: Numbers, a: Any, b: Any) -> Any:
    """How often `b` goes into `a`, as Python and PyTorch count: without what rounding does to `a / b`."""
    times = (a - a % b) / b
    return m.where(b == 0.0, a / b, m.floor(times + 0.5))


def _plain(name: str) -> Formula:
    return lambda m, x: m.function(name, x)


type Formula = Callable[..., Any]
FORMULAS: Mapping[str, Formula] = {
    "add": lambda m, a, b, alpha=1: a + b if alpha == 1 else a + b * alpha,
    "sub": lambda m, a, b, alpha=1: a - b if alpha == 1 else a - b * alpha,
    "mul": lambda m, a, b: a * b,
    "div": lambda m, a, b: a / b,
    "neg": lambda m, x: -x,
    "abs": lambda m, x: m.absolute(x),
    "square": lambda m, x: x * x,
    "reciprocal": lambda m, x: 1.0 / x,
    "rsqrt": lambda m, x: 1.0 / m.function("sqrt", x),
    **{name: _plain(name) for name in ("exp", "log", "sqrt", "sin", "cos", "tan", "tanh")},
    "erf": lambda m, x: m.erf(x),
    "exp2": lambda m, x: m.function("powf", 2.0, x),
    "log2": lambda m, x: m.function("log", x) * (1 / math.log(2)),
    "log10": lambda m, x: m.function("log", x) * (1 / math.log(10)),
    "log1p": _log1p,
    "expm1": _expm1,
    "sinh": _sinh,
    "cosh": lambda m, x: 0.5 * (m.function("exp", x) + m.function("exp", -x)),
    "hypot": lambda m, a, b: m.function("sqrt", a * a + b * b),
    "floor": lambda m, x: m.floor(x),
    "ceil": _ceil,
    "trunc": _trunc,
    "round": _round,
    "sign": lambda m, x: m.where(x > 0, 1, m.where(x < 0, -1, 0)),
    "fmod": _fmod,
    "remainder": lambda m, a, b: a % b,
    "floor_div": lambda m, a, b: a // b,
    "trunc_div": _trunc_div,
    "floor_quotient": _floor_quotient,
    "pow": _pow,
    "relu": lambda m, x: m.maximum(x, 0),
    "clamp": _clamp,
    "sigmoid": _sigmoid,
    "silu": lambda m, x: x / (1.0 + m.function("exp", -x)),
    "gelu": _gelu,
    "hardsigmoid": lambda m, x: _clamp(m, x + 3.0, 0.0, 6.0) / 6.0,
    "hardswish": lambda m, x: x * _clamp(m, x + 3.0, 0.0, 6.0) / 6.0,
    "leaky_relu": lambda m, x, slope: m.where(x > 0.0, x, x * slope),
    "elu": _elu,
    "celu": lambda m, x, alpha: _elu(m, x / alpha, 1.0) * alpha,
    "selu": lambda m, x, alpha, gamma: _elu(m, x, alpha) * gamma,
    "softplus": _softplus,
    "softsign": lambda m, x: x / (1.0 + m.absolute(x)),
    "mish": lambda m, x: x * m.function("tanh", _softplus(m, x)),
    "prelu": lambda m, x, slope: m.where(x < 0.0, x * slope, x),
    "above": lambda m, x, least: m.where(x > least, x, x * 0.0),
    "maximum": lambda m, a, b: m.maximum(a, b),
    "minimum": lambda m, a, b: m.minimum(a, b),
    "where": lambda m, condition, a, b: m.where(condition, a, b),
    "convert": lambda m, x: x,
}  # fmt: skip
# Formulas on operands of their common type, whose result is a truth value.
COMPARISONS: Mapping[str, Formula] = {
    "eq": lambda m, a, b: a == b,
    "ne": lambda m, a, b: a != b,
    "lt": lambda m, a, b: a < b,
    "le": lambda m, a, b: a <= b,
    "gt": lambda m, a, b: a > b,
    "ge": lambda m, a, b: a >= b,
}
# Formulas on truth values.
LOGIC: Mapping[str, Formula] = {
    "logical_and": lambda m, a, b: a & b,
    "logical_or": lambda m, a, b: a | b,
    "logical_not": lambda m, a: ~a,
}
