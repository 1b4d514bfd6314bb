"""Operations on floats that kernels do not write themselves, and conversions of all floats to all integers."""

from __future__ import annotations

import itertools
import shutil

import numpy as np
import pytest

import allo
from allo.backend.cpu import MANIFEST as CPU
from allo.backend.hls.csim.module import HLSModule
from allo.ir.module import Module
from allo.ir.types import Int, UInt, float32, int8, int32, uint8, uint64

pytestmark = [
    pytest.mark.skipif(shutil.which("g++") is None, reason="the simulation needs g++"),
    pytest.mark.slow,
]
PREDICATES = (  # in the order of their numbers
    "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true",
)  # fmt: skip
EXTREMES = ("maximumf", "minimumf", "maxnumf", "minnumf")
NUMBERS = np.array([0.0, -0.0, 1.5, -1.5, 3e38, np.inf, -np.inf, np.nan], np.float32)


def module() -> Module:
    """Each comparison as a bit of the first result; each extreme as an element of the second."""
    lines = []
    for n, predicate in enumerate(PREDICATES):
        lines += [f"%c{n} = arith.cmpf {predicate}, %a, %b : f32", f"%i{n} = arith.extui %c{n} : i1 to i32"]
        lines.append(f"affine.store %i{n}, %C[{n}] : memref<16xi32>")
    for n, name in enumerate(EXTREMES):
        lines += [f"%x{n} = arith.{name} %a, %b : f32", f"affine.store %x{n}, %X[{n}] : memref<4xf32>"]
    body = "\n".join(lines)
    return Module.parse(f"""module attributes {{allo.top = "f"}} {{
      func.func @f(%a: f32 {{allo.name = "a"}}, %b: f32 {{allo.name = "b"}}, %C: memref<16xi32> {{allo.name = "C"}},
                   %X: memref<4xf32> {{allo.name = "X"}}) {{
        {body}
        return
      }}
    }}""")


def test_all_comparisons_and_extremes() -> None:
    simulated, built = HLSModule(module(), mode="csim"), CPU.build(module(), None, {})
    for a, b in itertools.product(NUMBERS, repeat=2):
        found = [(np.zeros(16, np.int32), np.zeros(4, np.float32)) for _ in range(2)]
        simulated(a, b, *found[0])
        built(a, b, *found[1])
        np.testing.assert_array_equal(found[0][0], found[1][0], f"{a} {b}")
        np.testing.assert_array_equal(found[0][1], found[1][1], f"{a} {b}")
        if a == b == 0:  # 0.0 is above -0.0; the lowering of MLIR does not order them
            negative = [bool(np.signbit(a) and np.signbit(b)), bool(np.signbit(a) or np.signbit(b))]
            assert np.signbit(found[0][1][:2]).tolist() == negative


def casts(x: float32[40], A: int8[40], B: uint8[40], C: int32[40], D: uint64[40], E: Int(5)[40], F: UInt(90)[40]):
    for i in range(40):
        A[i] = x[i]
        B[i] = x[i]
        C[i] = x[i]
        D[i] = x[i]
        E[i] = x[i]
        F[i] = x[i]


def test_floats_outside_of_integers_become_the_nearest() -> None:
    powers = np.float32(2.0) ** np.array([4, 7, 8, 31, 32, 63, 64, 89, 90, 127], np.float32)
    x = np.concatenate([powers, -powers, np.nextafter(powers, np.float32(0)), [0.9, -0.9, -1, 254.9, -128.9, 127.5,
                        np.inf, -np.inf, np.nan, 15.99]]).astype(np.float32)  # fmt: skip
    types = [Int(8), UInt(8), Int(32), UInt(64), Int(5), UInt(90)]
    s = allo.customize(casts)
    for built in (s.build(), s.build(target="vitis_hls", mode="csim"), s.build(target="catapult", mode="csim")):
        outputs = [np.zeros(40, dtype) for dtype in (np.int8, np.uint8, np.int32, np.uint64, np.int8, object)]
        built(x, *outputs)
        for scalar, output in zip(types, outputs, strict=True):
            assert [int(v) for v in output] == [saturated(v, scalar) for v in x], scalar


def saturated(value: float, scalar: Int | UInt) -> int:
    if np.isnan(value):
        return 0
    low, bits = (-(1 << scalar.width - 1), scalar.width - 1) if isinstance(scalar, Int) else (0, scalar.width)
    return int(min(max(float(value), low), (1 << bits) - 1))
