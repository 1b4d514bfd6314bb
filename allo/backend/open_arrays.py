"""Arrays whose first extent is known at run time only: pointers in C++, and numbers beside them for what is asked."""

from __future__ import annotations

from mlir import ir

from ..errors import TargetError
from ..ir.access import callee_name
from ..ir.builder import Builder, index_type, string_attr
from ..ir.context import context, unknown_location
from ..ir.module import Module
from ..ir.names import unique_name
from ..ir.walk import argument_names, buffer_location, entry_block, operations

_DYNAMIC = ir.ShapedType.get_dynamic_size()


def is_open(kind: ir.Type) -> bool:
    """Whether `kind` is an array with an extent that is not in its type."""
    return isinstance(kind, ir.MemRefType) and not kind.has_static_shape


def has_open_arrays(module: Module) -> bool:
    """Whether an argument of the entry is such an array."""
    entry = entry_block(module.function(module.top))
    return entry is not None and any(is_open(argument.type) for argument in entry.arguments)


def check_open_arrays(module: Module, allowed: bool) -> None:
    """Raises TargetError for an array whose size C++ would have to know, or that the vendor has no form for."""
    for function in module.functions():
        entry = entry_block(function)
        if entry is None:
            continue
        for name, value in zip(argument_names(function), entry.arguments, strict=True):
            if not is_open(value.type) or (allowed and _DYNAMIC not in list(ir.MemRefType(value.type).shape)[1:]):
                continue
            where = "extents behind the first" if allowed else "them all"
            raise TargetError(
                f"argument '{name}' of '{function.name.value}' has an extent that is known at run time only; the "
                f"interface of hardware needs {where}",
                at=buffer_location(value), hint="give the extents, or make them parameters of a template",
            )  # fmt: skip


def asked_extents(module: Module) -> dict[str, list[int]]:
    """The arguments of each function whose first extent it uses, or passes to one that does."""
    functions = [function for function in module.functions() if entry_block(function) is not None]
    asked: dict[str, list[int]] = {function.name.value: [] for function in functions}
    changed = True
    while changed:
        changed = False
        for function in functions:
            found = _asked(function, asked)
            changed |= found != asked[function.name.value]
            asked[function.name.value] = found
    return {name: positions for name, positions in asked.items() if positions}


def _asked(function: ir.OpView, asked: dict[str, list[int]]) -> list[int]:
    entry = entry_block(function)
    assert entry is not None
    found: set[ir.Value] = set()
    for op in operations(entry):
        if op.name == "memref.dim" and any(True for _ in op.results[0].uses):
            found.add(_cast_from(op.operands[0]))
        if op.name == "func.call":
            found.update(_cast_from(op.operands[position]) for position in asked.get(callee_name(op), ()))
    return [n for n, argument in enumerate(entry.arguments) if argument in found and is_open(argument.type)]


def pass_extents(module: Module) -> None:
    """Give functions the extents that they ask for as arguments behind the others, also in calls."""
    asked = asked_extents(module)
    for function in module.functions():
        entry = entry_block(function)
        if entry is None:
            continue
        extents = _receive(function, entry, asked.get(function.name.value, []))
        for op in list(operations(entry)):
            if op.name == "func.call" and callee_name(op) in asked:
                _pass(op, [_extent(op, op.operands[position], extents) for position in asked[callee_name(op)]])
            elif op.name == "memref.dim" and is_open(op.operands[0].type):
                if any(True for _ in op.results[0].uses):
                    op.results[0].replace_all_uses_with(_extent(op, op.operands[0], extents))
                op.erase()


def _receive(function: ir.OpView, entry: ir.Block, positions: list[int]) -> dict[ir.Value, ir.Value]:
    """The first extents of the arguments at `positions`, as new arguments."""
    if not positions:
        return {}
    names = argument_names(function)
    taken = set(names)
    attributes = function.operation.attributes
    marks = list(ir.ArrayAttr(attributes["arg_attrs"]))
    extents = {}
    for position in positions:
        extents[entry.arguments[position]] = entry.add_argument(index_type(), unknown_location())
        label = string_attr(unique_name(f"{names[position]}_extent", taken))
        marks.append(ir.DictAttr.get({"allo.name": label}, context()))
    signature = ir.FunctionType(ir.TypeAttr(attributes["function_type"]).value)
    inputs = [argument.type for argument in entry.arguments]
    made = ir.FunctionType.get(inputs, list(signature.results), context())
    attributes["function_type"] = ir.TypeAttr.get(made, context())
    attributes["arg_attrs"] = ir.ArrayAttr.get(marks, context())
    return extents


def _cast_from(array: ir.Value) -> ir.Value:
    """The array that a cast, or a cast of one, takes the extents out of the type of."""
    while not isinstance(array.owner, ir.Block) and array.owner.operation.name == "memref.cast":
        array = array.owner.operation.operands[0]
    return array


def _extent(op: ir.Operation, array: ir.Value, extents: dict[ir.Value, ir.Value]) -> ir.Value:
    """The first extent of an array, for an operation that asks for it."""
    array = _cast_from(array)
    if array in extents:
        return extents[array]
    return Builder.before(op).constant(index_type(), ir.MemRefType(array.type).shape[0])


def _pass(call: ir.Operation, extents: list[ir.Value]) -> None:
    attributes = {name: call.attributes[name] for name in call.attributes}
    results = [result.type for result in call.results]
    made = Builder.before(call).op("func.call", results, [*call.operands, *extents], attributes)
    for old, new in zip(call.results, made.results, strict=True):
        old.replace_all_uses_with(new)
    call.erase()
