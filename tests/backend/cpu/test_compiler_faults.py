"""Programs that LLVM's compiler got wrong, each of which ended the process: they compile and compute."""

# Streams of regions are declared by annotations.
# ruff: noqa: F821

from __future__ import annotations

import numpy as np

import allo.dataflow as df
from allo.ir.types import Stream, int32


def test_rows_read_backwards_and_columns_beside_each_other() -> None:
    """The vectoriser of straight code let a value be used before it was loaded."""

    @df.region()
    def top(A: int32[8, 8], B: int32[8, 8]):
        s: Stream[int32[8, 8], 1]

        @df.kernel(mapping=[1], args=[A])
        def source(a: int32[8, 8]):
            s.put(a)

        @df.kernel(mapping=[1], args=[B])
        def sink(b: int32[8, 8]):
            a: int32[8, 8] = s.get()
            x: int32[8, 8] = 0
            for i in range(8):
                for j in range(8):
                    x[i, j] = a[j, i] - a[7 - i, j]
            for i in range(1, 8):
                for j in range(2, 8):
                    for k in range(8):
                        x[i, j] += x[i, k] * x[k, j]
            b[0, 0] = 3

    A, B = np.arange(64, dtype=np.int32).reshape(8, 8), np.zeros((8, 8), np.int32)
    df.build(top)(A, B)
    assert B[0, 0] == 3
