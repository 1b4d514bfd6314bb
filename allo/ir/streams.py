"""Types of streams, and what a function without a body says of those that it takes."""

from __future__ import annotations

import functools

from mlir import ir

from .walk import entry_block, operations

KEEPS = "allo.x_keeps"  # of what makes a stream that may have elements in it when it ends
SIDE = "allo.x_stream"  # of an argument of a declaration: "in" or "out" if the function has a stream there


@functools.cache
def is_stream_type(kind: ir.Type) -> bool:
    """A stream, or an array of streams; asked for the type of every value, of which a module has few."""
    if isinstance(kind, ir.MemRefType):
        kind = kind.element_type
    return str(kind).startswith("!allo.stream")


def is_stream(kind: ir.Type) -> bool:
    """A stream, and not an array of streams."""
    return is_stream_type(kind) and not isinstance(kind, ir.MemRefType)


def uses_streams(function: ir.OpView) -> bool:
    """Whether a function makes, takes or uses a stream."""
    entry = entry_block(function)
    if entry is None:
        return False
    if any(is_stream_type(argument.type) for argument in entry.arguments):
        return True
    return any(is_stream_type(result.type) for op in operations(entry) for result in op.results)


def declared_sides(function: ir.OpView) -> dict[int, str]:
    """The arguments that are streams in a function without a body: "in" if it gets from them, "out" if it puts."""
    attributes = function.operation.attributes
    marks = list(ir.ArrayAttr(attributes["arg_attrs"])) if "arg_attrs" in attributes else []
    found = {k: ir.DictAttr(mark) for k, mark in enumerate(marks)}
    return {k: ir.StringAttr(mark[SIDE]).value for k, mark in found.items() if SIDE in mark}
