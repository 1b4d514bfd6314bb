"""Arguments and results of interpreted kernels: NumPy arrays and numbers, in the forms that built modules take."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import CheckError, Location
from ...ir.arrays import form_dtype
from ...ir.forms import array_words, can_hold_results, dtype_text, fill_array, form_text
from ...ir.types import DYNAMIC, AlloType, Bool, Float, TensorType, shape_text
from ...ir.words import as_bit_pattern, ints_of_words, pack, unpack, words_of_ints
from ..typing.nodes import CheckedFunction, Symbol
from ..typing.writes import writes
from .expressions import Elements
from .values import UNREADY, bits_of, of_bits

Array = np.ndarray[Any, Any]


def elements_of(declared: AlloType | TensorType, array: Array, what: str) -> Elements:
    """An array with the elements of one of NumPy. Raises TypeError or ValueError for numbers that it does not hold."""
    element = declared.element if isinstance(declared, TensorType) else declared
    words = array_words(element, array, what)
    data = np.empty(array.shape, object)
    for place, bits in zip(np.ndindex(array.shape), ints_of_words(words), strict=True):
        data[place] = of_bits(element, bits)
    return Elements(data)


def bound(function: CheckedFunction, given: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
    """The arguments of a call in the order of the parameters; TypeError for a wrong name or number of them."""
    names = [parameter.name for parameter in function.params]
    found = dict(zip(names, given, strict=False))
    for name, value in named.items():
        if name not in names:
            raise TypeError(
                f"{function.name}() has no argument '{name}'; its arguments are {', '.join(names) or 'none'}"
            )
        if name in found:
            raise TypeError(f"{function.name}() got two values for argument '{name}'")
        found[name] = value
    if len(given) > len(names) or len(found) < len(names):
        raise TypeError(f"{function.name}() takes {len(names)} arguments, got {len(given) + len(named)}")
    return [found[name] for name in names]


def argument(function: CheckedFunction, parameter: Symbol, value: Any) -> Any:
    """What the kernel works on for an argument; TypeError or ValueError that names it."""
    what = f"argument '{parameter.name}'"
    if not isinstance(parameter.type, TensorType):
        assert parameter.type is not None
        return scalar(parameter.type, value, what)
    element, shape = parameter.type.element, parameter.type.shape
    if not isinstance(value, np.ndarray):
        got = f"{type(value).__name__} {reprlib.repr(value)}"
        raise TypeError(
            f"{what} must be a NumPy array of shape {shape_text(shape)} and {form_text(element)}, got {got}"
        )
    fits = len(value.shape) == len(shape)
    if not fits or any(w not in (e, DYNAMIC) for e, w in zip(value.shape, shape, strict=True)):
        raise ValueError(f"{what} must have shape {shape_text(shape)}, got {value.shape}")
    if writes(function, parameter):
        if not value.flags.writeable:
            raise ValueError(f"{what} is written by the kernel, but the array is read-only")
        if not can_hold_results(element, value.dtype):
            got = f"{dtype_text(value.dtype)} does not hold every {element!r}"
            raise TypeError(f"{what} is written by the kernel and must have {form_text(element)}; {got}")
    made = elements_of(parameter.type, value, what)
    made.visible = True
    return made


def scalar(declared: AlloType, value: Any, what: str) -> Any:
    """A number as the kernel has it. Raises TypeError or ValueError for one that the type does not hold."""
    if isinstance(declared, Float) and isinstance(value, np.ndarray | np.generic):
        value = value.item()
    if isinstance(declared, Bool) and isinstance(value, np.ndarray | np.generic):
        value = bool(value)
    return of_bits(declared, pack(declared, as_bit_pattern(declared, value, what), what))


def overlapping(function: CheckedFunction, given: Sequence[Any]) -> tuple[str, str] | None:
    """Two arguments that share memory of which one is written, if there are any."""
    arrays = [
        (p, value) for p, value in zip(function.params, given, strict=True) if isinstance(value, np.ndarray)
    ]
    for number, (first, array) in enumerate(arrays):
        for second, other in arrays[number + 1 :]:
            if (writes(function, first) or writes(function, second)) and np.may_share_memory(array, other):
                return first.name, second.name
    return None


def bring_back(declared: TensorType, elements: Elements, array: Array) -> None:
    """Set the elements of `array` to those that the kernel has left."""
    element = declared.element
    words = words_of_ints(
        [bits_of(element, value) for value in elements.data.flat], element.bits, array.shape
    )
    fill_array(element, words, array)


def result(declared: AlloType | TensorType, value: Any, at: Location | None = None) -> Any:
    """What a call gives for a result of the `return` at `at`: an array or a number, in the form in which built modules
    give it."""
    if not isinstance(declared, TensorType):
        return unpack(declared, bits_of(declared, value))
    array = np.empty(value.data.shape, form_dtype(declared.element))
    missing = next(
        (place for place in np.ndindex(value.data.shape) if type(value.data[place]) in UNREADY), None
    )
    if missing is not None:
        text = f"element [{', '.join(map(str, missing))}] of a result has no value"
        raise CheckError(text, at=at, hint="give the array one where it is declared")
    bring_back(declared, value, array)
    return array
