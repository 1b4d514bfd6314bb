"""Makes the run-time functions of the C++ library known to machine code."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path

from allo import _mlir
from mlir.execution_engine import ExecutionEngine

RUNTIME_FUNCTIONS = ("allo_parallel_for",)


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(str(Path(_mlir.__file__).parent / "libAlloDialect.so"))


def register_runtime(engine: ExecutionEngine) -> None:
    """Give `engine` the addresses of the run-time functions, before its code is compiled."""
    for name in RUNTIME_FUNCTIONS:
        address = ctypes.cast(getattr(_library(), name), ctypes.c_void_p)
        engine.raw_register_runtime(name, address)
