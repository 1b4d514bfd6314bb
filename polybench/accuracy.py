"""Inputs that show mistakes, and how far results may lie from the reference: the rounding errors of each benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from allo.ir.types import AlloType, float32, float64, int32

from .suite import load

INTEGER = ("floyd_warshall", "nussinov")
RANDOM = {
    "heat_3d": "the heat of PolyBench's input is at rest already",
    "jacobi_2d": "each point of PolyBench's input is the mean of its neighbours already",
    "gramschmidt": "PolyBench's input has dependent columns, which become rounding errors divided by their length",
}
"""The benchmarks whose arrays are drawn at random, as PolyBench's would hide mistakes."""

TOLERANCE: dict[AlloType, dict[str, float]] = {
    float64: {"durbin": 1e-8},  # the Toeplitz matrix is indefinite, the recursion loses 7 digits at MEDIUM
    float32: {
        "adi": 2e-4,  # 200 sweeps that solve equations with a condition above 1000
        "durbin": 1e-3,  # as float64; the plain loops in C are off by 4e-4 at MINI
        "trisolv": 1e-3,  # the condition of L is 700 at MEDIUM
        "lu": 1e-4,  # sums of 400 terms up to 100 whose result is 1
        "ludcmp": 1e-4,
    },
}
"""Errors above the usual ones (a few hundred units in the last place), relative to the largest element of an array."""
USUAL: dict[AlloType, float] = {float64: 1e-12, float32: 2e-5}
ROUNDING_ONLY = (("durbin", float32),)
"""Where nothing but rounding errors is left from SMALL on."""


def element(name: str, T: AlloType) -> AlloType:
    """The type of the elements where T is asked for: two benchmarks are about integers."""
    return int32 if name in INTEGER else T


def inputs(name: str, size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """Fresh arguments of the benchmark, with elements of T."""
    arguments = load(name).arguments(size, element(name, T))
    if name in RANDOM:
        rng = np.random.default_rng(1)
        arguments = tuple(rng.random(a.shape).astype(a.dtype) if a.any() else a for a in arguments)
    return arguments


def tolerance(name: str, T: AlloType = float32) -> float:
    """The error that rounding explains at MEDIUM."""
    return TOLERANCE[T].get(name, USUAL[T])


def error(name: str, got: Sequence[Any], wanted: Sequence[Any]) -> float:
    """The largest difference of two arrays, relative to the largest element of the array; inf for a NaN."""
    errors = [0.0]
    for mine, theirs in zip(got, wanted, strict=True):
        if not isinstance(mine, np.ndarray):
            continue
        if name == "gramschmidt":  # the columns behind the rank are rounding errors
            rank = min(mine.shape) // 2
            mine, theirs = mine[:, :rank], theirs[:, :rank]
        mine, theirs = mine.astype(np.float64), theirs.astype(np.float64)
        largest = float(np.abs(theirs).max(initial=0.0)) or 1.0
        difference = float(np.abs(mine - theirs).max(initial=0.0)) / largest
        errors.append(difference if np.isfinite(difference) else float("inf"))
    return max(errors)
