"""Refusal of kernels with a subscript that surely leaves its array: on a CPU it would corrupt memory."""

from __future__ import annotations

from ...errors import Diagnostic, KernelError, Location
from ...ir.module import Module
from ...poly import OutOfBounds, model_of, out_of_bounds


def check_bounds(module: Module, inside: frozenset[str] = frozenset()) -> None:
    """Raises KernelError with every affine access that leaves its array in some iteration.

    `inside` names functions known to have none. Subscripts and conditions that depend on run-time values are not
    judged.
    """
    judged = [name for name in module.names() if name not in inside]
    found = [escape for name in judged for escape in out_of_bounds(model_of(module, name))]
    if found:
        raise KernelError.collected(_diagnostic(escape) for escape in found)


def _diagnostic(escape: OutOfBounds) -> Diagnostic:
    source = escape.access.source
    iteration = ", ".join(f"{name}={value}" for name, value in escape.iteration)
    when = f" when {iteration}" if iteration else ""
    name = f"dimension {escape.dimension} of '{escape.access.buffer.name}'"
    has = f"{name} starts at 0" if escape.extent is None else f"{name} has {escape.extent} elements"
    return Diagnostic(
        f"{escape.access.text} is outside of the array: subscript {escape.dimension} is {escape.value}{when}, "
        f"but {has}",
        Location(source.file, source.line, source.column) if source.line else None,
        "change the bounds of the loop, or guard the access with `if`",
    )
