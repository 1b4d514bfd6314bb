"""Decides the MLIR context of the process: one, made on first use, that knows the `allo` dialect."""

from __future__ import annotations

from functools import cache

from mlir import ir

from allo import _mlir


@cache
def context() -> ir.Context:
    """The context shared by all modules of the process (making one costs 10 ms).

    Its passes and verifiers work in one thread: handing pieces of a kernel to others costs more than their work.
    """
    made = ir.Context()
    made.enable_multithreading(False)
    _mlir.load(made)
    return made


@cache
def unknown_location() -> ir.Location:
    """The location of operations that stand for no line of a kernel."""
    return ir.Location.unknown(context())
