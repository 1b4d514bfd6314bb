"""The installed package works away from the repository: a module with every kind of type is made and lowered."""

import sys
from pathlib import Path

from mlir import ir
from mlir.passmanager import PassManager

import allo
from allo import _mlir
from allo._mlir.dialects import allo as dialect

root = Path(sys.argv[1])
for module in (allo, _mlir):
    assert root not in Path(module.__file__).parents, f"{module.__name__} was imported from the repository"

with ir.Context(), ir.Location.unknown():
    assert str(dialect.FixedType.get(8, 4)) == "!allo.fixed<8, 4>"
    text = "func.func private @f(memref<4x!allo.fixed<8, 4>, #allo.partition<[cyclic 2]>>)"
    module = ir.Module.parse(text)
    PassManager.parse("builtin.module(allo-lower-types)").run(module.operation)
    assert "memref<4xi8>" in str(module)
print("the installed package works")

# and the main path: a kernel of this file, scheduled, on the CPU
import numpy as np  # noqa: E402

from allo.ir.types import float32  # noqa: E402


def gemm(A: float32[16, 8], B: float32[8, 24], C: float32[16, 24]):
    for i, j in allo.grid(16, 24):
        for k in allo.reduction(8):
            C[i, j] += A[i, k] * B[k, j]


schedule = allo.customize(gemm)
schedule.reorder("k", "j")
schedule.buffer_at(schedule.C, axis="i")
schedule.parallel("i")
random = np.random.default_rng(0)
A, B = random.random((16, 8), np.float32), random.random((8, 24), np.float32)
C = np.zeros((16, 24), np.float32)
schedule.build()(A, B, C)
np.testing.assert_allclose(C, A @ B, rtol=1e-5)
print("a scheduled kernel runs")

# what installs with it: the command, PolyBench, types for checkers; no more than what it needs
import subprocess  # noqa: E402
from importlib.metadata import version  # noqa: E402

import polybench  # noqa: E402

MEGABYTES = 10
command = Path(sys.executable).with_name("allo")
told = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
assert told.startswith(f"allo {version('allo')} "), told
assert root not in Path(polybench.__file__).parents and polybench.load("gemm").designs["best"].customized("MINI").steps
assert (Path(polybench.__file__).parent / "c" / "gemm.c").is_file()
package = Path(allo.__file__).parent
assert (package / "py.typed").is_file() and (package / "customize" / "primitives.pyi").is_file()
folders = [package, Path(polybench.__file__).parent]
sizes = {path: path.stat().st_size for folder in folders for path in folder.rglob("*") if path.is_file()}
bytecode = sum(size for path, size in sizes.items() if path.suffix == ".pyc")  # which pip makes
installed = sum(sizes.values()) - bytecode
assert installed <= MEGABYTES * 1e6, f"{installed / 1e6:.1f} MB are installed, more than {MEGABYTES}"
print(f"the command, PolyBench and types are there: {installed / 1e6:.1f} MB, {bytecode / 1e6:.1f} MB of bytecode")
