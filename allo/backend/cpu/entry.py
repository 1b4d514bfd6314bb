"""Entry of machine code: one function without results, called with pointers and scalars."""

from __future__ import annotations

from mlir import ir

from ...customize.function.calls import call_counts
from ...ir.access import callee_name
from ...ir.builder import Builder, string_attr, unit_attr
from ...ir.context import context, unknown_location
from ...ir.module import Module
from ...ir.walk import entry_block, operations

ENTRY = "allo_entry"
_PREFIX = "kernel."
# LLVM inlines a function that is called once in any case, but first optimises it, and its caller again after that; with
# the mark it inlines first. Above so many operations it may leave the call, and one large function takes long.
_MOST_INLINED = 1000


def add_entry(module: Module) -> None:
    """Add `allo_entry(arguments..., one buffer for each result)`, which calls the kernel; make all else internal.

    The buffers are promised not to overlap (`llvm.noalias`); the caller sees to it. Functions get names that no
    function of C can have, so that a kernel called `malloc` is not taken for it.
    """
    top = module.function(module.top)
    signature = ir.FunctionType(ir.TypeAttr(top.operation.attributes["function_type"]).value)
    calls = call_counts(module)
    calls[module.top] += 1
    own = {function.name.value for function in module.functions() if entry_block(function) is not None}
    _rename_constants(module)
    for function in module.functions():
        _forget_argument_names(function)
        entry = entry_block(function)
        if entry is None:  # the entry of a library, which has its name
            continue
        if calls[function.name.value] == 1 and len(operations(entry)) <= _MOST_INLINED:
            function.operation.attributes["always_inline"] = unit_attr()
        _rename(function, own)
        function.operation.attributes["sym_visibility"] = string_attr("private")
        function.operation.attributes["llvm.linkage"] = ir.Attribute.parse(
            "#llvm.linkage<internal>", context()
        )
    results = [_buffer_of(result) for result in signature.results]
    inputs = [*signature.inputs, *results]
    no_alias = ir.DictAttr.get({"llvm.noalias": unit_attr()}, context())
    nothing = ir.DictAttr.get({}, context())
    marks = [no_alias if isinstance(t, ir.MemRefType) else nothing for t in inputs]
    builder = Builder(ir.InsertionPoint(module.mlir.body), top.operation.location)
    attributes: dict[str, ir.Attribute] = {
        "sym_name": string_attr(ENTRY),
        "function_type": ir.TypeAttr.get(ir.FunctionType.get(inputs, [], context()), context()),
        "llvm.emit_c_interface": unit_attr(),
    }
    if inputs:
        attributes["arg_attrs"] = ir.ArrayAttr.get(marks, context())
    entry = builder.op("func.func", (), (), attributes, 1)
    block = entry.regions[0].blocks.append(*inputs, arg_locs=[unknown_location()] * len(inputs))
    builder.point = ir.InsertionPoint(block)
    arguments = list(block.arguments)
    callee = ir.FlatSymbolRefAttr.get(_internal(module.top), context())
    count = len(signature.inputs)
    call = builder.op("func.call", list(signature.results), arguments[:count], {"callee": callee})
    for value, target in zip(call.results, arguments[count:], strict=True):
        if isinstance(value.type, ir.MemRefType):
            builder.op("memref.copy", (), [value, target])
        else:
            scalar_map = ir.AffineMap.get(0, 0, [], context())
            builder.affine_store(value, target, scalar_map, [])
    builder.op("func.return")


def _forget_argument_names(function: ir.OpView) -> None:
    """Take our marks from the arguments: LLVM would warn of each, with a text of the whole function that none reads."""
    attributes = function.operation.attributes
    if "arg_attrs" in attributes:
        kept = [
            ir.DictAttr.get({mark.name: mark.attr for mark in marks if not mark.name.startswith("allo.")}, context())
            for marks in map(ir.DictAttr, ir.ArrayAttr(attributes["arg_attrs"]))
        ]
        attributes["arg_attrs"] = ir.ArrayAttr.get(kept, context())


def _internal(name: str) -> str:
    """The name of a function of the module; names of LLVM have no 0."""
    return _PREFIX + _without_zeros(name)


def _without_zeros(name: str) -> str:
    """Another name for each name."""
    return name.replace("%", "%25").replace("\0", "%00")


def _rename_constants(module: Module) -> None:
    """Give constants names that LLVM takes, also where they are used."""
    for op in operations(module.mlir.body, "memref.global"):
        name = ir.StringAttr(op.attributes["sym_name"]).value
        op.attributes["sym_name"] = string_attr(_without_zeros(name))
    for op in operations(module.mlir.body, "memref.get_global"):
        name = ir.FlatSymbolRefAttr(op.attributes["name"]).value
        op.attributes["name"] = ir.FlatSymbolRefAttr.get(_without_zeros(name), context())


def _rename(function: ir.OpView, own: set[str]) -> None:
    """Prefix the name of `function`, and the names of those it calls, which are in `own` if this module has them."""
    function.operation.attributes["sym_name"] = string_attr(_internal(function.name.value))
    entry = entry_block(function)
    for op in operations(entry, "func.call") if entry is not None else ():
        called = callee_name(op)
        if called in own:
            op.attributes["callee"] = ir.FlatSymbolRefAttr.get(_internal(called), context())


def _buffer_of(result: ir.Type) -> ir.Type:
    if isinstance(result, ir.MemRefType):
        return result
    return ir.MemRefType.get([], result, loc=unknown_location())
