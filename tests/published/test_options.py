"""Options and attributes of published Allo: what programs give to customize, build, grid and the operators."""



from pathlib import Path

import numpy as np
import pytest

import allo
from allo.ir.types import Fixed, UFixed, bfloat16, float16, float32, float64, index, int8, int32, uint8
from allo.verify import Different

from .doors import assert_same, ran, through_doors


def gemm(A: int32[4, 4], B: int32[4, 4]) -> int32[4, 4]:
    C: int32[4, 4] = 0
    for i, j, k in allo.grid(4, 4, 4, name="C"):
        C[i, j] += A[i, k] * B[k, j]
    return C


MATRICES = tuple(np.arange(32, dtype=np.int32).reshape(2, 4, 4))


def test_tensors_and_partitions_by_number() -> None:
    s = allo.customize(gemm, enable_tensor=True)
    loops = s.get_loops()
    assert list(loops.C.loops.keys()) == ["i", "j", "k"] and loops["C"]["j"] is loops.C.loops["j"]
    s.reorder(loops.C.loops["k"], loops.C.loops["j"])
    s.partition(s.A, partition_type=1, dim=1, factor=2)
    s.partition(s.B, partition_type=2, dim=2, factor=2)
    s.partition(s.C, partition_type=0, dim=2)
    assert [str(step) for step in s.steps][2] == (
        's.partition("gemm:B", partition_type=Partition.Cyclic, dim=2, factor=2)'
    )
    np.testing.assert_array_equal(through_doors(s, *MATRICES).result, MATRICES[0] @ MATRICES[1])
    with pytest.raises(allo.ScheduleError, match=r"partition_type must be one of .*, got 3"):
        s.partition(s.A, partition_type=3, dim=2)


def test_top_function_and_equivalent_variables() -> None:
    def top(A: int32[4, 4], B: int32[4, 4]) -> int32[4, 4]:
        return gemm(A, B)

    s = allo.customize(top)
    assert s.top_func.name.value == s.top_func_name == "top"
    assert set(s.get_equivalent_variables("gemm", "A")) == {"gemm:A", "top:A"}
    assert s.get_equivalent_variables("gemm", "A") == s.get_equivalent_variables("gemm:A")
    through_doors(s, *MATRICES)


def test_grids_with_pipelines_and_unrolling() -> None:
    def kernel(A: int32[10, 20]) -> int32[10, 20]:
        B: int32[10, 20] = 0
        for i, j in allo.grid(10, 20, name="B", pipeline=True, unroll=[0, 4]):
            B[i, j] = A[i, j] + i
        return B

    s = allo.customize(kernel)
    assert str(s.get_loops()["B"]).splitlines() == ["B:", "  i", "    j  (pipeline=1, unroll=4)"]
    code = s.build(target="vhls").hls_code
    assert "#pragma HLS pipeline II=1" in code and "#pragma HLS unroll factor=4" in code
    A = np.arange(200, dtype=np.int32).reshape(10, 20)
    np.testing.assert_array_equal(through_doors(s, A).result, A + np.arange(10)[:, None])
    assert list(allo.grid(1, 2, pipeline=2, unroll=[0, 2])) == [(0, 0), (0, 1)]  # as plain Python


def test_operators_with_names_and_types_of_python() -> None:
    def kernel(A: float32[4, 4], B: float32[4, 4]) -> float32[4, 4]:
        C = allo.matmul(A, B, name="gemm")
        D = allo.exp(C, name="exp")
        E: float32[4, 4] = allo.ones((4, 4), dtype=float, name="E")
        return allo.add(D, E, name="sum")

    s = allo.customize(kernel, lower_linalg=True)
    assert {"gemm", "exp", "E", "sum"} <= {nest.name for nest in s.get_loops()}
    s.pipeline(s.get_loops().gemm.j)
    A, B = np.random.default_rng(0).random((2, 4, 4), np.float32)
    np.testing.assert_allclose(through_doors(s, A, B).result, np.exp(A @ B) + 1, rtol=1e-5)
    np.testing.assert_allclose(kernel(A, B), np.exp(A @ B) + 1, rtol=1e-5)


def test_arguments_that_stay_in_memory(tmp_path: Path) -> None:
    s = allo.customize(gemm)
    s.partition(s.B, dim=2)
    wrapped = s.build(target="vitis_hls", mode="csim")
    bare = s.build(target="vitis_hls", mode="csim", wrap_io=False)
    assert_same(ran(wrapped, MATRICES), ran(bare, MATRICES))
    assert "load_A" in wrapped.hls_code and "load_B" in bare.hls_code  # B has banks, which memory has not
    assert "load_A" not in bare.hls_code and "store_C" not in bare.hls_code
    assert s.build(wrap_io=False)(*MATRICES).tolist() == s.build()(*MATRICES).tolist()
    s.build(target="vhls", wrap_io=False)
    with pytest.raises(allo.TargetError, match=r"^wrap_io must be True or False, got 0$"):
        s.build(target="vitis_hls", wrap_io=0)
    configs = {"hbm_mapping": {"A": 0, "output_0": 3}}
    s.build(target="vitis_hls", mode="hw_emu", project=str(tmp_path), configs=configs)
    text = "".join(path.read_text() for path in tmp_path.rglob("*.cfg"))
    assert "A:HBM[0]" in text and "C:HBM[3]" in text


def test_other_interfaces_are_different() -> None:
    def other(A: int32[4, 4]) -> int32[4, 4]:
        return A

    def narrow(A: int8[4, 4], B: int32[4, 4]) -> int32[4, 4]:
        return B

    for kernel, why in (
        (other, "the first has 2 arguments and the second has 1 argument"),
        (narrow, "argument 'A' of the first is int32[4, 4], and 'A' of the second is int8[4, 4]"),
    ):
        answer = allo.verify(gemm, kernel)
        assert isinstance(answer, Different) and not answer and str(answer).splitlines()[1:] == [why]


@pytest.mark.parametrize(
    ("kind", "fracs", "exponent"),
    [
        (int8, 0, 8), (uint8, 0, 8), (index, 0, 32), (Fixed(16, 5), 5, 11), (UFixed(8, 8), 8, 0),
        (float16, 10, 5), (bfloat16, 7, 8), (float32, 23, 8), (float64, 52, 11),
    ],
)  # fmt: skip
def test_bits_of_types(kind, fracs, exponent) -> None:
    assert (kind.fracs, kind.exponent) == (fracs, exponent)
