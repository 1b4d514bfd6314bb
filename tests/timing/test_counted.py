"""Cycles that are counted iteration by iteration: conditions around loops, and loops that run not at all."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

import allo
from allo.backend.rtl import RTLModule
from allo.ir.types import int32
from allo.timing.control.loop_spans import LoopSpan

N = 8


def one_branch(A: int32[N], n: int32):
    if n > 3:
        for i in range(N):
            A[i] += 1


def unequal_branches(A: int32[N], n: int32):
    if n > 3:
        for i in range(N):
            A[i] += 1
    else:
        for j in range(2):
            A[j] += 1


def equal_branches(A: int32[N], n: int32):
    if n > 3:
        for i in range(N):
            A[i] += 1
    else:
        for j in range(N):
            A[j] -= n


def short_and_long(A: int32[N], n: int32):
    for t in range(5):
        if t < 2:
            for i in range(N):
                A[i] += t
        else:
            for j in range(2):
                A[j] += t


def never_at_first(A: int32[N], n: int32):
    for i in range(4):
        for j in range(i):
            A[j] += i


def never_before_a_loop(A: int32[N], n: int32):
    for i in range(4):
        for j in range(i):
            A[j] = A[j] * n
    for k in range(N):
        A[k] += 2


def perhaps_before_a_loop(A: int32[N], n: int32):
    if A[0] > 3:
        for i in range(N):
            A[i] += 1
    for k in range(N):
        A[k] += 2


def either_before_a_loop(A: int32[N], n: int32):
    if A[0] > 3:
        for i in range(N):
            A[i] += 1
    else:
        for j in range(N):
            A[j] += 3
    for k in range(N):
        A[k] += 2


def predicted(kernel: Callable[..., None], *pipelines: str) -> int | None:
    s = allo.customize(kernel)
    for loop in pipelines:
        s.pipeline(loop)
    built = s.build(target="rtl")
    assert isinstance(built, RTLModule)
    return built.predicted_cycles


@pytest.mark.parametrize("kernel", [one_branch, unequal_branches])
def test_data_decide_between_unequal_branches(kernel: Callable[..., None]) -> None:
    assert predicted(kernel) is None


def test_equal_branches_are_counted() -> None:
    assert predicted(equal_branches) == 3 * N + 1


def test_loop_variables_decide() -> None:
    assert predicted(short_and_long) == 3 * (2 * N + 3 * 2) + 2 * 5 + 1  # as simulated


def test_a_pipeline_without_iterations_takes_no_depth() -> None:
    assert predicted(never_at_first, "j") == 15  # as simulated


def test_loops_behind_what_is_counted_begin_then() -> None:
    assert span_of_k(never_before_a_loop, "j") == LoopSpan(20, 20 + 3 * N)  # as simulated
    assert span_of_k(perhaps_before_a_loop) is None
    either = span_of_k(either_before_a_loop)
    assert either is not None and either.last - either.first == 3 * N


def test_builds_do_not_count_iterations() -> None:
    """When loops run is counted for a simulation; the text of a long loop is made in the time of a short one."""
    M = 1 << 26

    def triangle(A: int32[M]):
        for i in range(M):
            for j in range(i, M):
                A[j] += A[i]

    begin = time.process_time()
    built = allo.customize(triangle).build(target="rtl")
    assert isinstance(built, RTLModule) and "line" in built.code
    assert time.process_time() - begin < 20  # 67 million iterations, one by one, take minutes


def span_of_k(kernel: Callable[..., None], *pipelines: str) -> LoopSpan | None:
    s = allo.customize(kernel)
    for loop in pipelines:
        s.pipeline(loop)
    built = s.build(target="rtl")
    assert isinstance(built, RTLModule)
    return {loop.name.partition(":")[2]: loop.span for loop in built.design.loops}["k"]
