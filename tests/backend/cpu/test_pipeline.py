"""What LLVM gets from the passes of the CPU: nothing that it does not know, and marks of what to inline first."""

from __future__ import annotations

import numpy as np
from mlir import ir

import allo
from allo.ir.context import context
from allo.ir.types import float32


def test_translation_warns_of_nothing() -> None:
    """A warning would print the whole function, for each argument."""

    def inner(x: float32[8], factor: float32):
        for i in range(8):
            x[i] = factor * x[i]

    def outer(x: float32[8]) -> float32:
        inner(x, 2.0)
        return x[1]

    built = allo.customize(outer).build()
    messages: list[str] = []

    def note(diagnostic: ir.Diagnostic) -> bool:
        messages.append(diagnostic.message)
        return True

    handler = context().attach_diagnostic_handler(note)
    try:
        assert built(np.full(8, 3.0, np.float32)) == 6.0
    finally:
        handler.detach()
    assert messages == [] and "allo.name" not in built.llvm


def test_a_function_called_once_is_inlined_before_it_is_optimised() -> None:
    def once(x: float32[8]):
        for i in range(8):
            x[i] = 2.0 * x[i]

    def twice(x: float32[8]):
        for i in range(8):
            x[i] = 1.0 + x[i]

    def outer(x: float32[8]):
        twice(x)
        once(x)
        twice(x)

    built = allo.customize(outer).build()
    marked = [line for line in built.llvm.splitlines() if "llvm.func" in line and "always_inline" in line]
    names = [name for name in ("once", "twice", "outer") if any(f"@kernel.{name}(" in line for line in marked)]
    assert names == ["once", "outer"]
    x = np.ones(8, np.float32)
    built(x)
    assert (x == 5.0).all()


def test_loops_that_llvm_leaves_as_they_are() -> None:
    def scale(x: float32[8, 8]):
        for i, j in allo.grid(8, 8):
            x[i, j] = 2.0 * x[i, j]

    schedule = allo.customize(scale)
    built = schedule.build(rolled=True)
    assert built.llvm.count("{loop_annotation = #loop_annotation}") == 2  # where the loops begin anew
    assert "loop_annotation" not in schedule.build().llvm
    x = np.ones((8, 8), np.float32)
    built(x)
    assert (x == 2.0).all()
