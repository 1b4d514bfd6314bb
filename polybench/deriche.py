"""deriche: a recursive filter that smooths an image, forward and backward along its rows, then along its columns."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import allo
from allo.ir.types import AlloType, float32

from . import filter_streams
from .benchmark import Benchmark, Design, Part
from .filter_streams import FILTER_TURNS
from .lanes import Tile, divisor, divisors, in_banks, spread

SIZES = {
    "MINI": (64, 64),
    "SMALL": (192, 128),
    "MEDIUM": (720, 480),
    "LARGE": (4096, 2160),
    "EXTRALARGE": (7680, 4320),
}
DSP_FILTER = 36  # both directions of a row or column
DSP_COEFFICIENTS = 65
DSP_ADDITION = 5


def kernel(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The kernel for images of W x H."""
    W, H = SIZES[size]

    def forward_rows(a1: T, a2: T, b1: T, b2: T, X: T[W, H], Y: T[W, H]):
        for i in range(W):
            ym1: T = 0.0
            ym2: T = 0.0
            xm1: T = 0.0
            for j in range(H):
                Y[i, j] = a1 * X[i, j] + a2 * xm1 + b1 * ym1 + b2 * ym2
                xm1 = X[i, j]
                ym2 = ym1
                ym1 = Y[i, j]

    def backward_rows(a3: T, a4: T, b1: T, b2: T, X: T[W, H], Y: T[W, H]):
        for i in range(W):
            yp1: T = 0.0
            yp2: T = 0.0
            xp1: T = 0.0
            xp2: T = 0.0
            for j in range(H - 1, -1, -1):
                Y[i, j] = a3 * xp1 + a4 * xp2 + b1 * yp1 + b2 * yp2
                xp2 = xp1
                xp1 = X[i, j]
                yp2 = yp1
                yp1 = Y[i, j]

    def forward_columns(a5: T, a6: T, b1: T, b2: T, X: T[W, H], Y: T[W, H]):
        for j in range(H):
            tm1: T = 0.0
            ym1: T = 0.0
            ym2: T = 0.0
            for i in range(W):
                Y[i, j] = a5 * X[i, j] + a6 * tm1 + b1 * ym1 + b2 * ym2
                tm1 = X[i, j]
                ym2 = ym1
                ym1 = Y[i, j]

    def backward_columns(a7: T, a8: T, b1: T, b2: T, X: T[W, H], Y: T[W, H]):
        for j in range(H):
            tp1: T = 0.0
            tp2: T = 0.0
            yp1: T = 0.0
            yp2: T = 0.0
            for i in range(W - 1, -1, -1):
                Y[i, j] = a7 * tp1 + a8 * tp2 + b1 * yp1 + b2 * yp2
                tp2 = tp1
                tp1 = X[i, j]
                yp2 = yp1
                yp1 = Y[i, j]

    def addition(c: T, y1: T[W, H], y2: T[W, H], Y: T[W, H]):
        for i in range(W):
            for j in range(H):
                Y[i, j] = c * (y1[i, j] + y2[i, j])

    def deriche(alpha: T, imgIn: T[W, H], imgOut: T[W, H], y1: T[W, H], y2: T[W, H]):
        decay: T = allo.exp(-alpha)
        k: T = (1.0 - decay) * (1.0 - decay) / (1.0 + 2.0 * alpha * decay - allo.exp(2.0 * alpha))
        a2: T = k * decay * (alpha - 1.0)
        a3: T = k * decay * (alpha + 1.0)
        a4: T = -k * allo.exp(-2.0 * alpha)
        b1: T = allo.power(2.0, -alpha)
        b2: T = -allo.exp(-2.0 * alpha)
        forward_rows(k, a2, b1, b2, imgIn, y1)
        backward_rows(a3, a4, b1, b2, imgIn, y2)
        addition(1.0, y1, y2, imgOut)
        forward_columns(k, a2, b1, b2, imgOut, y1)
        backward_columns(a3, a4, b1, b2, imgOut, y2)
        addition(1.0, y1, y2, imgOut)

    return deriche


class Lanes(NamedTuple):
    """The rows of the first filter in each cycle, the columns of the second, and those that are added of these rows."""

    rows: int
    columns: int
    added: int


def most_lanes(size: str) -> Lanes:
    """As many as take turns."""
    W, H = SIZES[size]
    columns = divisor(H, max(1, H // FILTER_TURNS))
    return Lanes(divisor(W, max(1, W // FILTER_TURNS)), columns, columns)


def shared_lanes(size: str, dsp: int) -> Lanes:
    """As many as there are DSPs for if all stages share them."""
    W, H = SIZES[size]
    left = dsp - DSP_COEFFICIENTS
    rows, columns = (divisor(n, max(1, min(n // FILTER_TURNS, left // DSP_FILTER))) for n in (W, H))
    added = [d for d in divisors(H) if d % columns == 0 and DSP_ADDITION * rows * d <= left]
    return Lanes(rows, columns, max(added, default=columns))


def rows(size: str, T: AlloType = float32) -> Callable[..., None]:
    """Both directions of the filter along rows in one pass; all rows take turns."""
    W, H = SIZES[size]

    def rows(a1: T, a2: T, a3: T, a4: T, b1: T, b2: T, X: T[W, H], Y: T[W, H], Z: T[W, H]):
        ym1: T[W]
        ym2: T[W]
        xm1: T[W]
        yp1: T[W]
        yp2: T[W]
        xp1: T[W]
        xp2: T[W]
        for i0 in range(W):
            ym1[i0] = 0.0
            ym2[i0] = 0.0
            xm1[i0] = 0.0
            yp1[i0] = 0.0
            yp2[i0] = 0.0
            xp1[i0] = 0.0
            xp2[i0] = 0.0
        for j in range(H):
            for i in range(W):
                y: T = a1 * X[i, j] + a2 * xm1[i] + b1 * ym1[i] + b2 * ym2[i]
                Y[i, j] = y
                xm1[i] = X[i, j]
                ym2[i] = ym1[i]
                ym1[i] = y
                z: T = a3 * xp1[i] + a4 * xp2[i] + b1 * yp1[i] + b2 * yp2[i]
                Z[i, H - 1 - j] = z
                xp2[i] = xp1[i]
                xp1[i] = X[i, H - 1 - j]
                yp2[i] = yp1[i]
                yp1[i] = z

    return rows


def columns(size: str, T: AlloType = float32) -> Callable[..., None]:
    """Both directions of the filter along columns in one pass; all columns take turns."""
    W, H = SIZES[size]

    def columns(a5: T, a6: T, a7: T, a8: T, b1: T, b2: T, X: T[W, H], Y: T[W, H], Z: T[W, H]):
        ym1: T[H]
        ym2: T[H]
        xm1: T[H]
        yp1: T[H]
        yp2: T[H]
        xp1: T[H]
        xp2: T[H]
        for j0 in range(H):
            ym1[j0] = 0.0
            ym2[j0] = 0.0
            xm1[j0] = 0.0
            yp1[j0] = 0.0
            yp2[j0] = 0.0
            xp1[j0] = 0.0
            xp2[j0] = 0.0
        for i in range(W):
            for j in range(H):
                y: T = a5 * X[i, j] + a6 * xm1[j] + b1 * ym1[j] + b2 * ym2[j]
                Y[i, j] = y
                xm1[j] = X[i, j]
                ym2[j] = ym1[j]
                ym1[j] = y
                z: T = a7 * xp1[j] + a8 * xp2[j] + b1 * yp1[j] + b2 * yp2[j]
                Z[W - 1 - i, j] = z
                xp2[j] = xp1[j]
                xp1[j] = X[W - 1 - i, j]
                yp2[j] = yp1[j]
                yp1[j] = z

    return columns


def addition(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The sum of both directions."""
    W, H = SIZES[size]

    def addition(c: T, y1: T[W, H], y2: T[W, H], Y: T[W, H]):
        for i in range(W):
            for j in range(H):
                Y[i, j] = c * (y1[i, j] + y2[i, j])

    return addition


def stages(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The same with both directions in one pass."""
    W, H = SIZES[size]
    along_rows, along_columns, add = rows(size, T), columns(size, T), addition(size, T)

    def deriche(alpha: T, imgIn: T[W, H], imgOut: T[W, H], y1: T[W, H], y2: T[W, H]):
        decay: T = allo.exp(-alpha)
        k: T = (1.0 - decay) * (1.0 - decay) / (1.0 + 2.0 * alpha * decay - allo.exp(2.0 * alpha))
        a2: T = k * decay * (alpha - 1.0)
        a3: T = k * decay * (alpha + 1.0)
        a4: T = -k * allo.exp(-2.0 * alpha)
        b1: T = allo.power(2.0, -alpha)
        b2: T = -allo.exp(-2.0 * alpha)
        along_rows(k, a2, a3, a4, b1, b2, imgIn, y1, y2)
        add(1.0, y1, y2, imgOut)
        along_columns(k, a2, a3, a4, b1, b2, imgOut, y1, y2)
        add(1.0, y1, y2, imgOut)

    return deriche


def in_turns(s: allo.Schedule, size: str, lanes: Callable[[str], Lanes], along: str) -> None:
    """A recurrence of 3 operations, whose results are needed when all rows (or columns) have had their turn."""
    rows, columns, _ = lanes(size)
    count = rows if along == "i" else columns
    for loop in (f"{along}0", along):
        s.pipeline(s.split(loop, count)[0])
    for state in (s.ym1, s.ym2, s.xm1, s.yp1, s.yp2, s.xp1, s.xp2):
        in_banks(s, state, count)


def by_tiles(s: allo.Schedule, size: str, lanes: Callable[[str], Lanes]) -> None:
    """As many rows as the filter has lanes, and at least as many columns."""
    rows, _, added = lanes(size)
    spread(s, "i", "j", Tile(1, rows, added))
    for image in (s.y1, s.y2, s.Y):
        in_banks(s, image, rows, added)


def of_the_image(s: allo.Schedule, size: str) -> None:
    """The image has banks as its sums have."""
    rows, columns, _ = most_lanes(size)
    in_banks(s, s.imgIn, rows, columns)


def in_turn(s: allo.Schedule, size: str, dsp: int) -> None:
    """All stages in one function, so that they share multipliers and adders."""
    rows, _, added = shared_lanes(size, dsp)
    in_banks(s, s.imgIn, rows, added)
    for stage in ("rows", "columns", "addition"):
        s.inline(stage)


def parts(lanes: Callable[[str], Lanes]) -> tuple[Part, ...]:
    """The stages with these lanes."""
    return (
        Part(rows, partial(in_turns, lanes=lanes, along="i")),
        Part(columns, partial(in_turns, lanes=lanes, along="j")),
        Part(addition, partial(by_tiles, lanes=lanes)),
    )


def within(dsp: int) -> Design:
    """The fastest design with this many DSPs, fewer than the best one has."""
    return Design(stages, partial(in_turn, dsp=dsp), dsp, parts=parts(partial(shared_lanes, dsp=dsp)))


def rows_in_order(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The filter along rows by blocks."""
    return filter_streams.rows_in_order(*SIZES[size], T)


def columns_in_order(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The filter along columns as the rows arrive."""
    return filter_streams.columns_in_order(*SIZES[size], T)


def streamed_stages(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The same in two stages."""
    W, H = SIZES[size]
    along_rows, along_columns = rows_in_order(size, T), columns_in_order(size, T)

    def smooth(a1: T, a2: T, a3: T, a4: T, b1: T, b2: T, X: T[W, H], Y: T[W, H], y1: T[W, H], y2: T[W, H]):
        sums: T[W, H]
        along_rows(a1, a2, a3, a4, b1, b2, X, sums)
        along_columns(a1, a2, a3, a4, b1, b2, sums, Y, y1, y2)

    def deriche(alpha: T, imgIn: T[W, H], imgOut: T[W, H], y1: T[W, H], y2: T[W, H]):
        decay: T = allo.exp(-alpha)
        k: T = (1.0 - decay) * (1.0 - decay) / (1.0 + 2.0 * alpha * decay - allo.exp(2.0 * alpha))
        a2: T = k * decay * (alpha - 1.0)
        a3: T = k * decay * (alpha + 1.0)
        a4: T = -k * allo.exp(-2.0 * alpha)
        b1: T = allo.power(2.0, -alpha)
        b2: T = -allo.exp(-2.0 * alpha)
        smooth(k, a2, a3, a4, b1, b2, imgIn, imgOut, y1, y2)

    return deriche


def streamed(s: allo.Schedule, size: str) -> None:
    """The filter along columns goes forward while the one along rows is at work."""
    s.relay("smooth:sums", "columns", depth=2)
    s.dataflow("smooth")


STREAMS = (
    Part(rows_in_order, filter_streams.block_by_block),
    Part(columns_in_order, filter_streams.one_by_one),
)
DESIGNS = {
    "vanilla": Design(kernel),
    "best": Design(stages, of_the_image, parts=parts(most_lanes)),
    "streams": Design(streamed_stages, streamed, dsp=130, parts=STREAMS),
}


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """alpha, imgIn, imgOut, y1, y2 as PolyBench initialises them."""
    w, h = SIZES[size]
    row, column = np.ogrid[:w, :h]
    image = T[w, h]((313 * row + 991 * column) % 65536 / 65535)
    return 0.25, image, T[w, h](0), T[w, h](0), T[w, h](0)


def reference(size: str, alpha: float, imgIn: Any, imgOut: Any, y1: Any, y2: Any) -> None:
    """The kernel in NumPy, in float64."""
    forward, backward = _both_ways(alpha, imgIn.T.astype(np.float64))
    forward, backward = _both_ways(alpha, (forward + backward).T)
    y1[...], y2[...], imgOut[...] = forward, backward, forward + backward


def _both_ways(alpha: float, image: Any) -> tuple[Any, Any]:
    """The filter along the first axis, forward and backward."""
    decay = np.exp(-alpha)
    k = (1 - decay) ** 2 / (1 + 2 * alpha * decay - np.exp(2 * alpha))
    padded = np.pad(image, ((2, 2), (0, 0)))  # zeros before the first and behind the last
    ahead = k * padded[2:-2] + k * decay * (alpha - 1) * padded[1:-3]
    behind = k * decay * (alpha + 1) * padded[3:-1] - k * decay**2 * padded[4:]
    return _recurrence(alpha, ahead), _recurrence(alpha, behind[::-1])[::-1]


def _recurrence(alpha: float, rows: Any) -> Any:
    """y of y[t] = rows[t] + 2^-alpha y[t - 1] - e^(-2 alpha) y[t - 2]."""
    y = np.zeros((len(rows) + 2, rows.shape[1]))
    for t, row in enumerate(rows):
        y[t + 2] = row + 2**-alpha * y[t + 1] - np.exp(-2 * alpha) * y[t]
    return y[2:]


BENCHMARK = Benchmark("deriche", ("W", "H"), SIZES, kernel, arguments, reference, DESIGNS)
