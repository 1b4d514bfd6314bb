"""Runs without data forget the FIFOs of regions that have ended, but for those in which elements are left."""

# ruff: noqa: F821 - streams are declared without a value
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.ir.types import Stream, int32
from allo.poly.waiting.run import TokenRun
from allo.poly.waiting.tasks import TokenFifo

N, ROWS = 4, 50


@df.region()
def row(X: int32[N], Y: int32[N]):
    there: Stream[int32, 2]
    back: Stream[int32, 2]

    @df.kernel(args=[X])
    def give(x: int32[N]):
        for i in range(N):
            there.put(x[i])
            back.get()

    @df.kernel(args=[Y])
    def take(y: int32[N]):
        for i in range(N):
            y[i] = there.get() * 2
            back.put(i)


def rows(A: int32[ROWS, N], B: int32[ROWS, N]):
    for r in range(ROWS):
        row(A[r], B[r])


def test_fifos_of_ended_regions(monkeypatch: pytest.MonkeyPatch) -> None:
    known: list[int] = []
    make = TokenRun._make

    def counted(run: TokenRun, *given: Any) -> TokenFifo:
        made = make(run, *given)
        known.append(len(run.fifos))
        return made

    monkeypatch.setattr(TokenRun, "_make", counted)
    A = np.arange(ROWS * N, dtype=np.int32).reshape(ROWS, N)
    B = np.zeros_like(A)
    allo.customize(rows).build()(A, B)
    np.testing.assert_array_equal(B, 2 * A)
    assert len(known) >= 2 * ROWS and max(known) == 2


def test_what_is_left_in_a_region_in_a_loop_is_told() -> None:
    @df.region()
    def leaves(X: int32[N]):
        s: Stream[int32, 8]

        @df.kernel(args=[X])
        def give(x: int32[N]):
            for i in range(N):
                s.put(x[i])

        @df.kernel()
        def take():
            for _i in range(N - 1):
                s.get()

    def top(A: int32[ROWS, N]):
        for r in range(ROWS):
            leaves(A[r])

    with pytest.raises(allo.DataflowError, match="4 elements are put into stream 's', and 3 elements are taken"):
        allo.customize(top)
