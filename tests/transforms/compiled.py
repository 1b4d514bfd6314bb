"""Runs passes on the text of a function `f`, and the function on NumPy arrays."""

import ctypes
import textwrap
from pathlib import Path

import numpy as np
from mlir import ir
from mlir.execution_engine import ExecutionEngine
from mlir.passmanager import PassManager

from allo import _mlir

LIBRARY = Path(_mlir.__file__).parent / "libAlloDialect.so"
LOWERING = (
    "lower-affine,canonicalize,cse,convert-scf-to-cf,convert-vector-to-llvm,convert-arith-to-llvm,convert-cf-to-llvm,"
    "finalize-memref-to-llvm{use-aligned-alloc=1},convert-func-to-llvm{use-bare-ptr-memref-call-conv=1},"
    "reconcile-unrealized-casts,allo-parallel-runtime"
)


def run_passes(text: str, passes: str) -> ir.Module:
    module = ir.Module.parse(text)
    PassManager.parse(f"builtin.module({passes})").run(module.operation)
    return module


def on_function(text: str, passes: str) -> str:
    """The statements of the only function after passes on it, as text without the common indentation."""
    lines = str(run_passes(text, f"func.func({passes})")).splitlines()
    first = next(number for number, line in enumerate(lines) if "func.func" in line)
    return textwrap.dedent("\n".join(lines[first + 1 : -3])).strip()


def skeleton(body: str) -> str:
    """The loops and stores of printed statements: what is done, in which order."""
    kept = (line for line in body.splitlines() if "affine.for" in line or "affine.store" in line)
    return "\n".join(line.split(" : memref")[0].removesuffix(" {") for line in kept)


class Compiled:
    """The function `f` of a module after `passes`, compiled: called with arrays of its element types."""

    def __init__(self, text: str, passes: str = "") -> None:
        module = run_passes(text, ",".join(filter(None, [passes, LOWERING])))
        self.engine = ExecutionEngine(module, opt_level=2, shared_libs=[str(LIBRARY)])
        self.entry = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.engine.raw_lookup("f"))

    def __call__(self, *arrays: np.ndarray) -> None:
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
        slots = [ctypes.cast(ctypes.pointer(pointer), ctypes.c_void_p) for pointer in pointers]
        self.entry((ctypes.c_void_p * len(slots))(*slots))
