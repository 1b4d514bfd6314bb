"""What programs give in the place of kernels, names and arguments: texts, dictionaries, modules, arrays of float64."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.backend.hls import HLSModule
from allo.backend.llvm import LLVMModule
from allo.ir.types import float32, int8, int16, int32
from allo.verify import verify

from .doors import assert_same, ran, through_doors

N = 4
A = np.arange(N, dtype=np.int32)
TEXT = """
def plus(x: T) -> T:
    return x + STEP


def kernel(A: T[N]) -> T[N]:
    B: T[N] = 0
    for i in range(N):
        B[i] = plus(A[i])
    return B
"""


def scaled(A: int32[N]) -> int32[N]:
    B: int32[N] = 0
    for i in range(N):
        B[i] = A[i] * N
    return B


def scaled_twice(A: int32[N]) -> int32[N]:
    return scaled(scaled(A))


# -- texts and names ----------------------------------------------------------------------------------------


def test_kernels_are_texts_and_names_are_given() -> None:
    s = allo.customize(TEXT, global_vars={"T": int32, "STEP": 3})
    s.pipeline("i")
    assert s.top_func_name == "kernel" and set(s.func_args) == {"plus", "kernel"}
    assert through_doors(s, A).result.tolist() == [3, 4, 5, 6]
    assert allo.customize(TEXT, global_vars={"T": int16, "STEP": -1, "N": 2}).build()(A[:2]).tolist() == [-1, 0]


def test_names_that_are_given_stand_before_those_around_the_kernel() -> None:
    first, second = allo.customize(scaled), allo.customize(scaled, global_vars={"N": 2})
    assert first.build()(A).tolist() == [0, 4, 8, 12] and second.build()(A[:2]).tolist() == [0, 2]
    assert allo.customize(scaled).build()(A).tolist() == [0, 4, 8, 12]  # the names are not kept


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def f(A: int32[4]:\n    pass\n", "the text is no program of Python: "),
        ("N = 3\n", "the text defines no kernel\n  hint: it is `def kernel(A: int32[4]): ...`"),
        ("def f(a: int32) -> int32:\n    return a + missing\n", "line 2, column 16: name 'missing' is not defined"),
    ],
)
def test_texts_that_are_no_kernels(text: str, message: str) -> None:
    with pytest.raises(allo.KernelError) as caught:
        allo.customize(text)
    assert message in str(caught.value)


def test_names_are_given_by_name() -> None:
    with pytest.raises(TypeError, match=r"^global_vars is a dictionary of values by name, got \[3\]$"):
        allo.customize(scaled, global_vars=[3])


def test_lists_of_the_program_are_constants() -> None:
    weights = [[1, 2], [3, 4]]
    layers = {"first": [0.5, 1.5], "rows": [[1], [2, 3]]}

    def kernel() -> float32[2, 2]:
        W: int8[2, 2] = weights
        V: float32[2] = layers["first"]
        B: float32[2, 2] = 0
        for i, j in allo.grid(2, 2):
            B[i, j] = W[i, j] * V[j]
        return B

    def ragged() -> int32[2, 2]:
        W: int32[2, 2] = layers["rows"]
        return W

    assert through_doors(kernel).result.tolist() == [[0.5, 3.0], [1.5, 6.0]]
    with pytest.raises(allo.KernelError, match="the rows of the list have different lengths"):
        allo.customize(ragged)


# -- schedules as values ------------------------------------------------------------------------------------


def test_steps_arguments_and_nests_are_read() -> None:
    s = allo.customize(scaled_twice)
    s.split("scaled:i", factor=2)
    s.reorder("scaled:i.outer", "scaled:i.inner")
    (split, (name, loops, rest)) = s.primitive_sequences
    assert split[:2] == ("split", []) and split[2]["factor"] == 2 and str(split[2]["loop"]) == "scaled:S_i_0.i"
    assert name == "reorder" and [loop.name for loop in loops] == ["i.outer", "i.inner"] and rest == {}
    assert s.func_args == {"scaled": ["A"], "scaled_twice": ["A"]} and s.ext_libs == []
    assert s.buffers["scaled:B"].func == "scaled"
    assert "S_i_0" in s.get_loops("scaled").loops and s.get_loops(scaled).loops["S_i_0"].loops.keys() >= {"i.outer"}
    assert verify is allo.verify and verify(scaled_twice, s)


def test_all_functions_are_inlined() -> None:
    s = allo.customize(scaled_twice)
    s.inline()
    assert s.func_args == {"scaled_twice": ["A"]} and str(s.steps) == "s.inline()\n"
    assert through_doors(s, A).result.tolist() == (A * 16).tolist()
    again = allo.Schedule.from_mlir(s.to_mlir())
    assert str(again.steps) == str(s.steps)
    with pytest.raises(allo.ScheduleError, match="inline: 'scaled_twice' calls no function with a body"):
        s.inline()


# -- modules ------------------------------------------------------------------------------------------------


def test_built_modules_are_made_of_modules_and_names() -> None:
    s = allo.customize(scaled_twice)
    built = LLVMModule(s.module, top_func_name=s.top_func_name)
    assert_same(ran(built, (A,)), ran(s.build(), (A,)))
    assert LLVMModule(s.module, "scaled")(A).tolist() == (A * 4).tolist() and s.top_func_name == "scaled_twice"
    assert "scaled(" in HLSModule(s.module, top_func_name="scaled_twice").hls_code
    with pytest.raises(allo.TargetError, match="the module has no function 'top'\n  hint: its functions: scaled, sc"):
        LLVMModule(s.module, "top")


def test_vhls_with_a_mode_is_vivado(tmp_path: Path) -> None:
    s = allo.customize(scaled)
    made = s.build(target="vhls", mode="csyn", project=str(tmp_path / "vhls"))
    same = s.build(target="vivado_hls", mode="csyn", project=str(tmp_path / "vivado"))
    assert made.hls_code == same.hls_code and {p.name for p in (tmp_path / "vhls").iterdir()} == {
        p.name for p in (tmp_path / "vivado").iterdir()
    }
    assert s.build(target="vhls", mode="csim")(A).tolist() == (A * 4).tolist()
    assert "m_axi" not in s.build(target="vhls").hls_code


# -- arguments ----------------------------------------------------------------------------------------------


def test_arrays_of_float64_with_numbers_of_float32() -> None:
    def kernel(A: float32[N], B: float32[N]):
        for i in range(N):
            B[i] = A[i] + 0.1

    exact, places = np.array([0.5, -0.0, np.inf, 3]), (np.zeros(N), np.zeros(N))
    single = through_doors(kernel, exact.astype(np.float32), np.zeros(N, np.float32)).arguments[1]
    double = through_doors(kernel, exact, places[0]).arguments[1]
    allo.interpret(kernel)(exact, places[1])
    np.testing.assert_array_equal(double, single)
    np.testing.assert_array_equal(places[1], single)
    for inexact in (exact + 0.1, np.full(N, 1e300), np.full(N, np.nan)):
        for door in (allo.customize(kernel).build(), allo.interpret(kernel)):
            with pytest.raises(TypeError, match="must have dtype float32, got float64, which does not convert"):
                door(inexact, np.zeros(N))


# -- regions ------------------------------------------------------------------------------------------------


@df.region()
def shared(A: int32[8], B: int32[8], C: int32[2, 8]):
    """Two tasks read all of A; positions of the second write rows of C."""

    @df.kernel(mapping=[1], args=[A, B])
    def one(A: int32[8], B: int32[8]):
        for i in range(8):
            B[i] = A[i] + A[7 - i]

    @df.kernel(mapping=[2], args=[A, C])
    def two(A: int32[8], C: int32[2, 8]):
        p = df.get_pid()
        for i in range(8):
            C[p, i] = A[i] * p


@pytest.mark.filterwarnings("ignore::allo.ScheduleNote")  # which steps the build adds
def test_schedules_of_regions_share_arrays_in_hardware() -> None:
    s = df.customize(shared)
    s.pipeline("two:i")
    before = str(s.steps), str(s.module)
    given = np.arange(8, dtype=np.int32)
    for target, mode in ((None, None), ("vitis_hls", "csim")):
        B, C = np.zeros(8, np.int32), np.zeros((2, 8), np.int32)
        s.build(target=target, mode=mode)(given, B, C)
        assert B.tolist() == [7] * 8 and C.tolist() == [[0] * 8, given.tolist()]
    assert (str(s.steps), str(s.module)) == before


@pytest.mark.filterwarnings("ignore::allo.ScheduleNote")
def test_arrays_that_a_schedule_divides_stay_as_it_says() -> None:
    s = df.customize(shared)
    s.partition("shared:A", dim=1, factor=2)
    code = s.build(target="vhls").hls_code
    assert "#pragma HLS array_partition variable=A cyclic dim=1 factor=2" in code and "shared_copy_A(A, " in code
