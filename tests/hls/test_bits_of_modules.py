"""Bits in modules that kernels are not written as: what is made wider with its sign, and floats seen as integers."""

from __future__ import annotations

import shutil

import ml_dtypes
import numpy as np
import pytest

from allo.backend.cpu import MANIFEST as CPU
from allo.backend.hls.module import HLSModule
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
