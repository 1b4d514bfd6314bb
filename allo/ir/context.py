"""The MLIR context of the process: made on first use, with the `allo` dialect."""

from __future__ import annotations

from functools import cache
from threading import Lock

from mlir import ir

from allo import _mlir

_MAKING = Lock()
_MADE: list[ir.Context] = []


@cache
def context() -> ir.Context:
    """The context shared by all modules of the process (making one costs 10 ms)."""
    with _MAKING:  # threads that ask for it first, at the same time, get the same one
        if not _MADE:
            made = ir.Context()
            _mlir.load(made)
            _mlir.use_calling_threads(made)
            _MADE.append(made)
        return _MADE[0]


@cache
def unknown_location() -> ir.Location:
    """The location of operations that stand for no line of a kernel."""
    return ir.Location.unknown(context())
