"""Estimates by the profile of our own hardware beside the cycles that builds predict, which simulations take."""



from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import allo
from allo.ir.types import int32

N = 12


def row(p: int32, B: int32[N, N], L: int32[N, N]):
    for q in range(N):
        B[p, q] += 5 * L[p, q]


def nest(B: int32[N, N], L: int32[N, N], A: int32[N]):
    for i in range(N):
        A[i] = i
    for p in range(N):
        for q in range(N):
            B[p, q] += 5 * L[p, q]


def of_calls(B: int32[N, N], L: int32[N, N], A: int32[N]):
    for i in range(N):
        A[i] = i
    for p in range(N):
        row(p, B, L)


def of_calls_and_loops(B: int32[N, N], L: int32[N, N], A: int32[N]):
    for i in range(N):
        A[i] = i
    for p in range(N):
        row(p, B, L)
        for z in range(3):
            B[p, z] += 1


def deep(B: int32[N, N], L: int32[N, N], A: int32[N]):
    for i in range(N):
        A[i] = i
    for p in range(N):
        for q in range(N):
            for z in range(4):
                B[p, q] += L[p, q] * z


def assert_as_built(s: allo.Schedule) -> int:
    cycles = allo.estimate(s, profile="rtl", rewritten=True).cycles
    assert cycles == s.build(target="rtl").predicted_cycles is not None
    return cycles


@pytest.mark.parametrize("banks", [False, True])
@pytest.mark.parametrize(("kernel", "axes"), [
    (nest, [0]), (nest, [1]), (nest, [0, 1]), (of_calls, [0]), (of_calls_and_loops, [0]), (deep, [0]),
])  # fmt: skip
def test_elements_in_no_region_run_in_turn(kernel: Callable[..., None], axes: list[int], banks: bool) -> None:
    s = allo.customize(kernel)
    s.unfold("S_p_1", axes=axes)
    for array in ("B", "L") if banks else ():
        s.partition(array, dim=1)
    in_turn = assert_as_built(s)
    written = allo.customize(kernel)
    for array in ("B", "L") if banks else ():
        written.partition(array, dim=1)
    assert in_turn > 0.9 * assert_as_built(written)  # nothing is gained


@pytest.mark.parametrize("kernel", [nest, of_calls, of_calls_and_loops, deep])
def test_elements_of_a_region_run_at_once(kernel: Callable[..., None]) -> None:
    s = allo.customize(kernel)
    s.unfold("S_p_1", axes=[0])
    for array in ("B", "L"):
        s.partition(array, dim=1)
    s.dataflow(kernel.__name__)
    assert assert_as_built(s) < 300


def test_elements_that_are_pipelines_run_in_turn() -> None:
    s = allo.customize(nest)
    s.unfold("S_p_1", axes=[0])
    s.pipeline("q")
    assert assert_as_built(s) == 241


def test_what_is_constant_behind_a_loop_is_folded() -> None:
    """Words that are packed, read at places that are known: rewritten again when they are."""
    def packed(B: int32[N, N], V: int32[N]):
        L: int32[N, N] = 0
        for i in range(N):
            L[i, 2] = V[i]
        for p in range(N):
            for q in range(N):
                B[p, q] += 5 * L[p, q]

    s = allo.customize(packed)
    s.pack("L", dim=2, factor=2)
    s.peel("q", back=2)
    assert_as_built(s)


@pytest.mark.parametrize("steps", [
    lambda s: s.unfold("S_p_1", axes=[0]),
    lambda s: s.unfold("S_p_1", axes=[0, 1]),
])  # fmt: skip
def test_other_tools_are_as_they_were(steps: Callable[[allo.Schedule], Any]) -> None:
    """Whether calls overlap is a rule of a tool: without a profile elements run at once."""
    s = allo.customize(nest)
    steps(s)
    assert allo.estimate(s).cycles < 200
