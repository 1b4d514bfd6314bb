"""Results of dataflow regions and their processes: each an array or a variable of its own."""

from __future__ import annotations

from functools import cache

from mlir import ir

from ....ir.access import accessed, base_of, callee_name, is_load
from ....ir.builder import Builder
from ....ir.context import context, unknown_location
from ....ir.effects import Effects
from ....ir.module import Module
from ....ir.streams import is_stream_type
from ....ir.walk import entry_block, operations, statements


@cache
def no_subscripts() -> ir.AffineMap:
    """Those of a variable."""
    return ir.AffineMap.get(0, 0, [], context())


def variable(builder: Builder, kind: ir.Type, name: str) -> ir.Value:
    """A new variable for values of type `kind`."""
    return builder.alloc(ir.MemRefType.get([], kind, loc=unknown_location()), name)


def write(builder: Builder, value: ir.Value, target: ir.Value) -> ir.Operation:
    """The store of a value to a variable."""
    return builder.op("affine.store", (), [value, target], {"map": ir.AffineMapAttr.get(no_subscripts())})


def return_arrays(module: Module, function: ir.OpView) -> None:
    """Let a function return arrays of its own and variables only, which its callers read; in place."""
    entry = entry_block(function)
    assert entry is not None
    end = statements(entry)[-1]
    seen: set[ir.Value] = set()
    for number, value in enumerate(end.operands):
        if isinstance(value.type, ir.MemRefType):
            end.operands[number] = value if _is_own(value, entry, seen) else _copied(value, end)
        elif not is_stream_type(value.type):
            end.operands[number] = _kept(module, value, entry, seen) or _written(value, end)
        seen.add(end.operands[number])
    kinds = [value.type for value in end.operands]
    kind = ir.FunctionType(ir.TypeAttr(function.operation.attributes["function_type"]).value)
    if kinds == list(kind.results):
        return
    made = ir.FunctionType.get(list(kind.inputs), kinds, context())
    function.operation.attributes["function_type"] = ir.TypeAttr.get(made, context())
    _update_calls(module, function.name.value, kinds)


def _is_own(value: ir.Value, entry: ir.Block, seen: set[ir.Value]) -> bool:
    if isinstance(value.owner, ir.Block) or value in seen:
        return False
    maker = value.owner.operation
    return maker.name in ("memref.alloc", "func.call") and maker.block == entry


def _copied(value: ir.Value, end: ir.Operation) -> ir.Value:
    builder = Builder.before(end)
    made = builder.alloc(ir.MemRefType(value.type), "result")
    builder.op("memref.copy", (), [value, made])
    return made


def _written(value: ir.Value, end: ir.Operation) -> ir.Value:
    builder = Builder.before(end)
    made = variable(builder, value.type, "result")
    write(builder, value, made)
    return made


def _kept(module: Module, value: ir.Value, entry: ir.Block, seen: set[ir.Value]) -> ir.Value | None:
    """The variable whose last value is returned, if it is one of the region itself."""
    if isinstance(value.owner, ir.Block):
        return None
    load = value.owner.operation
    if not is_load(load) or load.block != entry:
        return None
    source = accessed(load)
    if ir.MemRefType(source.type).rank or base_of(source) != source or not _is_own(source, entry, seen):
        return None
    found = statements(entry)
    behind = found[found.index(load) + 1 : -1]
    effects = Effects(module)
    return None if any(effects.place(source) in effects.touched(op).writes for op in behind) else source


def _update_calls(module: Module, name: str, kinds: list[ir.Type]) -> None:
    """Let the callers of a function read the variables that it returns."""
    for function in module.functions():
        entry = entry_block(function)
        for op in operations(entry, "func.call") if entry is not None else ():
            if callee_name(op) == name:
                _update_call(op, kinds)


def _update_call(op: ir.Operation, kinds: list[ir.Type]) -> None:
    builder = Builder.before(op)
    made = builder.op("func.call", kinds, list(op.operands), dict(op.attributes.items()))
    for old, new in zip(op.results, made.results, strict=True):
        is_number = old.type != new.type
        old.replace_all_uses_with(builder.affine_load(new, no_subscripts(), []) if is_number else new)
    op.erase()
