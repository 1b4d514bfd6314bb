"""pack: put several consecutive elements of an array into one wide word."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from mlir import ir

from allo._mlir.dialects import allo as allo_d

from ..errors import Note, ScheduleError
from ..ir.access import accessed, is_load, is_store, stored
from ..ir.builder import Builder, affine_dim, index_type
from ..ir.context import context
from ..ir.mlir_types import scalar_from_mlir
from ..ir.module import Module
from ..ir.partitions import divisions_of
from ..ir.types import MAX_BITS
from ..ir.walk import loops_of
from ..layout import Banks, IndexMap, reshaping
from ..layout import packed as packed_banks
from .array.constant_bits import element_bits, words_attribute
from .array.subscripts import AccessOperation, expressions
from .array.whole_array import function_of, whole_array
from .nest.rewrite import compose_affine
from .step.handles import Buffer, Loop
from .step.legality import demand_still_apart, demand_still_parallel, parallel_loops, vouched_elements
from .step.primitive import primitive
from .step.record import Step
from .step.resolve import buffer_note, find_buffer


@primitive(reshapes=True)
def pack(module: Module, buffer: Buffer, dim: int, factor: int, assume_safe: bool = False) -> None:
    """Pack `factor` consecutive elements of dimension `dim` (from 1) of `buffer` into one word, the first lowest.

        A: T[N]                       A: UInt(factor * T.bits)[N // factor]
        for i in range(N):            for i in range(N):
            S(A[i])            ->         S(A[i // factor][T.bits * (i % factor) : T.bits * (i % factor + 1)])

    A store reads the word, replaces its part, and writes it back. An argument is an array of words for callers in
    the module and for those in Python (`a.view("u8")` packs pairs of float32 on a little-endian machine); an array
    that is passed to or returned from functions is packed in all of them, and a constant wherever it is used.
    A partition becomes one of the words: in as many banks as a run of elements that were in different banks has words
    (cyclic 8 with a factor of 4 is cyclic 2, cyclic 4 is a single bank), in runs of words for runs of elements.
    Refused: a dimension that the array has not, a factor below 2 or that does not divide the extent, a word of more
    than 1024 bits, elements without a fixed number of bits, an array that goes to a function without a body, a loop in
    parallel or processing elements that would store to parts of one word (`assume_safe=True` accepts what cannot be
    decided). Source: Allo paper, Table 2.
    """
    value = find_buffer(module, buffer)
    memref = ir.MemRefType(value.type)
    note = buffer_note(buffer, value)
    bits = _check(buffer, memref, dim, factor, note)
    array = whole_array(module, value, f"'{buffer.name}' cannot be packed")
    extent, banks = memref.shape[dim - 1], list(Banks.read(divisions_of(memref)))
    split = reshaping([extent], [extent // factor, factor])
    words = [_packed_constant(constant, dim - 1, factor, bits) for constant in array.constants]

    storing = sorted({function_of(op) for op in array.accesses if is_store(op)})
    parallel, apart = _parallel(module, storing), vouched_elements(module, storing)
    word = ir.IntegerType.get_unsigned(factor * bits, context())
    shape = [extent // factor if d == dim - 1 else extent for d, extent in enumerate(memref.shape)]
    elements = [ir.MemRefType(accessed(op).type).element_type for op in array.accesses]
    banks[dim - 1] = packed_banks(banks[dim - 1], extent, factor)
    array.retype(module, shape, banks, word)
    for constant, contents in zip(array.constants, words, strict=True):
        if contents is not None:
            constant.attributes["initial_value"] = contents
    for (
        view
    ) in array.views:  # words are words, whether of fixed-point numbers or of the integers they are stored as
        view.results[0].replace_all_uses_with(view.operands[0])
        view.erase()
    for op, element in zip(array.accesses, elements, strict=True):
        _rewrite(op, element, dim - 1, split, bits)
    compose_affine(module.functions())
    for loop, before in parallel:
        demand_still_parallel(module, loop, before, assume_safe=assume_safe)
    demand_still_apart(module, apart, assume_safe=assume_safe)


def packed(step: Step) -> tuple[int, int] | None:
    """The dimension (from 0) that a step packs, and how many elements are in a word; None if it packs no array."""
    given = dict(step.arguments)
    return (int(given["dim"]) - 1, int(given["factor"])) if step.name == pack.__name__ else None


def _check(buffer: Buffer, memref: ir.MemRefType, dim: int, factor: int, note: Note) -> int:
    """The number of bits of an element."""
    name = buffer.name
    if memref.rank == 0:
        raise ScheduleError(f"'{name}' is a scalar and has no dimension to pack", notes=[note])
    if not 1 <= dim <= memref.rank:
        raise ScheduleError(
            f"dim must be from 1 to {memref.rank} for '{name}' of {memref.rank} dimensions, got {dim}",
            notes=[note],
        )
    if factor < 2:
        raise ScheduleError(f"factor must be at least 2, got {factor}", notes=[note])
    extent = memref.shape[dim - 1]
    if memref.is_dynamic_dim(dim - 1):
        raise ScheduleError(
            f"the extent of dimension {dim} of '{name}' is known at run time only",
            hint="declare the argument with all extents",
            notes=[note],
        )
    if extent % factor:
        raise ScheduleError(
            f"factor {factor} does not divide the extent {extent} of dimension {dim} of '{name}'",
            hint="pad the array, or pick a divisor of the extent",
            notes=[note],
        )
    kinds = (ir.IntegerType, ir.FloatType, allo_d.FixedType, allo_d.UFixedType)
    if not isinstance(memref.element_type, kinds):
        raise ScheduleError(
            f"the elements of '{name}' are of type {memref.element_type}, which has no fixed number of bits",
            hint="pack arrays of integers, floats or fixed-point numbers",
            notes=[note],
        )
    bits = scalar_from_mlir(memref.element_type).bits
    if factor * bits > MAX_BITS:
        raise ScheduleError(
            f"{factor} elements of {bits} bits make a word of {factor * bits} bits, and a word has at most {MAX_BITS}",
            hint=f"pack at most {MAX_BITS // bits} elements",
            notes=[note],
        )
    return bits


def _parallel(module: Module, storing: Sequence[str]) -> list[tuple[Loop, dict[str, bool]]]:
    """For each nest of the functions that store to the array a loop of it, and the loops in it that run in parallel."""
    nests = {
        (function.name.value, view.nest): Loop(function.name.value, view.nest, view.name)
        for function in module.functions()
        if function.name.value in storing
        for view in loops_of(function)
        if "allo.parallel" in view.op.attributes
    }
    return [(loop, parallel_loops(module, loop)) for loop in nests.values()]


def _rewrite(op: ir.Operation, element: ir.Type, dimension: int, split: IndexMap, bits: int) -> None:
    """Turn an access of an element to one of a part of a word; `split` makes word and lane of its subscript."""
    access, builder = AccessOperation(op), Builder.before(op)
    subscripts = [affine_dim(d) for d in range(ir.MemRefType(accessed(op).type).rank)]
    whole = ir.AffineMap.get(len(subscripts), 0, [subscripts[dimension]], context())
    subscripts[dimension], part = (formula.compose(whole) for formula in expressions(split))
    place, lane = access.place(builder, subscripts), access.index(builder, part)
    factor = split.new[1]
    width = builder.constant(index_type(), bits)
    low = builder.value("arith.muli", index_type(), [lane, width])
    span = [builder.value("arith.addi", index_type(), [low, width]), low]
    word = place.load(builder, accessed(op))
    plain = ir.IntegerType.get_signless(factor * bits, context())
    number = builder.value("allo.sign_cast", plain, [word])
    part = ir.IntegerType.get_signless(bits, context())
    if is_load(op):
        found = builder.value("allo.get_slice", part, [number, *span])
        op.results[0].replace_all_uses_with(_converted(builder, found, element))
    else:
        replaced = builder.value(
            "allo.set_slice", plain, [number, *span, _converted(builder, stored(op), part)]
        )
        place.store(builder, builder.value("allo.sign_cast", word.type, [replaced]), accessed(op))
    op.erase()


def _converted(builder: Builder, value: ir.Value, target: ir.Type) -> ir.Value:
    """The same bits as another type."""
    if value.type == target:
        return value
    integers = isinstance(value.type, ir.IntegerType) and isinstance(target, ir.IntegerType)
    return builder.value("allo.sign_cast" if integers else "allo.bitcast", target, [value])


def _packed_constant(constant: ir.Operation, axis: int, factor: int, bits: int) -> ir.Attribute | None:
    """The words of a constant array; None if it has no contents."""
    if "initial_value" not in constant.attributes:
        return None
    numbers = np.moveaxis(element_bits(constant.attributes["initial_value"], bits), axis, -1)
    weights = np.array([1 << (lane * bits) for lane in range(factor)], object)
    words = (numbers.reshape(*numbers.shape[:-1], -1, factor) * weights).sum(-1)
    word = ir.IntegerType.get_unsigned(factor * bits, context())
    return words_attribute(np.moveaxis(words, -1, axis), word)
