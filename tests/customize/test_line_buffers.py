"""Line buffers in front of windows: the same values as without streams, and no row more than windows need."""

# ruff: noqa: F821 - kernels declare arrays without a value

from dataclasses import dataclass

import numpy as np
import pytest

import allo
from allo import customize
from allo.ir.types import int32
from allo.layout import LineBuffer
from tests.seeds import sweep

from .checks import assert_faithful, assert_same_meaning


@dataclass(frozen=True)
class Convolution:
    """Channels, filters and groups, and for both directions size, window, stride, dilation and padding."""

    images: int
    channels: int
    filters: int
    groups: int
    size: tuple[int, int]
    window: tuple[int, int]
    stride: tuple[int, int]
    dilation: tuple[int, int]
    padding: tuple[int, int]

    @property
    def padded(self) -> tuple[int, int]:
        return tuple(n + 2 * p for n, p in zip(self.size, self.padding, strict=True))

    @property
    def reach(self) -> tuple[int, int]:
        return tuple((k - 1) * d + 1 for k, d in zip(self.window, self.dilation, strict=True))

    @property
    def output(self) -> tuple[int, int]:
        ends = zip(self.padded, self.reach, self.stride, strict=True)
        return tuple((n - r) // s + 1 for n, r, s in ends)


def kernel_of(case: Convolution):
    """A convolution between two layers that compute each element on its own, as models have it."""
    N, C, F, G = case.images, case.channels, case.filters, case.groups
    (H, W), (PH, PW), (KH, KW), (Y, X) = case.size, case.padded, case.window, case.output
    (SY, SX), (DY, DX), (OY, OX) = case.stride, case.dilation, case.padding
    c, f = C // G, F // G

    def convolution(A: int32[N, C, H, W], V: int32[G, f, c, KH, KW], B: int32[N, G, f, Y, X]):
        T: int32[N, C, H, W]
        for n, k, i, j in allo.grid(N, C, H, W, name="before"):
            T[n, k, i, j] = A[n, k, i, j] * 2
        P: int32[N, C, PH, PW]
        for n, k, i, j in allo.grid(N, C, PH, PW, name="around"):
            P[n, k, i, j] = -3
        for n, k, i, j in allo.grid(N, C, H, W, name="inside"):
            P[n, k, i + OY, j + OX] = T[n, k, i, j] + 1
        R: int32[N, G, f, Y, X]
        for n, g, m, y, x in allo.grid(N, G, f, Y, X, name="start"):
            R[n, g, m, y, x] = g
        for n, g, m, y, x, k, i, j in allo.grid(N, G, f, Y, X, c, KH, KW, name="products"):
            R[n, g, m, y, x] += P[n, g * c + k, y * SY + i * DY, x * SX + j * DX] * V[g, m, k, i, j]
        for n, g, m, y, x in allo.grid(N, G, f, Y, X, name="behind"):
            B[n, g, m, y, x] = max(R[n, g, m, y, x], 0)

    return convolution


def drawn_case(rng: np.random.Generator) -> Convolution:
    while True:
        groups = int(rng.choice([1, 1, 2]))
        ranges = ((4, 9), (1, 4), (1, 4), (1, 3), (0, 3))
        pairs = [tuple(int(n) for n in rng.integers(low, high, 2)) for low, high in ranges]
        numbers = (int(rng.integers(1, 3)), groups * int(rng.integers(1, 3)), groups * int(rng.integers(1, 3)), groups)
        case = Convolution(*numbers, *pairs)
        if all(r <= n for r, n in zip(case.reach, case.padded, strict=True)):
            return case


@sweep(30, 1)
def test_convolutions(seed: int) -> None:
    """Bits are those of the kernel, with FIFOs of least depth too, and all arrays stream."""
    kernel = kernel_of(drawn_case(np.random.default_rng(seed)))
    s = customize(kernel)
    plan = s.fuse_streams("convolution")
    assert plan.round_trips == 0
    s.size_fifos()
    assert_same_meaning(kernel, s)


def mixed(A: int32[2, 5, 4], B: int32[3, 5, 4]):
    P: int32[2, 7, 6]
    for c, y, x in allo.grid(2, 7, 6, name="around"):
        P[c, y, x] = 7
    for c, y, x in allo.grid(2, 5, 4, name="inside"):
        P[c, y + 1, x + 1] = A[c, y, x]
    for f, y, x in allo.grid(3, 5, 4, name="windows"):
        s: int32 = 0
        for c, i, j in allo.grid(2, 3, 3):
            s += P[c, y + i, x + j] * (f + i)
        B[f, y, x] = s


PIPELINE = """
def mixed(A: int32[2, 5, 4], B: int32[3, 5, 4]):  # dataflow
    fifo_P: Stream[int32, 84]
    for y in range(-1, 6, name="inside"):
        for x in range(-1, 5):
            for c in range(2):
                P_element: int32
                P_element = 7
                if y >= 0 and y <= 4 and x >= 0 and x <= 3:
                    P_element = A[c, y, x]
                fifo_P.put(P_element)
    P_rows: int32[3, 12]
    fifo_P_in_order: Stream[int32, 2]
    for p in range(7, name="convert_P"):
        for p1 in range(6):
            for x in range(2):  # pipeline=1
                t = fifo_P.get()
                P_rows[p % 3, 2 * p1 + x] = t
            if p >= 2 and p1 >= 2:
                for y in range(3):
"""


def test_border_and_rows() -> None:
    """The border is put pixel by pixel, and three rows are kept of an image that the text reads once a filter."""
    s = customize(mixed)
    plan = s.fuse_streams("mixed")
    assert [(link.cost, link.converter) for link in plan.graph.links] == [(144, "3 rows of 12")]
    assert s.pseudocode().startswith(PIPELINE.strip())
    assert_faithful(mixed, s)


def test_row_too_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line buffer with two rows instead of three gives other elements, and the step notices which."""
    monkeypatch.setattr(LineBuffer, "rows", property(lambda made: made.slides[made.rolling].reach))
    with pytest.raises(allo.errors.InternalError) as caught:
        customize(mixed).fuse_streams("mixed")
    assert str(caught.value) == (
        "internal error, please report it: nest 'convert_P' puts [0, 2, 0] into 'fifo_P_in_order' as element 0, "
        "by the order of 'fifo_P', !allo.itensor<1x1x1xi32, [7, 6, 2] * [1, 1, 1], (d0, d1, d2) -> (d2, d0, d1)>, "
        "but [0, 0, 0] passes there by that of 'fifo_P_in_order', "
        "!allo.itensor<1x1x1xi32, [5, 4, 3, 2, 3, 3] * [1, 1, 1, 1, 1, 1], "
        "(d0, d1, d2, d3, d4, d5) -> (d3, d0 + d4, d1 + d5)>"
    )


@pytest.mark.slow
def test_verified() -> None:
    s = customize(mixed)
    s.fuse_streams("mixed")
    assert allo.verify(customize(mixed), s)
