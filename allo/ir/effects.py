"""Which arguments a function writes, itself or through the functions it calls."""

from __future__ import annotations

from mlir import ir

from .module import Module
from .walk import entry_block, operations


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
        signature = ir.FunctionType(ir.TypeAttr(module.function(name).operation.attributes["function_type"]).value)
        return frozenset(range(len(signature.inputs)))
    written: set[ir.Value] = set()
    for op in operations(entry):
        if op.name in ("affine.store", "memref.store", "memref.copy"):
            written.add(op.operands[1])
        elif op.name == "func.call":
            callee = ir.FlatSymbolRefAttr(op.attributes["callee"]).value
            for position in sorted(written_arguments(module, callee, answers)):
                written.add(op.operands[position])
    answers[name] = frozenset(p for p, argument in enumerate(entry.arguments) if argument in written)
    return answers[name]
