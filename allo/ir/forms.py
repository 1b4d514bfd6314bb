"""NumPy representations of arrays by element type, and the errors for arrays of another one."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from .arrays import form_dtype
from .quantize import greatest_mantissa, least_mantissa
from .types import AlloType, Bool, Fixed, Float, Index, Int, Struct, UFixed, UInt
from .words import (
    Array,
    bytes_of,
    extended,
    field_words,
    ints_of_words,
    is_plain,
    is_signed,
    offsets,
    pack,
    put_field,
    range_text,
    shifted,
    unpack,
    word_count,
    words_of_bytes,
    words_of_ints,
)


def form_text(element: AlloType) -> str:
    """The NumPy forms of a type, for messages."""
    match element:
        case Struct():
            return f"structured dtype with the fields {', '.join(name for name, _ in element.fields)}"
        case Fixed() | UFixed():
            return f"float dtype, or objects that are numbers, for {element!r}"
        case Int() | UInt() if not is_plain(element):
            return f"dtype allo.utils.get_np_struct_type({element.width}), or objects that are Python integers"
    return f"dtype {form_dtype(element)}"


def array_words(element: AlloType, array: Array, what: str) -> Array:
    """The words of the elements of `array`.

    Raises TypeError or ValueError that starts with `what` if it is no form of `element`, or if a value does not fit.
    """
    match element:
        case Struct():
            return _struct_words(element, array, what)
        case _ if array.dtype.kind == "O":
            what = f"an element of {what}"
            return words_of_ints([pack(element, v, what) for v in array.flat], element.bits, array.shape)
        case Fixed() | UFixed():
            return _fixed_words(element, array, what)
        case Int() | UInt() | Index() | Bool():
            return _integer_words(element, array, what)
    dtype = form_dtype(element)
    if not has_numbers_of(dtype, array):
        raise _no_form(element, array, what)
    bits = np.ascontiguousarray(array, dtype).reshape(array.shape).view(np.dtype(f"uint{element.bits}"))
    return bits.astype(np.uint64)[..., np.newaxis]


def has_numbers_of(dtype: np.dtype[Any], array: Array) -> bool:
    """Whether elements of `dtype` hold all numbers in `array`: 0.5 of float64 is one of float32, and 0.1 is none."""
    if np.can_cast(array.dtype, dtype, "safe"):
        return True
    if (array.dtype.kind, dtype.kind) != ("f", "f") and not (array.dtype.kind in "iu" and dtype.kind in "iu"):
        return False
    with np.errstate(over="ignore"):
        return bool(np.array_equal(array.astype(dtype), array))


def _no_form(element: AlloType, array: Array, what: str) -> TypeError:
    got = dtype_text(array.dtype)
    return TypeError(f"{what} must have {form_text(element)}, got {got}, which does not convert without loss")


def dtype_text(dtype: np.dtype[Any]) -> str:
    """A dtype in messages: not every byte of a wide integer."""
    if is_bytes(dtype):
        return f"{dtype.itemsize} bytes (get_np_struct_type)"
    if dtype.names is not None:
        return f"a structured dtype with the fields {', '.join(dtype.names)}"
    return str(dtype)


def is_bytes(dtype: np.dtype[Any]) -> bool:
    """Whether elements are plain bytes: `get_np_struct_type`, or void."""
    if dtype.kind != "V" or dtype.subdtype is not None:
        return False
    fields = dtype.fields
    if fields is None:
        return True
    places = [(field[0], field[1]) for field in fields.values()]
    return dtype.itemsize == len(places) and places == [(np.dtype(np.uint8), k) for k in range(len(places))]


def _struct_words(element: Struct, array: Array, what: str) -> Array:
    if array.dtype.kind == "O":
        return words_of_ints(
            [pack(element, v, f"an element of {what}") for v in array.flat], element.bits, array.shape
        )
    if array.dtype.names is None or set(array.dtype.names) != {name for name, _ in element.fields}:
        raise TypeError(f"{what} must have a {form_text(element)}, got {dtype_text(array.dtype)}")
    words = np.zeros((*array.shape, word_count(element.bits)), np.uint64)
    for name, field, offset in offsets(element):
        put_field(words, offset, array_words(field, array[name], f"field '{name}' of {what}"))
    return words


def _fixed_words(element: Fixed | UFixed, array: Array, what: str) -> Array:
    """As an assignment in a kernel converts."""
    by_default = element.rounding == "trn" and element.overflow == "wrap"
    if array.dtype.kind in "iu" and by_default:
        return shifted(array, element.fracs, element.width)
    if array.dtype.kind in "iu":
        return array_words(element, array.astype(object), what)
    dtype = np.dtype(np.float64)
    if array.dtype.kind not in "fV" or not np.can_cast(array.dtype, dtype, "safe"):
        raise _no_form(element, array, what)
    numbers = array.astype(dtype)
    if not np.isfinite(numbers).all():
        raise ValueError(f"{what} must have finite numbers for {element!r}, got {numbers[~np.isfinite(numbers)][0]}")
    return _scaled(numbers, element) if by_default else _rounded(numbers, element, what)


def _scaled(numbers: Array, element: Fixed | UFixed) -> Array:
    """Digits on the right drop toward minus infinity, those on the left wrap."""
    fraction, exponent = np.frexp(numbers)
    whole = (fraction * float(1 << 53)).astype(np.int64)
    return shifted(whole, exponent.astype(np.int64) - 53 + element.fracs, element.width)


def _rounded(numbers: Array, element: Fixed | UFixed, what: str) -> Array:
    """As `quantize.mantissa`, on whole arrays."""
    with np.errstate(over="ignore"):
        exact = np.ldexp(numbers, element.fracs)
    if not np.isfinite(exact).all() or element.width > 1000:  # beyond what floats hold
        return array_words(element, numbers.astype(object), what)
    below = np.floor(exact)
    tie = (exact == below + 0.5) & (exact != below)
    up = (exact > below + 0.5) | (tie & _ties_up(exact, below, element.rounding))
    if element.rounding.startswith("trn"):
        up = (exact != below) & (exact < 0) & (element.rounding == "trn_zero")
    rounded = below + up
    words = _scaled(np.ldexp(rounded, -element.fracs), element)
    if element.overflow == "wrap":
        return words
    least, greatest = least_mantissa(element), greatest_mantissa(element)
    limits = words_of_ints([least & (2**element.width - 1), greatest], element.width, (2,))
    if element.overflow == "sat_zero":
        limits = np.zeros_like(limits)
    over = rounded >= float(greatest + 1)  # powers of two, which floats hold
    under = rounded <= float(least - 1) if least % 2 else rounded < float(least)
    words = np.where(over[..., np.newaxis], limits[1], words)
    low: Array = np.where(under[..., np.newaxis], limits[0], words)
    return low


def _ties_up(exact: Array, below: Array, rounding: str) -> Array:
    """Whether a number in the middle of two goes to the upper one."""
    result: Array
    match rounding:
        case "rnd_zero":
            result = exact < 0
        case "rnd_inf":
            result = exact > 0
        case "rnd_conv":
            result = np.mod(below, 2) == 1
        case _:
            result = np.full(exact.shape, rounding == "rnd")
    return result


def _integer_words(element: Int | UInt | Index | Bool, array: Array, what: str) -> Array:
    """Integers of NumPy, or bytes; none is outside of the range of `element`."""
    width = 64 if isinstance(element, Index) else element.bits
    if isinstance(element, Bool) or array.dtype.kind == "b":
        if array.dtype != np.bool_ or not isinstance(element, Bool | UInt):
            raise _no_form(element, array, what)
        return array.astype(np.uint64)[..., np.newaxis]
    if array.dtype.kind in "iu":
        signed, bits = array.dtype.kind == "i", 64
        given = array.astype(np.int64 if signed else np.uint64).view(np.uint64)[..., np.newaxis]
    elif is_bytes(array.dtype):
        signed, bits = is_signed(element), array.dtype.itemsize * 8
        data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        given = words_of_bytes(data.reshape(*array.shape, array.dtype.itemsize))
    else:
        raise _no_form(element, array, what)
    count = max(word_count(width), word_count(bits)) + 1
    wide = extended(given, bits, count) if signed else np.zeros((*array.shape, count), np.uint64)
    wide[..., : given.shape[-1]] |= given
    low = field_words(wide, 0, width)
    back = extended(low, width, count) if is_signed(element) else np.zeros_like(wide)
    back[..., : low.shape[-1]] |= low
    wrong = (back != wide).any(axis=-1)
    if wrong.any():
        first = ints_of_words(wide[wrong][:1])[0]
        value = first - (1 << 64 * count) if signed and first >> (64 * count - 1) else first
        raise ValueError(f"{what} has the element {value}, but {element!r} holds {range_text(element)}")
    return low


def exact_array(element: AlloType, value: Any, what: str) -> Array:
    """A new array in the form of results with `value`: a number or dict, nested lists of these, or an array.

    Raises TypeError or ValueError that starts with `what` for values that are none of `element`.
    """
    given = value if isinstance(value, np.ndarray | np.generic) else np.array(value, object)
    array = np.asarray(given)
    result = np.empty(array.shape, form_dtype(element))
    fill_array(element, array_words(element, array, what), result)
    return result


# -- back to NumPy --------------------------------------------------------------------------------------


def fill_array(element: AlloType, words: Array, out: Array) -> None:
    """Set `out`, in one of the forms of `element`, to what `words` say."""
    if isinstance(element, Struct) and out.dtype.kind != "O":
        for name, field, offset in offsets(element):
            fill_array(field, field_words(words, offset, field.bits), out[name])
    elif out.dtype.kind == "O":
        values = np.empty(out.size, object)
        for position, bits in enumerate(ints_of_words(words)):
            values[position] = unpack(element, bits)
        out[...] = values.reshape(out.shape)
    elif isinstance(element, Fixed | UFixed):
        out[...] = _floats(element, words, out.dtype)
    elif not is_bytes(out.dtype):
        out[...] = _plain(element, words)
    else:
        size = out.dtype.itemsize
        wide = extended(words, element.bits, word_count(size * 8)) if is_signed(element) else _padded(words, size)
        data = np.ascontiguousarray(bytes_of(wide, size))
        out[...] = data.reshape(-1).view(out.dtype).reshape(out.shape)


def _padded(words: Array, size: int) -> Array:
    result = np.zeros((*words.shape[:-1], word_count(size * 8)), np.uint64)
    result[..., : words.shape[-1]] = words
    return result


def _plain(element: AlloType, words: Array) -> Array:
    dtype = form_dtype(element)
    if isinstance(element, Bool):
        return words[..., 0].astype(np.bool_)
    if is_signed(element):
        words = extended(words, 64 if isinstance(element, Index) else element.bits, 1)
    return words[..., 0].astype(np.dtype(f"uint{dtype.itemsize * 8}")).view(dtype)


def _floats(element: Fixed | UFixed, words: Array, dtype: np.dtype[Any]) -> Array:
    """The nearest floats; exact if the float type has as many digits as the number."""
    if element.width > 64:
        exact = [_nearest(unpack(element, bits)) for bits in ints_of_words(words)]
        return np.array(exact, np.float64).reshape(words.shape[:-1]).astype(dtype)
    whole = extended(words, element.width, 1)[..., 0].view(np.int64) if is_signed(element) else words[..., 0]
    target = dtype if dtype.itemsize >= 4 and dtype.kind == "f" else np.dtype(np.float64)
    scaled: Array = np.ldexp(whole.astype(target), -element.fracs)
    return scaled.astype(dtype)


def _nearest(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:  # as conversions of NumPy do
        return math.inf if number > 0 else -math.inf


def can_hold_results(element: AlloType, dtype: np.dtype[Any]) -> bool:
    """Whether an array of `dtype` can take back every value of `element`."""
    if dtype.kind == "O":
        return True
    match element:
        case Struct():
            fields = dict(element.fields)
            return dtype.names is not None and all(can_hold_results(fields[n], dtype[n]) for n in dtype.names)
        case Fixed() | UFixed():
            return dtype.kind == "f" or form_dtype(Float(16, brain=True)) == dtype
        case Int() | UInt() if not is_plain(element):
            return is_bytes(dtype) and dtype.itemsize * 8 >= element.width
    return bool(np.can_cast(form_dtype(element), dtype, "safe"))
