"""Functions without a body that reach a backend: those that it links, and those that are nowhere defined."""

from __future__ import annotations

from collections.abc import Collection

from ..errors import TargetError
from ..ir.module import Module
from ..ir.walk import entry_block, location_of


def refuse_undefined(module: Module, linked: Collection[str]) -> None:
    """Raise TargetError for a function without a body and without one of the attributes `linked`.

    A name alone means nothing: what the process happens to have under it is not part of the program.
    """
    for function in module.functions():
        op = function.operation
        if entry_block(function) is None and not any(name in op.attributes for name in linked):
            raise TargetError(
                f"'{function.name.value}' is declared only; its body is not in the module",
                at=location_of(op), hint="write the function as a kernel, or as an allo.IPModule",
            )  # fmt: skip
