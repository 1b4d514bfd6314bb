"""Decides how NumPy arrays and numbers are passed to machine code, and what is wrong with those that cannot be."""

from __future__ import annotations

import ctypes
import reprlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...ir.arrays import form_dtype
from ...ir.forms import array_words, can_hold_results, dtype_text, fill_array, form_text
from ...ir.types import DYNAMIC, AlloType, Bool, Float, Index, Int, Struct, TensorType, UInt, shape_text
from ...ir.words import (
    direct_dtype,
    from_memory,
    ints_of_words,
    is_plain,
    memory_array,
    pack,
    to_memory,
    unpack,
    words_of_ints,
)

Array = np.ndarray[Any, Any]
_ALIGNMENT = 16  # of integers of 128 bits and more


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument of a built module; `written` if the kernel may change it."""

    name: str
    type: AlloType | TensorType
    written: bool
    form: tuple[np.dtype[Any], tuple[int, ...]] | None = field(init=False)
    """The dtype and shape of arrays that need no look at their elements, if the type has such ones."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "form", _form(self.type))

    def takes(self, value: Any) -> bool:
        """Whether `value` is an array that is passed as it is, for certain; asked at each call."""
        return (
            type(value) is np.ndarray
            and (value.dtype, value.shape) == self.form
            and value.flags.c_contiguous
            and (not self.written or value.flags.writeable)
        )

    def __str__(self) -> str:
        return f"{self.name}: {self.type!r}"


def _form(type: AlloType | TensorType) -> tuple[np.dtype[Any], tuple[int, ...]] | None:
    if not isinstance(type, TensorType) or not type.is_static or not is_plain(type.element):
        return None
    dtype = form_dtype(type.element)
    is_narrow = isinstance(type.element, Int | UInt) and type.element.width < dtype.itemsize * 8
    return None if is_narrow else (dtype, type.shape)


def bound_arguments(
    function: str, parameters: Sequence[Parameter], given: tuple[Any, ...], named: Mapping[str, Any]
) -> tuple[Any, ...]:
    """All arguments of a call in the order of the parameters; TypeError for a name that is wrong or given twice."""
    if not named:
        return given
    names = [parameter.name for parameter in parameters]
    for name in named:
        if name not in names:
            raise TypeError(f"{function}() has no argument '{name}'; its arguments are {', '.join(names) or 'none'}")
        if name in names[: len(given)]:
            raise TypeError(f"{function}() got two values for argument '{name}'")
    missing = [name for name in names[len(given) :] if name not in named]
    if missing:
        raise TypeError(f"{function}() is not given {', '.join(repr(name) for name in missing)}")
    return (*given, *(named[name] for name in names[len(given) :] if name in named))


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


def result_memory(result: AlloType | TensorType) -> Array:
    """New memory for a result of a kernel."""
    element, shape = (result.element, result.shape) if isinstance(result, TensorType) else (result, ())
    if is_plain(element):
        return np.empty(shape, form_dtype(element))
    direct = direct_dtype(element)
    return memory_array(element, shape) if direct is None else np.empty(shape, direct)


def result_value(result: AlloType | TensorType, memory: Array) -> Any:
    """What a built module returns for a result in memory."""
    element = result.element if isinstance(result, TensorType) else result
    if is_plain(element):
        return memory if isinstance(result, TensorType) else memory.item()
    if direct_dtype(element) is not None:
        if isinstance(result, TensorType):
            return memory
        return memory[()] if isinstance(element, Struct) else unpack(element, pack(element, memory, "the result"))
    words = from_memory(element, memory)
    if not isinstance(result, TensorType):
        return unpack(element, ints_of_words(words)[0])
    array = np.empty(result.shape, form_dtype(element))
    fill_array(element, words, array)
    return array


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
    """A buffer that holds the scalar; TypeError or ValueError as for tensors."""
    scalar = parameter.type
    assert isinstance(scalar, AlloType)
    if not is_plain(scalar):
        bits = pack(scalar, value, f"argument '{parameter.name}'")
        return to_memory(scalar, words_of_ints([bits], scalar.bits, ()))
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
        return np.array([value], dtype=form_dtype(scalar))
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
