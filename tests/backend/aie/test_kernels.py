"""Kernels for the vector unit: injected, compiled against the host header, run on the model, and their layouts."""

# Streams of regions are declared by annotations.

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.backend.aie import AIEModule
from allo.backend.external.compiler import find_compiler
from allo.errors import TargetError
from allo.ir.types import bfloat16, float32, int8, int16, int32
from allo.library.aie import GEMM
from allo.memory import Layout

type Numbers = np.ndarray[Any, Any]

T, D = 32, 64


def integers(dtype: Any, *shape: int) -> Numbers:
    return np.random.default_rng(sum(shape)).integers(-100, 100, shape).astype(dtype)


def reals(dtype: Any, *shape: int) -> Numbers:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


def softmax(x: Numbers) -> Numbers:
    power = np.exp(x - x.max(1, keepdims=True))
    return power / power.sum(1, keepdims=True)


@cache
def chained() -> AIEModule:
    top, steps = GEMM(64, 64, 64, 2, 2, 2, int16, int16)
    return df.build(top, target="aie", mapping_primitives=steps, kernels="vector")


@df.region()
def onto(A: int8[32, 16], B: int8[16, 32], C: int32[32, 32]):
    @df.kernel(mapping=[2, 2], args=[A, B, C])
    def tile(a: int8[32, 16] @ Layout("S1R"), b: int8[16, 32] @ Layout("RS0"), c: int32[32, 32] @ Layout("S1S0")):
        part: int32[16, 16] = allo.matmul(a, b)
        c[:, :] = allo.add(part, c)


@df.region()
def attention(Q: bfloat16[T, D], K: bfloat16[T, D], V: bfloat16[T, D], C: float32[T, D]):
    @df.kernel(mapping=[1], args=[Q, K, V, C])
    def head(q: bfloat16[T, D], k: bfloat16[T, D], v: bfloat16[T, D], c: float32[T, D]):
        s: float32[T, T] = allo.matmul(q, k.T)
        p: bfloat16[T, T] = allo.softmax(s)
        c[:, :] = allo.matmul(p, v)


@df.region()
def soft(A: float32[16, 32], C: float32[16, 32]):
    @df.kernel(mapping=[1], args=[A, C])
    def rows(a: float32[16, 32], c: float32[16, 32]):
        c[:, :] = allo.softmax(a)


@df.region()
def normalised(A: float32[16, D], W: float32[D], C: float32[16, D]):
    @df.kernel(mapping=[2], args=[A, W, C])
    def rows(a: float32[16, D] @ Layout("S0R"), w: float32[D] @ Layout("R"), c: float32[16, D] @ Layout("S0R")):
        for i in range(8):
            total: float32 = 0
            for j in range(D):
                total += a[i, j] * a[i, j]
            scale: float32 = 1.0 / allo.sqrt(total / 64.0 + 0.001)
            for j in range(D):
                c[i, j] = a[i, j] * scale * w[j]


@df.region()
def filtered(A: int32[18, 34], W: int32[3, 3], C: int32[16, 32]):
    @df.kernel(mapping=[1], args=[A, W, C])
    def core(a: int32[18, 34], w: int32[3, 3], c: int32[16, 32]):
        for i, j in allo.grid(16, 32):
            total: int32 = 0
            for y, x in allo.grid(3, 3):
                total += a[i + y, j + x] * w[y, x]
            c[i, j] = total


@df.region()
def elementwise(A: bfloat16[16, 32], B: bfloat16[16, 32], C: bfloat16[16, 32]):
    @df.kernel(mapping=[1], args=[A, B, C])
    def core(a: bfloat16[16, 32], b: bfloat16[16, 32], c: bfloat16[16, 32]):
        c[:, :] = allo.mul(allo.exp(a), b)


@df.region()
def odd(A: int16[6, 10], B: int16[10, 6], C: int16[6, 6]):
    @df.kernel(mapping=[1], args=[A, B, C])
    def core(a: int16[6, 10], b: int16[10, 6], c: int16[6, 6]):
        c[:, :] = allo.matmul(a, b)


def vector(region: Any) -> AIEModule:
    built: AIEModule = df.build(region, target="aie", kernels="vector")
    return built


def test_chained_products_are_kernels_without_copies() -> None:
    built, A, B = chained(), integers(np.int16, 64, 64), integers(np.int16, 64, 64)
    C = np.zeros((64, 64), np.int16)
    built(A, B, C)
    np.testing.assert_array_equal(C, A @ B)
    assert built.kernels is not None and built.kernels.copies == ()
    kernels = [choice.kernel for choice in built.kernels.choices]
    assert kernels == ["product_i16_i16_32x32x32", "product_on_i16_i16_32x32x32"]


def test_layouts_are_walks_of_dma_engines() -> None:
    """Blocks of 4 x 2, 2 x 8 and 4 x 8: cores put what comes to its place, and give results row by row."""
    text = [line.strip() for line in chained().mlir.splitlines()]
    walks = {
        "A_0": "dimensionsFromStream [<size = 4, stride = 2>, <size = 128, stride = 8>, <size = 2, stride = 1>]",
        "B_0": "dimensionsFromStream [<size = 2, stride = 8>, <size = 64, stride = 16>, <size = 8, stride = 1>]",
        "C_out_0": "dimensionsToStream [<size = 4, stride = 8>, <size = 32, stride = 32>, <size = 8, stride = 1>]",
    }
    for name, walk in walks.items():
        assert walk in next(line for line in text if line.startswith(f"aie.objectfifo @{name}("))
    links = [line.split('"')[1] for line in text if "link_with" in line]
    assert sorted(links) == ["product_i16_i16_32x32x32.o", "product_on_i16_i16_32x32x32.o"]


@pytest.mark.slow
def test_cores_may_put_blocks_in_order() -> None:
    """The same numbers later, with a copy by a core for each argument; what passes between tasks stays in blocks."""
    top, steps = GEMM(32, 32, 32, 1, 1, 2, int16, int16)
    options = {"target": "aie", "mapping_primitives": steps, "kernels": "vector"}
    plain, ordered = df.build(top, **options, layouts="cores"), df.build(top, **options)
    A, C = integers(np.int16, 32, 32), np.zeros((32, 32), np.int16)
    plain(A, A, C)
    np.testing.assert_array_equal(C, A @ A)
    assert plain.timed().cycles > 2 * ordered.timed().cycles
    assert "dimensions" not in plain.mlir
    reason = "is copied into another order: cores are asked to do it, by layouts='cores'"
    assert [str(copy) for copy in plain.kernels.copies] == [
        f"{task}: '{name}' {reason}" for task, name in
        [("gemm_0_0_0", "A"), ("gemm_0_0_0", "B"), ("gemm_1_0_0", "A"), ("gemm_1_0_0", "B"), ("gemm_1_0_0", "C")]
    ]  # fmt: skip


def test_a_kernel_has_its_cycles() -> None:
    """8 x 4 blocks of results, each of 16 products and one more instruction, and a call of 25 cycles."""
    text = str(chained().kernels and chained()._bodies.function("product_i16_i16_32x32x32"))
    assert f"allo.x_cycles = {8 * 4 * (16 + 1) + 25}" in text
    run = chained().timed()
    assert run.utilisation is not None and run.multiplied == {"i16": 64**3}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("region", "arrays", "expected"),
    [
        (onto, (integers(np.int8, 32, 16), integers(np.int8, 16, 32), integers(np.int32, 32, 32)),
         lambda a, b, c: a.astype(np.int32) @ b.astype(np.int32) + c),
        (normalised, (reals(np.float32, 16, D), reals(np.float32, D), np.zeros((16, D), np.float32)),
         lambda a, w, c: a / np.sqrt((a * a).mean(1, keepdims=True) + 0.001) * w),
        (filtered, (integers(np.int32, 18, 34), integers(np.int32, 3, 3), np.zeros((16, 32), np.int32)),
         lambda a, w, c: sum(a[y : y + 16, x : x + 32] * w[y, x] for y in range(3) for x in range(3))),
        (elementwise, (reals(ml_dtypes.bfloat16, 16, 32), reals(ml_dtypes.bfloat16, 16, 32),
                       np.zeros((16, 32), ml_dtypes.bfloat16)),
         lambda a, b, c: np.exp(a.astype(np.float32)) * b.astype(np.float32)),
    ],
    ids=["onto", "normalised", "filtered", "elementwise"],
)  # fmt: skip
def test_kernels_compute_what_tasks_do(region: Any, arrays: tuple[Numbers, ...], expected: Any) -> None:
    built = vector(region)
    assert built.kernels is not None and all(choice.kernel for choice in built.kernels.choices)
    given = [array.copy() for array in arrays]
    built(*given)
    want = expected(*arrays)
    if np.issubdtype(want.dtype, np.integer):
        np.testing.assert_array_equal(given[-1], want)
    else:
        tolerance = 2e-2 if given[-1].dtype == ml_dtypes.bfloat16 else 1e-5
        np.testing.assert_allclose(given[-1].astype(np.float32), want, rtol=tolerance, atol=tolerance)


def test_softmax() -> None:
    built, A, C = vector(soft), reals(np.float32, 16, 32) * 4, np.zeros((16, 32), np.float32)
    built(A, C)
    np.testing.assert_allclose(C, softmax(A), rtol=1e-5)
    assert [choice.kernel is not None for choice in built.kernels.choices] == [True, True]  # type: ignore[union-attr]


@pytest.mark.slow
def test_attention_tells_of_the_copy_that_is_left() -> None:
    built = vector(attention)
    q, k, v = (reals(ml_dtypes.bfloat16, T, D + n) [:, :D].copy() for n in range(3))
    C = np.zeros((T, D), np.float32)
    built(q, k, v, C)
    wide = [x.astype(np.float32) for x in (q, k, v)]
    scores = softmax(wide[0] @ wide[1].T).astype(ml_dtypes.bfloat16).astype(np.float32)
    np.testing.assert_allclose(C, scores @ wide[2], rtol=1e-3, atol=1e-4)
    assert built.kernels is not None
    products = [own.kernel for own in built.kernels.choices if (own.kernel or "").startswith("product")]
    assert products == ["product_turned_bf16_f32_32x64x32", "product_bf16_f32_32x32x64"]
    assert [str(copy) for copy in built.kernels.copies] == [
        "head_0: 'an array of the task' is copied into another order: it stays in the memory of one core, where no DMA "
        "engine moves it"
    ]  # fmt: skip


@pytest.mark.slow
def test_memory_tiles_make_orders() -> None:
    """Results of 16 cores meet in memory tiles, where they become rows."""
    top, _ = GEMM(64, 64, 32, 4, 4, 1, int16, int16)
    built, A, B = df.build(top, target="aie", kernels="vector"), integers(np.int16, 64, 32), integers(np.int16, 32, 64)
    C = np.zeros((64, 64), np.int16)
    built(A, B, C)
    np.testing.assert_array_equal(C, A @ B)
    assert any(route.hub is not None for route in built.plan.routes if not route.to_core)
    assert any(fifo.near is not None or fifo.at_core is not None for fifo in built.plan.fifos.arrays)


def test_what_is_no_kernel_says_why() -> None:
    built, A, B, C = vector(odd), integers(np.int16, 6, 10), integers(np.int16, 10, 6), np.zeros((6, 6), np.int16)
    assert built.kernels is not None
    assert built.kernels.choices[0].reason == "6x10x6 of i16 is not made of blocks of 4x4x4, 2x4x8, 4x2x8"
    built(A, B, C)
    np.testing.assert_array_equal(C, A @ B)


def test_other_kernels_are_refused() -> None:
    with pytest.raises(TargetError) as caught:
        df.build(odd, target="aie", kernels="vectors")
    assert str(caught.value) == "kernels must be 'scalar', 'vector'; got 'vectors'\n  hint: did you mean 'vector'?"


@pytest.mark.slow
def test_a_project_has_kernels_that_compile_on_a_host(tmp_path: Path) -> None:
    df.build(soft, target="aie", kernels="vector", project=str(tmp_path / "project"))
    files = sorted((tmp_path / "project").glob("*.cc"))
    assert len(files) == 2 and (tmp_path / "project" / "allo_kernels.h").exists()
    for file in files:
        command = [*find_compiler().command, "-std=c++17", "-fsyntax-only", "-Ihost", "-I.", file.name]
        subprocess.run(command, cwd=file.parent, check=True)
