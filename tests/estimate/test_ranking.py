"""Advice in the order of what the whole design gains by each step alone."""

# ruff: noqa: F821 - kernels declare arrays without a value

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

import allo
from allo.ir.types import float32, index


def conv(A: float32[258], T: float32[256]):
    for i in range(256):
        T[i] = A[i] + A[i + 1] + A[i + 2]


def pool(T: float32[256], B: float32[32]):
    for i in range(32):
        best: float32 = T[8 * i]
        for k in range(1, 8):
            best = max(best, T[8 * i + k])
        B[i] = best


def network(A: float32[258], B: float32[32]):
    T: float32[256]
    conv(A, T)
    pool(T, B)


def stages(pooling: int) -> allo.Schedule:
    """A convolution that its ports slow down, and pooling that takes `pooling` times as long as it has to."""
    s = allo.customize(network)
    s.pipeline("conv:i")
    s.pipeline("pool:k", initiation_interval=pooling)
    s.relay("network:T", "pool", depth=8)
    s.dataflow("network")
    return s


def cycles(found: allo.Estimate) -> int:
    assert found.cycles is not None
    return found.cycles


def gain_of(make: Callable[[], allo.Schedule], step: str) -> int:
    """What a step really gains."""
    s = make()
    before = cycles(allo.estimate(s))
    exec(step, {"s": s})
    return before - cycles(allo.estimate(s))


@pytest.mark.parametrize("pooling", [2, 3, 9])
def test_what_binds_comes_first(pooling: int) -> None:
    found = allo.estimate(stages(pooling))
    first, *_, last = found.advice
    assert first.at.startswith("pool:") and (last.at, last.gain) == ("conv:i", 0)
    for advice in found.advice:
        assert advice.gain == pytest.approx(gain_of(lambda: stages(pooling), advice.step), abs=2)


def test_the_loop_that_does_not_bind_keeps_its_advice() -> None:
    found = allo.estimate(stages(3))
    step = 's.partition(s.reuse_at("conv:A", "conv:i"))'
    assert found.loop("conv:i").advice == step
    assert f"nothing alone  conv:i  {step}" in str(found)
    assert "<td>nothing alone</td><td>conv:i</td>" in found.to_html()
    assert json.loads(found.to_json())["advice"][-1] == {"at": "conv:i", "step": step, "gain": 0}


def twice(A: float32[256], B: float32[256]):
    T: float32[256]
    first(A, T)
    second(T, B)


def first(A: float32[256], T: float32[256]):
    for i in range(256):
        T[i] = A[i] * 2.0


def second(T: float32[256], B: float32[256]):
    for j in range(256):
        B[j] = T[j] + 1.0


def balanced() -> allo.Schedule:
    s = allo.customize(twice)
    s.pipeline("first:i", initiation_interval=4)
    s.pipeline("second:j", initiation_interval=4)
    s.relay("twice:T", "second", depth=2)
    s.dataflow("twice")
    return s


def test_stages_that_are_equally_slow_are_one_step() -> None:
    (advice,) = allo.estimate(balanced()).advice
    assert advice.at == "first:i, second:j"
    assert advice.gain is not None and advice.gain > 700
    assert advice.gain == gain_of(balanced, advice.step)


def test_a_callee_gains_as_often_as_it_runs() -> None:
    def many(A: float32[8, 256], B: float32[8, 256]):
        for n in range(8):
            first(A[n], B[n])
        for k in range(8):
            B[k, 0] = 0.0

    found = allo.estimate(allo.customize(many))
    assert found.advice[0].at == "first:i"
    for advice in found.advice:
        assert advice.gain == gain_of(lambda: allo.customize(many), advice.step)


def test_equal_gains_keep_the_order_of_the_text() -> None:
    def apart(A: float32[256], B: float32[256], C: float32[256], D: float32[256]):
        for i in range(256):
            B[i] = A[i] * 2.0
        for j in range(256):
            D[j] = C[j] * 3.0

    found = allo.estimate(allo.customize(apart))
    one, other = [advice for advice in found.advice if advice.at != "apart"]
    assert (one.at, other.at) == ("apart:i", "apart:j") and one.gain == other.gain


def test_a_gain_that_is_not_known() -> None:
    def some(A: float32[256], B: float32[256], n: index):
        for i in range(n):
            B[i] = A[i] * 2.0
        for j in range(256):
            B[j] += 1.0

    found = allo.estimate(allo.customize(some))
    assert [(advice.at, advice.gain) for advice in found.advice] == [("some:j", None)]
    assert [line.split()[:2] for line in str(found).splitlines() if "some:j" in line][-1] == ["?", "some:j"]


def test_several_arrays_whose_ports_bind_are_divided_together() -> None:
    """Also one that is divided already, of which a remark tells."""

    def blocked(A: float32[256], B: float32[256]):
        for i in range(16):
            for u in range(16):
                B[16 * i + u] = A[16 * i + u] + 1.0

    def made() -> allo.Schedule:
        s = allo.customize(blocked)
        s.pipeline("i")
        s.partition("A", factor=2)
        return s

    (advice,) = allo.estimate(made()).advice
    assert advice.step == (
        's.partition("blocked:A", dim=1, factor=8); s.partition("blocked:B", dim=1, factor=8)  # in place of cyclic 2'
    )
    assert advice.gain is not None and advice.gain > 80


def outer(A: float32[64], B: float32[64], C: float32[64, 64]):
    for i in range(64):
        for j in range(64):
            C[i, j] = 0.0
    for k in range(64):
        for m in range(64):
            C[k, m] += A[k] * B[m]


def test_first_values_are_stored_several_at_once() -> None:
    def made() -> allo.Schedule:
        s = allo.customize(outer)
        s.pipeline("j")
        s.pipeline("m")
        return s

    (advice,) = allo.estimate(made()).advice
    assert (advice.at, advice.step) == (
        "outer:j", 's.unroll("outer:j", factor=8); s.partition("outer:C", dim=2, factor=4)'
    )  # fmt: skip
    assert advice.gain == gain_of(made, advice.step) == 4096 - 512
    assert allo.estimate(made()).loop("j").advice == advice.step


def test_a_store_of_other_values_is_not_unrolled() -> None:
    def copied(A: float32[64], B: float32[64]):
        for i in range(64):
            B[i] = A[i]

    s = allo.customize(copied)
    s.pipeline("i")
    assert allo.estimate(s).advice == ()


def test_first_values_that_take_little_time_stay() -> None:
    """64 of 4,096 cycles are less than a fiftieth."""

    def sums(A: float32[64, 64], C: float32[64]):
        for i in range(64):
            C[i] = 0.0
        for j in range(64):
            for k in range(64):
                C[k] += A[k, j]

    found = allo.estimate(allo.customize(sums), auto_pipeline=True)
    assert found.advice == () and found.loop("i").advice == ""


def test_banks_of_first_values_do_not_replace_others() -> None:
    s = allo.customize(outer)
    s.pipeline("j")
    s.pipeline("m")
    s.partition("C", dim=2, factor=2)
    assert allo.estimate(s).advice == ()


def test_banks_need_not_divide_an_extent() -> None:
    """254 elements lie in four banks, two of which hold one less."""

    def blocked(A: float32[254], B: float32[256]):
        for i in range(31):
            for u in range(8):
                B[8 * i + u] = A[8 * i + u] + 1.0

    s = allo.customize(blocked)
    s.pipeline("i")
    before = allo.estimate(s)
    (advice,) = before.advice
    assert advice.step == 's.partition("blocked:A", dim=1, factor=4); s.partition("blocked:B", dim=1, factor=4)'
    for array in "AB":
        s.partition(f"blocked:{array}", dim=1, factor=4)
    after = allo.estimate(s)
    assert after.loop("i").interval == 1 and before.cycles - after.cycles >= advice.gain


def test_steps_that_gain_together_are_as_few_as_gain_all() -> None:
    """Two stages take four cycles a value and one takes three: they gain little without the third."""

    def third(U: float32[256], B: float32[256]):
        for k in range(256):
            B[k] = U[k] * 3.0

    def thrice(A: float32[256], B: float32[256]):
        T: float32[256]
        U: float32[256]
        first(A, T)
        second(T, U)
        third(U, B)

    s = allo.customize(thrice)
    for loop, interval in (("first:i", 4), ("second:j", 4), ("third:k", 3)):
        s.pipeline(loop, initiation_interval=interval)
    s.relay("thrice:T", "second", depth=2)
    s.relay("thrice:U", "third", depth=2)
    s.dataflow("thrice")
    assert [advice.at for advice in allo.estimate(s).advice] == ["first:i, second:j, third:k"]


def test_few_sums_that_take_turns_still_wait_for_one_another() -> None:
    """Eight cycles of a sum are two a value for four sums."""

    def product(A: float32[64, 64], B: float32[64, 4], C: float32[64, 4]):
        for i in range(64):
            for j in range(4):
                for k in range(64):
                    C[i, j] += A[i, k] * B[k, j]

    def made() -> allo.Schedule:
        s = allo.customize(product)
        s.pipeline("k")
        return s

    advice = allo.estimate(made()).advice[0]
    assert advice.step.startswith('s.reorder("product:k", "product:j")')
    assert advice.gain == 16383 * (8 - 2)


def test_steps_that_cost_cycles_are_not_advised() -> None:
    """Pipelines of four iterations in stages that wait for one another: to enter and leave them takes longer."""

    def rows(A: float32[4, 4], B: float32[4, 4]):
        for i in range(4):
            for j in range(4):
                B[i, j] = A[i, j] + 1.0

    def columns(B: float32[4, 4], C: float32[4, 4]):
        for m in range(4):
            for n in range(4):
                C[m, n] = B[m, n] * 2.0

    def few(A: float32[4, 4], C: float32[4, 4]):
        B: float32[4, 4]
        rows(A, B)
        columns(B, C)

    def made() -> allo.Schedule:
        s = allo.customize(few)
        s.relay("few:B", "columns", depth=2)
        s.dataflow("few")
        return s

    for advice in allo.estimate(made()).advice:
        assert gain_of(made, advice.step) == advice.gain
