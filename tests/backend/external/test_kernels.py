"""External kernels called from kernels, and schedules around them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import allo
from allo.backend.cpu import LLVMModule
from allo.errors import KernelError, ScheduleError, TargetError
from allo.ir.arrays import numpy_dtype
from allo.ir.module import Module
from allo.ir.pseudocode import module_text
from allo.ir.types import bool as bool_type
from allo.ir.types import float16, float32, float64, int16, int32, int64, uint8, uint64

if shutil.which(os.environ.get("CXX", "g++").split()[0]) is None:
    pytest.skip("there is no C++ compiler", allow_module_level=True)
HERE = Path(__file__).parent
vadd = allo.IPModule("vadd", "sources/vadd.cpp")
shifted = allo.IPModule("vadd", impls=["sources/shifted.cpp", "sources/offset.cpp"])
trace = allo.IPModule("math::trace", "sources/vadd.cpp")
fill = allo.IPModule("fill<short>", "sources/vadd.cpp")
checked = allo.IPModule("checked", "sources/vadd.cpp")


def ints() -> np.ndarray:
    return np.arange(32, dtype=np.int32)


def inner(A: int32[32], B: int32[32], C: int32[32]):
    vadd(A, B, C)
    for j in range(32):
        C[j] = C[j] + 1


def kernel(A: int32[32], B: int32[32]) -> int32[32]:
    C: int32[32] = 0
    D: int32[32] = 0
    for t in range(4):  # noqa: B007
        vadd(A, B, C)
        for i in range(32):
            D[i] = D[i] + C[i] * 2
    inner(A, D, C)
    return C


def test_declaration_names_source_and_effects() -> None:
    text = str(allo.customize(inner).module).split("\n")[1].replace(str(HERE), "")
    assert text == (
        '  func.func private @vadd(memref<32xi32> {allo.name = "A", llvm.readonly}, memref<32xi32> '
        '{allo.name = "B", llvm.readonly}, memref<32xi32> {allo.name = "C"}) attributes {allo.x_external = '
        '{headers = [], implementations = ["/sources/vadd.cpp"], include_paths = [], link_hls = false, '
        'signature = [], top = "vadd"}}'
    )


def test_call_means_the_same_as_in_python() -> None:
    expected = 17 * ints() + 1
    assert (allo.customize(kernel).build()(ints(), ints()) == expected).all()
    assert (allo.interpret(kernel)(ints(), ints()) == expected).all()


def test_printed_module_builds_to_the_same() -> None:
    module = Module.parse(str(allo.customize(kernel).module))
    assert (LLVMModule(module)(ints(), ints()) == 17 * ints() + 1).all()


@pytest.mark.parametrize("step", ["split", "pipeline", "unroll", "parallel", "inline", "buffer_at"])
def test_schedule_around_a_call(step: str) -> None:
    s = allo.customize(kernel)
    match step:
        case "split":
            s.split("i", 4)
        case "pipeline":
            s.pipeline("t")
        case "unroll":
            s.unroll("t")
        case "parallel":
            s.parallel("i")
        case "inline":
            s.inline("inner")
        case "buffer_at":
            s.buffer_at("C", axis="i")
    assert (s.build()(ints(), ints()) == 17 * ints() + 1).all()


def test_composition() -> None:
    sub = allo.customize(inner)
    sub.split("j", 4)
    s = allo.customize(kernel)
    s.compose(sub)
    assert (s.build()(ints(), ints()) == 17 * ints() + 1).all()


def test_order_of_a_call_and_a_loop_is_kept() -> None:
    s = allo.customize(kernel)
    with pytest.raises(ScheduleError, match="it is passed to 'vadd', which may use any element"):
        s.reorder("i", "t")


def test_layout_of_an_argument_is_kept() -> None:
    s = allo.customize(kernel)
    message = "'C' goes to or comes from 'vadd', whose body is not in the module"
    with pytest.raises(ScheduleError, match=message):
        s.partition("C")
    assert s.steps == ()


def both(A: int32[32], B: int32[32]) -> int32[32]:
    C: int32[32] = 0
    D: int32[32] = 0
    vadd(A, B, C)
    shifted(C, B, D)
    return D


def test_two_functions_of_one_name() -> None:
    assert (allo.customize(both).build()(ints(), ints()) == 3 * ints() + 100).all()


def shapes(A: float32[4, 3], x: int16) -> float64:
    flat: int16[4] = 0
    square: int16[2, 3] = 0
    fill(flat, 2, x)
    fill(values=square, count=6, value=x + 1)
    return trace(A, 0.5) + flat[1] + square[1, 2] + flat[2]


def test_arrays_of_several_shapes_by_address_and_results_in_expressions() -> None:
    A = np.ones((4, 3), np.float32)
    assert allo.customize(shapes).build()(A, -5) == 1.5 - 5 - 4


MIXED = """
template <typename T> T store(const T *from, T value, T *to) {
  to[0] = from[1];
  to[1] = value;
  return from[0];
}
"""


@pytest.mark.parametrize(
    ("name", "kind", "values"),
    [
        ("bool", bool_type, (True, False, True)),
        ("unsigned char", uint8, (255, 3, 128)),
        ("long long", int64, (-(1 << 63), (1 << 63) - 1, -2)),
        ("unsigned long", uint64, ((1 << 64) - 1, 1, 1 << 63)),
        ("_Float16", float16, (-1.5, 2.25, 65504.0)),
        ("double", float64, (1e300, -0.1, 3.0)),
    ],
)
def test_numbers_of_all_kinds(name: str, kind: Any, values: tuple[Any, ...], tmp_path: Path) -> None:
    (tmp_path / "mixed.cpp").write_text(MIXED)
    store = allo.IPModule(f"store<{name}>", tmp_path / "mixed.cpp")

    def calls(A: kind[2], x: kind, B: kind[2]) -> kind:
        return store(A, x, B)

    A = np.array(values[:2], numpy_dtype(kind))
    B = np.zeros_like(A)
    assert allo.customize(calls).build()(A, values[2], B) == values[0]
    assert B.tolist() == [values[1], values[2]]


def may_throw(x: int32) -> int32:
    seen: int32[1] = 0
    for _ in range(3):
        checked(x, seen)
    return seen[0]


def test_exception_leaves_a_built_kernel_usable() -> None:
    built = allo.customize(may_throw).build()
    with pytest.raises(RuntimeError, match=r"^the external kernel 'checked' threw: value is negative$"):
        built(-1)
    assert built(1) == 3


def in_parallel(A: int32[8, 32], B: int32[8, 32]):
    for b in range(8):
        total: int32[32] = 0
        vadd(A[b], A[b], total)
        for i in range(32):
            B[b, i] = total[i]


def test_calls_in_parallel() -> None:
    s = allo.customize(in_parallel)
    s.parallel("b")
    A = np.arange(256, dtype=np.int32).reshape(8, 32)
    B = np.zeros_like(A)
    s.build()(A, B)
    assert (B == 2 * A).all()


def constant_argument(C: int32[32]):
    vadd(ROWS, ROWS, C)


ROWS = ints()


def test_constant_goes_to_what_only_reads_it() -> None:
    C = np.zeros(32, np.int32)
    allo.customize(constant_argument).build()(C)
    assert (C == 2 * ROWS).all()


def writes_constant(A: int32[32]):
    vadd(A, A, ROWS)


def test_constant_does_not_go_to_what_may_write_it() -> None:
    with pytest.raises(KernelError, match="'vadd' writes its argument 'C', but 'ROWS' is a constant array"):
        allo.customize(writes_constant)


def wrong_arguments(A: int32[16], B: float32[32], C: int32[32]):
    vadd(C, C)
    vadd(C, C, B)
    vadd(A, C, C)


def test_wrong_arguments_in_a_kernel() -> None:
    with pytest.raises(KernelError) as caught:
        allo.customize(wrong_arguments)
    assert [d.message for d in caught.value.diagnostics] == [
        "'vadd' takes 3 arguments, got 2 arguments",
        "argument 'C' of 'vadd' must be int32[32], got float32[32]",
        "argument 'A' of 'vadd' must be int32[32], got int32[16]",
    ]


def test_file_that_has_changed_since(tmp_path: Path) -> None:
    file = tmp_path / "twice.cpp"
    file.write_text("int twice(int x) { return 2 * x; }\n")
    twice = allo.IPModule("twice", file)

    def calls(x: int32) -> int32:
        return twice(x)

    s = allo.customize(calls)
    assert s.build()(4) == 8
    file.write_text("int twice(long x) { return 2 * x; }\n")
    with pytest.raises(TargetError) as caught:
        s.build()
    assert str(caught.value) == (
        f'File "{file}", line 1, column 1: the external kernel \'twice\' takes (x: int64) in {file}, which is not what '
        "the module declares: (i32) -> i32\n    int twice(long x) { return 2 * x; }\n    ^\n"
        "  hint: the file has changed: make the IPModule and the schedule again"
    )


def declared_text(kernel: Any) -> str:
    """The module in a form that is easy to read."""
    return module_text(allo.customize(kernel).ir)


def test_pseudocode_shows_the_declaration() -> None:
    assert declared_text(may_throw).startswith("def checked(value: int32, seen: int32[1])")


def test_failures_of_a_library_in_another_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine code of each build calls its own library, not that of the same kernel in the first cache."""
    assert allo.customize(may_throw).build()(1) == 3
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    elsewhere = allo.customize(may_throw).build()
    with pytest.raises(RuntimeError, match="value is negative"):
        elsewhere(-1)
