"""Pitfall II of the Allo paper (Fig. 3): two calls of a partitioned kernel share one instance with one layout."""

# ruff: noqa: F821 - kernels declare arrays without a value

import numpy as np
import pytest
from mlir import ir

from allo import Partition, customize
from allo.ir.module import Module
from allo.ir.types import float32

from .checks import assert_faithful

SIZE = 8


def rp_gemm(A: float32[SIZE, SIZE], B: float32[SIZE, SIZE], C: float32[SIZE, SIZE]):
    for i in range(SIZE, name="rows"):
        for j in range(SIZE):
            C[i, j] = 0
        for k in range(SIZE):
            for j in range(SIZE):
                C[i, j] += A[i, k] * B[k, j]


def top(X: float32[SIZE, SIZE], W_A: float32[SIZE, SIZE], W_B: float32[SIZE, SIZE], Y: float32[SIZE, SIZE]):
    Z: float32[SIZE, SIZE]
    rp_gemm(X, W_A, Z)
    rp_gemm(Z, W_B, Y)


def schedule_rp_gemm(s):
    """The row-wise product: a row of outputs at a time, all its columns at once."""
    s.partition("B", Partition.Cyclic, dim=2, factor=4)
    s.partition("C", Partition.Cyclic, dim=2, factor=4)


LAYOUT = "memref<8x8xf32, #allo.partition<[none, cyclic 4]>>"


def composed():
    s = customize(top)
    s.compose(rp_gemm)
    return s


def test_one_function_and_one_layout():
    """Z is the third argument of the first call and the first one of the second: all three have its layout."""
    s = composed()
    assert [f.name.value for f in s.ir.functions()] == ["rp_gemm", "top"]
    assert [str(t) for t in s.ir.function("rp_gemm").type.inputs] == [LAYOUT] * 3
    assert str(s.module).count("func.func") == 2
    assert str(s.module).count("call @rp_gemm") == 2


def test_every_array_of_the_caller_has_it_too():
    s = composed()
    assert {row.layout for row in s.report().buffers} == {"none, cyclic 4"}
    assert_faithful(top, s)


def test_results_are_those_of_numpy():
    random = np.random.default_rng(0)
    X, W_A, W_B = (random.standard_normal((SIZE, SIZE), dtype=np.float32) for _ in range(3))
    Y = np.zeros((SIZE, SIZE), np.float32)
    composed().build()(X, W_A, W_B, Y)
    np.testing.assert_allclose(Y, X @ W_A @ W_B, rtol=1e-4, atol=1e-4)


def test_two_interfaces_for_one_function_are_no_module():
    """What the tool of the paper made, an argument with and without banks, does not pass MLIR's verifier."""
    text = str(composed().module)
    alloc = f'%alloc = memref.alloc() {{allo.name = "Z"}} : {LAYOUT}'
    assert alloc in text
    with pytest.raises(ir.MLIRError):
        Module.parse(text.replace(alloc, '%alloc = memref.alloc() {allo.name = "Z"} : memref<8x8xf32>'))
