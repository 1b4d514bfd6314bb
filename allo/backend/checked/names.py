"""Names of arrays in the messages of checks."""

from __future__ import annotations

from mlir import ir

from ...ir.access import is_view
from ...ir.walk import argument_names, entry_block, string_of


class ArrayNames:
    """The arrays of a function as a user knows them."""

    def __init__(self, function: ir.OpView) -> None:
        entry = entry_block(function)
        arguments = [] if entry is None else list(entry.arguments)
        self._arguments = dict(zip(arguments, argument_names(function), strict=False))

    def of(self, array: ir.Value) -> str:
        """`'A'`, or what it is if it has no name."""
        while not isinstance(array.owner, ir.Block) and is_view(array.owner.operation):
            if (name := string_of(array.owner.operation, "allo.name")) is not None:
                return f"'{name}'"
            array = array.owner.operation.operands[0]
        if isinstance(array.owner, ir.Block):
            known = self._arguments.get(array)
        else:
            known = string_of(array.owner.operation, "allo.name")
        return "an array without a name" if known is None else f"'{known}'"
