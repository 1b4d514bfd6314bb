"""Marks of the arrays of a core: those with the same mark are one, in all tasks of the core."""

from __future__ import annotations

from mlir import ir

from ...ir.builder import string_attr
from .constants import constant_place
from .localize import places_of_arrays

SHARED = "allo.x_shared"  # of an array: its place in the memory of a core
FROM_ZERO = "allo.x_from_zero"  # of an array of one number that is 0 when the core begins


def mark_places(block: ir.Block, apart: str = "") -> None:
    """Mark the arrays that a function makes with their places, `apart` from those of tasks that run at once."""
    for op, place in places_of_arrays(block):
        if SHARED not in op.attributes:
            op.attributes[SHARED] = string_attr(place if constant_place(op) is not None else place + apart)
