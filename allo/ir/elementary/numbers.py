"""Elementary functions of numbers of Python."""

from __future__ import annotations

import struct

from .doubles import DOUBLES
from .functions import FUNCTIONS, Arithmetic
from .tables import WordTable


class _Numbers(Arithmetic):
    """Integers of Python."""

    def less(self, a: int, b: int) -> bool:
        return a < b

    def equal(self, a: int, b: int) -> bool:
        return a == b

    def select(self, condition: bool, a: int, b: int) -> int:
        return a if condition else b

    def look_up(self, table: WordTable, index: int) -> int:
        return table.words[index]

    def wide(self, number: int) -> int:
        return number

    def narrow(self, number: int) -> int:
        return number

    def quotient(self, a: int, b: int) -> int:
        return a // b

    def nearest(self, number: int) -> int:
        magnitude, sign = abs(number), int(number < 0) << 31
        excess = magnitude.bit_length() - 24
        if excess > 0:
            half, low = 1 << (excess - 1), magnitude & ((1 << excess) - 1)
            magnitude >>= excess
            magnitude += low > half or (low == half and magnitude & 1)
            magnitude <<= excess
        return sign | _bits(float(magnitude))  # exact

    def nearest_double(self, number: int) -> int:
        return _bits_of_double(float(number))


def evaluate(name: str, *values: float) -> float:
    """A function of `FUNCTIONS` of numbers that are single floats."""
    made: float = struct.unpack("<f", struct.pack("<I", FUNCTIONS[name](_Numbers(), *map(_bits, values))))[0]
    return made


def evaluate_double(name: str, *values: float) -> float:
    """A function of `DOUBLES` of numbers."""
    made: float = struct.unpack("<d", struct.pack("<q", DOUBLES[name](_Numbers(), *map(_bits_of_double, values))))[0]
    return made


def _bits(value: float) -> int:
    made: int = struct.unpack("<I", struct.pack("<f", value))[0]
    return made


def _bits_of_double(value: float) -> int:
    """With a sign."""
    made: int = struct.unpack("<q", struct.pack("<d", value))[0]
    return made
