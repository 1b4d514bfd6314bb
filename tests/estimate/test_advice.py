"""What an estimate advises is a step that can be taken, and then the estimate is lower."""

# ruff: noqa: F821 - kernels declare arrays without a value

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

import allo
import polybench
from allo.estimate import Advice
from allo.estimate.advice.intervals import advise
from allo.ir.types import float32
from allo.poly import Reductions, Undecided, Violation, order_violation


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


def fading(A: float32[65, 257], x: float32[64]):
    """The sums of a row cannot take turns with those of others: each needs what the row before has made."""
    for i in range(64):
        for k in range(256):
            x[i] = x[i] * 0.5 + A[i, k + 1]
            A[i + 1, k] = x[i]


def row_wise(A: float32[64, 64], B: float32[64, 64], C: float32[64, 64]):
    for i in range(64):
        for k in range(64):
            for j in range(64):
                C[i, j] += A[i, k] * B[k, j]


def pipelined(kernel: Callable[..., Any], loop: str, **options: Any) -> allo.Schedule:
    s = allo.customize(kernel)
    s.pipeline(loop, **options)
    return s


CASES = {
    "ports": (
        lambda: pipelined(blocked, "i"),
        "blocked:i",
        's.partition("blocked:A", dim=1, factor=4); s.partition("blocked:B", dim=1, factor=4)',
    ),
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


def cycles(found: allo.Estimate) -> int:
    assert found.cycles is not None
    return found.cycles


def test_a_sum_that_cannot_take_turns_is_kept_in_a_register() -> None:
    s = pipelined(fading, "k")
    before = allo.estimate(s)
    step = 's.buffer_at("fading:x", "fading:i")'
    assert (before.loop("k").interval, before.loop("k").advice) == (11, step)
    exec(step, {"s": s})
    after = allo.estimate(s)
    assert (after.loop("k").interval, after.loop("k").advice) == (10, "")
    assert cycles(after) < cycles(before)


def test_a_register_that_gains_nothing_is_not_advised() -> None:
    """A cycle of eleven is less than what it takes to read and to write the sum of each short row."""

    def short(A: float32[65, 9], x: float32[64]):
        for i in range(64):
            for k in range(8):
                x[i] = x[i] * 0.5 + A[i, k + 1]
                A[i + 1, k] = x[i]

    s = pipelined(short, "k")
    before = allo.estimate(s)
    assert (before.loop("k").interval, before.loop("k").advice) == (11, "")
    s.buffer_at("x", "i")
    assert cycles(allo.estimate(s)) > cycles(before)


@pytest.mark.parametrize("auto_pipeline", [False, True])
def test_a_row_of_memory_is_copied_to_the_chip(auto_pipeline: bool) -> None:
    """The row-wise product of Fig. 2 of the Allo paper: `buffer_at`, where C stays in memory."""
    s = allo.customize(row_wise) if auto_pipeline else pipelined(row_wise, "j")

    def estimated() -> allo.Estimate:
        return allo.estimate(s, memory="HBM", in_place=["C"], auto_pipeline=auto_pipeline)

    before = estimated()
    step = 's.buffer_at("row_wise:C", "row_wise:i")'
    if not auto_pipeline:
        step += '; s.pipeline("row_wise:j_init"); s.pipeline("row_wise:j_back")'
    assert (before.loop("j").interval, before.loop("j").advice) == (3, step)
    exec(step, {"s": s})
    after = estimated()
    assert after.loop("j").interval == 1
    assert 2 * cycles(after) < cycles(before)


def produce(A: float32[256], T: float32[256]):
    for i in range(256):
        T[i] = A[i] * 2.0


def consume(T: float32[256], B: float32[256]):
    for j in range(256):
        B[j] = T[j] + 1.0


def backwards(T: float32[256], B: float32[256]):
    for j in range(256):
        B[j] = T[255 - j] + 1.0


def test_stages_with_values_in_order_become_a_pipeline_of_fifos() -> None:
    def both(A: float32[256], B: float32[256]):
        T: float32[256]
        produce(A, T)
        consume(T, B)

    s = allo.customize(both)
    before = allo.estimate(s, auto_pipeline=True)
    step = 's.relay("both:T", "consume"); s.dataflow("both")'
    assert before.kernel.advice == step
    assert str(before).endswith(f"246         both  {step}") and "s.relay(" in before.to_html()
    exec(step, {"s": s})
    after = allo.estimate(s, auto_pipeline=True)
    assert cycles(after) < 0.6 * cycles(before) and not after.notes
    assert after.kernel.advice == ""


def test_nests_become_stages() -> None:
    def nests(A: float32[256], B: float32[256]):
        T: float32[256]
        for i in range(256):
            T[i] = A[i] * 2.0
        for j in range(256):
            B[j] = T[j] + 1.0

    s = allo.customize(nests)
    before = allo.estimate(s, auto_pipeline=True)
    assert before.kernel.advice == 's.relay("nests:T", "nests:S_j_1"); s.dataflow("nests")'
    exec(before.kernel.advice, {"s": s})
    assert cycles(allo.estimate(s, auto_pipeline=True)) < 0.6 * cycles(before)


def test_stages_without_a_connection_run_at_once() -> None:
    def apart(A: float32[256], B: float32[256], C: float32[256], D: float32[256]):
        produce(A, B)
        consume(C, D)

    s = allo.customize(apart)
    before = allo.estimate(s, auto_pipeline=True)
    assert before.kernel.advice == 's.dataflow("apart")'
    exec(before.kernel.advice, {"s": s})
    assert cycles(allo.estimate(s, auto_pipeline=True)) < 0.6 * cycles(before)


def test_where_stages_gain_nothing_there_is_no_advice() -> None:
    """One element has to wait for the last one; an array has two readers; an array has two writers."""

    def reverse(A: float32[256], B: float32[256]):
        T: float32[256]
        produce(A, T)
        backwards(T, B)

    def read_twice(A: float32[256], B: float32[256], C: float32[256]):
        produce(A, B)
        consume(A, C)

    def written_twice(A: float32[256], B: float32[256], C: float32[256]):
        produce(A, C)
        consume(B, C)

    for kernel in (reverse, read_twice, written_twice):
        assert allo.estimate(allo.customize(kernel), auto_pipeline=True).kernel.advice == ""


def test_stages_that_do_not_fit_are_not_advised() -> None:
    """Each stage has units of its own: 128 DSPs twice are more than the 220 of a Zynq-7020."""

    def wide(A: float32[4096], B: float32[4096], C: float32[4096], D: float32[4096]):
        for i in range(4096):
            B[i] = A[i] + 1.0
        for j in range(4096):
            D[j] = C[j] + 2.0

    s = allo.customize(wide)
    for array in "ABCD":
        s.partition(array, factor=64)
    for loop in "ij":
        s.pipeline(s.split(loop, 64)[0])
    large, small = allo.estimate(s), allo.estimate(s, "zynq7020")
    assert (large.dsp, large.kernel.advice) == (128, 's.dataflow("wide")')
    assert (small.dsp, small.kernel.advice) == (128, "")


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


def advised(found: allo.Estimate) -> list[Advice]:
    """All steps of an estimate; each loop and function has its own."""
    listed = [part.advice for part in (*found.loops, *found.functions) if part.advice]
    assert {advice.step for advice in found.advice if advice.gain} <= set(listed)
    assert [advice.gain for advice in found.advice] == sorted((a.gain or 0 for a in found.advice), reverse=True)
    return list(found.advice)


@cache
def as_written(name: str) -> allo.Estimate:
    """A kernel of PolyBench with pipelined innermost loops, as a vendor's tool makes them."""
    return allo.estimate(allo.customize(polybench.load(name).kernel("SMALL")), auto_pipeline=True)


@pytest.mark.parametrize("name", polybench.NAMES)
def test_intervals_of_polybench(name: str) -> None:
    """The interval that is found is the least one that ports and recurrences allow."""
    reasons = [loop.reason for loop in as_written(name).loops if loop.reason is not None]
    assert "schedule" not in [reason.kind for reason in reasons]


@pytest.mark.parametrize("name", polybench.NAMES)
def test_each_advice_for_polybench_lowers_the_estimate(name: str) -> None:
    kernel, before = polybench.load(name).kernel("SMALL"), as_written(name)
    for advice in advised(before):
        s = allo.customize(kernel)
        exec(advice.step, {"s": s})
        gain = cycles(before) - cycles(allo.estimate(s, auto_pipeline=True))
        assert advice.gain and 0.85 * gain < advice.gain < 1.15 * gain, advice


@pytest.mark.slow
@pytest.mark.parametrize("name", polybench.NAMES)
def test_each_advice_for_designs_of_polybench_lowers_the_estimate(name: str) -> None:
    for design in polybench.load(name).designs.values():
        before = allo.estimate(design.customized("MEDIUM"))
        for advice in advised(before):
            s = design.customized("MEDIUM")
            exec(advice.step, {"s": s})
            gain = cycles(before) - cycles(allo.estimate(s))
            assert advice.gain and 0.7 * gain < advice.gain < 1.4 * gain, advice


def test_an_order_that_other_sums_would_not_save_is_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What forbids the orders of a factorization is no reduction."""
    asked = []

    def ask(*question: Any, reductions: Reductions) -> Violation | Undecided | None:
        asked.append(reductions)
        return order_violation(*question, reductions=reductions)

    monkeypatch.setattr(sys.modules[advise.__module__], "order_violation", ask)
    allo.estimate(allo.customize(polybench.load("cholesky").kernel("MINI")), auto_pipeline=True)
    assert asked and set(asked) == {Reductions.EXACT}


def test_polybench_leaves_much_to_advise() -> None:
    """So that the tests above are about something."""
    assert sum(len(advised(as_written(name))) for name in polybench.NAMES) >= 25


def test_another_sum_would_come_back_to_the_same_element() -> None:
    """The order of the loops that is good for q is bad for s."""

    def both(A: float32[64, 48], p: float32[48], q: float32[64], r: float32[64], s: float32[48]):
        for i in range(64):
            for j in range(48):
                s[j] += r[i] * A[i, j]
                q[i] += A[i, j] * p[j]

    s = allo.customize(both)
    before = allo.estimate(s, auto_pipeline=True)
    assert (before.loop("j").interval, before.loop("j").advice) == (8, 's.buffer_at("both:q", "both:i")')
    s.reorder("j", "i")
    assert allo.estimate(s, auto_pipeline=True).loop("i").interval == 8


def test_rows_and_a_window_of_registers() -> None:
    def blur(A: float32[64, 64], B: float32[64, 64]):
        for i in range(1, 63):
            for j in range(1, 63):
                B[i, j] = A[i - 1, j] + A[i, j - 1] + A[i, j] + A[i, j + 1] + A[i + 1, j]

    s = pipelined(blur, "j")
    before = allo.estimate(s)
    assert before.loop("j").advice == (
        'A_1 = s.reuse_at("blur:A", "blur:i"); A_2 = s.reuse_at(A_1, "blur:j"); '
        "s.partition(A_1, dim=1); s.partition(A_2)"
    )
    exec(before.loop("j").advice, {"s": s})
    after = allo.estimate(s)
    assert (before.loop("j").interval, after.loop("j").interval) == (3, 1)


def test_where_nothing_helps_there_is_no_advice() -> None:
    def filtered(A: float32[64]):
        for i in range(1, 64):
            A[i] = A[i - 1] * 0.5 + A[i]

    loop = allo.estimate(pipelined(filtered, "i")).loop("i")
    assert (loop.interval, loop.advice) == (11, "")
    assert str(loop.reason) == "recurrence through A: 1 read + 3 mul + 6 add + 1 write over distance 1"


def with_a_tail(A: float32[250, 40], x: float32[40], y: float32[250]):
    for j in range(40):
        for i in range(250):
            y[i] += A[i, j] * x[j]


def test_banks_are_advised_for_copies_that_leave_a_tail():
    s = allo.customize(with_a_tail)
    s.split("i", factor=18)
    s.reorder("j", "i.outer", "i.inner")
    s.pipeline("i.outer")
    (advice,) = [one for one in allo.estimate(s).advice if "partition" in one.step]
    assert 's.partition("with_a_tail:y", dim=1, factor=18)' in advice.step  # 18 does not divide 250
    s.replay(advice.step)
    assert allo.estimate(s).loop("i.outer").interval == 1


def many(A: float32[400, 400], x: float32[400], y: float32[400]):
    for j in range(400):
        for i in range(400):
            y[i] += A[i, j] * x[j]


def test_two_dimensions_of_many_divisors_get_enough_banks():
    s = allo.customize(many)
    s.split("j", factor=20)
    s.split("i", factor=20)
    s.reorder("j.outer", "i.outer", "j.inner", "i.inner")
    s.pipeline("i.outer")
    for _ in range(3):
        for one in allo.estimate(s, profile="vitis_hls_2023.2", unsafe_math=True).advice:
            if one.step.startswith("s.partition") and "in place of" not in one.step:
                s.replay(one.step)
    assert allo.estimate(s, profile="vitis_hls_2023.2", unsafe_math=True).loop("i.outer").interval == 1
