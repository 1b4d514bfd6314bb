"""Templates, nested kernels, and what is computed when a kernel is compiled."""

import numpy as np
import pytest

import allo
from allo.ir.types import ConstExpr, Stateful, float32, index, int32


def gemm[T: (int32, float32), M: index, N: index, K: index](A: "T[M, K]", B: "T[K, N]", C: "T[M, N]"):
    for i, j in allo.grid(M, N):
        for k in allo.reduction(K):
            C[i, j] += A[i, k] * B[k, j]


@pytest.mark.parametrize("element", [int32, float32])
def test_instance_of_customize(element: object) -> None:
    s = allo.customize(gemm, instantiate=[element, 3, 4, 5])
    a = np.arange(15).reshape(3, 5).astype(repr(element))
    b, c = np.ones((5, 4), a.dtype), np.zeros((3, 4), a.dtype)
    s.build()(a, b, c)
    assert np.array_equal(c, a @ b)


def test_arguments_by_name() -> None:
    by_name = allo.customize(gemm, instantiate={"K": 5, "N": 4, "M": 3, "T": int32})
    assert str(by_name.module) == str(allo.customize(gemm, instantiate=[int32, 3, 4, 5]).module)


THREE = np.int64(3)


def with_numbers_of_numpy(A: int32[3, 3], C: int32[3, 3]):
    gemm[int32, THREE, 3, np.int8(3)](A, A, C)
    gemm[int32, 3, 3, 3](A, A, C)


def test_numbers_of_numpy_are_numbers() -> None:
    called = allo.customize(with_numbers_of_numpy)
    assert [f.name.value for f in called.ir.functions()] == ["gemm", "with_numbers_of_numpy"]
    listed = allo.customize(gemm, instantiate=[int32, THREE, THREE, np.uint8(3)])
    assert str(listed.module) == str(allo.customize(gemm, instantiate=[int32, 3, 3, 3]).module)
    named = allo.customize(gemm, instantiate={"T": int32, "M": THREE, "N": 3, "K": np.int16(3)})
    assert str(named.module) == str(listed.module)


@pytest.mark.parametrize("values", [5, int32, {int32}, "int32"])
def test_what_is_no_list_of_arguments(values: object) -> None:
    with pytest.raises(allo.KernelError) as refused:
        allo.customize(gemm, instantiate=values)  # type: ignore[arg-type]
    expected = f"instantiate is a list of values, or a dictionary of them by name, got {values!r}"
    assert str(refused.value) == expected


def call_instances(A: int32[2, 2], C: int32[2, 2], D: int32[2, 2]):
    gemm[int32, 2, 2, 2](A, A, C)
    gemm[int32, 2, 2, 2](A, C, D)
    gemm[int32, 2, 2, 2, "last"](A, A, D)


def test_instances_are_shared_and_named() -> None:
    s = allo.customize(call_instances)
    assert [f.name.value for f in s.ir.functions()] == ["gemm", "gemm_last", "call_instances"]
    a, c, d = np.array([[1, 2], [3, 4]], np.int32), np.zeros((2, 2), np.int32), np.zeros((2, 2), np.int32)
    s.build()(a, c, d)
    assert np.array_equal(c, a @ a) and np.array_equal(d, a @ a @ a + a @ a)


def test_missing_arguments() -> None:
    with pytest.raises(allo.KernelError, match=r"template 'gemm' has 4 parameters \(T, M, N, K\), got 1"):
        allo.customize(gemm, instantiate=[int32])


def table(A: int32[4]):
    squares: ConstExpr[int32[4]] = [i * i for i in range(4)]
    most: ConstExpr[int32] = max(squares, key=lambda x: -abs(x - 4))
    for i in range(4):
        A[i] = squares[i] + most


def test_comprehensions_in_constants() -> None:
    values = np.zeros(4, np.int32)
    allo.customize(table).build()(values)
    assert values.tolist() == [4, 5, 8, 13]


def nested(A: int32[4]) -> int32:
    def double(x: int32) -> int32:
        return x * 2

    def total[W: index](X: "int32[W]") -> int32:
        s: int32 = 0
        for i in range(W):
            s += double(X[i])
        return s

    return total[4](A)


def test_nested_kernels() -> None:
    assert allo.customize(nested).build()(np.array([1, 2, 3, 4], np.int32)) == 20


def meta(A: int32[6]):
    n: ConstExpr[int32] = sum(range(4))
    with allo.meta_for(0, n, 2) as i:
        with allo.meta_if(i == 0):
            A[i] = 10
        with allo.meta_elif(i == 2):
            A[i] = 20
        with allo.meta_else():
            A[i] = 30


def test_meta_leaves_no_branches() -> None:
    s = allo.customize(meta)
    assert "if" not in str(s.module) and "for" not in str(s.module).replace("affine.for", "")
    a = np.zeros(6, np.int32)
    s.build()(a)
    assert a.tolist() == [10, 0, 20, 0, 30, 0]


def accumulate(x: int32) -> int32:
    total: Stateful[int32] = 5
    history: float32[2] @ Stateful = 0.5
    history[1] += 1.0
    total += x
    rounds: int32 = history[1]
    return total * 10 + rounds


def test_state_is_kept_per_module_until_reset() -> None:
    s = allo.customize(accumulate)
    first, second = s.build(), s.build()
    assert [first(1), first(2), second(4)] == [61, 82, 91]
    first.reset()
    assert first(1) == 61
    interpreted, other = allo.interpret(accumulate), allo.interpret(accumulate)
    assert [interpreted(1), interpreted(2), other(4)] == [61, 82, 91]


def place(step: int32) -> int32:
    calls: Stateful[int32] = 0
    calls += step
    return calls


def calls_once(A: int32[4]):
    A[place(1)] += 10
    A[:] += place(1)


def test_a_call_in_an_assignment_runs_once() -> None:
    a = np.zeros(4, np.int32)
    allo.customize(calls_once).build()(a)
    assert a.tolist() == [2, 12, 2, 2]


def scaled_by(factor: float, table: np.ndarray) -> object:
    def kernel(x: float32) -> float32:
        def offset(i: int32) -> float32:
            return table[i] * factor

        return x * factor + offset(1)

    return kernel


def test_kernels_close_over_python_values() -> None:
    table = np.array([1.0, 2.0], np.float32)
    kernels = [scaled_by(0.5, table), scaled_by(4, table)]
    assert [allo.customize(kernel).build()(3) for kernel in kernels] == [2.5, 20.0]
    assert [kernel(3) for kernel in kernels] == [2.5, 20.0]


def meta_with_lists(A: int32[6]):
    weights: ConstExpr[int32[3]] = [5, 6, 7]
    with allo.meta_for([4, 2, 0]) as i:
        A[i] = weights[i // 2]
        with allo.meta_if(weights[i // 2] > 6):
            A[1] = weights[0]
    with allo.meta_for(5, 0, -2) as i:
        A[i] += i


def test_meta_loops_over_lists_and_steps() -> None:
    a = np.zeros(6, np.int32)
    allo.customize(meta_with_lists).build()(a)
    assert a.tolist() == [5, 6, 6, 3, 7, 5]


def leaves_early(x: int32, A: int32[4]):
    A[0] = 1
    if x > 2:
        A[1] = 1
        return
    A[2] = 1
    if x == 2:
        return None
    for i in range(4):
        A[i] += 1


@pytest.mark.parametrize(("x", "expected"), [(0, [2, 1, 2, 1]), (2, [1, 0, 1, 0]), (3, [1, 1, 0, 0])])
def test_early_return(x: int, expected: list[int]) -> None:
    a = np.zeros(4, np.int32)
    allo.customize(leaves_early).build()(x, a)
    assert a.tolist() == expected
