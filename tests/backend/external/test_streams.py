"""External kernels with `hls::stream` parameters: arrays of elements, and FIFOs that `relay` makes."""

# ruff: noqa: F821 - kernels declare arrays without a value

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import allo
from allo.backend.cpu import LLVMModule
from allo.errors import DataflowError, KernelError, ScheduleError
from allo.ir.module import Module
from allo.ir.types import Fixed, Int, UInt, float16, float64, int32, uint8
from allo.ir.types import bool as bool_type

if shutil.which(os.environ.get("CXX", "g++").split()[0]) is None:
    pytest.skip("there is no C++ compiler", allow_module_level=True)
twice = allo.IPModule("twice", "sources/streams.cpp")
pairs = allo.IPModule("pairs", "sources/streams.cpp")
merge = allo.IPModule("merge<float>", "sources/streams.cpp")


def ints(count: int = 8) -> np.ndarray:
    return np.arange(count, dtype=np.int32)


def test_directions_are_found_in_the_body() -> None:
    """Also through a helper that gets the stream."""
    assert repr(twice) == "IPModule twice(in: Stream[int32] in, out: Stream[int32] out, count: int32)"
    assert repr(pairs) == "IPModule pairs(in: Stream[int12] in, out: Stream[int64] out)"
    assert repr(merge).startswith("IPModule merge<float>(a: Stream[float32] in, b: Stream[float32] in, both: ")


def test_arrays_of_elements() -> None:
    out = np.zeros((2, 4), np.int32)
    twice(ints(), out, 8)
    assert out.tolist() == [[0, 2, 4, 6], [8, 10, 12, 14]]


def test_elements_of_hls_types() -> None:
    out = np.zeros(2, np.int64)
    pairs(np.array([-2048, 2047, -3, 5], np.int16), out)
    assert out.tolist() == [-2048 * 2047, -15]


def test_two_streams_of_a_template() -> None:
    both = np.zeros(4, np.float32)
    merge(np.array([1, 2], np.float32), np.array([3, 4], np.float32), both, 2)
    assert both.tolist() == [1, 3, 2, 4]


@pytest.mark.parametrize(
    ("given", "taken", "count", "message"),
    [
        (8, 9, 9, "the stream 'in' is empty where it is read, after 8 elements; its writer puts too few, or comes "
         "later than its reader"),
        (8, 7, 7, "it does not get all elements of stream 'in': 1 of 8 are left"),
        (8, 9, 8, "it puts 8 elements into stream 'out', and its array has 9"),
        (8, 6, 8, "it puts 8 elements into stream 'out', and its array has 6"),
    ],
)  # fmt: skip
def test_wrong_numbers_of_elements(given: int, taken: int, count: int, message: str) -> None:
    with pytest.raises(DataflowError) as caught:
        twice(ints(given), np.zeros(taken, np.int32), count)
    hint = "\n  hint: it must get all elements that it is given, and put as many as are taken"
    assert str(caught.value) == f"the external kernel 'twice': {message}{hint}"


def test_wrong_types() -> None:
    with pytest.raises(TypeError, match=r"^argument 'in' must have dtype int32, got float64, which does not convert"):
        twice(np.zeros(8), np.zeros(8, np.int32), 8)
    with pytest.raises(TypeError, match=r"^twice\(\) takes 3 arguments \(in: Stream\[int32\] in, out: Stream"):
        twice(ints())


def kernel(A: int32[8], D: int32[2, 4]):
    B: int32[2, 4]
    C: int32[2, 4]
    E: int32[2, 4]
    for i, j in allo.grid(2, 4, name="first"):
        B[i, j] = A[4 * i + j] + 1
    twice(B, C, 8)
    twice(C, E, 8)
    for i, j in allo.grid(2, 4, name="last"):
        D[i, j] = E[i, j] - 1


def assert_computes(s: allo.Schedule) -> None:
    D = np.zeros((2, 4), np.int32)
    s.build()(ints(), D)
    assert np.array_equal(D, 4 * (ints().reshape(2, 4) + 1) - 1)


def test_arrays_in_a_kernel() -> None:
    assert_computes(allo.customize(kernel))


def test_fifos_between_kernels_and_nests() -> None:
    s = allo.customize(kernel)
    s.relay("E", "last", depth=2)
    s.relay("C", "twice_1", depth=3)
    s.relay("B", "twice")
    text = s.pseudocode()
    assert "def twice(in: Stream[int32, 8], out: Stream[int32, 3], count: int32):" in text
    assert "def twice_1(in: Stream[int32, 3], out: Stream[int32, 2], count: int32):" in text
    assert "twice(fifo_B, fifo_C, 8)\n    twice_1(fifo_C, fifo_E, 8)" in text
    assert_computes(s)
    again = allo.customize(kernel)
    again.replay(s.steps)
    assert str(again.module) == str(s.module)


def test_printed_module_builds_to_the_same() -> None:
    s = allo.customize(kernel)
    s.relay("C", "twice")
    D = np.zeros((2, 4), np.int32)
    LLVMModule(Module.parse(str(s.module)))(ints(), D)
    assert np.array_equal(D, 4 * (ints().reshape(2, 4) + 1) - 1)


def fork(A: int32[8], D: int32[8], E: int32[8]):
    B: int32[8]
    twice(A, B, 8)
    twice(B, D, 8)
    for i in range(8, name="rest"):
        E[i] = B[i] + 1


def test_an_array_that_others_read_too_stays() -> None:
    s = allo.customize(fork)
    s.relay("B", "twice")
    assert str(s.module).count("allo.stream_create") == 2
    D, E = np.zeros(8, np.int32), np.zeros(8, np.int32)
    s.build()(ints(), D, E)
    assert np.array_equal(D, 4 * ints()) and np.array_equal(E, 2 * ints() + 1)


def columns(A: int32[2, 4], D: int32[2, 4]):
    B: int32[2, 4]
    for j in range(4, name="first"):
        for i in range(2):
            B[i, j] = A[i, j]
    twice(B, D, 8)


def test_the_kernel_takes_elements_in_the_order_of_memory() -> None:
    s = allo.customize(columns)
    with pytest.raises(ScheduleError) as caught:
        s.relay("B", "twice")
    first = str(caught.value).splitlines()[0].partition(": ")[2]
    assert first == "relay: 'B' cannot become a FIFO: B[1, 0] is written before B[0, 1], but read after it"


def too_many(A: int32[8], D: int32[9]):
    B: int32[8]
    C: int32[9]
    for i in range(8, name="first"):
        B[i] = A[i]
    twice(B, C, 9)
    for i in range(9, name="last"):
        D[i] = C[i]


def test_an_empty_fifo_is_an_error_and_no_hang() -> None:
    s = allo.customize(too_many)
    s.relay("B", "twice")
    s.relay("C", "last")
    built = s.build()
    for _ in range(2):
        with pytest.raises(DataflowError, match=r"stream 'fifo_B' is empty.*: 8 elements have been put and 8 taken"):
            built(ints(), np.zeros(9, np.int32))


def refusal(text: str, tmp_path: Path, **options: object) -> str:
    file = tmp_path / "f.cpp"
    file.write_text(f"#include <hls_stream.h>\n{text}\n")
    with pytest.raises(KernelError) as caught:
        allo.IPModule("f", file, **options)  # type: ignore[arg-type]
    return str(caught.value).replace(f"{tmp_path}/", "")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("void f(hls::stream<int> &s);\nvoid f(hls::stream<int> &s) {}",
         "its function neither reads this stream nor writes to it, as far as can be seen"),
        ("void f(hls::stream<int> &s) { s.write(s.read()); }", "its function reads this stream and writes to it"),
        ("void f(hls::stream<int> s) { s.read(); }", "a stream is passed by reference"),
        ("void f(hls::stream<int> s[4]) { s[0].read(); }", "arrays of streams are not passed to external kernels"),
        ("void f(hls::stream<int *> &s) { s.read(); }",
         "`hls::stream<int *>` is a stream of something else than numbers"),
    ],
)  # fmt: skip
def test_streams_that_cannot_be_passed(text: str, reason: str, tmp_path: Path) -> None:
    assert f"cannot be passed: {reason}\n" in refusal(text, tmp_path)


def test_direction_that_the_user_says(tmp_path: Path) -> None:
    text = "void g(int n, hls::stream<int> *s);\nvoid f(hls::stream<int> &s) { g(1, &s); }"
    assert refusal(text, tmp_path).endswith(
        '\n  hint: say it: streams={"s": "in"} if the function reads it, "out" if it writes to it'
    )
    module = allo.IPModule("f", tmp_path / "f.cpp", streams={"s": "out"})
    assert repr(module) == "IPModule f(s: Stream[int32] out)"
    wrong = refusal(text, tmp_path, streams={"s": "out", "t": "in"})
    assert wrong.startswith("File \"f.cpp\", line 3: 'f' has no stream 't'\n")
    with pytest.raises(KernelError, match="must be \"in\" or \"out\", got 'both'"):
        allo.IPModule("f", tmp_path / "f.cpp", streams={"s": "both"})


def test_the_graph_knows_the_directions() -> None:
    s = allo.customize(kernel)
    s.relay("E", "last")
    s.relay("B", "twice")
    graph = s.graph
    assert [use.part for use in graph.consumers("kernel:fifo_B")] == ["twice"]
    assert [use.part for use in graph.producers("kernel:fifo_B")] == ["first"]
    assert [use.part for use in graph.producers("kernel:fifo_E")] == ["twice_1"]
    assert [use.part for use in graph.producers("kernel:C")] == ["twice"]
    assert [use.part for use in graph.consumers("kernel:C")] == ["twice_1"]


def slow(*case: Any) -> Any:
    return pytest.param(*case, marks=pytest.mark.slow)


KINDS = [
    ("bool", bool_type, np.array([True, False, True, True])),
    slow("unsigned char", uint8, np.array([255, 0, 128, 7], np.uint8)),
    slow("_Float16", float16, np.array([1.5, -2, 0, 65504], np.float16)),
    slow("double", float64, np.array([1e300, -0.5, 3, 7])),
    slow("ap_int<5>", Int(5), np.array([-16, 15, -1, 3], np.int8)),
    slow("ap_uint<1>", UInt(1), np.array([1, 0, 1, 1], np.uint8)),
    ("ap_int<100>", Int(100), np.array([-(1 << 99), (1 << 99) - 1, -1, 5], object)),
    slow("ap_fixed<12, 4>", Fixed(12, 8), np.array([-8, 7.5, 0.25, -0.125])),
]


@pytest.mark.parametrize("fifos", [pytest.param(False, marks=pytest.mark.slow), True])
@pytest.mark.parametrize(("name", "kind", "values"), KINDS, ids=lambda case: case if isinstance(case, str) else "")
def test_elements_of_all_types(name: str, kind: Any, values: np.ndarray, fifos: bool, tmp_path: Path) -> None:
    headers = "#include <ap_int.h>\n#include <ap_fixed.h>\n#include <hls_stream.h>\n"
    body = "for (int i = 0; i < 4; ++i) b << a.read();"
    (tmp_path / "f.cpp").write_text(f"{headers}void f(hls::stream<{name}> &a, hls::stream<{name}> &b) {{ {body} }}\n")
    f = allo.IPModule("f", tmp_path / "f.cpp")

    def through(A: kind[4], D: kind[4]):
        B: kind[4]
        C: kind[4]
        for i in range(4, name="first"):
            B[i] = A[i]
        f(B, C)
        for i in range(4, name="last"):
            D[i] = C[i]

    s = allo.customize(through)
    if fifos:
        s.relay("B", "f")
        s.relay("C", "last")
    D = np.zeros_like(values)
    s.build()(values, D)
    assert D.tolist() == values.tolist()
