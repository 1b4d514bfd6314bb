"""Conditions around loops: each branch counts as often as it runs, and the longest one where data decide."""

# ruff: noqa: F821 - kernels declare arrays without a value

from __future__ import annotations

import random
import textwrap
from typing import Any

import numpy as np
import pytest

import allo
from allo.ir.types import int32
from tests.seeds import sweep

from .test_rtl_cycles import assert_as_built


def steps(A: int32[16], B: int32[16, 16]):
    for i in range(16):
        if i % 4 == 1:
            for j in range(16):
                B[i, j] = A[j] + i
        else:
            A[i] = A[i] + 1
            for k in range(3):
                B[i, k] = 2
    for i, j in allo.grid(16, 16):
        if i + j < 20:
            for k in range(5):
                B[i, j] += A[k]


def nested(A: int32[12], B: int32[12, 12]):
    for i in range(12):
        if i > 2:
            for j in range(i):
                if j > 1 and i < 9:
                    for k in range(6):
                        B[i, j] += A[k]
            if i < 7:
                A[i] = 1


def always(A: int32[8]):
    for i in range(8):
        if i >= 0:
            for j in range(4):
                A[i] += j


def never(A: int32[8]):
    for i in range(8):
        if i > 9:
            for j in range(4):
                A[i] += j
        else:
            A[i] = 3


@pytest.mark.parametrize("kernel", [steps, nested, always, never])
def test_branches_count_as_often_as_they_run(kernel: Any) -> None:
    s = allo.customize(kernel)
    assert_as_built(s)
    assert not allo.estimate(s).notes


def test_means_are_not_the_longest() -> None:
    """Of 16 iterations 4 run a loop of 16, the others one of 3; 190 of 256 run one of 5."""
    assert allo.estimate(allo.customize(steps)).cycles == 3650


def data(A: int32[16], B: int32[16, 16]):
    for i in range(16):
        if A[i] > 3:
            for j in range(16):
                B[i, j] = A[j] + i


def test_data_decide() -> None:
    """The bound from above stays, and the report says so."""
    found = allo.estimate(allo.customize(data))
    line = data.__code__.co_firstlineno + 2
    assert found.notes == (
        f"data: whether the condition in line {line} holds is known at run time only; "
        "counted is the longest branch each time",
    )
    assert str(found).count("counted is the longest branch each time") == 1
    all_taken = allo.estimate(allo.customize(data), profile="rtl", rewritten=True).cycles
    built = allo.customize(data).build(target="rtl")
    assert built.predicted_cycles is None and all_taken == 817


def pool(A: int32[9, 9], B: int32[4, 4]):
    C: int32[9, 9]
    for y, x in allo.grid(9, 9, name="activate"):
        C[y, x] = max(A[y, x], 0)
    for y, x, i, j in allo.grid(4, 4, 3, 3, name="pool"):
        B[y, x] += C[2 * y + i, 2 * x + j]


def strided() -> allo.Schedule:
    s = allo.customize(pool)
    s.convert("C", "pool")
    return s


def test_line_buffers_of_steps() -> None:
    """Only every fourth pixel gives out a window: a run put by put says how long that takes."""
    s = strided()
    assert assert_as_built(s) == 826
    found = allo.estimate(s)
    assert found.cycles < 700
    assert found.notes[-1] == (
        "pool: conditions decide how long iterations of its stages take: "
        "the latency is that of a run without data, put by put"
    )


def test_the_simulation_takes_as_long() -> None:
    s = strided()
    built = s.build(target="rtl")
    image, out = np.arange(81, dtype=np.int32).reshape(9, 9), np.zeros((4, 4), np.int32)
    built(image, out)
    assert built.cycles == allo.estimate(s, profile="rtl", rewritten=True).cycles
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3))[::2, ::2]
    assert np.array_equal(out, windows.sum((2, 3)))


CONDITIONS = [
    "i < 5", "i % 3 == 1", "2 * i + j > 9", "j % 2 == 0", "i >= 2 and j < 4", "i == j", "i + j <= 6", "(i + j) % 4 < 2",
]  # fmt: skip


def program(seed: int) -> str:
    rng = random.Random(seed)
    lines = ["def f(A: int32[10], B: int32[10, 10]):", "    for i, j in allo.grid(10, 8):"]
    lines.append(f"        if {rng.choice(CONDITIONS)}:")
    lines += [f"            for k in range({rng.randint(2, 9)}):", "                B[i, j] += A[k]"]
    if rng.random() < 0.5:
        lines += ["        else:", "            A[i] = A[i] + 1"]
    if rng.random() < 0.5:
        lines += ["            if j < 3:", f"                for l in range({rng.randint(2, 9)}):"]
        lines += ["                    B[i, l] = A[j]"]
    return "\n".join(lines)


@sweep(3, quick=2)
def test_random_conditions(seed: int) -> None:
    for number in range(4):
        assert_as_built(allo.customize(textwrap.dedent(program(10 * seed + number))))
