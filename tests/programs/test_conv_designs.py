"""Convolutions as accelerators: buffers, lanes over channels and filters, streams between layers."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import allo
from allo import Schedule, customize
from allo.ir.types import float32, int8, int32

from .designs import assert_design, assert_loops, assert_pseudocode, results


def reference(images, weights, stride):
    """Batch and channels first, no padding."""
    windows = sliding_window_view(images, weights.shape[2:], axis=(2, 3))[:, :, ::stride, ::stride]
    return np.einsum("nchwrs,ocrs->nohw", windows, weights)


def convolution(C: int, O: int, H: int, W: int, R: int, stride: int, T, U):  # noqa: E741
    """C channels of H x W, O filters of R x R; and the shapes of its arguments."""
    P, Q = (H - R) // stride + 1, (W - R) // stride + 1

    def conv2d(A: T[1, C, H, W], F: T[O, C, R, R], B: U[1, O, P, Q]):
        for n, o, y, x in allo.grid(1, O, P, Q, name="conv"):
            for c, r, s in allo.reduction(C, R, R):
                B[n, o, y, x] += A[n, c, stride * y + r, stride * x + s] * F[o, c, r, s]

    return conv2d, ((1, C, H, W), (O, C, R, R), (1, O, P, Q))


def image_stationary(s: Schedule) -> None:
    """Filters innermost, in lanes: a window of all channels moves over the image once and serves them all."""
    s.reorder("n", "y", "x", "o", "c", "r", "s")
    window = s.reuse_at(s.reuse_at(s.A, "y"), "x")
    s.partition(window)
    s.partition(s.F, dim=1)
    s.pipeline("o")


def filter_stationary(s: Schedule) -> None:
    """A filter stays on chip while the image passes by."""
    s.buffer_at(s.F, axis="o")
    lines = s.reuse_at(s.A, "y")
    s.partition(lines, dim=2)
    s.pipeline("x")


def output_row(s: Schedule) -> None:
    """Row-wise: consecutive iterations add to different pixels of a row, which is kept in a buffer."""
    s.reorder("c", "r", "s", "x")
    s.buffer_at(s.B, axis="y")
    s.pipeline("x")


SHAPES = [(1, 1, 9, 9, 3, 1), (3, 4, 8, 10, 3, 1), (2, 3, 11, 9, 3, 2), (2, 2, 12, 12, 5, 1), (4, 2, 7, 6, 1, 1)]
DESIGNS = [image_stationary, filter_stationary, output_row]


@pytest.mark.parametrize("C, O, H, W, R, stride", SHAPES)
@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.__name__)
def test_design(design: Callable[[Schedule], None], C, O, H, W, R, stride) -> None:  # noqa: E741
    if R == 1 and design is not output_row:
        pytest.skip("a filter of one pixel reads no pixel twice")
    kernel, shapes = convolution(C, O, H, W, R, stride, int32, int32)
    s = customize(kernel)
    design(s)
    random = np.random.default_rng(21)
    A, F, B = (random.integers(-8, 8, shape, np.int32) for shape in shapes)
    assert_design(s, kernel, (A, F, B))
    np.testing.assert_array_equal(results(s.build(), (A, F, B))[2], B + reference(A, F, stride))


def scheduled(design: Callable[[Schedule], None]) -> Schedule:
    s = customize(convolution(3, 4, 8, 10, 3, 1, float32, float32)[0])
    design(s)
    return s


def test_loops_of_image_stationary() -> None:
    assert_loops(scheduled(image_stationary), """
        conv2d
          conv:
            n
              y
                x
                  c_fill
                    y_shift
                  c_fill_1
                    r_fill
                      x_shift
                  o  (pipeline=1)
                    c
                      r
                        s
        """)


def test_loops_of_filter_stationary() -> None:
    assert_loops(scheduled(filter_stationary), """
        conv2d
          conv:
            n
              o
                c_init
                  r_init
                    s_init
                y
                  c_fill
                    s_fill
                      y_shift
                  x  (pipeline=1)
                    c
                      r
                        s
        """)


def test_text_of_output_row() -> None:
    assert_pseudocode(scheduled(output_row), """
        def conv2d(A: float32[1, 3, 8, 10], F: float32[4, 3, 3, 3], B: float32[1, 4, 6, 8]):
            for n in range(1, name="conv"):
                for o in range(4):
                    for y in range(6):
                        buf_B: float32[8]
                        for x_init in range(8):
                            buf_B[x_init] = B[0, o, y, x_init]
                        for c in range(3):
                            for r in range(3):
                                for s in range(3):
                                    for x in range(8):  # pipeline=1
                                        buf_B[x] += A[n, c, y + r, x + s] * F[o, c, r, s]
                        for x_back in range(8):
                            B[0, o, y, x_back] = buf_B[x_back]
        """)


# -- two layers, pixels in a stream between them ----------------------------------------------------------


def first(A: int8[12, 14], F: int8[3, 3], T: int32[10, 12]):
    for y, x in allo.grid(10, 12, name="conv"):
        total: int32 = 0
        for r, c in allo.reduction(3, 3):
            total += A[y + r, x + c] * F[r, c]
        T[y, x] = max(total, 0)


def pool(T: int32[10, 12], B: int32[5, 6]):
    for y, x in allo.grid(5, 6, name="pool"):
        best: int32 = 0
        for r, c in allo.reduction(2, 2):
            best = max(best, T[2 * y + r, 2 * x + c])
        B[y, x] = best


def layers(A: int8[12, 14], F: int8[3, 3], B: int32[5, 6]):
    T: int32[10, 12]
    first(A, F, T)
    pool(T, B)


def scheduled_layers() -> Schedule:
    """Pooling takes two rows before it gives one: rows of the first layer are kept until then."""
    s = customize(layers)
    lines = s.reuse_at("first:A", "first:y")
    s.partition(s.reuse_at(lines, "first:x"))
    s.partition(lines, dim=1)
    s.pipeline("first:x")
    s.buffer_at("pool:T", axis="pool:y")
    s.relay(s.T, "pool", depth=12)
    s.dataflow("layers")
    return s


def test_layers() -> None:
    s = scheduled_layers()
    random = np.random.default_rng(22)
    A, F = random.integers(-9, 9, (12, 14), np.int8), random.integers(-9, 9, (3, 3), np.int8)
    B = np.zeros((5, 6), np.int32)
    assert_design(s, layers, (A, F, B))
    convolved = np.maximum(reference(A[None, None].astype(int), F[None, None].astype(int), 1)[0, 0], 0)
    wanted = convolved.reshape(5, 2, 6, 2).max((1, 3))
    np.testing.assert_array_equal(results(s.build(), (A, F, B))[2], wanted)


def test_text_of_layers() -> None:
    assert_pseudocode(scheduled_layers(), """
        def first(A: int8[12, 14], F: int8[3, 3], T: Stream[int32, 12]):
            A_reuse: int8[3, 14] @ partition<[complete, none]>
            for y in range(-2, 10, name="conv"):
                A_reuse_1: int8[3, 3] @ partition<[complete, complete]>
                for x in range(-2, 12):  # pipeline=1
                    for y_shift in range(2):
                        A_reuse[y_shift, x + 2] = A_reuse[y_shift + 1, x + 2]
                    A_reuse[2, x + 2] = A[y + 2, x + 2]
                    if y >= 0:
                        for r_fill in range(3):
                            for x_shift in range(2):
                                A_reuse_1[r_fill, x_shift] = A_reuse_1[r_fill, x_shift + 1]
                            A_reuse_1[r_fill, 2] = A_reuse[r_fill, x + 2]
                        if x >= 0:
                            total: int32
                            total = 0
                            for r in range(3):
                                for c in range(3):
                                    total += A_reuse_1[r, c] * F[r, c]
                            T.put(max(total, 0))

        def pool(T: Stream[int32, 12], B: int32[5, 6]):
            for y in range(5, name="pool"):
                buf_T: int32[2, 12]
                for r_init in range(2):
                    for c_init in range(12):
                        t = T.get()
                        buf_T[r_init, c_init] = t
                for x in range(6):
                    best: int32
                    best = 0
                    for r in range(2):
                        for c in range(2):
                            best = max(best, buf_T[r, 2 * x + c])
                    B[y, x] = best

        def layers(A: int8[12, 14], F: int8[3, 3], B: int32[5, 6]):  # dataflow
            fifo_T: Stream[int32, 12]
            first(A, F, fifo_T)
            pool(fifo_T, B)
        """)
