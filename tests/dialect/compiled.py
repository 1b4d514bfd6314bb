"""Compiles a module with `allo-lower-types` and the upstream lowerings, and calls it with NumPy arrays."""

import ctypes

import numpy as np
from mlir import ir
from mlir.execution_engine import ExecutionEngine
from mlir.passmanager import PassManager
from mlir.runtime import get_ranked_memref_descriptor

from allo import _mlir

PIPELINE = (
    "builtin.module(allo-lower-types,canonicalize,cse,lower-affine,convert-scf-to-cf,expand-strided-metadata,"
    "lower-affine,convert-arith-to-llvm,finalize-memref-to-llvm,convert-func-to-llvm,convert-cf-to-llvm,"
    "reconcile-unrealized-casts,allo-host-features)"
)


class Compiled:
    """The function `f` of a module, compiled; its text may use any type of the dialect but streams."""

    def __init__(self, text: str) -> None:
        self.module = ir.Module.parse(text)
        for op in self.module.body.operations:
            if op.operation.name == "func.func" and ir.StringAttr(op.attributes["sym_name"]).value == "f":
                op.attributes["llvm.emit_c_interface"] = ir.UnitAttr.get()
        PassManager.parse(PIPELINE).run(self.module.operation)
        self.engine = ExecutionEngine(self.module, opt_level=2, shared_libs=[_mlir.runtime_library()])

    def __call__(self, *arrays: np.ndarray) -> None:
        descriptors = [ctypes.pointer(ctypes.pointer(get_ranked_memref_descriptor(a))) for a in arrays]
        self.engine.invoke("f", *descriptors)


def elementwise(source: str, target: str, body: str, size: int, second: str | None = None) -> str:
    """Module text: `%r` of type `target` is computed from `%x` (and `%y`) by `body`, for each element."""
    arguments = f"%a: memref<{size}x{source}>, "
    load = f"%x = affine.load %a[%i] : memref<{size}x{source}>\n"
    if second is not None:
        arguments += f"%b: memref<{size}x{second}>, "
        load += f"%y = affine.load %b[%i] : memref<{size}x{second}>\n"
    return f"""
    func.func @f({arguments}%c: memref<{size}x{target}>) {{
      affine.for %i = 0 to {size} {{
        {load}
        {body}
        affine.store %r, %c[%i] : memref<{size}x{target}>
      }}
      return
    }}"""
