"""The NumPy forms of integers of more than 64 bits, and conversions between them and Python integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .ir.arrays import get_np_struct_type
from .ir.forms import array_words, fill_array
from .ir.types import Int, UInt

__all__ = ["get_np_struct_type", "int_array_to_struct_array", "struct_array_to_int_array"]


def struct_array_to_int_array(array: np.ndarray[Any, Any], bits: int, signed: bool = True) -> np.ndarray[Any, Any]:
    """The integers of `bits` bits in `array`, of dtype `get_np_struct_type`, as an array of Python integers.

    Raises TypeError for an array of another dtype, ValueError if an element does not fit.
    """
    element = Int(bits) if signed else UInt(bits)
    result = np.empty(array.shape, object)
    fill_array(element, array_words(element, array, "the array"), result)
    return result


def int_array_to_struct_array(values: Any, bits: int, signed: bool = True) -> np.ndarray[Any, Any]:
    """`values`, integers or an array of them, as an array of dtype `get_np_struct_type(bits)`.

    Raises TypeError if they are no integers, ValueError if one does not fit.
    """
    element = Int(bits) if signed else UInt(bits)
    given = np.array(values, object)
    result = np.empty(given.shape, get_np_struct_type(bits))
    fill_array(element, array_words(element, given, "the array"), result)
    return result
