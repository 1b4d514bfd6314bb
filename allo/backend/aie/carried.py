"""Arguments in a form that DMA engines move: numbers as words, pairs of four bits in bytes, rests filled up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from math import prod
from typing import Any

import numpy as np
from mlir import ir

from ...ir.builder import affine_constant
from ...ir.context import context, unknown_location
from ...ir.words import container_width
from .reached import ElementBox

Array = np.ndarray[Any, Any]

_WORD = 32  # bits that DMA engines move at once
_NIBBLE = 4
_CASTS = ("allo.sign_cast", "arith.index_cast")


class CarriedForm(Enum):
    """How the elements of an argument lie in what is moved."""

    SAME = "same"  # one for one, each in the next width of a memory
    NIBBLES = "nibbles"  # two in a byte, the first one in its lower bits
    BITS = "bits"  # a number, in the lower bits of a word: words of all numbers can come through one FIFO


@dataclass(frozen=True, slots=True)
class Carried:
    """An argument of type `was`, a number or an array, that is moved as an array of `kind` elements and `shape`.

    If `is_flat`, elements are in one row that is filled up to whole words. Of a number, `casts` are the operations,
    with types, that make of it what a task takes.
    """

    was: ir.Type
    kind: ir.Type
    shape: tuple[int, ...]
    form: CarriedForm
    is_flat: bool
    casts: tuple[tuple[str, ir.Type], ...] = ()

    @property
    def extents(self) -> tuple[int, ...]:
        """The extents of the argument, none of a number."""
        return tuple(self.was.shape) if isinstance(self.was, ir.MemRefType) else ()

    @property
    def memref(self) -> ir.MemRefType:
        return ir.MemRefType.get(self.shape, self.kind, loc=unknown_location())

    def moved(self, box: ElementBox) -> ElementBox | None:
        """What holds a box of elements; None if that is no box, or cuts bytes."""
        if self.is_flat or self.form is not CarriedForm.NIBBLES:
            return None if self.is_flat else box
        (*outer, low), (*counts, extent) = box.low, box.extents
        return None if low % 2 or extent % 2 else ElementBox((*outer, low // 2), (*counts, extent // 2))

    def place(self, own: ir.AffineMap) -> tuple[ir.AffineMap, ir.AffineMap]:
        """For an access of an element, the map to where it is, and that to its number in a byte."""
        results = list(own.results)
        if self.is_flat:
            row: ir.AffineExpr = affine_constant(0)
            for expr, extent in zip(results, self.extents, strict=True):
                row = row * extent + expr
            results = [row]
        last = results[-1] if results else affine_constant(0)
        if self.form is CarriedForm.NIBBLES:
            results[-1] = ir.AffineExpr.get_floor_div(last, 2)
            last = ir.AffineExpr.get_mod(last, 2)
        where = ir.AffineMap.get(own.n_dims, own.n_symbols, results, context())
        return where, ir.AffineMap.get(own.n_dims, own.n_symbols, [last], context())

    def given(self, value: Array) -> Array:
        """What is passed to the array for an argument of a call, which is in memory."""
        flat = value.reshape(-1)
        if self.form is CarriedForm.BITS:
            word = np.zeros(_WORD // 8, np.uint8)
            word[: flat.nbytes] = flat.view(np.uint8)
            return word.view(self.dtype)
        if self.form is CarriedForm.NIBBLES:
            pairs = np.zeros(-(-flat.size // 2) * 2, np.uint8)
            pairs[: flat.size] = flat.astype(np.uint8) & 15
            flat = pairs[::2] | pairs[1::2] << 4
        moved = np.zeros(prod(self.shape), self.dtype)
        moved[: flat.size] = flat.view(self.dtype)
        return moved.reshape(self.shape)

    def take_back(self, moved: Array, value: Array) -> None:
        """Write what the array gave back to an argument of a call."""
        flat = moved.reshape(-1)
        if self.form is CarriedForm.NIBBLES:
            pairs = np.stack([flat << 4, flat], -1).reshape(-1)
            flat = pairs >> 4 if value.dtype.kind == "i" else pairs.view(np.uint8) >> 4
        value[...] = flat[: value.size].view(value.dtype).reshape(value.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of what is moved."""
        if isinstance(self.kind, ir.IntegerType):
            return np.dtype(f"int{self.kind.width}")
        import ml_dtypes

        if isinstance(self.kind, ir.F16Type):
            return np.dtype(np.float16)
        return np.dtype(ml_dtypes.bfloat16) if isinstance(self.kind, ir.BF16Type) else np.dtype(np.float32)


def moved_element(kind: ir.Type) -> ir.Type:
    """The type that elements are moved as: integers of widths that memories have not are in the next one that is."""
    if not isinstance(kind, ir.IntegerType) or kind.width in (8, 16, 32) or kind.width > _WORD:
        return kind
    return _integer(container_width(kind.width))


def _integer(width: int) -> ir.Type:
    return ir.IntegerType.get_signless(width, context())


def carried_as(kind: ir.Type) -> Carried | None:
    """How an argument is carried; None for one that is moved as it is, or not at all."""
    if not isinstance(kind, ir.MemRefType):
        element = moved_element(kind)
        numbers = ir.IntegerType | ir.F32Type | ir.BF16Type | ir.F16Type
        is_number = isinstance(element, numbers) and element.width <= _WORD
        return Carried(kind, _integer(_WORD), (1,), CarriedForm.BITS, True) if is_number else None
    if not kind.has_static_shape or not kind.rank:
        return None
    own, shape = kind.element_type, tuple(kind.shape)
    if isinstance(own, ir.IntegerType) and own.width == _NIBBLE:
        byte = _integer(8)
        whole = prod(shape) * _NIBBLE % _WORD == 0
        if whole and shape[-1] % 2 == 0:
            return Carried(kind, byte, (*shape[:-1], shape[-1] // 2), CarriedForm.NIBBLES, False)
        return Carried(kind, byte, (-(-prod(shape) * _NIBBLE // _WORD) * 4,), CarriedForm.NIBBLES, True)
    element = moved_element(own)
    width = element.width if isinstance(element, ir.IntegerType | ir.BF16Type | ir.F16Type) else _WORD
    if width < _WORD and prod(shape) * width % _WORD:
        row = -(-prod(shape) * width // _WORD) * _WORD // width
        return Carried(kind, _signless(element), (row,), CarriedForm.SAME, True)
    return None if element == own else Carried(kind, element, shape, CarriedForm.SAME, False)


def _signless(kind: ir.Type) -> ir.Type:
    return _integer(kind.width) if isinstance(kind, ir.IntegerType) else kind


def carried_arguments(entry: ir.Block) -> Mapping[int, Carried]:
    """The arguments of a region that are moved in another form, by number."""
    found = {value.arg_number: carried_as(value.type) for value in entry.arguments}
    return {number: carried for number, carried in found.items() if carried is not None}


def carried_operands(call: ir.Operation, arguments: Mapping[int, Carried]) -> Mapping[int, Carried]:
    """What a call of a task passes of these, by the number of its operand."""
    found = {}
    for number, operand in enumerate(call.operands):
        source, casts = source_of(operand)
        if isinstance(source.owner, ir.Block) and source.arg_number in arguments:
            found[number] = replace(arguments[source.arg_number], casts=casts)
    return found


def source_of(value: ir.Value) -> tuple[ir.Value, tuple[tuple[str, ir.Type], ...]]:
    """The value that casts make another one of, and these."""
    casts: list[tuple[str, ir.Type]] = []
    while not isinstance(value.owner, ir.Block) and value.owner.name in _CASTS:
        casts.insert(0, (value.owner.name, value.type))
        value = value.owner.operands[0]
    return value, tuple(casts)
