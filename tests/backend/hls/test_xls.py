"""The C++ for XLS: its text, what it computes against headers of ours, and what XLS has no form for."""

from __future__ import annotations

import shutil
from textwrap import dedent

import numpy as np
import pytest

import allo
from allo.backend.hls import HLSModule
from allo.backend.hls.vendors.xls import XLS
from allo.errors import TargetError
from allo.ir.types import Fixed, Int, float32, int8, int32
from allo.memory import Memory


def gemm(A: int8[4, 4], B: int8[4, 4]) -> int32[4, 4]:
    C: int32[4, 4] = 0
    for i, j, k in allo.grid(4, 4, 4, name="C"):
        C[i, j] += A[i, k] * B[k, j]
    return C


def scheduled() -> allo.Schedule:
    s = allo.customize(gemm)
    s.pipeline("j", initiation_interval=2)
    s.partition(s.A, dim=2)
    return s


def test_text() -> None:
    code = scheduled().build(target="xls").hls_code
    code = "\n".join(line.split("  //")[0] for line in code.splitlines())
    assert code.strip() == dedent("""
        #include <cstdint>

        #pragma hls_top
        void gemm(int8_t A[4][4], int8_t B[4][4], int32_t C[4][4]) {
        #pragma hls_unroll yes
          l_C_init_0: for (int C_init_0 = 0; C_init_0 < 4; C_init_0++) {
        #pragma hls_unroll yes
            l_C_init_1: for (int C_init_1 = 0; C_init_1 < 4; C_init_1++) {
              C[C_init_0][C_init_1] = 0;
            }
          }
        #pragma hls_unroll yes
          l_C_i: for (int i = 0; i < 4; i++) {
        #pragma hls_pipeline_init_interval 2
            l_C_j: for (int j = 0; j < 4; j++) {
        #pragma hls_unroll yes
              l_C_k: for (int k = 0; k < 4; k++) {
                C[i][j] = C[i][j] + int32_t(int16_t(int16_t(A[i][k]) * int16_t(B[k][j])));
              }
            }
          }
        }
    """).strip()


@pytest.mark.skipif(shutil.which("g++") is None, reason="the simulation needs g++")
def test_what_the_text_computes() -> None:
    def odd(A: Int(11)[4], B: Fixed(12, 4)[4]) -> Fixed(24, 8)[4]:
        C: Fixed(24, 8)[4] = 0
        for i in range(4):
            C[i] = A[i] * B[i] + A[i][2:7]
        return C

    A, B = np.arange(32, dtype=np.int8).reshape(2, 4, 4)
    np.testing.assert_array_equal(HLSModule(scheduled().ir, mode="csim", vendor=XLS)(A, B), A.astype(int) @ B)
    s = allo.customize(odd)
    arguments = np.array([-1024, -3, 77, 1023], np.int16), np.array([0.5, -1.25, 3, 7.5])
    seen = HLSModule(s.ir, mode="csim", vendor=XLS)(*arguments)
    np.testing.assert_array_equal(seen, s.build()(*arguments))
    assert "ac_fixed<24, 16, true>" in s.build(target="xls").hls_code


def refusal(s: allo.Schedule, **options: str) -> str:
    with pytest.raises(TargetError) as caught:
        s.build(target="xls", **options)
    return str(caught.value)


def test_refusals() -> None:
    def floats(a: float32) -> float32:
        return a + 1

    assert refusal(allo.customize(floats)) == (
        "XLS computes with integers only, and the code has a float\n  hint: use Fixed"
    )
    s = allo.customize(gemm)
    s.unroll("i", factor=2)
    text = refusal(s)
    assert "XLS has no form of unroll(..., factor=n)" in text
    assert text.endswith("hint: split the loop by n and unroll the inner loop")
    s = allo.customize(gemm)
    s.bind(s.A, Memory("URAM"))
    text = refusal(s)
    assert "XLS cannot bind 'A' to URAM: arrays are values there, kept in registers" in text
    assert refusal(scheduled(), mode="csim") == "target 'xls' has no mode 'csim'\n  hint: its modes: none"
    with pytest.raises(TargetError, match="this build of 'gemm' is code only and cannot be called"):
        scheduled().build(target="xls")(np.zeros((4, 4), np.int8), np.zeros((4, 4), np.int8))
