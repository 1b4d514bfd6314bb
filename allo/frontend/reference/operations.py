"""Operators and elementary functions on values, by the type that they are computed in."""

from __future__ import annotations

import ctypes
import ctypes.util
import math
import operator
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from ...ir.elementary.functions import FUNCTIONS
from ...ir.elementary.numbers import evaluate, evaluate_double
from ...ir.types import AlloType, Bool, Fixed, Float, Int, UFixed, UInt, wrap
from .values import Value, float_class, integer_type

Operation = Callable[[Value, Value], Value]

COMPARISONS: dict[str, Operation] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_EXACT: dict[str, Operation] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}


def binary_operation(op: str, scalar: AlloType, right: AlloType) -> Operation:
    """`op` in type `scalar`; the right operand is of type `right`, which is another one in shifts and fixed point.

    An integer divisor of 0 counts as 1, and a fixed-point one as the least positive number of its type.
    """
    if op in ("min", "max"):
        return _least if op == "min" else _greatest
    if isinstance(scalar, Float):
        return _float_operation(op, scalar)
    if isinstance(scalar, Fixed | UFixed):
        assert isinstance(right, Fixed | UFixed)
        return _EXACT[op] if op != "/" else _fixed_quotient(scalar.fracs, Fraction(1, 1 << right.fracs))
    whole = integer_type(scalar)
    assert whole is not None
    if op in ("<<", ">>"):
        return _shift(op, whole)
    compute = {"/": _truncated, "//": _floored, "%": _modulo, "rem": _remainder}.get(op) or _EXACT[op]
    if isinstance(scalar, Bool):
        return lambda a, b: bool(compute(int(a), int(b)) & 1)
    return lambda a, b: wrap(compute(a, b), whole)


def overflows(op: str, whole: Int | UInt, a: int, b: int) -> bool:
    """Whether the exact result of an integer operation is outside of its type."""
    return op in _EXACT and wrap(exact := _EXACT[op](a, b), whole) != exact


def _least(a: Value, b: Value) -> Value:
    return b if b < a else a


def _greatest(a: Value, b: Value) -> Value:
    return b if b > a else a


# -- integers and fixed point -------------------------------------------------------------------------------


def _truncated(a: int, b: int) -> int:
    quotient = abs(a) // abs(b or 1)
    return quotient if (a < 0) == (b < 0) else -quotient


def _floored(a: int, b: int) -> int:
    return a // (b or 1)


def _modulo(a: int, b: int) -> int:
    return a % (b or 1)


def _remainder(a: int, b: int) -> int:
    return a - _truncated(a, b) * (b or 1)


def _shift(op: str, whole: Int | UInt) -> Operation:
    """A shift by any amount: one that is negative or not less than the width shifts all bits out."""

    def shift(value: int, amount: int) -> int:
        if not 0 <= amount < whole.width:
            return -1 if op == ">>" and value < 0 else 0
        return wrap(value << amount, whole) if op == "<<" else value >> amount

    return shift


def _fixed_quotient(fracs: int, least: Fraction) -> Operation:
    """Rounded toward minus infinity, to `fracs` digits behind the point."""
    return lambda a, b: Fraction(math.floor(a / (b or least) * (1 << fracs)), 1 << fracs)


# -- floats -------------------------------------------------------------------------------------------------


def _float_operation(op: str, scalar: Float) -> Operation:
    """One operation, rounded once; a remainder is exact, and rounded when the divisor is added to it."""
    if op in _EXACT:
        return _EXACT[op]
    if op == "/":
        return operator.truediv
    made = float_class(scalar)
    if op == "//":
        return lambda a, b: made(np.floor(a / b))
    wide = np.float64 if scalar.width == 64 else np.float32

    def remainder(a: Value, b: Value) -> Value:
        return made(np.fmod(wide(a), wide(b)))

    def modulo(a: Value, b: Value) -> Value:
        rest = remainder(a, b)
        return rest + b if rest != 0 and (rest < 0) != (b < 0) else rest

    return remainder if op == "rem" else modulo


def elementary(name: str, scalar: AlloType) -> Callable[..., Value]:
    """A function of the `math` dialect, of 16 bits through float: one with bits of our own, or a root."""
    if name in ("math.absf", "math.absi"):
        whole = integer_type(scalar)
        return abs if whole is None else lambda value: wrap(abs(value), whole)
    assert isinstance(scalar, Float)
    made = float_class(scalar)
    name = name.removeprefix("math.")
    if name in FUNCTIONS:
        compute = evaluate_double if scalar.width == 64 else evaluate
        return lambda *operands: made(compute(name, *map(float, operands)))
    function = _of_library(name, scalar.width == 64)
    return lambda *operands: made(function(*map(float, operands)))


@cache
def _of_library(name: str, double: bool) -> Callable[..., Any]:
    """A function of the C library that this process uses."""
    library = ctypes.CDLL(ctypes.util.find_library("m"))
    function = getattr(library, name if double else f"{name}f")
    function.restype = ctypes.c_double if double else ctypes.c_float
    function.argtypes = [function.restype]
    return function  # type: ignore[no-any-return]
