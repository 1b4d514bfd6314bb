"""Which arguments a function writes, itself or through the functions it calls."""

from __future__ import annotations

from mlir import ir

from .linalg import is_structured, output_count
from .module import Module
from .walk import argument_names, entry_block, operations

# what is another look at an array: its elements in other types, places or extents
VIEWS = frozenset({
    "memref.cast", "memref.subview", "memref.collapse_shape", "memref.expand_shape", "memref.reinterpret_cast",
    "memref.transpose", "memref.view", "allo.element_cast",
})  # fmt: skip


def written_arguments(
    module: Module, name: str, known: dict[str, frozenset[int]] | None = None
) -> frozenset[int]:
    """The positions of the arguments of function `name` whose arrays it may store to.

    `known` keeps the answers for other functions of the module between calls.
    """
    answers = {} if known is None else known
    if name in answers:
        return answers[name]
    entry = entry_block(module.function(name))
    if entry is None:  # a declaration: nothing is known of its body
        names = argument_names(module.function(name))
        return frozenset(range(len(names))) - read_only_arguments(module.function(name).operation)
    written: set[ir.Value] = set()
    for op in operations(entry):
        if op.name in ("affine.store", "memref.store", "memref.copy"):
            written.add(op.operands[1])
        elif is_structured(op):
            written.update(list(op.operands)[-output_count(op) :])
        elif op.name == "func.call":
            callee = ir.FlatSymbolRefAttr(op.attributes["callee"]).value
            for position in sorted(written_arguments(module, callee, answers)):
                written.add(op.operands[position])
    sources = {array_of(value) for value in written}
    answers[name] = frozenset(p for p, argument in enumerate(entry.arguments) if argument in sources)
    return answers[name]


def read_only_arguments(declaration: ir.Operation) -> frozenset[int]:
    """The positions of the arguments that a function without a body promises to read only."""
    if "arg_attrs" not in declaration.attributes:
        return frozenset()
    marks = ir.ArrayAttr(declaration.attributes["arg_attrs"])
    return frozenset(position for position, mark in enumerate(marks) if "llvm.readonly" in ir.DictAttr(mark))


def array_of(value: ir.Value) -> ir.Value:
    """The array that `value` is, or is a look at."""
    while not isinstance(value.owner, ir.Block) and value.owner.operation.name in VIEWS:
        value = value.owner.operation.operands[0]
    return value
