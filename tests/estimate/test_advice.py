"""What an estimate advises is a step that can be taken, and then the estimate is lower."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import allo
import polybench
from allo.ir.types import float32


def lanes(A: float32[64, 32], B: float32[64]):
    for i in range(64):
        for u in range(32):
            B[i] = A[i, u]


def blocked(A: float32[256], B: float32[256]):
    for i in range(32):
        for u in range(8):
            B[8 * i + u] = A[8 * i + u] + 1.0


def product(A: float32[16, 16], B: float32[16, 16], C: float32[16, 16]):
    for i in range(16):
        for j in range(16):
            for k in range(16):
                C[i, j] += A[i, k] * B[k, j]


def stencil(A: float32[64], B: float32[64]):
    for i in range(1, 63):
        B[i] = A[i - 1] + A[i] + A[i + 1]


def simple(A: float32[64], B: float32[64]):
    for i in range(64):
        B[i] = A[i] + 1.0


def pipelined(kernel: Callable[..., Any], loop: str, **options: Any) -> allo.Schedule:
    s = allo.customize(kernel)
    s.pipeline(loop, **options)
    return s


CASES = {
    "ports": (lambda: pipelined(blocked, "i"), "blocked:i", 's.partition("blocked:A", dim=1, factor=4)'),
    "window": (lambda: pipelined(stencil, "i"), "stencil:i", 's.partition(s.reuse_at("stencil:A", "stencil:i"))'),
    "interval": (
        lambda: pipelined(simple, "i", initiation_interval=3),
        "simple:i",
        's.pipeline("simple:i", initiation_interval=1)',
    ),
    "not pipelined": (lambda: allo.customize(simple), "simple:i", 's.pipeline("simple:i")'),
}


@pytest.mark.parametrize("case", CASES)
def test_advice_lowers_the_estimate(case: str) -> None:
    made, loop, step = CASES[case]
    s = made()
    before = allo.estimate(s)
    assert before.loop(loop).advice == step
    exec(step, {"s": s})
    after = allo.estimate(s)
    assert after.cycles is not None and before.cycles is not None and after.cycles < before.cycles


def test_advice_for_a_recurrence() -> None:
    s = allo.customize(product)
    before = allo.estimate(s, auto_pipeline=True)
    assert before.loop("k").advice == 's.reorder("product:k", "product:j", reassociate=True)' or (
        before.loop("k").advice == 's.reorder("product:k", "product:j")'
    )
    exec(before.loop("k").advice, {"s": s})
    after = allo.estimate(s, auto_pipeline=True)
    assert after.loop("j").interval == 1
    assert before.cycles is not None and after.cycles is not None and after.cycles * 6 < before.cycles


@pytest.mark.parametrize("name", ["two_mm", "three_mm", "mvt", "gemver", "jacobi_1d", "trmm"])
def test_advice_for_polybench(name: str) -> None:
    """Every step that is advised for the vanilla kernels is accepted, and none makes anything slower."""
    s = allo.customize(polybench.load(name).kernel("SMALL"))
    before = allo.estimate(s, auto_pipeline=True)
    steps = [loop.advice for loop in before.loops if loop.advice]
    assert steps
    for step in dict.fromkeys(steps):
        exec(step, {"s": s})
    after = allo.estimate(s, auto_pipeline=True)
    assert before.cycles is not None and after.cycles is not None and after.cycles < before.cycles


def test_where_nothing_helps_there_is_no_advice() -> None:
    def filtered(A: float32[64]):
        for i in range(1, 64):
            A[i] = A[i - 1] * 0.5 + A[i]

    loop = allo.estimate(pipelined(filtered, "i")).loop("i")
    assert (loop.interval, loop.advice) == (11, "")
    assert str(loop.reason) == "recurrence through A: 1 read + 3 mul + 6 add + 1 write over distance 1"
