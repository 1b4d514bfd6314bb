"""Modules that kernels are not written as: bits that are made wider, floats seen as integers, indices of 64 bits."""

from __future__ import annotations

import shutil

import ml_dtypes
import numpy as np
import pytest

from allo.backend.cpu import MANIFEST as CPU
from allo.backend.hls.csim.module import HLSModule
from allo.ir.module import Module

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="the simulation needs g++")

SOURCE = """
module attributes {allo.top = "f"} {
  func.func @f(%x: memref<2xf32> {allo.name = "x"}, %h: memref<2xbf16> {allo.name = "h"},
               %A: memref<6xi32> {allo.name = "A"}, %B: memref<2xbf16> {allo.name = "B"}) {
    %true = arith.constant true
    %0 = arith.extsi %true : i1 to i32
    %1 = arith.extui %true : i1 to i32
    affine.store %0, %A[0] : memref<6xi32>
    affine.store %1, %A[1] : memref<6xi32>
    %a = affine.load %x[0] : memref<2xf32>
    %b = affine.load %x[1] : memref<2xf32>
    %unordered = arith.cmpf ult, %a, %b : f32
    %2 = arith.extsi %unordered : i1 to i32
    %3 = arith.extui %unordered : i1 to i32
    affine.store %2, %A[2] : memref<6xi32>
    affine.store %3, %A[3] : memref<6xi32>
    affine.for %i = 0 to 2 {
      %c = affine.load %h[%i] : memref<2xbf16>
      %bits = allo.bitcast %c : bf16 to i16
      %4 = arith.extsi %bits : i16 to i32
      affine.store %4, %A[%i + 4] : memref<6xi32>
      %one = arith.constant 1 : i16
      %next = arith.addi %bits, %one : i16
      %d = allo.bitcast %next : i16 to bf16
      affine.store %d, %B[%i] : memref<2xbf16>
    } {allo.name = "i"}
    return
  }
}
"""


def test_as_on_the_cpu_and_by_hand() -> None:
    for built in (HLSModule(Module.parse(SOURCE), mode="csim"), CPU.build(Module.parse(SOURCE), None, {})):
        for x, less in (((1, 2), 1), ((2, 1), 0), ((np.nan, 1), 1)):
            A, B = np.zeros(6, np.int32), np.zeros(2, ml_dtypes.bfloat16)
            built(np.array(x, np.float32), np.array([1.0, -2.0], ml_dtypes.bfloat16), A, B)
            assert A.tolist() == [-1, 1, -less, less, 0x3F80, 0xC000 - 0x10000]
            assert B.view(np.uint16).tolist() == [0x3F81, 0xC001]


INDEX_OPERATIONS = (
    "addi", "subi", "muli", "divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "shli", "shrsi", "shrui",
    "andi", "ori", "xori", "minsi", "minui", "maxsi", "maxui",
)  # fmt: skip


def of_indices() -> Module:
    """Each operation on the arguments, and on what was computed from them."""
    lines, count = [], len(INDEX_OPERATIONS)
    for k, name in enumerate(INDEX_OPERATIONS):
        lines += [f"%a{k} = arith.{name} %n, %m : index", f"%b{k} = arith.index_cast %a{k} : index to i64"]
        lines += [f"%c{k} = arith.{name} %sum, %five : index", f"%d{k} = arith.index_cast %c{k} : index to i64"]
        lines += [f"affine.store %b{k}, %A[{k}] : memref<{2 * count}xi64>"]
        lines += [f"affine.store %d{k}, %A[{k + count}] : memref<{2 * count}xi64>"]
    body = "\n".join(lines)
    return Module.parse(f"""module attributes {{allo.top = "f"}} {{
      func.func @f(%n: index {{allo.name = "n"}}, %m: index {{allo.name = "m"}},
                   %A: memref<{2 * count}xi64> {{allo.name = "A"}}) {{
        %five = arith.constant 5 : index
        %sum = arith.addi %n, %m : index
        {body}
        return
      }}
    }}""")


def test_indices_as_on_the_cpu() -> None:
    simulated, built = HLSModule(of_indices(), mode="csim"), CPU.build(of_indices(), None, {})
    for n, m in ((7, 3), (-7, 3), (7, 40), (-(1 << 40) - 1, 9), (1 << 40, 33)):
        found = [np.zeros(2 * len(INDEX_OPERATIONS), np.int64) for _ in range(2)]
        simulated(n, m, found[0])
        built(n, m, found[1])
        np.testing.assert_array_equal(found[0], found[1], f"{n} {m}")
        assert found[0][INDEX_OPERATIONS.index("shrui")] == (n % (1 << 64)) >> m
