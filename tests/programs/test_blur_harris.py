"""Blur and Harris corners as streams of pixels: stages that run at once, with line and window buffers between them."""

# ruff: noqa: F821 - kernels declare arrays without a value

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

import allo
from allo import Schedule, customize
from allo.ir.types import int32, uint8

from .designs import assert_design, assert_loops, assert_pseudocode, results

H, W = 20, 24


def image(seed, top=256, dtype=np.int32):
    return np.random.default_rng(seed).integers(0, top, (H, W)).astype(dtype)


def line_and_window(s: Schedule, buffer: str, nest: str) -> None:
    """Three rows of an image, and three pixels of each at hand; one new pixel a cycle."""
    lines = s.reuse_at(buffer, f"{nest}.y")
    window = s.reuse_at(lines, f"{nest}.x")
    s.partition(lines, dim=1)
    s.partition(window)


# -- blur: the mean of 3 x 3 pixels -----------------------------------------------------------------------


def blur(A: uint8[H, W], B: uint8[H - 2, W - 2]):
    for y, x in allo.grid(H - 2, W - 2, name="blur"):
        total: int32 = 0
        for r, c in allo.reduction(3, 3):
            total += A[y + r, x + c]
        B[y, x] = total // 9


def scheduled_blur() -> Schedule:
    s = customize(blur)
    line_and_window(s, "A", "blur")
    s.pipeline("blur.x")
    return s


def test_blur() -> None:
    A, B = image(1, dtype=np.uint8), np.zeros((H - 2, W - 2), np.uint8)
    s = scheduled_blur()
    assert_design(s, blur, (A, B))
    wanted = sliding_window_view(A.astype(int), (3, 3)).sum((2, 3)) // 9
    np.testing.assert_array_equal(results(s.build(), (A, B))[1], wanted)


def test_text_of_blur() -> None:
    assert_pseudocode(scheduled_blur(), """
        def blur(A: uint8[20, 24], B: uint8[18, 22]):
            A_reuse: uint8[3, 24] @ partition<[complete, none]>
            for y in range(-2, 18, name="blur"):
                A_reuse_1: uint8[3, 3] @ partition<[complete, complete]>
                for x in range(-2, 22):  # pipeline=1
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
                                    total += A_reuse_1[r, c]
                            B[y, x] = total // 9
        """)


# -- blur in two passes, rows and columns -----------------------------------------------------------------


def rows(A: int32[H, W], T: int32[H, W - 2]):
    for y, x in allo.grid(H, W - 2):
        T[y, x] = A[y, x] + 2 * A[y, x + 1] + A[y, x + 2]


def columns(T: int32[H, W - 2], B: int32[H - 2, W - 2]):
    for y, x in allo.grid(H - 2, W - 2):
        B[y, x] = (T[y, x] + 2 * T[y + 1, x] + T[y + 2, x]) // 16


def two_passes(A: int32[H, W], B: int32[H - 2, W - 2]):
    T: int32[H, W - 2]
    rows(A, T)
    columns(T, B)


def scheduled_passes() -> Schedule:
    s = customize(two_passes)
    s.partition(s.reuse_at("rows:A", "rows:x"))
    s.partition(s.reuse_at("columns:T", "columns:y"), dim=1)
    s.pipeline("rows:x")
    s.pipeline("columns:x")
    s.relay(s.T, "columns", depth=2)
    s.dataflow("two_passes")
    return s


def test_two_passes() -> None:
    A, B = image(2), np.zeros((H - 2, W - 2), np.int32)
    s = scheduled_passes()
    assert_design(s, two_passes, (A, B))
    weights = np.outer([1, 2, 1], [1, 2, 1])
    wanted = (sliding_window_view(A, (3, 3)) * weights).sum((2, 3)) // 16
    np.testing.assert_array_equal(results(s.build(), (A, B))[1], wanted)


def test_text_of_two_passes() -> None:
    assert_pseudocode(scheduled_passes(), """
        def rows(A: int32[20, 24], T: Stream[int32, 2]):
            for y in range(20):
                A_reuse: int32[3] @ partition<[complete]>
                for x in range(-2, 22):  # pipeline=1
                    for x_shift in range(2):
                        A_reuse[x_shift] = A_reuse[x_shift + 1]
                    A_reuse[2] = A[y, x + 2]
                    if x >= 0:
                        T.put(A_reuse[0] + 2 * A_reuse[1] + A_reuse[2])

        def columns(T: Stream[int32, 2], B: int32[18, 22]):
            T_reuse: int32[3, 22] @ partition<[complete, none]>
            for y in range(-2, 18):
                for x_fill in range(22):
                    for y_shift in range(2):
                        T_reuse[y_shift, x_fill] = T_reuse[y_shift + 1, x_fill]
                    t = T.get()
                    T_reuse[2, x_fill] = t
                if y >= 0:
                    for x in range(22):  # pipeline=1
                        B[y, x] = (T_reuse[0, x] + 2 * T_reuse[1, x] + T_reuse[2, x]) // 16

        def two_passes(A: int32[20, 24], B: int32[18, 22]):  # dataflow
            fifo_T: Stream[int32, 2]
            rows(A, fifo_T)
            columns(fifo_T, B)
        """)


# -- Harris corners: a stage for each step, all pixels in streams -----------------------------------------


def gradient(A: int32[H, W], X: int32[H - 2, W - 2], Y: int32[H - 2, W - 2]):
    for y, x in allo.grid(H - 2, W - 2, name="sobel"):
        left: int32 = A[y, x] + 2 * A[y + 1, x] + A[y + 2, x]
        right: int32 = A[y, x + 2] + 2 * A[y + 1, x + 2] + A[y + 2, x + 2]
        up: int32 = A[y, x] + 2 * A[y, x + 1] + A[y, x + 2]
        down: int32 = A[y + 2, x] + 2 * A[y + 2, x + 1] + A[y + 2, x + 2]
        X[y, x] = right - left
        Y[y, x] = down - up


def tensor(X: int32[H - 2, W - 2], Y: int32[H - 2, W - 2], XX: int32[H - 4, W - 4], XY: int32[H - 4, W - 4],
           YY: int32[H - 4, W - 4]):  # fmt: skip
    for y, x in allo.grid(H - 4, W - 4, name="sums"):
        xx: int32 = 0
        xy: int32 = 0
        yy: int32 = 0
        for r, c in allo.reduction(3, 3):
            xx += X[y + r, x + c] * X[y + r, x + c]
            xy += X[y + r, x + c] * Y[y + r, x + c]
            yy += Y[y + r, x + c] * Y[y + r, x + c]
        XX[y, x] = xx
        XY[y, x] = xy
        YY[y, x] = yy


def response(XX: int32[H - 4, W - 4], XY: int32[H - 4, W - 4], YY: int32[H - 4, W - 4], R: int32[H - 4, W - 4]):
    for y, x in allo.grid(H - 4, W - 4, name="corners"):
        xx: int32 = XX[y, x]
        yy: int32 = YY[y, x]
        xy: int32 = XY[y, x]
        R[y, x] = xx * yy - xy * xy - (xx + yy) * (xx + yy) // 16


def harris(A: int32[H, W], R: int32[H - 4, W - 4]):
    X: int32[H - 2, W - 2]
    Y: int32[H - 2, W - 2]
    XX: int32[H - 4, W - 4]
    XY: int32[H - 4, W - 4]
    YY: int32[H - 4, W - 4]
    gradient(A, X, Y)
    tensor(X, Y, XX, XY, YY)
    response(XX, XY, YY, R)


def scheduled_harris() -> Schedule:
    s = customize(harris)
    line_and_window(s, "gradient:A", "gradient:sobel")
    for name in ("X", "Y"):
        line_and_window(s, f"tensor:{name}", "tensor:sums")
        s.relay(name, "tensor", depth=2)
    for name in ("XX", "XY", "YY"):
        s.relay(name, "response", depth=2)
    for loop in ("gradient:x", "tensor:x", "response:x"):
        s.pipeline(loop)
    s.dataflow("harris")
    return s


def test_harris() -> None:
    A, R = image(3, top=8), np.zeros((H - 4, W - 4), np.int32)
    s = scheduled_harris()
    assert_design(s, harris, (A, R))
    sobel = np.outer([1, 2, 1], [-1, 0, 1])
    x, y = ((sliding_window_view(A, (3, 3)) * weights).sum((2, 3)) for weights in (sobel, sobel.T))
    xx, xy, yy = (sliding_window_view(p, (3, 3)).sum((2, 3)) for p in (x * x, x * y, y * y))
    wanted = xx * yy - xy * xy - (xx + yy) * (xx + yy) // 16
    np.testing.assert_array_equal(results(s.build(), (A, R))[1], wanted)


def test_stages_of_harris_are_connected_by_streams_only() -> None:
    s = scheduled_harris()
    text = s.ir.function("harris").operation.get_asm(use_local_scope=True)
    assert "memref.alloc" not in text
    assert text.count("stream_create") == 5


def test_loops_of_harris() -> None:
    s = scheduled_harris()
    assert_loops(s, """
        gradient
          sobel:
            y
              x  (pipeline=1)
                y_shift
                A_reuse_0_fill
                  x_shift
        """, "gradient")
    assert_loops(s, """
        tensor
          sums:
            y
              x  (pipeline=1)
                y_shift_1
                r_fill_1
                  x_shift_1
                y_shift
                r_fill
                  x_shift
                r
                  c
        """, "tensor")
