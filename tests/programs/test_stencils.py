"""Stencils with line and window buffers: blur, Harris corners, Jacobi and heat steps, against NumPy."""

# ruff: noqa: F821 - kernels declare arrays without a value

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import allo
from allo import Schedule, customize
from allo.ir.types import float32, int32

type Array = np.ndarray[Any, Any]


def lines_and_window(s: Schedule, buffer: str, nest: str, loops: str = "yx") -> None:
    """One pass of a nest over an image: a line buffer, a window on it, one pixel a cycle."""
    handle = s.buffers[buffer]
    for loop in loops[:-1]:
        handle = s.reuse_at(handle, f"{nest}.{loop}")
        s.partition(handle, dim=1)
    s.partition(s.reuse_at(handle, f"{nest}.{loops[-1]}"))
    s.pipeline(f"{nest}.{loops[-1]}")


def reads_once(s: Schedule, argument: int) -> bool:
    """Is there just one statement that reads an argument?"""
    text = s.ir.function(s.top_func_name).operation.get_asm(use_local_scope=True)
    return text.count(f"affine.load %arg{argument}[") == 1


# -- blur ---------------------------------------------------------------------------------------------


def blur(A: int32[40, 50], B: int32[38, 48]):
    for y, x in allo.grid(38, 48, name="blur"):
        total: int32 = 0
        for r, c in allo.reduction(3, 3):
            total += A[y + r, x + c]
        B[y, x] = total // 9


def test_blur() -> None:
    s = customize(blur)
    lines_and_window(s, "A", "blur")
    image = np.random.default_rng(1).integers(0, 256, (40, 50)).astype(np.int32)
    result = np.zeros((38, 48), np.int32)
    s.build()(image, result)
    assert reads_once(s, 0)
    np.testing.assert_array_equal(result, sliding_window_view(image, (3, 3)).sum((2, 3)) // 9)


def separable(A: int32[40, 50], B: int32[38, 48]):
    T: int32[40, 48]
    for y, x in allo.grid(40, 48, name="rows"):
        T[y, x] = A[y, x] + 2 * A[y, x + 1] + A[y, x + 2]
    for y, x in allo.grid(38, 48, name="columns"):
        B[y, x] = (T[y, x] + 2 * T[y + 1, x] + T[y + 2, x]) // 16


def test_separable_blur() -> None:
    s = customize(separable)
    s.partition(s.reuse_at("A", "rows.x"))
    s.partition(s.reuse_at("T", "columns.y"), dim=1)
    image = np.random.default_rng(2).integers(0, 256, (40, 50)).astype(np.int32)
    result = np.zeros((38, 48), np.int32)
    s.build()(image, result)
    weights = np.outer([1, 2, 1], [1, 2, 1])
    np.testing.assert_array_equal(result, (sliding_window_view(image, (3, 3)) * weights).sum((2, 3)) // 16)


# -- Harris corners -----------------------------------------------------------------------------------


def harris(I: int32[36, 44], R: int32[32, 40]):  # noqa: E741
    X: int32[34, 42]
    Y: int32[34, 42]
    for y, x in allo.grid(34, 42, name="gradient"):
        X[y, x] = (I[y, x + 2] + 2 * I[y + 1, x + 2] + I[y + 2, x + 2]) - (
            I[y, x] + 2 * I[y + 1, x] + I[y + 2, x]
        )
        Y[y, x] = (I[y + 2, x] + 2 * I[y + 2, x + 1] + I[y + 2, x + 2]) - (
            I[y, x] + 2 * I[y, x + 1] + I[y, x + 2]
        )
    for y, x in allo.grid(32, 40, name="corners"):
        xx: int32 = 0
        xy: int32 = 0
        yy: int32 = 0
        for r, c in allo.reduction(3, 3):
            xx += X[y + r, x + c] * X[y + r, x + c]
            xy += X[y + r, x + c] * Y[y + r, x + c]
            yy += Y[y + r, x + c] * Y[y + r, x + c]
        R[y, x] = xx * yy - xy * xy - (xx + yy) * (xx + yy) // 16


def harris_by_numpy(image: Array) -> Array:
    windows = sliding_window_view(image.astype(object), (3, 3))
    sobel = np.outer([1, 2, 1], [-1, 0, 1]).astype(object)
    x, y = (windows * sobel).sum((2, 3)), (windows * sobel.T).sum((2, 3))
    xx, xy, yy = (sliding_window_view(p, (3, 3)).sum((2, 3)) for p in (x * x, x * y, y * y))
    return xx * yy - xy * xy - (xx + yy) * (xx + yy) // 16


def test_harris() -> None:
    s = customize(harris)
    lines_and_window(s, "I", "gradient")
    for name in ("X", "Y"):
        lines_and_window(s, name, "corners")
    image = np.random.default_rng(3).integers(0, 8, (36, 44)).astype(np.int32)
    result = np.zeros((32, 40), np.int32)
    s.build()(image, result)
    assert reads_once(s, 0)
    wanted = harris_by_numpy(image)
    assert wanted.max() < 2**31 and wanted.min() >= -(2**31)
    np.testing.assert_array_equal(result, wanted.astype(np.int64))


# -- Jacobi and heat: several steps in time -----------------------------------------------------------


def jacobi(A: float32[30, 40], B: float32[30, 40]):
    for _t in range(4):
        for y, x in allo.grid(28, 38, name="forth"):
            B[y + 1, x + 1] = 0.2 * (
                A[y + 1, x + 1] + A[y + 1, x] + A[y + 1, x + 2] + A[y + 2, x + 1] + A[y, x + 1]
            )
        for j, i in allo.grid(28, 38, name="back"):
            A[j + 1, i + 1] = 0.2 * (
                B[j + 1, i + 1] + B[j + 1, i] + B[j + 1, i + 2] + B[j + 2, i + 1] + B[j, i + 1]
            )


def test_jacobi() -> None:
    s = customize(jacobi)
    lines_and_window(s, "A", "forth")
    lines_and_window(s, "B", "back", "ji")
    a = np.random.default_rng(4).random((30, 40)).astype(np.float32)
    b, wanted = a.copy(), a.astype(np.float64)
    s.build()(a, b)
    for _ in range(8):
        centre = wanted[1:-1, 1:-1]
        around = wanted[2:, 1:-1] + wanted[:-2, 1:-1] + wanted[1:-1, 2:] + wanted[1:-1, :-2]
        wanted[1:-1, 1:-1] = 0.2 * (centre + around)
    np.testing.assert_allclose(a, wanted, rtol=1e-5)


@pytest.mark.parametrize("loops", ["zyx", "zy", "x"])
def test_heat(loops: str) -> None:
    s = customize(heat)
    handle = s.A
    for loop in loops:
        handle = s.reuse_at(handle, loop)
    a = np.random.default_rng(5).random((10, 12, 14)).astype(np.float32)
    b = np.zeros_like(a)
    s.build()(a, b)
    centre = a[1:-1, 1:-1, 1:-1]
    around = sum(np.roll(a, shift, axis)[1:-1, 1:-1, 1:-1] - centre for axis in range(3) for shift in (1, -1))
    np.testing.assert_allclose(b[1:-1, 1:-1, 1:-1], centre + 0.125 * around, rtol=1e-5)


def heat(A: float32[10, 12, 14], B: float32[10, 12, 14]):
    for z, y, x in allo.grid(8, 10, 12):
        B[z + 1, y + 1, x + 1] = A[z + 1, y + 1, x + 1] + 0.125 * (
            (A[z + 2, y + 1, x + 1] - 2.0 * A[z + 1, y + 1, x + 1] + A[z, y + 1, x + 1])
            + (A[z + 1, y + 2, x + 1] - 2.0 * A[z + 1, y + 1, x + 1] + A[z + 1, y, x + 1])
            + (A[z + 1, y + 1, x + 2] - 2.0 * A[z + 1, y + 1, x + 1] + A[z + 1, y + 1, x])
        )
