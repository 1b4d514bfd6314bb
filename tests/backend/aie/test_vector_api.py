"""Functions of C++ for the vector API of cores, run by our headers, and those that are written in Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import allo.dataflow as df
from allo.backend.aie import vliw
from allo.backend.aie.external_kernel import ExternalModule
from allo.errors import KernelError
from allo.ir.types import bfloat16, float32, int16, int32
from allo.memory import Layout

S, R = Layout.Shard, Layout.Replicate
FILE = "vector_kernels.cc"  # in the folder of this file

type Numbers = np.ndarray[Any, Any]


def reals(*shape: int) -> Numbers:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


@pytest.mark.slow
def test_products_and_masks_of_lanes(tmp_path: Path) -> None:
    product = ExternalModule(top="clamped_product", impl_path=FILE, input_idx=[0, 1], output_idx=[2])

    @df.region()
    def top(A: int16[4, 4], B: int16[4, 4], C: int32[4, 4]):
        @df.kernel(mapping=[1], args=[A, B, C])
        def core(a: int16[4, 4], b: int16[4, 4], c: int32[4, 4]):
            product(a, b, c)

    A, B = np.random.default_rng(0).integers(-9, 9, (2, 4, 4)).astype(np.int16)
    C = np.zeros((4, 4), np.int32)
    df.build(top, target="aie", project=str(tmp_path / "top.prj"))(A, B, C)
    np.testing.assert_array_equal(C, np.clip(A.astype(np.int32) @ B, -50, 50))
    assert (tmp_path / "top.prj" / "vector_kernels.h").is_file()
    assert not (tmp_path / "top.prj" / "aie_api").exists()


@pytest.mark.slow
def test_norm_and_softmax() -> None:
    norm = ExternalModule(top="rms_norm", impl_path=FILE, input_idx=[0, 1], output_idx=[2])
    softmax = ExternalModule(top="softmax", impl_path=FILE, input_idx=[0], output_idx=[1])

    @df.region()
    def normed(X: float32[16, 64], W: float32[64], Y: float32[16, 64]):
        @df.kernel(mapping=[4], args=[X, W, Y])
        def core(x: float32[16, 64] @ [S(0), R], w: float32[64], y: float32[16, 64] @ [S(0), R]):
            norm(x, w, y)

    @df.region()
    def soft(X: bfloat16[8, 64], Y: bfloat16[8, 64]):
        @df.kernel(mapping=[2], args=[X, Y])
        def core(x: bfloat16[8, 64] @ [S(0), R], y: bfloat16[8, 64] @ [S(0), R]):
            softmax(x, y)

    X, W, Y = reals(16, 64), reals(64), np.zeros((16, 64), np.float32)
    df.build(normed, target="aie")(X, W, Y)
    np.testing.assert_allclose(Y, X / np.sqrt((X * X).mean(1, keepdims=True) + 1e-6) * W, rtol=1e-5)
    half, made = reals(8, 64).astype(ml_dtypes.bfloat16), np.zeros((8, 64), ml_dtypes.bfloat16)
    df.build(soft, target="aie")(half, made)
    powers = np.exp(half.astype(np.float64))
    np.testing.assert_allclose(made.astype(np.float64), powers / powers.sum(1, keepdims=True), rtol=3e-2)


def test_functions_of_cores_in_python(tmp_path: Path) -> None:
    @vliw.kernel(project=tmp_path, typing_rule_set="cpp")
    def scaled(A: int32[64], B: int16[64], C: int32[64]):
        for i in range(64):
            C[i] = A[i] * 3 + B[i]

    @df.region()
    def top(A: int32[256], B: int16[256], C: int32[256]):
        @df.kernel(mapping=[4], args=[A, B, C])
        def core(a: int32[256] @ [S(0)], b: int16[256] @ [S(0)], c: int32[256] @ [S(0)]):
            scaled(a, b, c)

    A, B, C = np.arange(256, dtype=np.int32), np.arange(256, dtype=np.int16), np.zeros(256, np.int32)
    built = df.build(top, target="aie")
    built(A, B, C)
    np.testing.assert_array_equal(C, 3 * A + B)
    assert 'link_with = "scaled.o"' in built.mlir
    text = (tmp_path / "scaled.cc").read_text()
    assert 'extern "C" void scaled(int32_t A[64], int16_t B[64], int32_t C[64]);' in text and "ap_int" not in text

    def total(A: int32[4]) -> int32:
        return A[0]

    with pytest.raises(KernelError) as caught:
        vliw.kernel(total)
    assert str(caught.value) == (
        "'total' is no function that cores link: these take arrays of numbers and return nothing\n"
        "  hint: let it write to an argument; pass a number as an array of one element"
    )


def test_options_of_kernels_in_python() -> None:
    with pytest.raises(TypeError) as error:
        vliw.kernel(save_code=True)
    assert str(error.value) == (
        "vliw.kernel() has no option 'save_code'; it takes project, and of allo.customize verbose, instantiate, "
        "typing_rule_set, lower_linalg, enable_tensor, global_vars"
    )
