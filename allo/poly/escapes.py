"""Escapes of accesses: whether one may leave its array, on which side of which dimension."""

from __future__ import annotations

from mlir import ir

from .linear import Linear, Row
from .model import Access, Model
from .systems import feasible


def escapes(model: Model, op: ir.Operation | ir.OpView) -> tuple[tuple[bool, bool], ...]:
    """Per dimension, whether the access of an operation may be below and above the array.

    The iterations and the elements may be over-approximated, so False is sure. An unknown extent may be left.
    """
    access = next(access for access in model.accesses if access.op == op.operation)
    found = []
    for subscript, extent in zip(access.subscripts, access.buffer.shape, strict=True):
        below = _happens(access, subscript.scaled(-1).plus(-1))
        found.append((below, extent is None or _happens(access, subscript.plus(-extent))))
    return tuple(found)


def _happens(access: Access, form: Linear) -> bool:
    """Is the form 0 or more in some iteration?"""
    return any(feasible([*piece, *access.rows, Row(form)]) for piece in access.pieces)
