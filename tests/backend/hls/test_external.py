"""External kernels in HLS C++: their files come along, and the simulation computes what the CPU computes."""

# ruff: noqa: F821 - kernels declare arrays without a value

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import allo
from allo.errors import DataflowError, TargetError
from allo.ir.types import Fixed, Int, UInt, float16, float32, float64, int5, int7, int16, int32, uint8, uint12

if shutil.which("g++") is None:
    pytest.skip("the simulation needs g++", allow_module_level=True)
SOURCES = Path(__file__).parents[1] / "external" / "sources"
vadd = allo.IPModule("vadd", SOURCES / "vadd.cpp", link_hls=True)
trace = allo.IPModule("math::trace", SOURCES / "vadd.cpp")
fill = allo.IPModule("fill<short>", SOURCES / "vadd.cpp")
checked = allo.IPModule("checked", SOURCES / "vadd.cpp")
double_all = allo.IPModule("double_all", SOURCES / "narrow.cpp")
total = allo.IPModule("sum", SOURCES / "narrow.cpp")
twice = allo.IPModule("twice", SOURCES / "streams.cpp")
pairs = allo.IPModule("pairs", SOURCES / "streams.cpp")


def simulated(s: allo.Schedule) -> allo.HLSModule:
    return s.build(target="vitis_hls", mode="csim")


def ints(count: int = 32) -> np.ndarray:
    return np.arange(count, dtype=np.int32)


def several(A: int32[32], M: float32[4, 3], x: int16) -> float32:
    """A function of a namespace, an instance of a template and a reference, all of one file."""
    C: int32[32]
    seen: int32[1] = 4
    square: int16[2, 3] = 0
    vadd(A, A, C)
    checked(C[3], seen)
    fill(square, 5, x)
    return trace(M, 0.5) + seen[0] + square[1, 1] + square[1, 2]


def test_functions_of_one_file() -> None:
    s = allo.customize(several)
    M = np.arange(12, dtype=np.float32).reshape(4, 3)
    assert simulated(s)(ints(), M, -7) == s.build()(ints(), M, -7)


wide = Int(100)


def narrow(A: int5[2, 3], C: uint12[3], W: wide[1], S: int7[2], start: int7) -> int7:
    B: int5[2, 3] = 0
    double_all(A, B, C, W, 1)
    return total(S, start) + B[0, 1]


def test_types_of_hls_tools() -> None:
    s = allo.customize(narrow)
    results = []
    for built in (simulated(s), s.build()):
        A, C = np.array([[-3, 2, 7], [-8, 9, -16]], np.int8), np.array([0, 4095, 7], np.uint16)
        W, S = np.array([-(1 << 80)], object), np.array([1, -60], np.int8)
        results.append((built(A, C, W, S, -7), C.tolist(), W.tolist()))
    assert results[0] == results[1] and results[0][1] == [1, 0, 8]


def stages(A: int32[2, 4], D: int32[2, 4]):
    B: int32[2, 4]
    C: int32[2, 4]
    for i, j in allo.grid(2, 4, name="first"):
        B[i, j] = A[i, j] + 1
    twice(B, C, 8)
    for i, j in allo.grid(2, 4, name="last"):
        D[i, j] = C[i, j] - 1


@pytest.mark.parametrize("fifos", [pytest.param(False, marks=pytest.mark.slow), True])
def test_streams(fifos: bool) -> None:
    s = allo.customize(stages)
    if fifos:
        s.relay("B", "twice", depth=2)
        s.relay("C", "last")
    built = simulated(s)
    assert ("twice_call(hls::stream<int32_t> &in, hls::stream<int32_t> &out, " in built.hls_code) == fifos
    A, D = ints(8).reshape(2, 4), np.zeros((2, 4), np.int32)
    built(A, D)
    assert (D == 2 * (A + 1) - 1).all()


def starved(A: int32[8], D: int32[9]):
    twice(A, D, 9)


def test_an_empty_stream() -> None:
    with pytest.raises(DataflowError, match="the stream 'in' is empty where it is read, after 8 elements"):
        simulated(allo.customize(starved))(ints(8), np.zeros(9, np.int32))


@pytest.mark.parametrize(
    ("thrown", "message"),
    [('std::runtime_error("too cold")', "too cold"), ("5", "an exception that is no std::exception")],
)
def test_exceptions(thrown: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "thermo.cpp").write_text(
        f"#include <stdexcept>\nint thermo(int x) {{ if (x < 0) throw {thrown}; return x; }}\n"
    )
    thermo = allo.IPModule("thermo", tmp_path / "thermo.cpp")

    def kernel(x: int32) -> int32:
        return thermo(x)

    built = simulated(allo.customize(kernel))
    with pytest.raises(RuntimeError, match=f"^the simulation of the HLS code threw: {message}$"):
        built(-1)
    assert built(4) == 4


def test_fifo_of_another_type() -> None:
    def kernel(A: Int(12)[4], D: Int(64)[2]):
        B: Int(64)[2]
        pairs(A, B)
        for i in range(2, name="last"):
            D[i] = B[i]

    s = allo.customize(kernel)
    s.relay("B", "last")
    with pytest.raises(TargetError) as caught:
        s.build(target="vhls")
    message = caught.value.diagnostics[0]
    assert message.message == (
        "parameter 'out' of the external kernel 'pairs' is `hls::stream<long, 4> &`, and the generated code has "
        "`hls::stream<int64_t>` there"
    )
    assert message.hint == "declare it as `hls::stream<int64_t> &`"


def test_a_file_with_headers_in_another_folder(tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "by.h").write_text("#define BY 3\nint scaled(int x);\n")
    (tmp_path / "f.cpp").write_text('#include "by.h"\nint f(int x) { return scaled(x) + BY; }\n')
    (tmp_path / "more.cpp").write_text('#include "by.h"\nint scaled(int x) { return BY * x; }\n')
    f = allo.IPModule("f", impls=[tmp_path / "f.cpp", tmp_path / "more.cpp"], include_paths=[tmp_path / "include"])

    def kernel(x: int32) -> int32:
        return f(x)

    built = simulated(allo.customize(kernel))
    assert built(4) == 15
    external = built.emitted.external
    assert sorted(external.files) == [
        "external/calls.cpp",
        *(f"external/source/{name}" for name in ("f.cpp", "include/by.h", "more.cpp")),
    ]
    assert external.units == ("external/source/more.cpp", "external/calls.cpp")


KINDS = [
    ("unsigned char", uint8, np.uint8, True),
    ("_Float16", float16, np.float16, False),  # of another type than `half`
    ("double", float64, np.float64, True),
    ("ap_int<5>", Int(5), np.int8, True),
    ("ap_int<8>", Int(8), np.int8, False),
    ("ap_uint<1>", UInt(1), np.uint8, True),
    ("ap_fixed<12, 4>", Fixed(12, 8), np.float64, True),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind", "dtype", "same"), KINDS, ids=[case[0] for case in KINDS])
def test_elements_of_all_types(name: str, kind: Any, dtype: Any, same: bool, tmp_path: Path) -> None:
    """Types of C++ that are ours by another name pass as they are; arrays of others are copied."""
    headers = "#include <ap_int.h>\n#include <ap_fixed.h>\n#include <hls_stream.h>\n"
    body = "for (int i = 0; i < 4; ++i) b << (last[i % 2] = a.read());"
    function = f"void f(hls::stream<{name}> &a, hls::stream<{name}> &b, {name} last[2]) {{ {body} }}\n"
    (tmp_path / "f.cpp").write_text(headers + function)
    f = allo.IPModule("f", tmp_path / "f.cpp")

    def through(A: kind[4], D: kind[4], E: kind[2]):
        B: kind[4]
        C: kind[4]
        for i in range(4, name="first"):
            B[i] = A[i]
        f(B, C, E)
        for i in range(4, name="last"):
            D[i] = C[i]

    values = np.array([1, 0, 1, 1], dtype)
    for fifos in (False, True):
        s = allo.customize(through)
        if fifos:
            s.relay("B", "f")
            s.relay("C", "last")
        if fifos and not same:
            with pytest.raises(TargetError, match="and the generated code has"):
                simulated(s)
            continue
        D, E = np.zeros(4, dtype), np.zeros(2, dtype)
        simulated(s)(values, D, E)
        assert D.tolist() == values.tolist() and E.tolist() == [1, 1]


def test_a_project_has_the_files(tmp_path: Path) -> None:
    """They are simulated in the project, and its scripts name them."""
    folder = tmp_path / "project"
    built = allo.customize(several).build(target="vitis_hls", mode="csim", project=str(folder))
    M = np.arange(12, dtype=np.float32).reshape(4, 3)
    assert built(ints(), M, -7) == allo.customize(several).build()(ints(), M, -7)
    assert (folder / "external" / "source" / "vadd.cpp").read_text() == (SOURCES / "vadd.cpp").read_text()
    scripts = [path.read_text() for path in folder.rglob("*.tcl")]
    assert any("external/calls.cpp" in text and "-Iexternal/source" in text for text in scripts)


def test_a_tool_with_other_fifos() -> None:
    s = allo.customize(stages)
    assert "twice_call(" in s.build(target="catapult").hls_code
    s.relay("B", "twice")
    with pytest.raises(TargetError) as caught:
        s.build(target="catapult")
    message = caught.value.diagnostics[0]
    assert message.message == (
        "the external kernel 'twice' takes an hls::stream, and the code for this tool has other FIFOs"
    )
    assert message.hint == "leave out relay; it takes and fills arrays then"
