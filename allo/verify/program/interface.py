"""Interface of a scheduled kernel: copies at both ends relate arguments that were reshaped or packed to the original
ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import islpy as isl
import numpy as np
from mlir import ir

from ...customize import Schedule
from ...customize.array.subscripts import expressions
from ...customize.pack import packed
from ...customize.step.record import Step
from ...errors import InternalError, VerificationError
from ...ir.builder import Builder, affine_constant, affine_dim, index_type
from ...ir.context import context, unknown_location
from ...ir.effects import Effects
from ...ir.mlir_types import from_mlir, storage_type
from ...ir.module import Module
from ...ir.types import TensorType
from ...ir.walk import argument_names, entry_block
from ...layout import IndexMap, reshaping
from .flatten import Bits, copy_elements, loops_over, state_variables, write_signature


@dataclass(frozen=True, slots=True)
class TypeChange:
    """An argument, a result, or the Stateful variable `symbol` has another type since a step: the same elements in
    row-major order (`factor` 0), or `factor` consecutive elements along `dimension` (from 0) in a word, the first
    lowest."""

    position: int
    is_result: bool
    before: TensorType
    after: TensorType
    dimension: int = 0
    factor: int = 0
    symbol: str = ""

    @property
    def places(self) -> IndexMap:
        """Where the elements are after the step: the subscripts of the array, with the lane behind that of the word."""
        words, behind = self.after.shape[: self.dimension + 1], self.after.shape[self.dimension + 1 :]
        return reshaping(self.before.shape, (*words, self.factor, *behind) if self.factor else self.after.shape)

    def started(self, words: Bits) -> Bits:
        """The first values from before the step, of those from after it."""
        if not self.factor:
            return words.reshape(self.before.shape)
        bits = self.before.element.bits
        lanes = [words >> (bits * lane) & ((1 << bits) - 1) for lane in range(self.factor)]
        return np.stack(lanes, self.dimension + 1).reshape(self.before.shape)


def changes_of(schedule: Schedule) -> tuple[TypeChange, ...]:
    """What the steps of a schedule did to the types of arguments and results, in their order; new shapes one after
    the other are one change."""
    found: list[TypeChange] = []
    before, states = _signature(schedule.state(0)), _states(schedule.state(0))
    for number, step in enumerate(schedule.steps):
        module = schedule.state(number + 1)
        after, later = _signature(module), _states(module)
        for symbol in states.keys() & later.keys():
            if states[symbol] != later[symbol]:
                change = _change(step, 0, False, states[symbol], later[symbol])
                _add(found, replace(change, symbol=symbol))
        states = later
        if after == before:
            continue
        if [len(side) for side in before] != [len(side) for side in after]:
            raise VerificationError(f"{step} changes how many arguments the kernel has, which cannot be compared")
        for is_result in (False, True):
            sides = zip(before[is_result], after[is_result], strict=True)
            for position, (old, new) in enumerate(sides):
                if old != new:
                    _add(found, _change(step, position, is_result, old, new))
        before = after
    return tuple(found)


def _add(found: list[TypeChange], change: TypeChange) -> None:
    """Append a change, as one with the last one of the same array if that was a new shape only."""
    array = (change.position, change.is_result, change.symbol)
    last = next((c for c in reversed(found) if (c.position, c.is_result, c.symbol) == array), None)
    if last is not None and not last.factor:
        found.remove(last)
        change = replace(change, before=last.before)
    if change.before != change.after:
        found.append(change)


def _signature(module: Module) -> tuple[list[object], list[object]]:
    signature = ir.FunctionType(ir.TypeAttr(module.function(module.top).operation.attributes["function_type"]).value)
    return [_type(kind) for kind in signature.inputs], [_type(kind) for kind in signature.results]


def _states(module: Module) -> dict[str, object]:
    variables = state_variables(module).items()
    return {symbol: _type(ir.TypeAttr(op.attributes["type"]).value) for symbol, op in variables}


def _type(kind: ir.Type) -> object:
    return str(kind) if "!allo.stream" in str(kind) else from_mlir(kind)


def _change(step: Step, position: int, is_result: bool, old: object, new: object) -> TypeChange:
    if isinstance(old, TensorType) and isinstance(new, TensorType):
        if (words := packed(step)) is not None:
            return TypeChange(position, is_result, old, new, *words)
        if _as_many(old, new):
            return TypeChange(position, is_result, old, new)
    what = f"result {position}" if is_result else f"argument {position}"
    raise VerificationError(f"{step} changes the type of {what} from {old} to {new}, which cannot be compared")


def same_signature(first: Module, second: Module) -> bool:
    """Whether both entries have the same types of arguments and results, and the same Stateful variables."""
    return _signature(first) == _signature(second) and _states(first) == _states(second)


def guessed_changes(module: Module, wanted: Module) -> tuple[TypeChange, ...]:
    """How the arguments of `module` may relate to those of `wanted`, by their types alone: reshaped, or not at all."""
    found: list[TypeChange] = []
    for is_result in (False, True):
        sides = zip(_signature(wanted)[is_result], _signature(module)[is_result], strict=False)
        for position, (old, new) in enumerate(sides):
            if not isinstance(old, TensorType) or not isinstance(new, TensorType) or old == new:
                continue
            if old.is_static and new.is_static and _as_many(old, new):
                found.append(TypeChange(position, is_result, old, new))
    return tuple(found)


def _as_many(old: TensorType, new: TensorType) -> bool:
    """Whether the arrays have as many elements, of one type."""
    return old.element == new.element and math.prod(old.shape) == math.prod(new.shape)


def restore(module: Module, changes: tuple[TypeChange, ...], states: Sequence[str]) -> None:
    """Give the only function of `module` the types from before `changes`; copies at its start and end convert.

    Its last arguments are the Stateful variables `states`.
    """
    function = module.function(module.top)
    entry = entry_block(function)
    assert entry is not None
    names = argument_names(function)
    written = Effects(module).written_arguments(module.top)
    for change in reversed(changes):
        _demand_one_to_one(change)
        if change.is_result:
            _restore_result(entry, change)
        elif change.symbol:
            if change.symbol in states:
                position = len(entry.arguments) - len(states) + list(states).index(change.symbol)
                _restore_argument(entry, replace(change, position=position), position in written)
        else:
            _restore_argument(entry, change, change.position in written)
    write_signature(function, names)


def _demand_one_to_one(change: TypeChange) -> None:
    """What is proved rests on copies that are inverse to each other: isl confirms what the digits of the map say."""
    places = isl.Map(change.places.to_isl())
    if not places.reverse().is_equal(isl.Map(change.places.inverse.to_isl())):
        raise InternalError(f"the map from {change.before} to {change.after} and its inverse do not fit: {places}")


def _restore_argument(entry: ir.Block, change: TypeChange, is_written: bool) -> None:
    argument = entry.arguments[change.position]
    inner_type = argument.type
    start = Builder(ir.InsertionPoint.at_block_begin(entry), argument.location)
    inner = start.alloc(inner_type, "words" if change.factor else "reshaped")
    argument.replace_all_uses_with(inner)
    argument.set_type(_memref(change.before))
    start.point = ir.InsertionPoint.at_block_begin(entry)
    start.point = ir.InsertionPoint(list(entry.operations)[1])
    _forward(start, argument, inner, change)
    if is_written:
        end = Builder(ir.InsertionPoint(_return(entry)), argument.location)
        _backward(end, inner, argument, change)


def _restore_result(entry: ir.Block, change: TypeChange) -> None:
    end = _return(entry)
    builder = Builder.before(end)
    inner = end.operands[change.position]
    made = builder.alloc(_memref(change.before), "result")
    _backward(builder, inner, made, change)
    end.operands[change.position] = made


def _return(entry: ir.Block) -> ir.Operation:
    operation: ir.Operation = entry.operations[len(entry.operations) - 1].operation
    return operation


def _memref(tensor: TensorType) -> ir.MemRefType:
    return ir.MemRefType.get(tensor.shape, storage_type(tensor.element), loc=unknown_location())


def _forward(builder: Builder, source: ir.Value, target: ir.Value, change: TypeChange) -> None:
    """Copy the array from before the step to that from after it."""
    if not change.factor:
        copy_elements(builder, source, target, list(change.before.shape))
        return
    variables = loops_over(builder, list(change.after.shape))
    lanes = _lanes(change)
    bits = change.before.element.bits
    plain = ir.IntegerType.get_signless(bits * change.factor, context())
    word = builder.constant(plain, 0)
    for lane, place in enumerate(lanes):
        element = _converted(builder, builder.affine_load(source, place, variables), _bits(bits))
        word = builder.value("allo.set_slice", plain, [word, *_span(builder, lane, bits), element])
    identity = ir.AffineMap.get_identity(len(change.after.shape), context())
    word = builder.value("allo.sign_cast", storage_type(change.after.element), [word])
    builder.affine_store(word, target, identity, variables)


def _backward(builder: Builder, source: ir.Value, target: ir.Value, change: TypeChange) -> None:
    """Copy the array from after the step to that from before it."""
    if not change.factor:
        copy_elements(builder, source, target, list(change.after.shape))
        return
    variables = loops_over(builder, list(change.after.shape))
    lanes = _lanes(change)
    bits = change.before.element.bits
    identity = ir.AffineMap.get_identity(len(change.after.shape), context())
    plain = ir.IntegerType.get_signless(bits * change.factor, context())
    word = builder.value("allo.sign_cast", plain, [builder.affine_load(source, identity, variables)])
    for lane, place in enumerate(lanes):
        part = builder.value("allo.get_slice", _bits(bits), [word, *_span(builder, lane, bits)])
        element = _converted(builder, part, storage_type(change.before.element))
        builder.affine_store(element, target, place, variables)


def _lanes(change: TypeChange) -> list[ir.AffineMap]:
    """For each lane of a word the subscripts of its element."""
    rank, behind = len(change.after.shape), change.dimension + 1
    words, elements = [affine_dim(d) for d in range(rank)], expressions(change.places.inverse)
    found = []
    for lane in range(change.factor):
        place = ir.AffineMap.get(rank, 0, [*words[:behind], affine_constant(lane), *words[behind:]], context())
        found.append(ir.AffineMap.get(rank, 0, [element.compose(place) for element in elements], context()))
    return found


def _span(builder: Builder, lane: int, bits: int) -> list[ir.Value]:
    return [builder.constant(index_type(), (lane + 1) * bits), builder.constant(index_type(), lane * bits)]


def _bits(width: int) -> ir.Type:
    return ir.IntegerType.get_signless(width, context())


def _converted(builder: Builder, value: ir.Value, target: ir.Type) -> ir.Value:
    """The same bits as another type."""
    if value.type == target:
        return value
    integers = isinstance(value.type, ir.IntegerType) and isinstance(target, ir.IntegerType)
    return builder.value("allo.sign_cast" if integers else "allo.bitcast", target, [value])
