"""Measures the simulator of dataflow designs: elements a second, memory a task, compile time against the grid, sizing.

    python benchmarks/dataflow.py [--elements N]

CPU time of this process. A grid is a systolic array whose positions all wait for their neighbours.
"""

# ruff: noqa: B023, F821 - tasks use the streams that a region declares; actions are called at once

from __future__ import annotations

import argparse
import importlib.util
import os
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import allo
import allo.dataflow as df
from allo.ir.types import Stream, int16, int32

ELEMENTS = 20_000_000
GRIDS = (4, 16, 64)
DEPTH = 16  # of the matrices that a grid multiplies
STACKS = 64  # rows and columns of the grid whose tasks all have a stack


def seconds(action: Callable[[], Any]) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


def pipe(count: int, *, polls: bool) -> allo.Schedule:
    """Two tasks with a FIFO of depth 4 between them, which holds no more if one of them asks it something."""

    @df.region()
    def two(A: int32[1], B: int32[1]):
        fifo: Stream[int32, 4]

        @df.kernel(mapping=[1], args=[A])
        def source(a: int32[1]):
            for _i in range(count):
                fifo.put(a[0])

        @df.kernel(mapping=[1], args=[B])
        def sink(b: int32[1]):
            total: int32 = 0
            with allo.meta_if(polls):
                if fifo.empty():
                    total = 0
            for _i in range(count):
                total += fifo.get()
            b[0] = total

    return df.customize(two)


def systolic(size: int) -> Callable[..., Any]:
    """An output-stationary array of `size` x `size` positions, with feeders and drains around it.

    A result goes along its row to the drain: tools make 1,024 banks of an array at most, one for each writer.
    """
    extent = size + 2

    @df.region()
    def array(A: int16[size, DEPTH], B: int16[DEPTH, size], C: int16[size, size]):
        right: Stream[int16, 2][extent, extent]
        down: Stream[int16, 2][extent, extent]
        out: Stream[int16, 2][extent, extent]

        @df.kernel(mapping=[extent, extent], args=[A, B, C])
        def cell(A: int16[size, DEPTH], B: int16[DEPTH, size], C: int16[size, size]):
            i, j = df.get_pid()
            with allo.meta_if(i in {0, size + 1} and j in {0, size + 1}):
                pass
            with allo.meta_elif(j == 0):
                for k in range(DEPTH):
                    right[i, j + 1].put(A[i - 1, k])
                for _n in range(size):
                    out[i, j + 1].put(0)
            with allo.meta_elif(i == 0):
                for k in range(DEPTH):
                    down[i + 1, j].put(B[k, j - 1])
            with allo.meta_elif(i == size + 1):
                for _k in range(DEPTH):
                    down[i, j].get()
            with allo.meta_elif(j == size + 1):
                for _k in range(DEPTH):
                    right[i, j].get()
                for n in range(size):
                    C[i - 1, n] = out[i, j].get()
            with allo.meta_else():
                c: int16 = 0
                for _k in range(DEPTH):
                    a: int16 = right[i, j].get()
                    b: int16 = down[i, j].get()
                    c += a * b
                    right[i, j + 1].put(a)
                    down[i + 1, j].put(b)
                for n in range(size):
                    x: int16 = out[i, j].get()
                    if n == j - 1:
                        x = c
                    out[i, j + 1].put(x)

    return array


def waiting(size: int) -> Callable[..., Any]:
    """A grid in which every task waits for the next one, so that all of them have a stack."""

    @df.region()
    def grid(A: int32[size], B: int32[size]):
        back: Stream[int32, 1][size, size]

        @df.kernel(mapping=[size, size], args=[A, B])
        def cell(a: int32[size], b: int32[size]):
            i, j = df.get_pid()
            with allo.meta_if(j == size - 1):
                back[i, j - 1].put(a[i])
            with allo.meta_elif(j == 0):
                b[i] = back[i, j].get()
            with allo.meta_else():
                back[i, j - 1].put(back[i, j].get() + 1)

    return grid


def throughput(count: int) -> None:
    print("| between two tasks, depth 4 | million elements/s |\n|---|---|")
    for title, polls in (("ends seen before the run: room for 1,024", False), ("as deep as declared", True)):
        built = pipe(count, polls=polls).build()
        arrays = np.ones(1, np.int32), np.zeros(1, np.int32)
        built(*arrays)
        best = min(seconds(lambda: built(*arrays)) for _ in range(3))
        print(f"| {title} | {count / best / 1e6:.0f} |")


def memory() -> None:
    """What the stacks of tasks that all wait add to the most that this process has used."""
    arrays = np.ones(STACKS, np.int32), np.zeros(STACKS, np.int32)
    built = df.build(waiting(STACKS))
    small = df.build(waiting(4))
    small(np.ones(4, np.int32), np.zeros(4, np.int32))
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    held = np.ones(max(0, most * 1024 - resident()) // 8 + 1)  # so that the most is what is used now
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    built(*arrays)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    del held
    print(f"\n{STACKS * STACKS:,} tasks that wait: {grown / STACKS**2:.1f} KiB a task")


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def compile_times() -> None:
    print("\n| grid | customize ms | build ms | machine code ms | run ms | sum against 4 x 4 | module KiB | made MiB |")
    print("|---|---|---|---|---|---|---|---|")
    first = 0.0
    rounds = [[compile_time(size) for size in GRIDS] for _ in range(5)]  # all sizes meet the same machine
    for k, size in enumerate(GRIDS):
        times = [statistics.median(column) * 1e3 for column in zip(*(own[k] for own in rounds), strict=True)]
        made = sum(times[:3])
        first = first or made
        text, grown = module_size(size)
        shown = " | ".join(f"{t:.0f}" for t in times)
        print(f"| {size} x {size} | {shown} | {made / first:.2f} | {text / 1024:.1f} | {grown / 1024:.1f} |")


def module_size(size: int) -> tuple[int, float]:
    """The length of the text of a grid's module, and by how many KiB the memory of this process grows with it."""
    before = resident()
    s = df.customize(systolic(size))
    built = s.build()
    grown = (resident() - before) / 1024
    del built
    return len(str(s.ir)), max(0.0, grown)


def hls_code() -> None:
    """Functions of HLS code: a position whose subscripts are its own has one; calls there are as many as positions."""
    print("\n| grid | HLS code ms | functions | lines of functions | lines of the region, of calls and FIFOs |")
    print("|---|---|---|---|---|")
    for size in GRIDS:
        built: list[Any] = []
        took = seconds(lambda size=size: built.append(df.build(systolic(size), target="vhls")))
        functions, region = built[0].hls_code.rsplit("\n}\n\n", 1)
        counts = functions.count("\n}") + 1, functions.count("\n"), region.count("\n")
        print(f"| {size} x {size} | {took * 1e3:.0f} | {' | '.join(map(str, counts))} |")


def compile_time(size: int) -> tuple[float, ...]:
    region = systolic(size)
    made: list[Any] = []
    customizing = seconds(lambda: made.append(df.customize(region)))
    building = seconds(lambda: made.append(made[0].build()))
    arrays = np.ones((size, DEPTH), np.int16), np.ones((DEPTH, size), np.int16), np.zeros((size, size), np.int16)
    calls = [seconds(lambda: made[1](*arrays)) for _ in range(2)]
    assert (arrays[2] == DEPTH).all()
    return customizing, building, calls[0] - calls[1], calls[1]


def sizing() -> None:
    """How long it takes to find the depths of FIFOs."""
    print("\n| depths of FIFOs of a grid of 16 x 16 | ms |\n|---|---|")
    linear = ("normal", "conservative") if importlib.util.find_spec("scipy") else ()
    for strategy in (*linear, "exact"):
        s = df.customize(systolic(GRIDS[1]))
        print(f"| {strategy} | {seconds(lambda: s.size_fifos(strategy=strategy)) * 1e3:.0f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--elements", type=int, default=ELEMENTS)
    given = parser.parse_args(sys.argv[1:])
    throughput(given.elements)
    memory()
    compile_times()
    hls_code()
    sizing()


if __name__ == "__main__":
    main()
