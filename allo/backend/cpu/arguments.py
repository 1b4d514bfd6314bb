"""Decides how NumPy arrays and numbers are passed to machine code, and what is wrong with those that cannot be."""

from __future__ import annotations

import ctypes
import reprlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import TargetError
from ...ir.arrays import numpy_dtype
from ...ir.types import AlloType, Bool, Float, Index, Int, TensorType, UInt

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument of a built module; `written` if the kernel may change it."""

    name: str
    type: AlloType | TensorType
    written: bool

    def __str__(self) -> str:
        return f"{self.name}: {self.type!r}"


def dtype_of(scalar: AlloType, name: str) -> np.dtype[Any]:
    """The dtype of an element; TargetError where NumPy has none."""
    dtype = numpy_dtype(scalar)
    if dtype is None:
        raise TargetError(
            f"{name} has elements of type {scalar!r}, which NumPy cannot hold", hint="use at most 64 bits"
        )
    return dtype


def tensor_argument(parameter: Parameter, value: Any) -> tuple[Array, Callable[[], None] | None]:
    """The array to pass, and what to do after the call to bring results back into the caller's array.

    Raises TypeError or ValueError that names the argument, what it got, and what it wants.
    """
    assert isinstance(parameter.type, TensorType)
    dtype = dtype_of(parameter.type.element, parameter.name)
    shape = parameter.type.shape
    if not isinstance(value, np.ndarray):
        raise TypeError(
            f"argument '{parameter.name}' must be a NumPy array of shape {shape} and dtype {dtype}, "
            f"got {type(value).__name__} {reprlib.repr(value)}"
        )
    if value.shape != shape:
        raise ValueError(f"argument '{parameter.name}' must have shape {shape}, got {value.shape}")
    if parameter.written and not value.flags.writeable:
        raise ValueError(f"argument '{parameter.name}' is written by the kernel, but the array is read-only")
    if value.dtype != dtype:
        if not _lossless(value, dtype) or (parameter.written and not np.can_cast(dtype, value.dtype, "safe")):
            raise TypeError(
                f"argument '{parameter.name}' must have dtype {dtype}, got {value.dtype}, "
                "which does not convert without loss"
            )
        return _converted(parameter, value, np.ascontiguousarray(value, dtype=dtype))
    if not value.flags.c_contiguous:
        raise ValueError(
            f"argument '{parameter.name}' must be C-contiguous, got strides {value.strides}; "
            "pass np.ascontiguousarray(...)"
        )
    return _in_range(parameter, value), None


def _lossless(value: Array, dtype: np.dtype[Any]) -> bool:
    if np.can_cast(value.dtype, dtype, "safe"):
        return True
    return (
        value.dtype.kind in "iu" and dtype.kind in "iu" and bool(np.array_equal(value.astype(dtype), value))
    )


def _converted(
    parameter: Parameter, value: Array, converted: Array
) -> tuple[Array, Callable[[], None] | None]:
    def bring_back() -> None:
        value[...] = converted

    return _in_range(parameter, converted), bring_back if parameter.written else None


def _in_range(parameter: Parameter, value: Array) -> Array:
    """`value`, if its numbers fit a width that is less than that of its dtype."""
    assert isinstance(parameter.type, TensorType)
    element = parameter.type.element
    if isinstance(element, Int | UInt) and element.width < value.dtype.itemsize * 8 and value.size:
        low, high = integer_range(element)
        if value.min() < low or value.max() > high:
            raise ValueError(
                f"argument '{parameter.name}' has elements from {value.min()} to {value.max()}, "
                f"but {element!r} holds {low} to {high}"
            )
    return value


def integer_range(scalar: Int | UInt) -> tuple[int, int]:
    """The least and the greatest value of an integer type."""
    if isinstance(scalar, UInt):
        return 0, (1 << scalar.width) - 1
    return -(1 << (scalar.width - 1)), (1 << (scalar.width - 1)) - 1


def scalar_argument(parameter: Parameter, value: Any) -> Array:
    """A one-element buffer that holds the scalar; TypeError or ValueError as for tensors."""
    scalar = parameter.type
    assert isinstance(scalar, AlloType)
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, np.generic):
        value = value.item()
    wanted = f"argument '{parameter.name}' must be {_article(scalar)}"
    match scalar:
        case Bool():
            accepted = isinstance(value, bool)
        case Float():
            accepted = isinstance(value, int | float) and not isinstance(value, bool)
        case _:
            accepted = isinstance(value, int)
    if not accepted:
        raise TypeError(f"{wanted}, got {type(value).__name__} {reprlib.repr(value)}")
    if isinstance(scalar, Int | UInt | Index):
        low, high = integer_range(Int(64) if isinstance(scalar, Index) else scalar)
        if not low <= value <= high:
            raise ValueError(f"{wanted} ({low} to {high}), got {value}")
    try:
        return np.array([value], dtype=dtype_of(scalar, parameter.name))
    except OverflowError:
        raise ValueError(f"{wanted}, got an integer of {value.bit_length()} bits") from None


def _article(scalar: AlloType) -> str:
    match scalar:
        case Bool():
            return "a bool"
        case Float():
            return f"a number for {scalar!r}"
        case _:
            return f"an integer for {scalar!r}"


def overlapping(parameters: Sequence[Parameter], arrays: Sequence[Array | None]) -> tuple[int, int] | None:
    """Two arguments that share memory of which one is written, if there are any."""
    for first, (parameter, array) in enumerate(zip(parameters, arrays, strict=True)):
        for second in range(first + 1, len(arrays)):
            other = arrays[second]
            if array is None or other is None or not (parameter.written or parameters[second].written):
                continue
            if np.may_share_memory(array, other):
                return first, second
    return None


def pointer_to(array: Array) -> ctypes.c_void_p:
    """The address of the first element."""
    return ctypes.c_void_p(array.ctypes.data)
