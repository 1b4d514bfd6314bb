"""Inputs on which two programs are run: some that find most mistakes, for every type of argument."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...ir.arrays import form_dtype
from ...ir.forms import fill_array
from ...ir.types import AlloType, Bool, Fixed, Float, Index, Int, Struct, TensorType, UFixed, UInt
from ...ir.words import shifted, words_of_ints
from ..program.programs import Argument

type Array = np.ndarray[Any, Any]
type Values = tuple[Any, ...]

_RUN_TIME_EXTENT = 5


@dataclass(frozen=True, slots=True)
class Inputs:
    """A value for each argument, and what kind of values they are."""

    kind: str
    values: Values


def directed_inputs(arguments: tuple[Argument, ...], seed: int = 1) -> Iterator[Inputs]:
    """Positive numbers near 1 (square matrices with a heavy diagonal), small integers, any numbers, numbers of many
    sizes, zeros, ones, a single 1, extremes, special floats.

    Where arrays have extents that are known at run time only, integers that may be these extents come first.
    """
    random = np.random.default_rng(seed)
    if any(isinstance(argument.type, TensorType) and not argument.type.is_static for argument in arguments):
        yield Inputs("extents", tuple(_extent(argument.type, random) for argument in arguments))
    for kind, fill in _KINDS.items():
        yield Inputs(kind, tuple(_value(argument.type, fill, random) for argument in arguments))


def with_bits(kind: AlloType | TensorType, value: Any, place: tuple[int, ...], number: int) -> Any:
    """An input (a copy, if it is an array) whose element at `place` has the bits of `number`, the lowest that fit."""
    element = kind.element if isinstance(kind, TensorType) else kind
    made = array_of_bits(element, np.array([number & ((1 << element.bits) - 1)], object))
    if isinstance(value, np.ndarray) and isinstance(kind, TensorType):
        changed = value.copy()
        changed[place] = made[0]
        return changed
    return made[0].item() if isinstance(made[0], np.generic) and not isinstance(kind, Struct) else made[0]


def array_of_bits(element: AlloType, bits: Array) -> Array:
    """The form that NumPy has for elements with these bits, which are integers without a sign."""
    made = np.empty(bits.shape, form_dtype(element))
    fill_array(element, words_of_ints(list(bits.flat), element.bits, bits.shape), made)
    return made


type _Fill = Callable[[AlloType, tuple[int, ...], np.random.Generator], Array]


def _value(kind: AlloType | TensorType | None, fill: _Fill, random: np.random.Generator) -> Any:
    if isinstance(kind, TensorType):
        shape = tuple(extent if extent >= 0 else _RUN_TIME_EXTENT for extent in kind.shape)
        return np.asarray(fill(kind.element, shape, random))  # of rank 0 too, where NumPy makes scalars
    assert kind is not None
    made = fill(kind, (1,), random)[0]
    return made.item() if isinstance(made, np.generic) and not isinstance(kind, Struct) else made


def _extent(kind: AlloType | TensorType | None, random: np.random.Generator) -> Any:
    """The extent of arrays for an integer, positive numbers for the rest."""
    return _value(kind, _extents if isinstance(kind, Int | UInt | Index) else _near_one, random)


def _extents(element: AlloType, shape: tuple[int, ...], random: np.random.Generator) -> Array:
    return _whole(element, np.full(shape, _RUN_TIME_EXTENT, np.int64), random)


def _bits(element: AlloType, shape: tuple[int, ...], random: np.random.Generator) -> Array:
    """Random bits, as the form that NumPy has for the type."""
    words = random.integers(0, 1 << 64, (*shape, -(-element.bits // 64)), np.uint64)
    if element.bits % 64:
        words[..., -1] &= np.uint64((1 << (element.bits % 64)) - 1)
    array = np.empty(shape, form_dtype(element))
    fill_array(element, words, array)
    return array


def _whole(element: AlloType, numbers: Array, random: np.random.Generator) -> Array:
    """Integers as elements of any type; where they do not fit, their lowest bits."""
    match element:
        case Float() | Index():
            return numbers.astype(form_dtype(element))
        case Bool():
            return (numbers & 1).astype(np.bool_)
        case Int() | UInt() | Fixed() | UFixed():
            fracs = element.fracs if isinstance(element, Fixed | UFixed) else 0
            array = np.empty(numbers.shape, form_dtype(element))
            fill_array(element, shifted(numbers, fracs, element.width), array)
            return array
        case Struct():
            array = np.empty(numbers.shape, form_dtype(element))
            for name, field in element.fields:
                array[name] = _whole(field, numbers, random)
            return array
    return _bits(element, numbers.shape, random)


def _near_one(element: AlloType, shape: tuple[int, ...], random: np.random.Generator) -> Array:
    if not isinstance(element, Float):
        return _whole(element, random.integers(0, 8, shape), random)
    numbers = random.uniform(0.5, 1.5, shape)
    if len(shape) == 2 and shape[0] == shape[1]:
        numbers = (numbers + numbers.T) / 2 + 2 * shape[0] * np.eye(shape[0])
    return numbers.astype(form_dtype(element))


def _any_number(element: AlloType, shape: tuple[int, ...], random: np.random.Generator) -> Array:
    if isinstance(element, Float):
        return random.uniform(-4, 4, shape).astype(form_dtype(element))
    if isinstance(element, Index):
        return random.integers(0, 16, shape).astype(form_dtype(element))
    return _bits(element, shape, random)


def _of_many_sizes(element: AlloType, shape: tuple[int, ...], random: np.random.Generator) -> Array:
    """Floats whose sums and products are rounded, so that the order of operations shows."""
    if not isinstance(element, Float):
        return _any_number(element, shape, random)
    span = 4 if element.width == 16 else 12
    return (random.uniform(-1, 1, shape) * np.exp2(random.integers(-span, span, shape))).astype(form_dtype(element))


def _small(element: AlloType, shape: tuple[int, ...], random: np.random.Generator) -> Array:
    signed = isinstance(element, Float | Int | Fixed)
    return _whole(element, random.integers(-2 if signed else 0, 3, shape), random)


def _zeros(element: AlloType, shape: tuple[int, ...], random: np.random.Generator) -> Array:
    return _whole(element, np.zeros(shape, np.int64), random)


def _ones(element: AlloType, shape: tuple[int, ...], random: np.random.Generator) -> Array:
    return _whole(element, np.ones(shape, np.int64), random)


def _extremes(element: AlloType, shape: tuple[int, ...], random: np.random.Generator) -> Array:
    if isinstance(element, Float):
        dtype = form_dtype(element)
        values = np.array([3e4, -3e4, 1e-7, -1e-7] if element.width == 16 else [3e38, -3e38, 1e-45, 1.0])
        return values[random.integers(0, 4, shape)].astype(dtype)
    bits = element.bits
    chosen = random.integers(0, 4, shape)
    if isinstance(element, Index):
        return chosen.astype(form_dtype(element))
    patterns = [0, (1 << bits) - 1, 1 << (bits - 1), (1 << (bits - 1)) - 1]
    array = np.empty(shape, form_dtype(element))
    fill_array(element, words_of_ints(patterns, bits, (4,))[chosen], array)
    return array


def _one_hot(element: AlloType, shape: tuple[int, ...], random: np.random.Generator) -> Array:
    numbers = np.zeros(shape, np.int64)
    if numbers.size:
        numbers.flat[int(random.integers(0, math.prod(shape)))] = 1
    return _whole(element, numbers, random)


_SPECIAL = np.array([0.0, -0.0, 1.0, np.nan, -1.0, np.inf, 0.5, -np.inf])


def _special(element: AlloType, shape: tuple[int, ...], random: np.random.Generator) -> Array:
    if not isinstance(element, Float):
        return _bits(element, shape, random) if not isinstance(element, Index) else _ones(element, shape, random)
    chosen = random.choice(8, shape, p=[0.2, 0.2, 0.2, 0.03, 0.2, 0.03, 0.11, 0.03])
    if chosen.size:  # small arrays too have a NaN
        chosen.flat[int(random.integers(0, chosen.size))] = 3
    return _SPECIAL[chosen].astype(form_dtype(element))


def _rotated(element: AlloType, shape: tuple[int, ...], random: np.random.Generator) -> Array:
    if not isinstance(element, Float):
        return _any_number(element, shape, random)
    places = np.arange(math.prod(shape)).reshape(shape) + int(random.integers(0, 8))
    return _SPECIAL[places % 8].astype(form_dtype(element))


def _negative_zeros(element: AlloType, shape: tuple[int, ...], random: np.random.Generator) -> Array:
    if not isinstance(element, Float):
        return _extremes(element, shape, random)
    return np.full(shape, -0.0, form_dtype(element))


_KINDS: dict[str, _Fill] = {
    "positive numbers": _near_one,
    "small integers": _small,
    "any numbers": _any_number,
    "numbers of many sizes": _of_many_sizes,
    "other numbers of many sizes": _of_many_sizes,
    "zeros": _zeros,
    "ones": _ones,
    "a single 1": _one_hot,
    "extremes": _extremes,
    "special floats": _special,
    "all special floats": _rotated,
    "negative zeros": _negative_zeros,
}
