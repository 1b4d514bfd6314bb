"""heat-3d: heat diffusion in three dimensions, from A to B and back, TSTEPS times."""

from collections.abc import Callable
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32

from .benchmark import DEVICE, Benchmark, Design, Part
from .lanes import in_banks

SIZES = {
    "MINI": (20, 10),
    "SMALL": (40, 20),
    "MEDIUM": (100, 40),
    "LARGE": (500, 120),
    "EXTRALARGE": (1000, 200),
}
DSP_POINT = 36  # of a point: a few products by constants and sums


def diffuse(size: str, T: AlloType = float32) -> Callable[..., None]:
    """Y is X half a step later."""
    _, N = SIZES[size]

    def diffuse(X: T[N, N, N], Y: T[N, N, N]):
        for i in range(1, N - 1):
            for j in range(1, N - 1):
                for k in range(1, N - 1):
                    Y[i, j, k] = (
                        0.125 * (X[i + 1, j, k] - 2.0 * X[i, j, k] + X[i - 1, j, k])
                        + 0.125 * (X[i, j + 1, k] - 2.0 * X[i, j, k] + X[i, j - 1, k])
                        + 0.125 * (X[i, j, k + 1] - 2.0 * X[i, j, k] + X[i, j, k - 1])
                        + X[i, j, k]
                    )

    return diffuse


def kernel(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The kernel for A and B of N x N x N."""
    TSTEPS, N = SIZES[size]
    half_a_step = diffuse(size, T)

    def heat_3d(A: T[N, N, N], B: T[N, N, N]):
        for t in range(TSTEPS):  # noqa: B007 - the name of the loop in schedules
            half_a_step(A, B)
            half_a_step(B, A)

    return heat_3d


def lanes(size: str) -> int:
    """The rows that are computed in each cycle, at least 2 turns of them."""
    inner = SIZES[size][1] - 2
    return max(1, min(DEVICE // (DSP_POINT * inner), inner // 2))


def row_wise(s: allo.Schedule, size: str) -> None:
    """Some rows in each cycle: three planes of X near the arithmetic, and the rows around them in registers."""
    count = lanes(size)
    rows, _ = s.split("j", count)
    planes = s.reuse_at(s.X, "i")
    s.partition(s.reuse_at(planes, rows))
    s.pipeline(rows)
    for dim in (1, 3):
        s.partition(planes, dim=dim)
    in_banks(s, planes, 1, count)
    for array in (s.X, s.Y):
        in_banks(s, array, 1, count)
        s.partition(array, dim=3)


DESIGNS = {"vanilla": Design(kernel), "best": Design(kernel, parts=(Part(diffuse, row_wise),))}


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """A, B as PolyBench initialises them."""
    _, n = SIZES[size]
    i, j, k = np.ogrid[:n, :n, :n]
    A = T[n, n, n]((i + j + n - k) * 10 / n)
    return A, A.copy()


def reference(size: str, A: Any, B: Any) -> None:
    """The kernel in NumPy."""
    for _ in range(SIZES[size][0]):
        B[1:-1, 1:-1, 1:-1] = _diffused(A)
        A[1:-1, 1:-1, 1:-1] = _diffused(B)


def _diffused(X: Any) -> Any:
    """Every inner point a quarter of itself and an eighth of its six neighbours."""
    inner = X[1:-1, 1:-1, 1:-1]
    along_i, along_j = X[2:, 1:-1, 1:-1] + X[:-2, 1:-1, 1:-1], X[1:-1, 2:, 1:-1] + X[1:-1, :-2, 1:-1]
    along_k = X[1:-1, 1:-1, 2:] + X[1:-1, 1:-1, :-2]
    return 0.25 * inner + 0.125 * (along_i + along_j + along_k)


BENCHMARK = Benchmark("heat_3d", ("TSTEPS", "N"), SIZES, kernel, arguments, reference, DESIGNS)
