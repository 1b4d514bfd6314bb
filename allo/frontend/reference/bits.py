"""Bits of integers, read and replaced, also in words of which not all bits have a value yet."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...ir.types import AlloType, Int, UInt, wrap
from .values import PartOfWord, Value, bits_of, integer_type, of_bits


def bit_operation(op: str, operand: AlloType, result: AlloType) -> Callable[[Value, Sequence[int]], Value]:
    """`op` on a value of type `operand`, at positions; None if a bit that it takes has no value."""
    if op == "bitcast":
        return lambda value, positions: of_bits(result, bits_of(operand, value))
    if op == "reverse_bits":
        return lambda value, positions: of_bits(result, _reversed(bits_of(operand, value), operand.bits))
    whole = integer_type(result)
    assert whole is not None

    def taken(value: Value, positions: Sequence[int]) -> Value:
        low, high = _range(positions)
        if isinstance(value, PartOfWord):
            mask = ((1 << high - low) - 1) << low
            if value.known & mask != mask:
                return None
            value = value.bits
        return wrap(int(value) >> low & ((1 << high - low) - 1), whole)

    return taken


def _range(positions: Sequence[int]) -> tuple[int, int]:
    """The least bit, and the one behind the greatest."""
    return (positions[0], positions[0] + 1) if len(positions) == 1 else (positions[1], positions[0])


def _reversed(bits: int, width: int) -> int:
    return int(f"{bits:0{width}b}"[::-1], 2)


def with_bits(whole: Int | UInt, word: Value, positions: Sequence[int], value: int) -> Value:
    """`word` with other bits at `positions`; it may have no value yet."""
    low, high = _range(positions)
    mask, full = ((1 << high - low) - 1) << low, (1 << whole.width) - 1
    if word is None:
        word = PartOfWord(0, 0)
    known = word.known if isinstance(word, PartOfWord) else full
    bits = word.bits if isinstance(word, PartOfWord) else int(word) & full
    made, known = (bits & ~mask) | (value << low & mask), known | mask
    return wrap(made, whole) if known == full else PartOfWord(made, known)
