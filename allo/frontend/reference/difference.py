"""A difference between plain Python and what a kernel means: where, which values, and why."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ...errors import Location
from ...ir.types import AlloType, Fixed, Float, Int, Struct, TensorType, UFixed
from ...ir.words import pack
from ..typing.nodes import Cast, Expr, Stmt, Symbol
from .values import UNREADY, Value, conversion, of_bits


@dataclass(frozen=True, slots=True)
class PythonDifference:
    """Where plain Python first does something else than the kernel means.

    `name` is a variable, or an element as the kernel writes it; `python` and `kernel` are its values.
    """

    at: Location | None
    name: str
    python: Any
    kernel: Any
    why: str

    def __str__(self) -> str:
        head = f"{self.name} is {self.python} in plain Python, and {self.kernel} in the kernel"
        lines = [f"{self.at}: {head}" if self.at else head]
        if self.at is not None and (excerpt := self.at.excerpt()):
            lines.append(excerpt)
        return "\n".join([*lines, f"  why: {self.why}"])

    __repr__ = __str__


@dataclass(frozen=True, slots=True)
class ConversionReason:
    """The types that an assignment to `symbol` computes in and converts to."""

    symbol: Symbol
    statement: Stmt

    @property
    def element(self) -> AlloType:
        kind = self.symbol.type
        assert kind is not None
        return kind.element if isinstance(kind, TensorType) else kind

    @property
    def is_scalar(self) -> bool:
        return not isinstance(self.symbol.type, TensorType)

    def text(self, python: Any, kernel: Value) -> str:
        """Why Python has another value."""
        declared = self.element
        if _converted(python, declared, kernel):
            return f"plain Python does not convert to {declared!r}, the type of '{self.symbol.name}'"
        value = getattr(self.statement, "value", getattr(self.statement, "init", None))
        while isinstance(value, Cast):
            value = value.operand
        computed = repr(value.type) if isinstance(value, Expr) else repr(declared)
        if isinstance(declared, Float) or (isinstance(value, Expr) and isinstance(value.type, Float)):
            return f"the kernel rounds each operation to its type, the last one to {computed}, and Python elsewhere"
        kind = (
            f"NumPy in {python.dtype}, where it wraps"
            if isinstance(python, np.generic)
            else "Python elsewhere"
        )
        return (
            f"the kernel computes each operation in a type for its result, the last one in {computed}; {kind}"
        )


def _converted(python: Any, declared: AlloType, kernel: Value) -> bool:
    """Whether the kernel's value is that of Python, converted to the declared type."""
    try:
        number = python.item() if isinstance(python, np.generic) else python
        source: AlloType = Float(64) if isinstance(number, float) else _wide(int(number))
        convert = conversion(source, declared)
        exact = np.float64(number) if isinstance(number, float) else int(number)
        with np.errstate(all="ignore"):
            return same(declared, exact if convert is None else convert(exact), kernel)
    except (TypeError, ValueError, OverflowError, AssertionError):
        return False


def _wide(number: int) -> AlloType:
    return Int(max(number.bit_length() + 1, 64))


def first_difference(element: AlloType, python: Any, kernel: Any) -> tuple[tuple[int, ...], Any, Any] | None:
    if not isinstance(kernel, np.ndarray):
        return None if same(element, python, kernel) else ((), python, kernel)
    theirs = np.broadcast_to(np.asarray(python), kernel.shape) if np.ndim(python) == 0 else np.asarray(python)
    if theirs.shape != kernel.shape:
        return (), f"an array of shape {theirs.shape}", f"an array of shape {kernel.shape}"
    for place in np.ndindex(kernel.shape):
        if type(kernel[place]) not in UNREADY and not same(element, theirs[place], kernel[place]):
            return place, theirs[place], kernel[place]
    return None


def same(element: AlloType, python: Any, kernel: Value) -> bool:
    """Whether Python has the value of the kernel: the same number, all NaN are one, zeros have their sign."""
    match element:
        case Struct():
            names = [name for name, _ in element.fields]
            fields = zip(names, element.fields, kernel, strict=True)
            return all(same(kind, python[name], value) for name, (_, kind), value in fields)
        case Float():
            a, b = float(python), float(kernel)
            return a == b and math.copysign(1, a) == math.copysign(1, b) if a == a else b != b
        case Fixed() | UFixed():
            number = python.item() if isinstance(python, np.generic) else python
            return math.isfinite(number) and Fraction(number) == kernel
    if isinstance(python, np.void):  # a wide integer as its bytes
        python = of_bits(element, pack(element, python, "an element"))
    return bool(python == kernel)


def shown(value: Value) -> Any:
    """A value of the kernel in messages."""
    return float(value) if isinstance(value, Fraction) else value
