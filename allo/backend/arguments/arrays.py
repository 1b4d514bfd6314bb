"""NumPy arrays as arguments: passed where they lie, or as a copy that is brought back after the call."""

from __future__ import annotations

import ctypes
import reprlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.arrays import form_dtype
from ...ir.forms import array_words, can_hold_results, dtype_text, fill_array, form_text, has_numbers_of
from ...ir.types import DYNAMIC, AlloType, Int, TensorType, UInt, shape_text
from ...ir.words import direct_dtype, from_memory, is_plain, to_memory
from .numbers import integer_range
from .parameters import Array, Parameter

_ALIGNMENT = 16  # of integers of 128 bits and more


def tensor_argument(parameter: Parameter, value: Any) -> tuple[Array, Callable[[], None] | None]:
    """The array to pass, and what to do after the call to bring results back into the caller's array.

    Raises TypeError or ValueError that names the argument, what it got, and what it wants.
    """
    if parameter.takes(value):
        return value, None
    assert isinstance(parameter.type, TensorType)
    element, shape = parameter.type.element, parameter.type.shape
    if not isinstance(value, np.ndarray):
        raise TypeError(
            f"argument '{parameter.name}' must be a NumPy array of shape {shape_text(shape)} and {form_text(element)}, "
            f"got {type(value).__name__} {reprlib.repr(value)}"
        )
    if len(value.shape) != len(shape) or any(
        wanted not in (extent, DYNAMIC) for extent, wanted in zip(value.shape, shape, strict=True)
    ):
        raise ValueError(f"argument '{parameter.name}' must have shape {shape_text(shape)}, got {value.shape}")
    if parameter.written and not value.flags.writeable:
        raise ValueError(f"argument '{parameter.name}' is written by the kernel, but the array is read-only")
    if not is_plain(element):
        return _through_words(parameter, element, value)
    dtype = form_dtype(element)
    if value.dtype != dtype:
        if not has_numbers_of(dtype, value) or (parameter.written and not np.can_cast(dtype, value.dtype, "safe")):
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


def _through_words(
    parameter: Parameter, element: AlloType, value: Array
) -> tuple[Array, Callable[[], None] | None]:
    """Arrays of types that NumPy does not have: as they are if they lie so in memory, else a copy there and back."""
    what = f"argument '{parameter.name}'"
    direct = direct_dtype(element)
    if direct is not None and value.dtype == direct and _lies_well(value):
        return value, None
    words = array_words(element, value, what)
    if parameter.written and not can_hold_results(element, value.dtype):
        raise TypeError(
            f"{what} is written by the kernel and must have {form_text(element)}; {dtype_text(value.dtype)} "
            f"does not hold every {element!r}"
        )
    memory = to_memory(element, words)

    def bring_back() -> None:
        fill_array(element, from_memory(element, memory), value)

    return memory, bring_back if parameter.written else None


def _lies_well(value: Array) -> bool:
    return bool(value.flags.c_contiguous) and value.ctypes.data % _ALIGNMENT == 0


def run_time_extents(tensor: TensorType, value: Array) -> list[Array]:
    """The extents of `value` that its type leaves to run time, each in memory."""
    pairs = zip(value.shape, tensor.shape, strict=True)
    return [np.array([extent], np.int64) for extent, wanted in pairs if wanted == DYNAMIC]


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


def pointer_to(array: Array) -> ctypes.c_void_p:
    """The address of the first element."""
    return ctypes.c_void_p(array.ctypes.data)
