"""durbin: the Yule-Walker equations T y = -r of a symmetric Toeplitz matrix T with ones on its diagonal."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32

from .benchmark import Benchmark, Design
from .lanes import halvings, unroll

SIZES = {"MINI": (40,), "SMALL": (120,), "MEDIUM": (400,), "LARGE": (2000,), "EXTRALARGE": (4000,)}


def kernel(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The kernel for r of N: the first row of T is 1, r[0], ..., r[N - 2]."""
    (N,) = SIZES[size]

    def durbin(r: T[N], y: T[N]):
        z = T[N](0)
        y[0] = -r[0]
        beta: T = 1.0
        alpha: T = -r[0]
        for k in range(1, N):
            beta = (1.0 - alpha * alpha) * beta
            total: T = 0.0
            for i in range(k):
                total += r[k - i - 1] * y[i]
            alpha = -(r[k] + total) / beta
            for i1 in range(k):
                z[i1] = y[i1] + alpha * y[k - i1 - 1]
            for i2 in range(k):
                y[i2] = z[i2]
            y[k] = alpha

    return durbin


def stages(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The same with y and r forward and backward in registers that shift, so that no element has to be looked for.

    In step k, behind[i] is r[k - 1 - i] and back[i] is y[k - 1 - i]; elements from k on are zeros.
    """
    (N,) = SIZES[size]
    TERMS = halvings(N)

    def durbin(r: T[N], y: T[N]):
        ahead: T[N]
        back: T[N]
        behind: T[N]
        for i0 in range(N):
            ahead[i0] = -r[0] if i0 == 0 else 0.0
            back[i0] = -r[0] if i0 == 0 else 0.0
            behind[i0] = r[0] if i0 == 0 else 0.0
        beta: T = 1.0
        alpha: T = -r[0]
        for k in range(1, N):
            beta = (1.0 - alpha * alpha) * beta
            p: T[N]
            for i in range(N):
                p[i] = behind[i] * ahead[i]
            with allo.meta_for(TERMS) as terms:
                for pair in range(terms // 2):
                    p[pair] += p[pair + (terms + 1) // 2]
            alpha = -(r[k] + p[0]) / beta
            z: T[N]
            for i1 in range(N):
                z[i1] = back[i1] + alpha * ahead[i1]
                ahead[i1] = alpha if i1 == k else ahead[i1] + alpha * back[i1]
            for i2 in range(1, N):
                back[i2] = z[i2 - 1]
                behind[N - i2] = behind[N - 1 - i2]
            back[0] = alpha
            behind[0] = r[k]
        for i3 in range(N):
            y[i3] = ahead[i3]

    return durbin


def in_registers(s: allo.Schedule, size: str) -> None:
    """All elements at once: the sum in a tree, then the new y."""
    for loop in ("i0", "i3"):
        s.pipeline(loop)
    unroll(s, "i", "i1", "i2")
    unroll(s, "pair", levels=len(halvings(*SIZES[size])))
    for vector in ("ahead", "back", "behind", "p", "z"):
        s.partition(f"durbin:{vector}")


DESIGNS = {"vanilla": Design(kernel), "best": Design(stages, in_registers, reassociated=True)}


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """r, y as PolyBench initialises them."""
    (n,) = SIZES[size]
    return T[n](n + 1 - np.arange(n)), T[n](0)


def reference(size: str, r: Any, y: Any) -> None:
    """The kernel in NumPy: the equations are solved as any others."""
    first = np.concatenate([[1.0], r[:-1]])
    row, column = np.ogrid[: len(r), : len(r)]
    y[...] = np.linalg.solve(first[np.abs(row - column)], -r.astype(np.float64))


BENCHMARK = Benchmark("durbin", ("N",), SIZES, kernel, arguments, reference, DESIGNS)
