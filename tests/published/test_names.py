"""Names that programs for published Allo import: what they give, or the error that says what to use instead."""

import importlib

import numpy as np
import pytest

import allo
from allo.backend.vitis import generate_hbm_config
from allo.ir.transform import find_buffer, find_func_in_module, find_loop_in_bands
from allo.ir.types import float32, int32
from allo.ir.utils import MockBuffer, get_global_vars
from allo.memory import DTensor, Layout, Memory, get_memory_space
from allo.passes import (
    analyze_arg_load_store,
    analyze_use_def,
    generate_input_output_buffers,
    lower_linalg_and_attach_names,
    monitor_memory_usage,
)

from .doors import assert_same, ran, through_doors

S, R = Layout.Shard, Layout.Replicate
N = 4
A, B = np.arange(32, dtype=np.int32).reshape(2, 4, 4)


def gemm(A: int32[N, N], B: int32[N, N]) -> int32[N, N]:
    C: int32[N, N] = 0
    for i, j, k in allo.grid(N, N, N, name="C"):
        C[i, j] += A[i, k] * B[k, j]
    return C


def inner(X: int32[N, N], Y: int32[N, N], n: int32):
    for i, j in allo.grid(N, N):
        Y[i, j] += X[i, j] * n


NAMES = {
    "allo": "customize verify Layout Memory IPModule LLVMModule HLSModule invoke_mlir_parser",
    "allo.backend.aie": "is_available",
    "allo.backend.aie.vliw": "kernel",
    "allo.backend.aie.external_kernel": "ExternalModule",
    "allo.backend.hls": "HLSModule is_available",
    "allo.backend.ip": "IPModule",
    "allo.backend.llvm": "LLVMModule",
    "allo.backend.vitis": "generate_hbm_config",
    "allo.customize": "Partition Schedule customize",
    "allo.dsl": "grid reduction matmul exp",
    "allo.ir.transform": "find_loop_in_bands find_func_in_module find_buffer create_buffer",
    "allo.ir.types": "AlloType Index Int UInt Float Fixed UFixed Struct ConstExpr Stateful bfloat16 int7 uint3 index",
    "allo.ir.use_def": "UseDefChain",
    "allo.ir.utils": "MockBuffer MockArg get_global_vars",
    "allo.memory": "Layout DTensor Memory get_memory_space",
    "allo.passes": "generate_input_output_buffers wrap_io lower_linalg_and_attach_names monitor_memory_usage "
    "analyze_arg_load_store analyze_use_def decompose_library_function call_ext_libs_in_ptr",
    "allo.utils": "get_np_struct_type",
}


@pytest.mark.parametrize("module", NAMES)
def test_names_are_there(module: str) -> None:
    found = importlib.import_module(module)
    assert [name for name in NAMES[module].split() if not hasattr(found, name)] == []


def test_what_is_not_here_says_what_to_use() -> None:
    from allo.ir.use_def import UseDefChain

    with pytest.raises(allo.AlloError) as caught:
        UseDefChain({})
    assert str(caught.value) == (
        "allo.ir.use_def.UseDefChain belongs to the internals of published Allo, and is not here\n"
        '  hint: s.graph tells producers, consumers and users, s.get_equivalent_variables("f:A") the other names of an '
        "array"
    )
    with pytest.raises(allo.AlloError, match="decompose_library_function belongs to the internals"):
        importlib.import_module("allo.passes").decompose_library_function.run(None)


def test_modules_in_which_functions_work_on_copies() -> None:
    def top(A: int32[N, N], B: int32[N, N]):
        inner(A, B, 3)

    s = allo.customize(top)
    module = allo.invoke_mlir_parser(str(s.module))
    generate_input_output_buffers(module, "top")
    buffered = allo.Schedule.from_mlir(str(module))
    assert {"buf_A", "buf_B"} <= set(buffered.buffers)
    assert allo.verify(s, buffered)
    assert_same(through_doors(buffered, A, B), ran(s.build(), (A, B)))
    with pytest.raises(allo.KernelError, match="the text is no module of MLIR: "):
        allo.invoke_mlir_parser("module {")
    with pytest.raises(TypeError, match="a module is the one of a schedule, or of a text, got int 3"):
        generate_input_output_buffers(3)
    with pytest.raises(allo.TargetError, match="no function 'pot'"):
        generate_input_output_buffers(module, "pot")
    with pytest.raises(allo.TargetError, match="arrays are not flattened here"):
        generate_input_output_buffers(module, "top", flatten=True)


def test_handles_and_parts_of_modules() -> None:
    def top(A: int32[N, N], B: int32[N, N]) -> int32[N, N]:
        return gemm(A, B)

    s = allo.customize(top)
    s.partition(MockBuffer("gemm", "C"), dim=2)
    function = find_func_in_module(s.module, "gemm")
    assert function.name.value == "gemm" and find_func_in_module(s.module, "other") is None
    assert find_loop_in_bands(function, "j") == ("C", "j")
    assert find_loop_in_bands(function, s.get_loops("gemm").C.k) == ("C", "k")
    with pytest.raises(allo.ScheduleError, match="function 'gemm' has no loop 'x'"):
        find_loop_in_bands(function, "x")
    assert find_buffer(s.module, "gemm", "A")[0] == "gemm"
    with pytest.raises(allo.ScheduleError, match="there is no array 'gemm:X'"):
        find_buffer(s.module, "gemm", "X")
    assert get_global_vars(gemm)["N"] == N
    np.testing.assert_array_equal(through_doors(s, A, B).result, A @ B)


def test_analyses() -> None:
    def top(A: int32[N, N], B: int32[N, N]):
        T: int32[N, N] = 0
        inner(A, T, 2)
        inner(T, B, 1)

    s = allo.customize(top)
    assert analyze_arg_load_store(s) == {"inner": ["in", "both", "in"], "top": ["in", "both"]}
    assert monitor_memory_usage(s).splitlines()[0].split() == ["array", "shape", "type", "bits"]
    assert [line.split() for line in monitor_memory_usage(s.module).splitlines() if "top:T" in line] == [
        ["top:T", "(4,", "4)", "int32", "512"]
    ]
    assert {use.part for use in analyze_use_def(s).users("top:T")} >= {"inner"}
    through_doors(s, A, B)


def test_operators_become_loops_in_place() -> None:
    def top(A: float32[N, N], B: float32[N, N]) -> float32[N, N]:
        return allo.matmul(A, B)

    s = allo.customize(top)
    module = allo.invoke_mlir_parser(s.module)
    lower_linalg_and_attach_names(module)
    assert "linalg" not in str(module) and "matmul_0" in str(module)
    again = allo.Schedule.from_mlir(str(module))
    X, Y = A.astype(np.float32), B.astype(np.float32)
    assert_same(through_doors(again, X, Y), ran(s.build(), (X, Y)))


def test_memories() -> None:
    def kernel(A: int32[N] @ Memory("bram", storage_type="ram_2p")) -> int32[N]:
        B: int32[N] @ Memory(resource="uram") = 0
        for i in range(N):
            B[i] = A[i] + 1
        return B

    assert Memory("bram") == Memory(resource="BRAM") and Memory("Uram", "ram_1p").storage_type == "RAM_1P"
    assert get_memory_space(None) == Memory().get_memory_space() == 0
    spaces = {Memory(r).get_memory_space() for r in ("AUTO", "BRAM", "URAM", "LUTRAM", "SRL")}
    assert len(spaces) == 5
    s = allo.customize(kernel)
    assert 'resource = "BRAM"' in str(s.module) and 'resource = "URAM"' in str(s.module)
    assert through_doors(s, np.arange(N, dtype=np.int32)).result.tolist() == [1, 2, 3, 4]


def test_arrays_over_meshes() -> None:
    tensor = DTensor([2, 4], [8, 8], float32, Layout([S(0), R]), name="A")
    assert tensor.get_local_shape() == (4, 8) and tensor.layout == Layout("S1R").on((2, 4))
    assert tensor.global_placement[1, 0] == [(1, 0), (1, 1), (1, 2), (1, 3)]
    assert DTensor([2], [6], int32).get_local_shape() == (6,)
    with pytest.raises(ValueError, match=r"^dimension 0 of \[5\] does not divide into 2 equal parts$"):
        DTensor([2], [5], int32, Layout("S"))


def test_banks_of_memory() -> None:
    text = "[connectivity]\nsp=gemm_1.A:HBM[0]\nsp=gemm_1.C:DDR[1]\n"
    assert generate_hbm_config("gemm", {"A": 0, "output_0": "DDR[1]"}, {"output_0": "C"}) == text
    assert generate_hbm_config({"A": 0, "C": "DDR[1]"}, "gemm") == text
    with pytest.raises(allo.TargetError, match="must be a bank of memory, got 'x'"):
        generate_hbm_config("gemm", {"A": "x"})


def test_keywords_of_primitives() -> None:
    """Loops are `name` or `axis`, arrays `target`, as in published Allo; steps say what they are here."""
    s = allo.customize(gemm)
    s.split(name="i", factor=2)
    s.unroll(axis="k", factor=2)
    s.pipeline(axis="j", initiation_interval=2)
    s.parallel(axis="i.outer")
    s.partition(target=s.A, dim=2)
    s.buffer_at(target="C", axis="i.inner")
    assert str(s.steps).splitlines()[0] == 's.split("gemm:C.i", factor=2)'
    np.testing.assert_array_equal(through_doors(s, A, B).result, A @ B)
    unfolded = allo.customize(gemm)
    unfolded.unfold(band_name="C", axes=[0])
    top = allo.customize(inner)
    top.dataflow(axis="inner")
    top.compose(schs=[])
    assert [step.name for step in (*unfolded.steps, *top.steps)] == ["unfold", "dataflow"]
    with pytest.raises(allo.ScheduleError, match="got an unexpected keyword argument 'axis'"):
        s.pipeline(loop="j.inner", axis="j.inner")
    with pytest.raises(allo.ScheduleError, match="missing a required argument: 'loop'"):
        s.pipeline(target="j.inner")
