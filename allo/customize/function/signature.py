"""Arguments of a function, changed together with what its calls pass for them."""

from __future__ import annotations

from mlir import ir

from ...ir.access import callee_name
from ...ir.builder import Builder, string_attr
from ...ir.context import context
from ...ir.module import Module
from ...ir.names import unique_name
from ...ir.walk import argument_names, buffers_of, entry_block, string_of
from .calls import calls_of


def own_callee(module: Module, call: ir.Operation) -> ir.OpView:
    """The function that `call` calls; if others call it too, a copy of it under a new name, for this call alone."""
    name = callee_name(call)
    function = module.function(name)
    if len(calls_of(module, name)) == 1:
        return function
    copy = function.operation.clone(ir.InsertionPoint(function.operation))
    made = unique_name(name, set(module.names()))
    copy.attributes["sym_name"] = string_attr(made)
    copy.move_after(function.operation)
    call.attributes["callee"] = ir.FlatSymbolRefAttr.get(made, context())
    return copy.opview


def set_argument(function: ir.OpView, call: ir.Operation, position: int, value: ir.Value) -> ir.Value:
    """Pass `value` as an argument, which takes its type; the argument."""
    entry = entry_block(function)
    assert entry is not None
    argument = entry.arguments[position]
    argument.set_type(value.type)
    call.operands[position] = value
    _retype(function, entry, argument_names(function))
    return argument


def add_argument(function: ir.OpView, call: ir.Operation, value: ir.Value, name: str) -> ir.Value:
    """Pass `value` as one more argument; the argument."""
    entry = entry_block(function)
    assert entry is not None
    names = argument_names(function)
    names.append(unique_name(name, {*names, *buffers_of(function)}))
    argument = entry.add_argument(value.type, call.location)
    _retype(function, entry, names)
    results = [result.type for result in call.results]
    attributes = dict(call.attributes.items())
    made = Builder.before(call).op("func.call", results, [*call.operands, value], attributes)
    for old, new in zip(list(call.results), list(made.results), strict=True):
        old.replace_all_uses_with(new)
    call.erase()
    return argument


def result_to_argument(module: Module, call: ir.Operation) -> ir.Value | None:
    """Let the caller make the array that is the only result of `call`: the new array; None if the callee returns
    something else than an array that it makes itself."""
    function = own_callee(module, call)
    entry = entry_block(function)
    returned = list(entry.operations)[-1].operation if entry is not None else None
    if returned is None or len(returned.operands) != 1 or isinstance(returned.operands[0].owner, ir.Block):
        return None
    made = returned.operands[0].owner.operation
    if made.name == "func.call" and len(made.results) == 1 and made.block == entry:
        array = result_to_argument(module, made)  # of the function that makes the array
        if array is None:
            return None
        made = array.owner.operation
    if made.name != "memref.alloc" or made.block != entry:
        return None
    name = string_of(made, "allo.name") or "result"
    array = Builder.before(call).alloc(ir.MemRefType(made.results[0].type), string_of(call, "allo.name") or name)
    call.results[0].replace_all_uses_with(array)
    Builder.before(returned).op("func.return")
    returned.erase()
    del call.attributes["allo.name"]
    call = _without_results(function, call)
    made.attributes["allo.name"] = string_attr("")  # so that the name is free
    argument = add_argument(function, call, array, name)
    made.results[0].replace_all_uses_with(argument)
    made.erase()
    return array


def _without_results(function: ir.OpView, call: ir.Operation) -> ir.Operation:
    """Drop the results of a function, and of its call; the new call."""
    attributes = function.operation.attributes
    inputs = ir.FunctionType(ir.TypeAttr(attributes["function_type"]).value).inputs
    attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, [], context()), context())
    if "res_attrs" in attributes:
        del attributes["res_attrs"]
    made = Builder.before(call).op("func.call", (), list(call.operands), dict(call.attributes.items()))
    call.erase()
    return made


def _retype(function: ir.OpView, entry: ir.Block, names: list[str]) -> None:
    """Write the types of the arguments, and their names, into the signature."""
    attributes = function.operation.attributes
    results = ir.FunctionType(ir.TypeAttr(attributes["function_type"]).value).results
    inputs = [argument.type for argument in entry.arguments]
    attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, results, context()), context())
    known = list(ir.ArrayAttr(attributes["arg_attrs"])) if "arg_attrs" in attributes else []
    named = [ir.DictAttr.get({"allo.name": string_attr(name)}, context()) for name in names]
    attributes["arg_attrs"] = ir.ArrayAttr.get([*known, *named[len(known) :]], context())
