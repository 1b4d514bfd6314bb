"""Outlined statements: loop nests of dataflow graphs as functions, for vendors whose graphs are calls."""

from __future__ import annotations

from mlir import ir

from ....ir.module import Module
from ....ir.names import unique_name
from ....ir.streams import is_stream_type
from ....ir.walk import argument_names, entry_block
from ...outlining import nest_name, outline
from .dies import DIE

_LOOPS = ("affine.for", "scf.for", "scf.while", "affine.if", "scf.if")


def outline_tasks(module: Module) -> None:
    """Make each nest of a function that is a dataflow graph a function of its own, in place.

    The function of nest `last` of `chain` is called `chain_last`; it takes what the nest uses.
    """
    for function in list(module.functions()):
        entry = entry_block(function)
        if entry is None or not is_graph(function):
            continue
        names = dict(zip(entry.arguments, argument_names(function), strict=True))
        taken = set(module.names())
        for view in list(entry.operations):
            op = view.operation
            if op.name in _LOOPS and not len(op.results):
                symbol = unique_name(f"{function.name.value}_{nest_name(op)}", taken)
                die = op.attributes.get(DIE, None)
                call = outline(function, [op], symbol, names)
                if die is not None:
                    call.attributes[DIE] = die


def is_graph(function: ir.OpView) -> bool:
    """Whether the statements of a function are tasks: it is marked so, or it makes streams."""
    entry = entry_block(function)
    if entry is None:
        return False
    made = (result for op in entry.operations for result in op.operation.results)
    return "allo.dataflow" in function.operation.attributes or any(
        is_stream_type(value.type) and value.owner.operation.name != "affine.load" for value in made
    )
