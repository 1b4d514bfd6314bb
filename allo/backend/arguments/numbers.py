"""Numbers as arguments: the range of their type, and the memory that holds one during a call."""

from __future__ import annotations

import reprlib
from typing import Any

import numpy as np

from ...ir.arrays import form_dtype
from ...ir.types import AlloType, Bool, Float, Index, Int, UInt
from ...ir.words import as_bit_pattern, is_plain, pack, to_memory, words_of_ints
from .parameters import Array, Parameter


def integer_range(scalar: Int | UInt) -> tuple[int, int]:
    """The least and the greatest value of an integer type."""
    if isinstance(scalar, UInt):
        return 0, (1 << scalar.width) - 1
    return -(1 << (scalar.width - 1)), (1 << (scalar.width - 1)) - 1


def scalar_argument(parameter: Parameter, value: Any) -> Array:
    """A buffer that holds the scalar; TypeError or ValueError as for tensors."""
    scalar = parameter.type
    assert isinstance(scalar, AlloType)
    value = as_bit_pattern(scalar, value, f"argument '{parameter.name}'")
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
