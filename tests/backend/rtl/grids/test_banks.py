"""Grids whose elements use rows and columns of arrays: one module for all, which takes a bank."""

from __future__ import annotations

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.ir.types import int16
from allo.target import load_target

TASKS, N = 9, 12


@df.region()
def turned(A: int16[TASKS, N], B: int16[N, TASKS], C: int16[TASKS, N]):
    @df.kernel(mapping=[TASKS], args=[A, B])
    def columns(A: int16[TASKS, N], B: int16[N, TASKS]):
        p = df.get_pid()
        for i in range(N):
            B[i, p] = 3 * A[TASKS - 1 - p, i] + B[i, p]

    @df.kernel(mapping=[TASKS], args=[B, C])
    def reversed_rows(B: int16[N, TASKS], C: int16[TASKS, N]):
        p = df.get_pid()
        with allo.meta_if(p < TASKS - 1):
            for i in range(N):
                C[p, N - 1 - i] = B[i, p]
        with allo.meta_else():
            for j in range(N - p):
                C[p, j + p] = B[j, p]


@pytest.mark.slow
def test_rows_and_columns_are_banks_of_one_module() -> None:
    s = df.customize(turned)
    s.partition("turned:A", dim=1)
    s.partition("turned:B", dim=2)
    s.partition("turned:C", dim=1)
    for loop in ("columns:i", "reversed_rows:i", "reversed_rows:j"):
        s.pipeline(loop)
    made = s.build(target="rtl")
    names = [module.name for module in made.design.modules]
    assert names == ["columns_0", "reversed_rows_0", "reversed_rows_8", "turned", "turned_top"]
    draw = np.random.default_rng(7)
    A, B, C = (draw.integers(-99, 99, shape).astype(np.int16) for shape in ((TASKS, N), (N, TASKS), (TASKS, N)))
    wanted = B + 3 * A[::-1].T
    last = C.copy()
    last[:-1] = wanted.T[:-1, ::-1]
    last[-1, TASKS - 1 :] = wanted.T[-1, : N - TASKS + 1]
    timed = s.build(target="simulator", timed=load_target("u280").under("rtl"))
    own = [array.copy() for array in (A, B, C)]
    timed(*own)
    made(A, B, C)
    for found, array in ((B, wanted), (C, last), (own[1], wanted), (own[2], last)):
        np.testing.assert_array_equal(found, array)
    assert made.cycles == made.predicted_cycles == timed.timing.cycles
