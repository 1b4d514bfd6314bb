"""Turns a module of the LLVM dialect into machine code that can call the run-time functions of the C++ library."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from mlir.execution_engine import ExecutionEngine
from mlir.passmanager import PassManager

from allo import _mlir

from ...ir.context import context
from ...ir.module import Module

# has the thread pool of parallel loops, and what compilers call for lack of an instruction (128-bit division, bfloat16)
_RUNTIME_LIBRARY = str(Path(_mlir.__file__).parent / "libAlloDialect.so")


@cache
def _host_features() -> PassManager:
    with context():
        manager = PassManager.parse("builtin.module(allo-host-features)")
    manager.enable_verifier(False)  # it sets one attribute, in a module that was verified when it was made
    return manager


def compile_module(module: Module, libraries: Sequence[Path] = ()) -> ExecutionEngine:
    """The engine that holds the code of `module`, optimised for this CPU; `libraries` have what else it calls."""
    tuned = module.clone()  # the text of `module` is the same on all machines
    _host_features().run(tuned.mlir.operation)
    return ExecutionEngine(tuned.mlir, opt_level=3, shared_libs=[_RUNTIME_LIBRARY, *map(str, libraries)])
