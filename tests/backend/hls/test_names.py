"""Names of kernels that mean something else in C++, in its libraries or in the code around them."""

from __future__ import annotations

import importlib
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

import allo
from allo.backend.hls.text.names import identifier
from allo.ir.types import Int, Struct, float16, float64, int1, int8, int32, uint1

from .test_csim import assert_same


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("total", "total"), ("int32", "int32"), ("BLOCK_SIZE", "BLOCK_SIZE"), ("INT", "INT"), ("_", "_"),
        ("M_0", "M_0"),
        ("template", "template_"), ("co_await", "co_await_"), ("std", "std_"), ("ap_int", "ap_int_"),
        ("ac_int", "ac_int_"), ("uint32_t", "uint32_t_"), ("int16_t", "int16_t_"), ("struct_0", "struct_0_"),
        ("struct_1_of", "struct_1_of_"), ("struct_a", "struct_a"),
        ("M_PI", "M_PI_"), ("M_2_SQRTPI", "M_2_SQRTPI_"), ("INT8_MAX", "INT8_MAX_"),
        ("UINT_LEAST16_MAX", "UINT_LEAST16_MAX_"), ("SIZE_MAX", "SIZE_MAX_"), ("FLT_EPSILON", "FLT_EPSILON_"),
        ("DBL_MAX_10_EXP", "DBL_MAX_10_EXP_"),
        ("allo_sim", "allo_sim_"), ("allo_csim", "allo_csim_"), ("ALLO_SIM_HLS_HALF_H", "ALLO_SIM_HLS_HALF_H_"),
        ("FP_NAN", "FP_NAN_"), ("HUGE_VALF", "HUGE_VALF_"), ("_Complex", "_Complex_"), ("linux", "linux_"),
        ("Ω", "u3a9"), ("größe", "gruf6udfe"), ("a__b", "a_b"), ("i.outer", "i_outer"), ("2d", "v2d"),
    ],
)  # fmt: skip
def test_names_of_variables(name: str, found: str) -> None:
    assert identifier(name, set()) == found


@pytest.mark.parametrize(
    "name", ["fma", "ilogb", "fadd", "cbrtf", "random", "connect", "strlen", "sincos", "ptrdiff_t"]
)
def test_names_of_functions(name: str) -> None:
    assert identifier(name, set(), function=True) == f"{name}_" and identifier(name, set()) == name


def test_names_that_become_the_same_are_numbered() -> None:
    taken: set[str] = set()
    assert [identifier(name, taken) for name in ("a.b", "a_b", "a__b")] == ["a_b", "a_b_1", "a_b_2"]


Inner = Struct({"template": int8, "t": float16})
Fields = Struct({"int": int32, "M_PI": Int(9), "struct_0": int8, "λ": int32, "x__y": int8, "x_y": int8, "union": Inner})


def ilogb(x: float64) -> float64:
    return x / 3


def struct_1(int32_t: Fields[3], main: float64, stdin: int32) -> Fields[3]:
    std: Fields[3] = int32_t
    for hls in range(3):
        std[hls] = int32_t[2 - hls]
        std[hls].int = int32_t[hls].M_PI + stdin
        std[hls].x__y = int32_t[hls].x_y
        std[hls].union.template = ilogb(main) + int32_t[hls].union.t
        INT_MAX: int32 = std[hls].λ
        std[hls].λ = INT_MAX * 2
    return std


def test_fields_are_renamed() -> None:
    code = allo.customize(struct_1).build(target="vhls").hls_code
    outer = re.search(r"struct struct_1 \{\n(.*?)\};", code, re.DOTALL)
    assert outer is not None and re.findall(r"(\w+);", outer[1]) == [
        *("int_", "M_PI_", "struct_0_", "u3bb", "x_y", "x_y_1", "union_")
    ]
    assert "void struct_1_(struct_1 int32_t_[3], double main_, int32_t stdin_, struct_1 std_[3])" in code


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="the simulation needs g++")
def test_names_compile() -> None:
    """With the macros and functions of the headers that the code includes."""
    kinds = {"int": "i4", "M_PI": "i2", "struct_0": "i1", "λ": "i4", "x__y": "i1", "x_y": "i1"}
    whole = np.zeros(3, [*kinds.items(), ("union", [("template", "i1"), ("t", "f2")])])
    whole["M_PI"], whole["x_y"], whole["λ"] = [5, -200, 255], [1, 2, 3], [7, 8, 9]
    whole["union"]["t"] = [0.5, 3.25, -2]
    assert_same(allo.customize(struct_1), [(whole, 2.5, 9)])


def test_names_of_files_are_no_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A comment names the file of each line: `half.py` is no type that Intel lacks."""
    text = "from allo.ir.types import int32\n\n\ndef first(A: int32[4]) -> int32:\n    return A[0]\n"
    (tmp_path / "half.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    kernel = importlib.import_module("half").first
    monkeypatch.delitem(sys.modules, "half")
    assert "// half.py:4" in allo.customize(kernel).build(target="ihls").hls_code


UNUSED = """
module attributes {allo.top = "f"} {
  func.func @f(%A: memref<4xi32> {allo.name = "A"}) {
    %unused = affine.load %A[3] : memref<4xi32>
    %kept = affine.load %A[1] : memref<4xi32>
    affine.store %kept, %A[0] : memref<4xi32>
    %sum = arith.addi %unused, %kept : i32
    %product = arith.muli %sum, %unused : i32
    affine.store %kept, %A[2] : memref<4xi32>
    return
  }
}
"""


def test_values_that_nothing_uses_are_not_written() -> None:
    """What only they use is none either, wherever it is read."""
    code = allo.Schedule.from_mlir(UNUSED).build(target="vhls").hls_code
    assert "  int32_t t = A[1];" in code and "A[3]" not in code and code.count("=") == 3


def one(x: int1) -> int1:
    return x


def remainder(A: int1[4], B: int1[4]):
    for i in range(4):
        B[i] = A[i] % one(A[i])


def test_values_that_make_no_difference_are_not_written() -> None:
    """A remainder of one bit is 0: what it is the remainder of would be a variable that compilers warn of."""
    code = allo.customize(remainder).build(target="vhls").hls_code
    assert code.count("A[i]") == 1 and "bool t = one_result;" in code


def divided(A: int8[4], B: uint1[4]):
    for i in range(4):
        v: int8 = A[i] + 1
        B[i] = B[i] % (v <= 3)


def test_a_variable_that_only_needless_operands_read_compiles() -> None:
    A, B = np.arange(4, dtype=np.int8), np.ones(4, np.uint8)
    allo.customize(divided).build(target="vitis_hls", mode="csim")(A, B)
    assert not B.any()


def ported(a: int32[4], a_port: int32[4], port: int32, i0: int32[4]) -> int32[4]:
    B: int32[4] = 0
    for i in range(4):
        B[i] = a[i] + a_port[i] * port
        i0[i] += i
    return B


def ported_task(x: int32) -> int32:
    return x + 1


def ported_calls(A: int32[4]):
    for i in range(4):
        A[i] = ported_task(A[i])


def test_ports_of_tapa_have_the_names_of_the_arguments() -> None:
    code = allo.customize(ported).build(target="tapa").hls_code
    listed = ("a", "a_port", "i0", "B")
    wanted = [f"tapa::mmap<int32_t> {name}" for name in listed]
    wanted.insert(2, "int32_t port")
    assert f"\nvoid ported({', '.join(wanted)}) {{" in code
    assert "i0[i0_1] = i0_port[i0_1];" in code


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="the simulation needs g++")
def test_ports_of_tapa_compile() -> None:
    row = np.arange(4, dtype=np.int32)
    assert_same(allo.customize(ported), [(row, row + 1, 5, row * 3)], target="tapa")
    assert_same(allo.customize(ported_calls), [(row,)], target="tapa")
