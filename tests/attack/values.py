"""Random arguments of a kernel, as its schedules take them after reshapes and packs, and equality of the results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from allo import Schedule
from allo.ir.arrays import form_dtype
from allo.ir.forms import array_words
from allo.ir.mlir_types import from_mlir
from allo.ir.types import AlloType, Float, Int, Struct, TensorType, UInt
from allo.ir.walk import entry_block
from allo.ir.words import ints_of_words
from allo.verify.run.inputs import array_of_bits

type Array = np.ndarray[Any, Any]
RUN_TIME_EXTENT = 9


def signature(module: Any) -> list[AlloType | TensorType]:
    """The types of the arguments of the entry of a module."""
    entry = entry_block(module.function(module.top))
    assert entry is not None
    return [from_mlir(argument.type) for argument in entry.arguments]


def arguments(kinds: Sequence[AlloType | TensorType], seed: int) -> list[Any]:
    """Random elements of each type; sometimes small, sometimes any bits."""
    random = np.random.default_rng(seed)
    return [_array(kind, random) if isinstance(kind, TensorType) else _scalar(kind, random) for kind in kinds]


def _scalar(kind: AlloType, random: np.random.Generator) -> int | float:
    """A small number that the type holds."""
    number = int(random.integers(0, 8))
    if isinstance(kind, Float):
        return number / 2 - 1
    return number % (1 << min(kind.bits - 1, 3)) if isinstance(kind, Int | UInt) else number


def _array(kind: TensorType, random: np.random.Generator) -> Array:
    shape = tuple(extent if extent >= 0 else RUN_TIME_EXTENT for extent in kind.shape)
    return _elements(kind.element, shape, random)


def _elements(element: AlloType, shape: tuple[int, ...], random: np.random.Generator) -> Array:
    if isinstance(element, Struct):
        made = np.empty(shape, form_dtype(element))
        for name, inner in element.fields:
            made[name] = _elements(inner, shape, random)
        return made
    if isinstance(element, Float):
        numbers = random.choice(
            [random.uniform(-4, 4, shape), random.integers(-3, 4, shape).astype(np.float64)]
        )
        special = random.choice([-0.0, np.inf, 1e30, np.nan], shape)
        with np.errstate(over="ignore"):
            return np.where(random.random(shape) < 0.04, special, numbers).astype(form_dtype(element))
    bits = np.empty(shape, object)
    most = min(element.bits, 200)
    for place in np.ndindex(shape):
        wide = int.from_bytes(random.bytes(25), "little") % (1 << most)
        bits[place] = wide if random.random() < 0.5 else int(random.integers(0, 8)) % (1 << most)
    return array_of_bits(element, bits)


class Shapes:
    """How the arguments of a kernel lie in those of its schedule: what `reshape` and `pack` did to them."""

    def __init__(self, schedule: Schedule) -> None:
        self.kinds = signature(schedule.state(0))
        self.changes: list[tuple[int, TensorType, TensorType, int, int]] = []
        before = self.kinds
        for number, step in enumerate(schedule.steps):
            after = signature(schedule.state(number + 1))
            given = dict(step.arguments)
            for place, (old, new) in enumerate(zip(before, after, strict=True)):
                if old != new:
                    assert isinstance(old, TensorType) and isinstance(new, TensorType)
                    packed = step.name == "pack"
                    dim, factor = (int(given["dim"]) - 1, int(given["factor"])) if packed else (0, 0)
                    self.changes.append((place, old, new, dim, factor))
            before = after

    def given(self, values: Sequence[Any]) -> list[Any]:
        """Copies of arguments of the kernel, as the schedule takes them."""
        made = [v.copy() if isinstance(v, np.ndarray) else v for v in values]
        for place, old, new, dim, factor in self.changes:
            bits = _bits(old.element, made[place])
            if factor:
                shape = (*old.shape[:dim], old.shape[dim] // factor, factor, *old.shape[dim + 1 :])
                lanes = np.moveaxis(bits.reshape(shape), dim + 1, 0)
                bits = np.asarray(sum(lane << (k * old.element.bits) for k, lane in enumerate(lanes)), object)
            made[place] = array_of_bits(new.element, bits.reshape(new.shape))
        return made

    def taken(self, values: Sequence[Any]) -> list[Any]:
        """Arguments of the schedule as those of the kernel."""
        made = list(values)
        for place, old, new, dim, factor in reversed(self.changes):
            bits = _bits(new.element, made[place])
            if factor:
                width = old.element.bits
                lanes = [(bits >> (k * width)) & ((1 << width) - 1) for k in range(factor)]
                bits = np.stack(lanes, dim + 1)
            made[place] = array_of_bits(old.element, bits.reshape(old.shape))
        return made


def _bits(element: AlloType, array: Array) -> Array:
    made = np.empty(array.shape, object)
    made.flat = ints_of_words(array_words(element, array, "an argument"))
    return made


def differences(left: Sequence[Any], right: Sequence[Any]) -> list[str]:
    """Where values are not the same bits (all NaN are one): the argument, the element, both values."""
    found = []
    for number, (one, other) in enumerate(zip(left, right, strict=True)):
        if isinstance(one, np.ndarray):
            places = np.argwhere(_unequal(one, np.asarray(other)))
            if len(places):
                place = tuple(int(k) for k in places[0])
                found.append(
                    f"argument {number}{list(place)}: {one[place]!r}, {other[place]!r} ({len(places)} in all)"
                )
        elif one != other and not (one != one and other != other):
            found.append(f"argument {number}: {one!r}, {other!r}")
    return found


def _unequal(one: Array, other: Array) -> Array:
    if one.dtype.names is not None and one.dtype.names == other.dtype.names:
        return np.asarray(
            np.logical_or.reduce([_unequal(one[name], other[name]) for name in one.dtype.names])
        )
    if one.dtype.kind != "f":
        return np.asarray(one != other)
    bits = np.dtype(f"uint{8 * one.dtype.itemsize}")
    same = np.ascontiguousarray(one).view(bits) == np.ascontiguousarray(other).view(bits)
    return ~(same.reshape(one.shape) | (np.isnan(one) & np.isnan(other)))
