"""Units that loops in turn and operations of pipelines share: how many there are, as estimated, what they compute."""

# ruff: noqa: F821 - in a kernel, `A: T[N]` declares an array

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.ir.types import Stream, bfloat16, float16, float32, int16, int32
from polybench import load

from .counted import assert_as_estimated, units
from .flows import assert_flows

N = 8
SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.5, -1.5, 2**-140], np.float32)


def runs_as_interpreted(kernel: Callable[..., Any], *arrays: Any, schedule: allo.Schedule | None = None) -> None:
    """The bits and the cycles of a kernel in simulated hardware."""
    module = (schedule or allo.customize(kernel)).build(target="rtl", random_state=3)
    wanted = [array.copy() for array in arrays]
    with np.errstate(all="ignore"):
        allo.interpret(kernel)(*wanted)
    module(*arrays)
    for found, known in zip(arrays, wanted, strict=True):
        same = found.view(f"i{found.itemsize}") == known.view(f"i{known.itemsize}")
        assert (same | ((found != found) & (known != known))).all()  # any NaN is as good as another one
    assert module.predicted_cycles in (module.cycles, None)


def in_turn(x: float32[N], y: float32[N], z: float32[N], w: float32[N]):
    for i in range(N):
        z[i] = x[i] + y[i]
    for i in range(N):
        w[i] = x[i] - y[i]
    for i in range(N):
        z[i] = (z[i] + w[i]) * x[i] - y[i] * w[i]


def test_loops_in_turn_take_the_units_of_the_largest() -> None:
    assert units(in_turn) == {"allo_fadd": 1, "allo_fsub": 1, "allo_fmul": 2}
    values = np.random.default_rng(1).standard_normal((4, N)).astype(np.float32)
    runs_as_interpreted(in_turn, *values)


def test_differences_are_sums_of_the_other_sign_also_of_special_values() -> None:
    for turn in range(N):
        x, y = SPECIAL.copy(), np.roll(SPECIAL, turn)
        runs_as_interpreted(in_turn, x, y, np.zeros(N, np.float32), np.zeros(N, np.float32))


def test_code_around_loops_shares_with_them() -> None:
    def normalised(A: float32[N, N], y: float32[N]):
        for i in range(N):
            total: float32 = 1.0
            for j in range(N):
                total += A[i, j] / y[j]
            y[i] = total / 3.5

    assert units(normalised) == {"allo_fadd": 1, "allo_fdiv": 1}
    runs_as_interpreted(normalised, np.random.default_rng(2).random((N, N), np.float32), np.ones(N, np.float32))


def test_branches_around_loops_share() -> None:
    def either(x: float32[N], n: int32[1]):
        if n[0] > 3:
            for i in range(N):
                x[i] = x[i] * x[i]
        else:
            for j in range(N):
                x[j] = (x[j] * 3.0) * x[j]

    assert units(either) == {"allo_fmul": 2}
    for n in (2, 4):
        runs_as_interpreted(either, np.random.default_rng(n).random(N, np.float32), np.array([n], np.int32))


def test_products_of_integers_in_branches_share() -> None:
    def either(x: int32[N], n: int32[1]):
        if n[0] > 3:
            for i in range(N):
                x[i] = x[i] * x[i]
        else:
            for j in range(N):
                x[j] = x[j] * x[j] + 1

    assert units(either) == {"allo_mul": 1}
    assert allo.estimate(allo.customize(either), profile="rtl").resources.dsp == 3
    for n in (2, 4):
        runs_as_interpreted(either, np.arange(N, dtype=np.int32) - 7, np.array([n], np.int32))


def test_roots_share() -> None:
    def roots(x: float32[N], y: float32[N]):
        for i in range(N):
            x[i] = allo.sqrt(x[i])
        for i in range(N):
            y[i] = allo.sqrt(y[i])

    assert units(roots) == {"allo_fsqrt": 1}


def test_types_have_units_of_their_own() -> None:
    def mixed(x: float16[N], y: bfloat16[N], z: float32[N]):
        for i in range(N):
            x[i] = x[i] * x[i]
        for i in range(N):
            y[i] = y[i] * y[i]
        for i in range(N):
            z[i] = z[i] * z[i]

    assert units(mixed) == {"allo_fmul": 3}


def test_products_with_powers_of_two_share_nothing() -> None:
    def halves(x: float32[N], y: float32[N]):
        for i in range(N):
            x[i] = x[i] * 0.5
        for i in range(N):
            y[i] = y[i] * x[i]

    assert units(halves) == {"allo_fmul": 2}
    assert allo.estimate(allo.customize(halves), profile="rtl").resources.dsp == 2


def test_stages_at_once_share_nothing() -> None:
    def both(x: float32[N], y: float32[N]):
        for i in range(N):
            x[i] = x[i] * x[i]
        for i in range(N):
            y[i] = y[i] * y[i]

    s = allo.customize(both)
    assert units(s) == {"allo_fmul": 1}
    s.dataflow("both")
    assert units(s) == {"allo_fmul": 2}
    assert allo.estimate(s, profile="rtl").resources.dsp == 4


def test_what_may_wait_for_a_stream_shares_nothing() -> None:
    def passed(x: float32[N], y: float32[N]):
        pipe: Stream[float32, N]
        for i in range(N):
            pipe.put(x[i] * x[i])
        for i in range(N):
            y[i] = pipe.get() * y[i]

    s = allo.customize(passed)
    assert units(s) == {"allo_fmul": 2}
    assert allo.estimate(s, profile="rtl").resources.dsp == 4


def test_pipelines_that_may_stand_still_share_by_their_interval() -> None:
    """While iterations wait to put, those before them go on with the unit."""

    @df.region()
    def pair(x: float32[16], y: float32[16]):
        pipe: Stream[float32, 1]

        @df.kernel(mapping=[1], args=[x])
        def source(x: float32[16]):
            for i in range(16):
                t: float32 = x[i] * x[i]
                pipe.put(t)
                x[i] = t * 1.5 * 0.7 * 1.1

        @df.kernel(mapping=[1], args=[y])
        def sink(y: float32[16]):
            for i in range(16):
                t: float32 = pipe.get() * y[i]
                y[i] = (t * t - y[i]) * t

    s = df.customize(pair)
    s.pipeline("source:i", initiation_interval=5)
    s.pipeline("sink:i", initiation_interval=9)
    assert units(s) == {"allo_fmul": 2, "allo_fsub": 1}
    stated = assert_as_estimated(s)
    assert stated["choice of operands"] == 3 + 2
    code = s.build(target="rtl").code
    assert stated["results that wait"] == code.count("  allo_settle ") == 3
    assert_flows(s, *np.random.default_rng(4).random((2, 16), np.float32))


def test_calls_are_instances_with_units_of_their_own() -> None:
    def squared(x: float32[N]):
        for i in range(N):
            x[i] = x[i] * x[i]

    def twice(x: float32[N], y: float32[N]):
        squared(x)
        for i in range(N):
            y[i] = y[i] * x[i]

    s = allo.customize(twice)
    assert units(s) == {"allo_fmul": 2}
    assert allo.estimate(s, profile="rtl").resources.dsp == 4


@pytest.mark.parametrize("kernel", ["gemver", "durbin", "gramschmidt", "deriche", "adi", "ludcmp", "fdtd_2d"])
def test_there_are_as_many_as_estimated(kernel: str) -> None:
    stated = assert_as_estimated(load(kernel).designs["vanilla"].customized("MINI"))
    assert (stated["choice of operands"] > 0) == (kernel in ("durbin", "gramschmidt", "adi", "ludcmp"))


def taken(x: float32[16], y: float32[16], z: float32[16]):
    for i in range(16):
        t: float32 = x[i] * 1.25 + 3.0
        if y[i] > 0.0:
            z[i] = (t * y[i] - x[i]) * t + z[i] * x[i]
        else:
            z[i] = t * z[i] - y[i] * y[i]


@pytest.mark.parametrize(("interval", "products", "sums"), [(1, 6, 4), (2, 3, 2), (3, 2, 2), (4, 2, 1), (8, 1, 1)])
def test_operations_of_a_pipeline_share_by_the_cycles_of_its_interval(
    interval: int, products: int, sums: int
) -> None:
    """Those of both branches are computed in each iteration, and share too; no cycle is lost."""
    s = allo.customize(taken)
    s.pipeline("i", initiation_interval=interval)
    found, stated = units(s), assert_as_estimated(s)
    assert found["allo_fmul"] == products and found["allo_fadd"] + found["allo_fsub"] == sums
    assert stated["choice of operands"] == 10 - products - sums
    if interval in (3, 8):
        values = np.random.default_rng(interval).standard_normal((3, 16)).astype(np.float32)
        runs_as_interpreted(taken, *values, schedule=s)


def test_fewer_units_take_fewer_blocks() -> None:
    found = []
    for interval in (1, 8):
        s = allo.customize(taken)
        s.pipeline("i", initiation_interval=interval)
        found.append(allo.estimate(s, profile="rtl").resources)
    assert [one.dsp for one in found] == [12, 2]
    assert found[1].lut < 0.4 * found[0].lut


def test_products_of_integers_share_multipliers_of_their_widths() -> None:
    def mixed(A: int32[16], B: int32[16], C: int16[16], D: int16[16]):
        for i in range(16):
            B[i] = (A[i] * B[i] + 1) * A[i]
            D[i] = C[i] * C[i] * D[i] * D[i]

    s = allo.customize(mixed)
    s.pipeline("i", initiation_interval=4)
    assert units(s)["allo_mul"] == assert_as_estimated(s)["mul"] == 2
    random = np.random.default_rng(7)
    numbers = [random.integers(-100, 100, 16).astype(kind) for kind in (np.int32, np.int32, np.int16, np.int16)]
    runs_as_interpreted(mixed, *numbers, schedule=s)


def test_pipelines_in_turn_share_what_their_operations_share() -> None:
    def two(A: float32[N, N], x: float32[N], y: float32[N]):
        for i in range(N):
            for j in range(N):
                A[i, j] = A[i, j] * x[j] * y[i] + x[i] * y[j]
            for k in range(N):
                y[k] = (y[k] * x[k]) * (y[k] * 0.7) - A[i, k]

    s = allo.customize(two)
    s.pipeline("j", initiation_interval=3)
    s.pipeline("k", initiation_interval=2)
    found = units(s)
    assert found == {"allo_fmul": 2, "allo_fadd": 1}
    assert assert_as_estimated(s)["choice of operands"] == 6 - 2 + 2 - 1
    runs_as_interpreted(two, *(np.random.default_rng(n).random((N, N)[: 2 - (n > 0)], np.float32) for n in range(3)),
                        schedule=s)  # fmt: skip


def test_sums_of_integers_and_small_products_have_logic_of_their_own() -> None:
    def sums(A: int32[16], B: int32[16]):
        for i in range(16):
            B[i] = A[i] + B[i] + (A[i] - 3)

    s = allo.customize(sums)
    s.pipeline("i", initiation_interval=4)
    assert assert_as_estimated(s)["choice of operands"] == 0
