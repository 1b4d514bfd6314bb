"""Decides how element types and NumPy dtypes correspond."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np

from .types import AlloType, Bool, Fixed, Float, Index, Int, TensorType, UFixed, UInt, bfloat16, wrap
from .types import bool as bool_type

_CONTAINERS = (8, 16, 32, 64)
_BFLOAT16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)


def numpy_dtype(element: AlloType) -> np.dtype[Any] | None:
    """The dtype that holds `element` in memory; None where NumPy has none (more than 64 bits)."""
    match element:
        case Bool():
            return np.dtype(np.bool_)
        case Index():
            return np.dtype(np.int64)
        case Float(brain=True):
            return _BFLOAT16
        case Float():
            return np.dtype(f"float{element.width}")
        case Int() | UInt():
            sign = "int" if isinstance(element, Int) else "uint"
            container = next((c for c in _CONTAINERS if element.width <= c), None)
            return None if container is None else np.dtype(f"{sign}{container}")
        case _:
            return None


def array_element_type(array: np.ndarray[Any, Any]) -> AlloType | None:
    """The element type of a NumPy array, or None if kernels have no such type."""
    dtype = array.dtype
    if dtype == np.bool_:
        return bool_type
    if dtype == _BFLOAT16:
        return bfloat16
    match dtype.kind:
        case "i":
            return Int(dtype.itemsize * 8)
        case "u":
            return UInt(dtype.itemsize * 8)
        case "f" if dtype.itemsize in (2, 4, 8):
            return Float(dtype.itemsize * 8)
        case _:
            return None


def python_value(scalar: AlloType, value: Any) -> Any:
    """`value` as a variable of type `scalar` holds it: wrapped, rounded, truncated."""
    match scalar:
        case Bool():
            return bool(value)
        case Int() | UInt():
            return wrap(int(value), scalar)
        case Index():
            return int(value)
        case Fixed() | UFixed():
            whole = (Int if isinstance(scalar, Fixed) else UInt)(scalar.width)
            return wrap(math.floor(Fraction(value) * 2**scalar.fracs), whole) / 2**scalar.fracs
        case _:
            dtype = numpy_dtype(scalar)
            if dtype is None:
                raise TypeError(f"values of type {scalar!r} have no form in Python")
            return dtype.type(value)


def python_array(tensor: TensorType, value: Any) -> np.ndarray[Any, Any]:
    """A new array of type `tensor` with `value`, a number or an array, in every element."""
    dtype = numpy_dtype(tensor.element)
    if dtype is None:
        raise TypeError(f"NumPy has no array of {tensor.element!r}")
    return np.array(np.broadcast_to(np.asarray(value), tensor.shape), dtype=dtype)
