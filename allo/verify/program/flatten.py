"""Flat form of a module, which the methods of the verifier read: one function of plain loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from mlir import ir

from ...customize.array.constant_bits import element_bits
from ...customize.array.subscripts import expressions
from ...customize.function.inlining import inline_inside
from ...errors import DataflowError
from ...ir.access import callee_name, is_copy
from ...ir.builder import Builder, affine_constant, index_type, string_attr
from ...ir.context import context
from ...ir.linalg import lower_linalg
from ...ir.mlir_types import scalar_from_mlir
from ...ir.module import Module
from ...ir.names import unique_name
from ...ir.partitions import in_one_piece
from ...ir.passes import run_passes
from ...ir.walk import argument_names, buffers_of, entry_block, operations, string_of
from ...layout import reshaping
from ...poly import runs_in_order
from .sequence import order_tasks
from .turns import NoTurns, take_turns

type Bits = np.ndarray[Any, Any]  # of elements, as Python integers without a sign


@dataclass(frozen=True, slots=True)
class Flattened:
    """What is told about a module that was flattened.

    `cycle` are the tasks that wait for each other, `recursive` the functions that call themselves (empty if none),
    `states` the symbols of the variables that became arguments, `starts` their first values: None if the module does
    not give them.
    """

    cycle: str
    recursive: str
    states: tuple[str, ...]
    starts: tuple[Bits | None, ...]


def flatten(module: Module, states: Sequence[str] = ()) -> Flattened:
    """Rewrite `module` in place: one function without calls, operators on whole arrays, banks and casts of extents.

    Tasks that streams join are put in an order in which they can run. Stateful variables become arguments behind
    the others, in the order of `states` if these are their names, else in that of their use. What cannot be removed
    stays: calls of functions without a body, and recursion.
    """
    lower_linalg(module)
    cycle = _ordered(module)
    recursive = _recursive(module)
    top = module.function(module.top).operation
    if not recursive:
        inline_inside(module, top)
        for function in list(module.functions()):
            if function.operation != top and entry_block(function) is not None:
                function.operation.erase()
    _drop_partitions(module)
    _drop_casts(top)
    _expand_copies(top)
    symbols, starts = _state_to_arguments(module, states)
    run_passes("builtin.module(func.func(allo-compose-affine))", module.mlir.operation)
    module.verify()
    return Flattened(cycle, ", ".join(recursive), symbols, starts)


def _ordered(module: Module) -> str:
    """Put the tasks of regions in an order in which they can run; else why there is none."""
    cycle = ""
    try:
        order_tasks(module)
        if runs_in_order(module):
            return cycle
    except DataflowError as error:
        cycle = error.diagnostics[0].message
    with suppress(NoTurns):
        take_turns(module)
        return ""
    return cycle


def _recursive(module: Module) -> list[str]:
    """The functions that can call themselves."""
    calls: dict[str, set[str]] = {}
    for function in module.functions():
        entry = entry_block(function)
        called = operations(entry, "func.call") if entry is not None else ()
        calls[function.name.value] = {callee_name(op) for op in called}
    return sorted(name for name in calls if name in _reached(name, calls))


def _reached(name: str, calls: dict[str, set[str]]) -> set[str]:
    todo, found = list(calls[name]), set(calls[name])
    while todo:
        for other in calls.get(todo.pop(), set()) - found:
            found.add(other)
            todo.append(other)
    return found


def _drop_partitions(module: Module) -> None:
    """Arrays lie in one piece: banks change no value."""
    for op in module.mlir.body.operations:
        if op.operation.name == "memref.global":
            kind = ir.TypeAttr(op.operation.attributes["type"]).value
            op.operation.attributes["type"] = ir.TypeAttr.get(in_one_piece(kind), context())
    for function in module.functions():
        attributes = function.operation.attributes
        signature = ir.FunctionType(ir.TypeAttr(attributes["function_type"]).value)
        inputs, results = [in_one_piece(t) for t in signature.inputs], [in_one_piece(t) for t in signature.results]
        attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, results, context()), context())
        entry = entry_block(function)
        for value in _values(entry) if entry is not None else ():
            if (kind := in_one_piece(value.type)) != value.type:
                value.set_type(kind)


def _values(entry: ir.Block) -> Iterator[ir.Value]:
    yield from entry.arguments
    for op in operations(entry):
        yield from op.results


def _drop_casts(function: ir.Operation) -> None:
    """Arrays that were passed to functions for run-time extents have those that they were made with."""
    entry = function.regions[0].blocks[0]
    for op in operations(entry, "memref.cast"):
        source = op.operands[0]
        if any(use.owner.operation.name in ("func.return", "func.call") for use in op.results[0].uses):
            continue
        op.results[0].replace_all_uses_with(source)
        op.erase()
    for op in operations(entry, "memref.dim"):
        memref, place = ir.MemRefType(op.operands[0].type), op.operands[1]
        if isinstance(place.owner, ir.Block) or place.owner.operation.name != "arith.constant":
            continue
        dimension = ir.IntegerAttr(place.owner.operation.attributes["value"]).value
        if 0 <= dimension < memref.rank and not memref.is_dynamic_dim(dimension):  # MLIR aborts for others
            extent = Builder.before(op).constant(index_type(), memref.shape[dimension])
            op.results[0].replace_all_uses_with(extent)
            op.erase()


def _expand_copies(function: ir.Operation) -> None:
    """Copies of whole arrays as loops."""
    for op in filter(is_copy, operations(function.regions[0].blocks[0])):
        source, target = op.operands
        memref = ir.MemRefType(source.type)
        if not memref.has_static_shape:
            continue
        copy_elements(Builder.before(op), source, target, list(memref.shape))
        op.erase()


def copy_elements(builder: Builder, source: ir.Value, target: ir.Value, shape: list[int]) -> None:
    """Loops that copy an array of `shape` to one of another shape with as many elements, both in row-major order."""
    variables = loops_over(builder, shape)
    rank = len(shape)
    here = ir.AffineMap.get_identity(rank, context())
    wanted = list(ir.MemRefType(target.type).shape)
    there = here
    if wanted != shape:
        there = ir.AffineMap.get(rank, 0, expressions(reshaping(shape, wanted)), context())
    builder.affine_store(builder.affine_load(source, here, variables), target, there, variables)


def loops_over(builder: Builder, shape: list[int]) -> list[ir.Value]:
    """Nested loops over all elements; the builder stands in the innermost body afterwards."""
    variables: list[ir.Value] = []
    zero = ir.AffineMap.get(0, 0, [affine_constant(0)], context())
    for dimension, extent in enumerate(shape):
        bound = ir.AffineMap.get(0, 0, [affine_constant(extent)], context())
        names: dict[str, ir.Attribute] = {"allo.name": string_attr(f"e{dimension}")}
        loop = builder.affine_for((zero, []), (bound, []), 1, names)
        block = loop.regions[0].blocks[0]
        variables.append(block.arguments[0])
        builder.point = ir.InsertionPoint.at_block_terminator(block)
    return variables


def state_variables(module: Module) -> dict[str, ir.Operation]:
    """The declarations of the Stateful variables of a module, by their symbols."""
    return {
        ir.StringAttr(op.operation.attributes["sym_name"]).value: op.operation
        for op in module.mlir.body.operations
        if op.operation.name == "memref.global" and "constant" not in op.operation.attributes
    }


def _state_to_arguments(
    module: Module, order: Sequence[str]
) -> tuple[tuple[str, ...], tuple[Bits | None, ...]]:
    """Make Stateful variables arguments, which the outside gives and gets back; their symbols and first values."""
    variables = state_variables(module)
    if not variables:
        return (), ()
    function = module.function(module.top)
    entry = entry_block(function)
    assert entry is not None
    names, taken = argument_names(function), set(buffers_of(function))
    uses: dict[str, list[ir.Operation]] = {}
    for op in operations(entry):
        if op.name == "memref.get_global" and (symbol := _symbol(op)) in variables:
            uses.setdefault(symbol, []).append(op)
    made: dict[str, str] = {}  # symbols and names
    for symbol, ops in uses.items():
        given = string_of(ops[0], "allo.name") or symbol
        known = {*names, *made.values()}
        made[symbol] = given if given not in known else unique_name(given, {*known, *taken})
    if sorted(order) == sorted(made.values()):
        made = dict(sorted(made.items(), key=lambda item: list(order).index(item[1])))
    for symbol in made:
        argument = entry.add_argument(uses[symbol][0].results[0].type, uses[symbol][0].location)
        for op in uses[symbol]:
            op.results[0].replace_all_uses_with(argument)
            op.erase()
    names.extend(made.values())
    starts = tuple(_start(variables[symbol]) for symbol in made)
    for symbol in made:
        if not any(f.operation != function.operation and entry_block(f) is not None for f in module.functions()):
            variables[symbol].erase()
    write_signature(function, names)
    return tuple(made), starts


def _symbol(op: ir.Operation) -> str:
    return str(ir.FlatSymbolRefAttr(op.attributes["name"]).value)


def _start(variable: ir.Operation) -> Bits | None:
    """The first value of a variable, which the module may leave open."""
    given = variable.attributes
    if "initial_value" not in given or not isinstance(given["initial_value"], ir.DenseElementsAttr):
        return None
    element = scalar_from_mlir(ir.MemRefType(ir.TypeAttr(given["type"]).value).element_type)
    return element_bits(given["initial_value"], element.bits)


def write_signature(function: ir.OpView, names: list[str]) -> None:
    """Make the signature that of the arguments, under these names, and of what is returned."""
    entry = entry_block(function)
    assert entry is not None
    attributes = function.operation.attributes
    end = entry.operations[len(entry.operations) - 1].operation
    inputs, results = [a.type for a in entry.arguments], [v.type for v in end.operands]
    attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, results, context()), context())
    marks = [ir.DictAttr.get({"allo.name": string_attr(name)}, context()) for name in names]
    attributes["arg_attrs"] = ir.ArrayAttr.get(marks, context())
