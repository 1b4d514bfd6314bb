"""Identical programs: the same operations, whatever these do; directives alone change nothing."""

from __future__ import annotations

from ...ir.walk import ANNOTATIONS, operations
from ..program.programs import Program

_DIRECTIVES = ("allo.name", "allo.nest", "allo.memory", *ANNOTATIONS)


def are_identical(a: Program, b: Program) -> bool:
    """Whether all operations are the same, in the same order; names of loops and buffers do not count.

    It needs no knowledge of what they do: two runs of one program that begin alike end alike.
    """
    return _text(a) == _text(b)


def _text(program: Program) -> str:
    module = program.module.clone()
    for op in operations(module.mlir.body):
        for name in _DIRECTIVES:
            if name in op.attributes:
                del op.attributes[name]
    return str(module.mlir)
