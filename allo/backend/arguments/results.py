"""Results of a kernel: memory that compiled code fills, and the values that its caller gets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ir.arrays import form_dtype
from ...ir.forms import fill_array
from ...ir.types import AlloType, Struct, TensorType
from ...ir.words import direct_dtype, from_memory, ints_of_words, is_plain, memory_array, pack, unpack
from .parameters import Array


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


def returned(values: Sequence[Any]) -> Any:
    """What Python gets for the results of a call: None, the one, or a tuple of all."""
    return None if not values else values[0] if len(values) == 1 else tuple(values)
