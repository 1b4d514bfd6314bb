"""Element types and the NumPy dtypes that correspond to them."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from .quantize import quantize
from .types import (
    MAX_BITS,
    AlloType,
    Bool,
    Fixed,
    Float,
    Index,
    Int,
    Struct,
    TensorType,
    UFixed,
    UInt,
    wrap,
)

_CONTAINERS = (8, 16, 32, 64)
_BFLOAT16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)


def get_np_struct_type(bits: int) -> np.dtype[Any]:
    """The dtype of integers of `bits` bits as bytes, the lowest first: fields `f0`, `f1`, ... of one byte each.

    It is how arrays of integers of more than 64 bits are given to a built module and come back from it. Raises
    TypeError unless `bits` is a positive integer.
    """
    if isinstance(bits, bool) or not isinstance(bits, int) or bits < 1:
        raise TypeError(f"get_np_struct_type takes a number of bits, got {bits!r}")
    return np.dtype([(f"f{position}", np.uint8) for position in range(-(-bits // 8))])


def numpy_dtype(element: AlloType) -> np.dtype[Any] | None:
    """The dtype that holds `element` in memory; None where NumPy has none (more than 64 bits, fixed point, structs)."""
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


@cache
def form_dtype(element: AlloType) -> np.dtype[Any]:
    """The dtype of results of type `element`, whether or not it lies so in memory."""
    match element:
        case Int() | UInt() if element.width > 64:
            return get_np_struct_type(element.width)
        case Fixed() | UFixed():  # a float has 53 digits; wider numbers are fractions
            return np.dtype(np.float64 if element.width <= 53 else np.object_)
        case Struct():
            return np.dtype([(name, form_dtype(field)) for name, field in element.fields])
    dtype = numpy_dtype(element)
    if dtype is None:
        raise TypeError(f"NumPy has no form of {element!r}")
    return dtype


def array_element_type(array: np.ndarray[Any, Any]) -> AlloType | None:
    """The element type of a NumPy array, or None if kernels have no such type."""
    return dtype_element(array.dtype)


def dtype_element(dtype: np.dtype[Any]) -> AlloType | None:
    """The element type of arrays of a dtype: structs for structured ones, wide integers for `get_np_struct_type`."""
    if dtype.names is not None and dtype.fields is not None:
        if dtype.itemsize > 8 and dtype == get_np_struct_type(dtype.itemsize * 8):
            return UInt(dtype.itemsize * 8) if dtype.itemsize <= MAX_BITS // 8 else None
        fields = [(name, dtype_element(dtype.fields[name][0])) for name in dtype.names]
        known = tuple((name, field) for name, field in fields if field is not None)
        return Struct(known) if len(known) == len(fields) and known else None
    if dtype == np.bool_:
        return Bool()
    if dtype == _BFLOAT16:
        return Float(16, brain=True)
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
            return wrap(math.floor(value) if isinstance(value, Fraction) else int(value), scalar)
        case Index():
            return int(value)
        case Fixed() | UFixed():
            exact = quantize(value.item() if isinstance(value, np.generic) else value, scalar)
            return float(exact) if scalar.width <= 53 else exact
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
