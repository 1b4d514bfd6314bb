"""TypedArithmetic of kernels: as types say, or with zeros in the place of subnormal numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...ir.elementary.functions import FUNCTIONS
from ...ir.types import AlloType, Fixed, Float, UFixed
from .operations import Operation, binary_operation, elementary
from .values import Convert, Value, conversion, float_class

_LEAST = {(16, False): -14, (16, True): -126, (32, False): -126, (64, False): -1022}  # exponents of normal numbers
_SINGLE = Float(32)


@dataclass(frozen=True, slots=True)
class TypedArithmetic:
    """Operators, functions and conversions, by types; `flushes`: those of floats take and make no subnormal numbers."""

    flushes: bool

    def operation(self, op: str, scalar: AlloType, right: AlloType) -> Operation:
        """As `binary_operation`."""
        if self.flushes and isinstance(scalar, Float):
            return _flushing_operation(op, scalar)
        return binary_operation(op, scalar, right)

    def function(self, name: str, scalar: AlloType) -> Callable[..., Value]:
        """As `elementary`."""
        if self.flushes and isinstance(scalar, Float):
            return _flushing_function(name, scalar)
        return elementary(name, scalar)

    def conversion(self, source: AlloType, target: AlloType) -> Convert | None:
        """As `conversion`."""
        convert = conversion(source, target)
        return convert if convert is None or not self.flushes else _flushing_conversion(convert, source, target)


KEEPING, FLUSHING = TypedArithmetic(False), TypedArithmetic(True)


def _flushed(scalar: Float) -> Convert:
    """A zero of the same sign in the place of a subnormal number."""
    made, least = float_class(scalar), 2.0 ** _LEAST[scalar.width, scalar.brain]
    return lambda value: made(-0.0 if value < 0 else 0.0) if value != 0 and abs(float(value)) < least else value


def _flushing_operation(op: str, scalar: Float) -> Operation:
    """An operation on two floats; extremes choose one as it is, and a remainder is exact."""
    compute = binary_operation(op, scalar, scalar)
    if op in ("min", "max", "rem"):
        return compute
    flush, made = _flushed(scalar), float_class(scalar)
    if op == "//":
        return lambda a, b: made(np.floor(flush(flush(a) / flush(b))))
    if op != "%":
        return lambda a, b: flush(compute(flush(a), flush(b)))
    remainder = binary_operation("rem", scalar, scalar)

    def modulo(a: Value, b: Value) -> Value:
        rest = remainder(a, b)
        return flush(flush(rest) + flush(b)) if rest != 0 and (rest < 0) != (b < 0) else rest

    return modulo


def _flushing_function(name: str, scalar: Float) -> Callable[..., Value]:
    """A function of the `math` dialect; magnitudes stay as they are."""
    flush, made, short = _flushed(scalar), float_class(scalar), name.removeprefix("math.")
    if short in FUNCTIONS and scalar.width < 32:  # through float
        single, between = elementary(name, _SINGLE), _flushed(_SINGLE)
        return lambda *operands: flush(made(between(single(*map(flush, operands)))))
    compute = elementary(name, scalar)
    if short not in (*FUNCTIONS, "sqrt"):
        return compute
    return lambda *operands: flush(compute(*map(flush, operands)))


def _flushing_conversion(convert: Convert, source: AlloType, target: AlloType) -> Convert:
    """A conversion from floats to floats, or of numbers with a binary point to floats."""
    if not isinstance(target, Float) or not isinstance(source, Float | Fixed | UFixed):
        return convert
    flush = _flushed(target)
    if not isinstance(source, Float):
        return lambda value: flush(convert(value))
    before = _flushed(source)
    return lambda value: flush(convert(before(value)))
