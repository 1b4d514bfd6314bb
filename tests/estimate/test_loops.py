"""Latency of loops: fill and drain, flattening, what is unrolled, conditions, calls."""

from __future__ import annotations

import pytest

import allo
from allo.ir.types import Int, float32, int32
from allo.target import load_target

CONTROL = load_target("u280").control


def scale(A: float32[64], B: float32[64]):
    for i in range(64):
        B[i] = A[i] * 2.0


def test_a_pipeline_fills_once() -> None:
    s = allo.customize(scale)
    s.pipeline("i")
    loop = allo.estimate(s).loop("i")
    assert loop.depth == 5  # 1 read + 3 mul + 1 write
    assert (loop.interval, loop.latency) == (1, 63 + 5 + CONTROL.pipelined_loop)
    assert loop.bound == loop.latency


def test_a_requested_interval() -> None:
    s = allo.customize(scale)
    s.pipeline("i", initiation_interval=4)
    loop = allo.estimate(s).loop("i")
    assert (loop.interval, loop.latency) == (4, 63 * 4 + 5 + CONTROL.pipelined_loop)
    assert loop.bound == 63 + 5 + CONTROL.pipelined_loop
    assert str(loop.reason) == "as requested: II 4"


def test_rewind_has_no_gap() -> None:
    s = allo.customize(scale)
    s.pipeline("i", rewind=True)
    assert allo.estimate(s).loop("i").latency == 63 + 5


def test_without_a_pipeline_iterations_wait() -> None:
    loop = allo.estimate(allo.customize(scale)).loop("i")
    assert loop.interval is None
    assert loop.latency == 64 * (5 + CONTROL.iteration) + CONTROL.loop


def test_innermost_loops_are_pipelined_if_asked() -> None:
    loop = allo.estimate(allo.customize(scale), auto_pipeline=True).loop("i")
    assert loop.interval == 1


def nest(A: float32[8, 16], B: float32[8, 16]):
    for i in range(8):
        for j in range(16):
            B[i, j] = A[i, j] * 2.0


def test_perfect_nests_are_one_pipeline() -> None:
    s = allo.customize(nest)
    s.pipeline("j")
    found = allo.estimate(s)
    assert found.loop("i").flattened
    assert found.loop("j").latency == 8 * 16 - 1 + 5 + CONTROL.pipelined_loop


def test_loops_in_a_pipeline_are_unrolled() -> None:
    s = allo.customize(nest)
    s.pipeline("i")
    for array in ("A", "B"):
        s.partition(array, dim=2)
    found = allo.estimate(s)
    assert found.loop("j").unrolled and found.loop("i").interval == 1
    assert found.dsp == 16 * 3


def test_a_factor_is_a_split() -> None:
    """`unroll(factor)` and a pipelined loop over groups are the same hardware."""
    unrolled, divided = allo.customize(scale), allo.customize(scale)
    unrolled.unroll("i", factor=4)
    unrolled.pipeline("i")
    divided.pipeline(divided.split("i", 4)[0])
    for s in (unrolled, divided):
        s.partition("A", dim=1, factor=4)
        s.partition("B", dim=1, factor=4)
    first, second = allo.estimate(unrolled), allo.estimate(divided)
    assert (first.cycles, first.dsp) == (second.cycles, second.dsp) == (15 + 5 + CONTROL.pipelined_loop, 12)


def test_an_imperfect_nest_is_not_flattened() -> None:
    def sums(A: float32[8, 16], B: float32[8]):
        for i in range(8):
            B[i] = 0.0
            for j in range(16):
                B[i] += A[i, j]

    found = allo.estimate(allo.customize(sums), auto_pipeline=True)
    inner = found.loop("j")
    assert (inner.interval, str(inner.reason)) == (7, "recurrence through B: 6 add + 1 write over distance 1")
    assert not found.loop("i").flattened


def test_a_loop_that_cannot_be_unrolled() -> None:
    def triangle(A: float32[8, 8]):
        for i in range(8):
            for j in range(i):
                A[i, j] = 0.0

    s = allo.customize(triangle)
    s.pipeline("i")
    found = allo.estimate(s)
    assert found.loop("i").state == "sequential"
    assert found.notes == (
        "triangle: loop 'i' is not pipelined, since the extent of loop 'j' in it changes, "
        "so that it cannot be unrolled",
    )


def test_branches_cost_the_longer_one() -> None:
    def choose(flag: int32, A: float32[64], B: float32[64]):
        if flag > 0:
            for i in range(64):
                A[i] = 0.0
        else:
            for j in range(32):
                B[j] = A[j] / 3.0

    found = allo.estimate(allo.customize(choose))
    longest = max(loop.latency or 0 for loop in found.loops)
    assert found.cycles is not None and longest <= found.cycles < sum(loop.latency or 0 for loop in found.loops)


def test_a_while_loop_is_unknown() -> None:
    def count(A: int32[1]):
        while A[0] > 0:
            A[0] -= 1

    found = allo.estimate(allo.customize(count))
    assert found.cycles is None
    assert "how often the while loop" in found.notes[0]


def test_integer_sums_form_trees() -> None:
    def total(A: Int(16)[64, 8], B: int32[64]):
        for i in range(64):
            for u in range(8):
                B[i] += A[i, u]

    s = allo.customize(total)
    s.pipeline("i")
    s.partition("A", dim=2)
    loop = allo.estimate(s).loop("i")
    assert loop.interval == 1 and loop.depth is not None and loop.depth <= 4


def helper(A: float32[8], B: float32[8]):
    for i in range(8):
        B[i] = A[i] + 1.0


def twice(A: float32[8], B: float32[8], C: float32[8]):
    helper(A, B)
    helper(B, C)


def test_calls_share_one_instance() -> None:
    found = allo.estimate(allo.customize(twice))
    inner = next(function for function in found.functions if function.name == "helper")
    assert found.cycles == 2 * ((inner.latency or 0) + CONTROL.call)
    assert (found.dsp, inner.instances) == (2, 1)


def test_calls_in_a_pipeline() -> None:
    def square(x: float32) -> float32:
        return x * x

    def squares(A: float32[64], B: float32[64]):
        for i in range(64):
            B[i] = square(A[i])

    s = allo.customize(squares)
    s.pipeline("i")
    found = allo.estimate(s)
    assert (found.loop("i").interval, found.dsp) == (1, 3)


def test_operators_on_whole_arrays_are_loops() -> None:
    def product(A: float32[8, 8], B: float32[8, 8]) -> float32[8, 8]:
        return allo.matmul(A, B)

    found = allo.estimate(allo.customize(product), auto_pipeline=True)
    assert len(found.loops) >= 3 and found.cycles is not None and found.cycles > 512


@pytest.mark.parametrize("auto", [False, True])
def test_estimates_change_nothing(auto: bool) -> None:
    s = allo.customize(nest)
    before = str(s.module)
    first = allo.estimate(s, auto_pipeline=auto).to_json()
    assert str(s.module) == before
    assert allo.estimate(s, auto_pipeline=auto).to_json() == first


def test_an_outer_loop_that_is_unrolled_in_part_makes_no_pipeline_with_the_inner_one() -> None:
    s = allo.customize(nest)
    s.unroll("i", factor=4)
    s.pipeline("j")
    found = allo.estimate(s)
    assert found.loop("i").state == "sequential"
    assert found.notes == (
        "nest: loop 'i' is unrolled by 4 with loops inside, whose copies run one after the other: it gains nothing",
    )


@pytest.mark.parametrize("factor", [4, 1024])
def test_factors_cost_no_nodes(factor: int) -> None:
    """What is scheduled is the text of the program, not its copies."""
    from tests.timing.regions import region_of

    def wide(A: float32[4096], B: float32[4096]):
        for i in range(4096):
            B[i] = A[i] * 2.0 + 1.0

    s = allo.customize(wide)
    s.unroll("i", factor=factor)
    s.pipeline("i")
    region, _ = region_of(s)
    assert len(region.nodes) == 4
    assert allo.estimate(s).loop("i").interval == factor // 2


def test_window_buffers_and_sums_of_integers_reach_an_interval_of_1() -> None:
    """The tree of products is added to the sum so far last, so that it is no part of the recurrence."""

    def taps(A: int32[16, 3], B: int32[16, 3], C: int32[1]):
        for i in range(16):
            for u in range(3):
                C[0] += A[i, u] * B[i, u]

    s = allo.customize(taps)
    s.pipeline("i")
    for array in ("A", "B"):
        s.partition(array, dim=2)
    assert allo.estimate(s).loop("i").interval == 1
