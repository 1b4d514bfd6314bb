"""Elements of every type in memory: arrays of 64-bit words to and from the NumPy forms of a type.

`words` are arrays of uint64 with one more axis than the elements, the lowest word first; bits above the width of a
type are zero in them. Memory holds each element in the next 8, 16, 32, 64, 128, ... bits, sign-extended if signed.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from numbers import Rational
from pathlib import Path
from typing import Any

import numpy as np

from .arrays import form_dtype
from .quantize import mantissa
from .types import AlloType, Bool, Fixed, Float, Index, Int, Struct, UFixed, UInt, wrap

Array = np.ndarray[Any, Any]

_PACKAGE = str(Path(__file__).resolve().parents[1])  # warnings name the line that calls it
_WORD = np.dtype(np.uint64)
_ONES = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


def container_width(bits: int) -> int:
    """The bits that a number of so many bits takes in memory: 8, 16, 32, 64, 128, ..."""
    return max(8, 1 << (bits - 1).bit_length())


def container_bits(element: AlloType) -> int:
    """The bits that an element takes in memory."""
    return 64 if isinstance(element, Index) else container_width(element.bits)


def is_plain(element: AlloType) -> bool:
    """Whether NumPy has a dtype for `element` that lies in memory as kernels have it."""
    return isinstance(element, Bool | Index | Float) or (isinstance(element, Int | UInt) and element.width <= 64)


def is_signed(element: AlloType) -> bool:
    return isinstance(element, Int | Fixed | Index)


@cache
def direct_dtype(element: AlloType) -> np.dtype[Any] | None:
    """The dtype whose arrays are memory of kernels without any conversion, if there is one."""
    match element:
        case Int() | UInt() if not is_plain(element):
            return form_dtype(element) if element.width == container_bits(element) else None
        case Struct():
            if element.bits != container_bits(element):
                return None
            fields = [(name, direct_dtype(field), field.bits) for name, field in element.fields]
            if any(dtype is None or dtype.itemsize * 8 != bits for _, dtype, bits in fields):
                return None
            return form_dtype(element)
        case Fixed() | UFixed():
            return None
    return form_dtype(element)


def memory_array(element: AlloType, shape: tuple[int, ...]) -> Array:
    """New memory for elements: unsigned integers of up to 64 bits, or several words for each element."""
    bits = container_bits(element)
    if bits <= 64:
        return np.empty(shape, np.dtype(f"uint{bits}"))
    return np.empty((*shape, bits // 64), _WORD)


def to_memory(element: AlloType, words: Array) -> Array:
    """The words of elements as memory has them."""
    bits = container_bits(element)
    if is_signed(element):
        words = extended(words, element.bits, max(1, bits // 64))
    memory = memory_array(element, words.shape[:-1])
    if bits <= 64:
        memory[...] = words[..., 0].astype(memory.dtype)
    else:
        memory[..., words.shape[-1] :] = 0
        memory[..., : words.shape[-1]] = words
    return memory


def from_memory(element: AlloType, memory: Array) -> Array:
    """The words of elements in memory."""
    words = memory.astype(_WORD)[..., np.newaxis] if container_bits(element) <= 64 else memory
    return cut(words, element.bits)


# -- words ------------------------------------------------------------------------------------------


def word_count(bits: int) -> int:
    return -(-bits // 64)


def cut(words: Array, bits: int) -> Array:
    """The low `bits` bits."""
    result = words[..., : word_count(bits)].copy()
    if bits % 64:
        result[..., -1] &= _ONES >> np.uint64(64 - bits % 64)
    return result


def extended(words: Array, bits: int, count: int) -> Array:
    """`count` words in which the sign of a number of `bits` bits goes on to the left."""
    result = np.zeros((*words.shape[:-1], count), _WORD)
    result[..., : words.shape[-1]] = words
    sign = (words[..., (bits - 1) // 64] >> np.uint64((bits - 1) % 64)) & np.uint64(1)
    ones = np.where(sign.astype(np.bool_), _ONES, np.uint64(0))
    if bits % 64:
        result[..., bits // 64] |= ones << np.uint64(bits % 64)
    result[..., word_count(bits) :] = ones[..., np.newaxis]
    return result


def field_words(words: Array, offset: int, bits: int) -> Array:
    """The words of `bits` bits from bit `offset` on."""
    first, shift = divmod(offset, 64)
    count = word_count(bits)
    result = np.zeros((*words.shape[:-1], count), _WORD)
    low = words[..., first : first + count]
    result[..., : low.shape[-1]] = low >> np.uint64(shift)
    if shift:
        high = words[..., first + 1 : first + 1 + count]
        result[..., : high.shape[-1]] |= high << np.uint64(64 - shift)
    return cut(result, bits)


def put_field(words: Array, offset: int, field: Array) -> None:
    """Set the bits from bit `offset` on, which are zero, to those of `field`."""
    first, shift = divmod(offset, 64)
    words[..., first : first + field.shape[-1]] |= field << np.uint64(shift)
    if shift:
        room = words[..., first + 1 : first + 1 + field.shape[-1]]
        room |= (field >> np.uint64(64 - shift))[..., : room.shape[-1]]


def offsets(struct: Struct) -> Iterator[tuple[str, AlloType, int]]:
    """The fields with the position of their lowest bit."""
    position = 0
    for name, field in struct.fields:
        yield name, field, position
        position += field.bits


def shifted(numbers: Array, shift: Any, bits: int) -> Array:
    """The low `bits` bits of integers times 2**shift, rounded toward minus infinity."""
    signed = numbers.dtype.kind == "i"
    numbers = numbers.astype(np.int64 if signed else _WORD)
    result = np.zeros((*numbers.shape, word_count(bits)), _WORD)
    for k in range(result.shape[-1]):
        right = np.asarray(64 * k - np.asarray(shift, np.int64))
        down = numbers >> np.clip(right, 0, 63).astype(numbers.dtype)
        if not signed:
            down = np.where(right > 63, 0, down)
        up = numbers.view(_WORD) << np.clip(-right, 0, 63).astype(_WORD)
        result[..., k] = np.where(right >= 0, down.view(_WORD), np.where(right > -64, up, np.uint64(0)))
    return cut(result, bits)


def bytes_of(words: Array, count: int) -> Array:
    """The low `count` bytes, along a last axis."""
    little = np.ascontiguousarray(words).astype("<u8").view(np.uint8)
    return little[..., :count]


def words_of_bytes(data: Array) -> Array:
    """Words from bytes along the last axis, with zeros on the left."""
    padded = np.zeros((*data.shape[:-1], word_count(data.shape[-1] * 8) * 8), np.uint8)
    padded[..., : data.shape[-1]] = data
    return padded.view("<u8").astype(_WORD)


# -- one value ----------------------------------------------------------------------------------------


def pack(element: AlloType, value: Any, what: str) -> int:
    """The bits of a Python value; TypeError or ValueError that starts with `what` if it is none of `element`."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, np.generic) and not isinstance(value, np.void):
        value = value.item()
    match element:
        case Struct():
            return _pack_struct(element, value, what)
        case Fixed() | UFixed():
            if isinstance(value, Rational) and not isinstance(value, int):
                value = Fraction(value)
            if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
                raise TypeError(f"{what} must be a number for {element!r}, got {type(value).__name__} {value!r}")
            if isinstance(value, float) and not math.isfinite(value):
                raise ValueError(f"{what} must be a finite number for {element!r}, got {value}")
            return mantissa(value, element) & ((1 << element.width) - 1)
        case Int() | UInt() | Index():
            return _pack_integer(element, value, what)
        case Bool():
            if not isinstance(value, bool):
                raise TypeError(f"{what} must be a bool, got {type(value).__name__} {value!r}")
            return int(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{what} must be a number for {element!r}, got {type(value).__name__} {value!r}")
    try:
        return int.from_bytes(np.array(value, form_dtype(element)).tobytes(), "little")
    except OverflowError:
        told = f"{what} must be a number for {element!r}, got an integer of {int(value).bit_length()} bits"
        raise ValueError(told) from None


def _pack_integer(element: Int | UInt | Index, value: Any, what: str) -> int:
    width = 64 if isinstance(element, Index) else element.width
    if isinstance(value, np.void):
        value = int.from_bytes(value.tobytes(), "little", signed=is_signed(element))
    if not isinstance(value, int):
        raise TypeError(f"{what} must be an integer for {element!r}, got {type(value).__name__} {value!r}")
    if wrap(value, Int(width) if is_signed(element) else UInt(width)) != value:
        raise ValueError(f"{what} must be an integer for {element!r} ({range_text(element)}), got {value}")
    return value & ((1 << width) - 1)


def as_bit_pattern(element: AlloType, value: Any, what: str) -> Any:
    """The number of a signed type whose bits an unsigned literal such as 0xABCD0123 writes; a warning tells of it."""
    if not isinstance(element, Int) or type(value) is not int:
        return value
    half = 1 << (element.width - 1)
    if not half <= value < 2 * half:
        return value
    number = wrap(value, element)
    told = f"{what}: {element!r} does not hold {value:#x}, whose bits are those of {number}"
    warnings.warn(told, skip_file_prefixes=(_PACKAGE,))
    return number


def range_text(element: Int | UInt | Index) -> str:
    """The range of an integer type, in words."""
    width = 64 if isinstance(element, Index) else element.width
    bits = width - 1 if is_signed(element) else width
    if width > 64:
        return f"{f'-2**{bits}' if is_signed(element) else 0} to 2**{bits} - 1"
    return f"{-(1 << bits) if is_signed(element) else 0} to {(1 << bits) - 1}"


def _pack_struct(element: Struct, value: Any, what: str) -> int:
    names = [name for name, _ in element.fields]
    fields = value if isinstance(value, dict) else getattr(getattr(value, "dtype", None), "names", None)
    given = list(fields or ())
    if sorted(map(str, given)) != sorted(names):
        got = f"the fields {', '.join(map(str, given))}" if given else f"{type(value).__name__} {value!r}"
        raise TypeError(f"{what} must be a dict or a structured value with the fields {', '.join(names)}, got {got}")
    packed = 0
    for name, field, offset in offsets(element):
        packed |= pack(field, value[name], f"field '{name}' of {what}") << offset
    return packed


def unpack(element: AlloType, bits: int) -> Any:
    """The Python value of bits: int, bool, float (Fraction where a float is not exact), np.void for structs."""
    match element:
        case Struct():
            record = np.zeros((), form_dtype(element))
            for name, field, offset in offsets(element):
                inner = (bits >> offset) & ((1 << field.bits) - 1)
                wide = isinstance(field, Int | UInt) and not is_plain(field)
                record[name] = _as_bytes(field, inner) if wide else unpack(field, inner)
            return record[()]
        case Fixed() | UFixed():
            number = Fraction(wrap(bits, Int(element.width) if is_signed(element) else UInt(element.width)))
            exact = number / 2**element.fracs
            return float(exact) if element.width <= 53 else exact
        case Int() | UInt():
            return wrap(bits, element)
        case Index():
            return wrap(bits, Int(64))
        case Bool():
            return bool(bits)
    return np.frombuffer(bits.to_bytes(element.bits // 8, "little"), form_dtype(element))[0].item()


def _as_bytes(element: AlloType, bits: int) -> Any:
    dtype = form_dtype(element)
    number = wrap(bits, element) if isinstance(element, Int) else bits
    return np.frombuffer(number.to_bytes(dtype.itemsize, "little", signed=isinstance(element, Int)), dtype)[0]


def words_of_ints(values: list[int], bits: int, shape: tuple[int, ...]) -> Array:
    """Words from Python integers that are not negative."""
    size = word_count(bits) * 8
    data = bytearray().join(value.to_bytes(size, "little") for value in values)
    return np.array(memoryview(data).cast("Q") if data else [], "<u8").astype(_WORD).reshape(*shape, size // 8)


def ints_of_words(words: Array) -> list[int]:
    """Python integers, not negative, in the order of the elements."""
    size = words.shape[-1] * 8
    data = np.ascontiguousarray(words).astype("<u8").tobytes()
    return [int.from_bytes(data[start : start + size], "little") for start in range(0, len(data), size)]
