"""Constant arrays of tasks: arrays in the memory of a core that have their elements before it begins."""

from __future__ import annotations

import hashlib

from mlir import ir

from ...errors import TargetError
from ...ir.access import global_name
from ...ir.builder import Builder, segments_attr, string_attr, unit_attr
from ...ir.context import context
from ...ir.dense import reshaped
from ...ir.module import Module
from ...ir.walk import entry_block, location_of, operations, string_of
from .idle_ends import calls_of_tasks, without_arguments, without_operands

VALUES = "allo.x_values"  # of an array: its elements, as an attribute of any shape
_KINDS = ("i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "f16", "bf16", "f32")


def constant_place(array: ir.Operation) -> str | None:
    """The place of an array that has its elements before a core begins: arrays with the same elements have one."""
    if VALUES not in array.attributes:
        return None
    text = f"{array.results[0].type} {array.attributes[VALUES]}"
    return f"constant_{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def sink_constants(module: Module) -> None:
    """Let constant arrays of the region be those of the tasks that it passes them to, in place."""
    entry = entry_block(module.function(module.top))
    assert entry is not None
    for name, own in calls_of_tasks(module).items():
        passed = [[global_name(operand) for operand in call.operands] for call in own]
        numbers = [k for k, symbol in enumerate(passed[0]) if symbol and all(row[k] == symbol for row in passed)]
        if not numbers:
            continue
        function = module.function(name)
        block = entry_block(function)
        assert block is not None
        for number in reversed(numbers):
            value = own[0].operands[number]
            made = value.owner.operation.clone(ir.InsertionPoint.at_block_begin(block))
            block.arguments[number].replace_all_uses_with(made.results[0])
        without_arguments(function, numbers)
        for call in own:
            without_operands(call, numbers)
    for op in operations(entry, "memref.get_global"):
        if not list(op.results[0].uses):
            op.erase()


def keep_constants(module: Module, source: Module, name: str) -> None:
    """Let constant arrays of a function be arrays of its own, marked with their elements, in place.

    Raises TargetError for states, and for elements of which no array can begin with values.
    """
    entry = entry_block(module.function(name))
    assert entry is not None
    for op in operations(entry, "memref.get_global"):
        symbol, at, kind = global_name(op.results[0]), location_of(op), ir.MemRefType(op.results[0].type)
        made = next(
            own.operation for own in source.mlir.body.operations
            if own.operation.name == "memref.global" and string_of(own.operation, "sym_name") == symbol
        )  # fmt: skip
        if "constant" not in made.attributes:
            raise TargetError(
                "states are not kept in cores: a program may be loaded anew for each call", at=at,
                hint="pass the array, and let the task write it back",
            )  # fmt: skip
        if str(kind.element_type) not in _KINDS:
            raise TargetError(
                f"a constant array has elements of type {kind.element_type}; cores begin with arrays of "
                f"{', '.join(_KINDS)}",
                at=at,
                hint="declare it with one of these",
            )
        marks: dict[str, ir.Attribute] = {
            "allo.name": op.attributes["allo.name"], "operandSegmentSizes": segments_attr((0, 0)),
            VALUES: made.attributes["initial_value"],
        }  # fmt: skip
        array = Builder.before(op).value("memref.alloc", kind, (), marks)
        op.results[0].replace_all_uses_with(array)
        op.erase()


def constant_text(array: ir.Operation) -> str:
    """The elements of a constant array, in its shape, as MLIR writes them without their type."""
    shape = list(ir.MemRefType(array.results[0].type).shape)
    return str(reshaped(array.attributes[VALUES], shape)).rpartition(" : ")[0]


def constants_as_globals(entry: ir.Block) -> dict[str, ir.Attribute]:
    """Let marked arrays of a function be constants of its module, in place; their types and elements, by name."""
    found: dict[str, ir.Attribute] = {}
    for op in operations(entry, "memref.alloc"):
        name = constant_place(op)
        if name is None:
            continue
        kind = ir.MemRefType(op.results[0].type)
        found[name] = reshaped(op.attributes[VALUES], list(kind.shape))
        marks = {"name": ir.FlatSymbolRefAttr.get(name, context()), "allo.name": string_attr(name)}
        op.results[0].replace_all_uses_with(Builder.before(op).value("memref.get_global", kind, (), marks))
        op.erase()
    return found


def declare_constants(module: Module, constants: dict[str, ir.Attribute]) -> None:
    """Write constants into a module."""
    builder = Builder(ir.InsertionPoint.at_block_begin(module.mlir.body))
    for name, values in constants.items():
        own = ir.ShapedType(ir.DenseElementsAttr(values).type)
        kind = ir.Type.parse(f"memref<{'x'.join(map(str, own.shape))}x{own.element_type}>", context())
        builder.op("memref.global", (), (), {
            "sym_name": string_attr(name), "sym_visibility": string_attr("private"),
            "type": ir.TypeAttr.get(kind, context()), "initial_value": values, "constant": unit_attr(),
        })  # fmt: skip
