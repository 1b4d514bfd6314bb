"""Measures how long systolic arrays take from the schedule to a simulation of their SystemVerilog, and its cycles.

    python benchmarks/grids.py [--sizes 4 16 32 64]

Int8 products of M x 64 by 64 x M on M x M elements, written as a region of tasks, and as a nest of loops that is
unfolded by the schedule of Fig. 5 of the Allo paper, of which the last column has the time to its text. CPU time of
this process and of the tools that it starts; what Verilator needs once for all designs is compiled before, by an array
that is not counted. Cycles are simulated, and the results are those of NumPy.
"""

# ruff: noqa: B007, F821 - in a kernel, `A: T[N]` declares an array
from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import allo
import allo.dataflow as df
from allo.ir.types import Stream, int8, int32
from allo.library.systolic import schedule_systolic_tile, systolic_tile

K = 64


def systolic(M: int) -> Any:
    """The region of an array of M x M elements."""

    @df.region()
    def systolic(A: int8[M, K], B: int8[K, M], C: int32[M, M]):
        fifo_A: Stream[int8, 2][M, M + 1]
        fifo_B: Stream[int8, 2][M + 1, M]

        @df.kernel(mapping=[M], args=[A])
        def rows(A: int8[M, K]):
            i = df.get_pid()
            for k in range(K):
                fifo_A[i, 0].put(A[i, k])

        @df.kernel(mapping=[M], args=[B])
        def columns(B: int8[K, M]):
            j = df.get_pid()
            for k in range(K):
                fifo_B[0, j].put(B[k, j])

        @df.kernel(mapping=[M, M], args=[C])
        def element(C: int32[M, M]):
            i, j = df.get_pid()
            c: int32 = 0
            for k in range(K):
                a: int8 = fifo_A[i, j].get()
                b: int8 = fifo_B[i, j].get()
                c += a * b
                with allo.meta_if(j < M - 1):
                    fifo_A[i, j + 1].put(a)
                with allo.meta_if(i < M - 1):
                    fifo_B[i + 1, j].put(b)
            C[i, j] = c

    return systolic


def scheduled(M: int) -> allo.Schedule:
    """The array with an iteration a cycle, and with all that elements touch at once in banks of its own."""
    s = df.customize(systolic(M))
    s.partition("systolic:A", dim=1)
    s.partition("systolic:B", dim=2)
    s.partition("systolic:C")
    for task in ("rows", "columns", "element"):
        s.pipeline(f"{task}:k")
    return s


def unfolded(M: int) -> allo.Schedule:
    """The array as a plain product, whose loops over elements are unfolded."""
    s = allo.customize(systolic_tile, instantiate=[int8, int8, int32, K, M, M])
    return schedule_systolic_tile(s)


def seconds(action: Callable[[], Any]) -> tuple[float, float, float]:
    """CPU time of this process and of tools, and the time of a clock."""
    start, before = os.times(), time.perf_counter()
    action()
    end = os.times()
    own = end.user - start.user + end.system - start.system
    tools = end.children_user - start.children_user + end.children_system - start.children_system
    return own, tools, time.perf_counter() - before


def measured(M: int) -> str:
    """A row of the table."""
    draw = np.random.default_rng(M)
    A, B = (draw.integers(-128, 128, shape).astype(np.int8) for shape in ((M, K), (K, M)))
    C = np.zeros((M, M), np.int32)
    built: list[Any] = []
    text = seconds(lambda: built.append(scheduled(M).build(target="rtl")))
    first = seconds(lambda: built[0](A, B, C))
    again = seconds(lambda: built[0](A, B, C))
    assert np.array_equal(C, A.astype(np.int32) @ B.astype(np.int32))
    nest = seconds(lambda: unfolded(M).build(target="rtl"))
    own, tools = text[0] + first[0], text[1] + first[1]
    return (
        f"| {M} x {M} | {text[0]:.1f} | {first[0]:.1f} | {tools:.1f} | {own + tools:.1f} | {text[2] + first[2]:.1f} "
        f"| {built[0].cycles} | {again[0]:.2f} | {nest[0]:.1f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[4, 16, 32, 64])
    sizes = parser.parse_args().sizes
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        measured(2)
        print(
            "| elements | text, s | first call: Python, s | tools, s | all, s | clock, s | cycles | a call, s "
            "| nest: text, s |"
        )
        print("|---|--:|--:|--:|--:|--:|--:|--:|--:|", flush=True)
        for size in sizes:
            print(measured(size), flush=True)


if __name__ == "__main__":
    main()
