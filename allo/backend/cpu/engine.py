"""Turns a module of the LLVM dialect into machine code that can call the run-time functions of the C++ library."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path

from mlir.execution_engine import ExecutionEngine

from allo import _mlir

from ...ir.module import Module

_RUNTIME_FUNCTIONS = ("allo_parallel_for",)


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(str(Path(_mlir.__file__).parent / "libAlloDialect.so"))


def compile_module(module: Module) -> ExecutionEngine:
    """The engine that holds the code of `module`, optimised for this CPU."""
    engine = ExecutionEngine(module.mlir, opt_level=3)
    for name in _RUNTIME_FUNCTIONS:
        engine.raw_register_runtime(name, ctypes.cast(getattr(_library(), name), ctypes.c_void_p))
    return engine
