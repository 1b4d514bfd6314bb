"""What loops do in a simulation: first and last cycle, iterations and intervals, beside what the schedule says."""

from __future__ import annotations

import numpy as np

import allo
from allo.backend.rtl import RTLModule
from allo.ir.types import float32, int32

from .test_loops import gemm, numbers


def run(s: allo.Schedule, *arguments: object) -> RTLModule:
    built = s.build(target="rtl", random_state=1)
    assert isinstance(built, RTLModule)
    built(*arguments)
    return built


def test_loops_one_after_the_other() -> None:
    made = run(allo.customize(gemm), *(numbers(8, 8) for _ in range(3)))
    assert list(map(str, made.loops)) == [
        "gemm:k: cycles 6 to 3,407, 64 x, 512 iterations, one each 6 cycles",
        "gemm:j: cycles 2 to 3,408, 8 x, 64 iterations, one each 53 cycles",
        "gemm:i: cycles 0 to 3,408, 1 x, 8 iterations, one each 426 cycles",
    ]
    assert [loop.scheduled for loop in made.loops] == [(6, 3407, None), (2, 3408, None), (0, 3408, None)]
    assert all(loop.as_scheduled for loop in made.loops)


def test_pipelines_calls_and_bounds_that_vary() -> None:
    def row(x: float32[12], y: float32[12]):
        for j in range(12):
            y[j] += x[j] * 2.0

    def rows(x: float32[12], y: float32[12], z: int32[12, 12]):
        row(x, y)
        for i in range(12):
            for k in range(i + 1):
                z[i, k] += i
        row(y, x)

    s, one = allo.customize(rows), allo.customize(row)
    one.pipeline("j", initiation_interval=3)
    s.compose(one)
    s.pipeline("k")
    x, y = (np.ones(12, np.float32) for _ in range(2))
    made = run(s, x, y, numbers(12, 12))
    assert [loop.name for loop in made.loops] == ["rows:k", "rows:i", "row:j", "row:j"]
    k, i, first, second = made.loops
    assert (k.runs, k.iterations, k.intervals, k.scheduled[2]) == (12, 78, (1, 1), 1)
    assert i.intervals is not None and i.intervals[1] - i.intervals[0] == 10
    assert first.intervals == second.intervals == (3, 3)
    assert first.last is not None and i.first is not None and second.first is not None
    assert first.last < i.first < second.first
    assert all(None not in loop.scheduled[:2] and loop.as_scheduled for loop in made.loops)


def test_loops_that_data_decide() -> None:
    def search(x: int32[8], n: int32) -> int32:
        at: int32 = 0
        while x[at] > 0:
            at += 1
        if n > 3:
            for i in range(n):
                x[i] = 0
        return at

    built = allo.customize(search).build(target="rtl")
    assert isinstance(built, RTLModule)
    at = built(np.array([5, 4, 3, 0, 0, 0, 0, 0], np.int32), 2)
    assert at == 3
    loop, other = built.loops
    assert (loop.runs, loop.iterations, loop.scheduled) == (1, 3, (None, None, None))
    assert str(other) == "search:i: never ran"
    built(np.array([5, 0, 3, 0, 0, 0, 0, 0], np.int32), 5)
    assert [loop.iterations for loop in built.loops] == [1, 5]


def test_an_interval_that_the_schedule_does_not_say_is_told() -> None:
    made = run(allo.customize(gemm), *(numbers(8, 8) for _ in range(3)))
    (innermost, *_) = made.loops
    wrong = type(innermost)(*(getattr(innermost, name) for name in innermost.__slots__[:-1]), (6, 3918, None))
    assert not wrong.as_scheduled
