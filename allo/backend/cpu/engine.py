"""Machine code of a module in the LLVM dialect, linked with the run-time functions of the C++ library."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mlir.execution_engine import ExecutionEngine

from allo import _mlir

from ...ir.module import Module
from ...ir.passes import run_passes

# has the thread pool of parallel loops, and what compilers call for lack of an instruction (128-bit division, bfloat16)
_RUNTIME_LIBRARY = str(Path(_mlir.__file__).parent / "libAlloDialect.so")


def compile_module(module: Module, libraries: Sequence[Path] = ()) -> ExecutionEngine:
    """The engine that holds the code of `module`, optimised for this CPU; `libraries` have what else it calls."""
    tuned = module.clone()  # the text of `module` is the same on all machines
    # it sets one attribute, in a module that was verified when it was made
    run_passes("builtin.module(allo-host-features)", tuned.mlir.operation, verify=False)
    return ExecutionEngine(tuned.mlir, opt_level=3, shared_libs=[_RUNTIME_LIBRARY, *map(str, libraries)])
