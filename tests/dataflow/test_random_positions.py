"""Random steps on positions of a grid: all doors, replay and text show the same, and estimates are timed cycles."""

# Streams of regions are declared by annotations.
# ruff: noqa: F821

from __future__ import annotations

import random

import numpy as np

import allo
import allo.dataflow as df
from allo import Schedule
from allo.ir.types import Stream, int32
from tests.seeds import sweep

R, C, N = 3, 4, 4


@df.region()
def rows(A: int32[R, C, N], B: int32[R, C, N]):
    line: Stream[int32, 2][R, C + 1]

    @df.kernel(mapping=[R, C], args=[A, B])
    def cell(A: int32[R, C, N], B: int32[R, C, N]):
        i, j = df.get_pid()
        with allo.meta_if(j > 0):
            for k in range(N):
                B[i, j, k] = A[i, j, k] + line[i, j].get()
        with allo.meta_else():
            for k in range(N):
                B[i, j, k] = A[i, j, k]
        with allo.meta_if(j < C - 1):
            for k in range(N):
                line[i, j + 1].put(B[i, j, k] * 2)


def some(draw: random.Random, extent: int) -> str:
    """A position, or a slice of positions."""
    first = draw.randrange(extent)
    end = draw.randrange(first + 1, extent + 1)
    return draw.choice([str(first), f"{first}:{end}", ":", f"{first}:", f":{end}"])


def stepped(draw: random.Random) -> Schedule:
    """A schedule of up to six steps; those that are refused leave nothing behind."""
    s = df.customize(rows)
    for _ in range(draw.randrange(1, 7)):
        places = f"{some(draw, R)}, {some(draw, C)}"
        loop = f"cell[{places}]:S_k_{draw.randrange(3)}.k"
        before = len(s.steps)
        try:
            match draw.randrange(5):
                case 0:
                    s.pipeline(loop)
                case 1:
                    s.split(loop, 2)
                case 2:
                    s.unroll(loop)
                case 3:
                    s.peel(loop, 1)
                case _:
                    s.separate("cell", places)
        except allo.ScheduleError:
            assert len(s.steps) == before
    return s


@sweep(30, quick=2)
def test_steps_on_positions(seed: int) -> None:
    draw = random.Random(seed)
    s = stepped(draw)
    A = np.random.default_rng(seed).integers(-99, 99, (R, C, N)).astype(np.int32)
    expected, timed = np.zeros_like(A), s.build(timed=True)
    df.build(rows)(A, expected)
    for built in (s.build(check=draw.random() < 0.5, threads=draw.choice([1, R])), timed):
        B = np.zeros_like(A)
        built(A, B)
        np.testing.assert_array_equal(B, expected)
    assert s.verify()
    assert s.report(target="u280").cycles == timed.timing.cycles
    text, fresh = str(s.module), df.customize(rows)
    fresh.replay(str(s.steps))
    again = [fresh, Schedule.from_mlir(s.to_mlir()), Schedule.from_mlir(text)]
    assert [str(made.module) for made in again] == [text] * 3
