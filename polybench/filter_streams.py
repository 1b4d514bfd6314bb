"""The filter of deriche in two stages that FIFOs connect: along rows by blocks, along columns as rows arrive.

Each kernel here is for images of W x H.
"""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable

import allo
from allo.ir.types import AlloType, index

from .lanes import divisors

FILTER_TURNS = 24  # cycles from reading a value of the filter to storing the next


def block(W: int) -> int:
    """The rows that take turns."""
    return min(d for d in divisors(W) if d >= FILTER_TURNS)


def rows_in_order(W: int, H: int, T: AlloType) -> Callable[..., None]:
    """The sums of both directions of the filter along rows; a block of rows takes turns."""
    B = block(W)

    def filter_block(b: index, a1: T, a2: T, a3: T, a4: T, b1: T, b2: T, X: T[W, H], Y: T[B, H], Z: T[B, H]):
        ym1: T[B]
        ym2: T[B]
        xm1: T[B]
        yp1: T[B]
        yp2: T[B]
        xp1: T[B]
        xp2: T[B]
        for i0 in range(B):
            ym1[i0] = 0.0
            ym2[i0] = 0.0
            xm1[i0] = 0.0
            yp1[i0] = 0.0
            yp2[i0] = 0.0
            xp1[i0] = 0.0
            xp2[i0] = 0.0
        for j, i in allo.grid(H, B):
            y: T = a1 * X[B * b + i, j] + a2 * xm1[i] + b1 * ym1[i] + b2 * ym2[i]
            Y[i, j] = y
            xm1[i] = X[B * b + i, j]
            ym2[i] = ym1[i]
            ym1[i] = y
            z: T = a3 * xp1[i] + a4 * xp2[i] + b1 * yp1[i] + b2 * yp2[i]
            Z[i, H - 1 - j] = z
            xp2[i] = xp1[i]
            xp1[i] = X[B * b + i, H - 1 - j]
            yp2[i] = yp1[i]
            yp1[i] = z

    def rows(a1: T, a2: T, a3: T, a4: T, b1: T, b2: T, X: T[W, H], sums: T[W, H]):
        for b in range(W // B):
            Y: T[B, H]
            Z: T[B, H]
            filter_block(b, a1, a2, a3, a4, b1, b2, X, Y, Z)
            for i1, j1 in allo.grid(B, H):
                sums[B * b + i1, j1] = 1.0 * (Y[i1, j1] + Z[i1, j1])

    return rows


def block_by_block(s: allo.Schedule, size: str) -> None:
    """The sums of a block leave while the next one is filtered."""
    for loop in ("filter_block:i0", "filter_block:i", "j1"):
        s.pipeline(loop)
    s.dataflow("b")


def columns_in_order(W: int, H: int, T: AlloType) -> Callable[..., None]:
    """The filter along columns: forward while the rows arrive, which it keeps, then backward."""

    def columns(
        a5: T, a6: T, a7: T, a8: T, b1: T, b2: T, sums: T[W, H], Y: T[W, H], y1: T[W, H], y2: T[W, H]
    ):
        kept: T[W, H]
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
        for i, j in allo.grid(W, H):
            x: T = sums[i, j]
            kept[i, j] = x
            y: T = a5 * x + a6 * xm1[j] + b1 * ym1[j] + b2 * ym2[j]
            y1[i, j] = y
            xm1[j] = x
            ym2[j] = ym1[j]
            ym1[j] = y
        for i1, j1 in allo.grid(W, H):
            z: T = a7 * xp1[j1] + a8 * xp2[j1] + b1 * yp1[j1] + b2 * yp2[j1]
            y2[W - 1 - i1, j1] = z
            Y[W - 1 - i1, j1] = 1.0 * (y1[W - 1 - i1, j1] + z)
            xp2[j1] = xp1[j1]
            xp1[j1] = kept[W - 1 - i1, j1]
            yp2[j1] = yp1[j1]
            yp1[j1] = z

    return columns


def one_by_one(s: allo.Schedule, size: str) -> None:
    """An element in each cycle."""
    for loop in ("j0", "j", "j1"):
        s.pipeline(loop)
