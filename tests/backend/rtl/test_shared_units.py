"""Units of floats that loops in turn share: how many there are, as estimated, and what they compute."""

# ruff: noqa: F821 - in a kernel, `A: T[N]` declares an array

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import allo
from allo.backend.unrolled import unrolled
from allo.ir.types import Stream, bfloat16, float16, float32, int32
from allo.target import Fpga, load_target
from allo.timing.control.build import TreeOptions
from allo.timing.control.trees import Trees
from polybench import load

N = 8
SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.5, -1.5, 2**-140], np.float32)


def units(kernel: Callable[..., Any] | allo.Schedule, **options: Any) -> Counter[str]:
    """How many units of each module the hardware of a kernel has."""
    s = kernel if isinstance(kernel, allo.Schedule) else allo.customize(kernel)
    code = s.build(target="rtl", **options).code
    return Counter(re.findall(r"^  (allo_f(?:add|sub|mul|div|sqrt)) ", code, re.MULTILINE))


def runs_as_interpreted(kernel: Callable[..., Any], *arrays: Any) -> None:
    """The bits and the cycles of a kernel in simulated hardware."""
    module = allo.customize(kernel).build(target="rtl", random_state=3)
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
    s = load(kernel).designs["vanilla"].customized("MINI")
    device = load_target("u280")
    assert isinstance(device, Fpga)
    device = device.under("rtl")
    module = unrolled(s.ir, device, banks=True)
    trees = Trees(module, TreeOptions(device, assumes=False))
    stated: Counter[str] = Counter()
    for function in module.functions():
        for operator, count in trees.span(function.name.value).units.items():
            stated[operator.name] += count
    found = units(s)
    names = {"add": ("allo_fadd", "allo_fsub"), "mul": ("allo_fmul",), "div": ("allo_fdiv",), "sqrt": ("allo_fsqrt",)}
    for kind, modules in names.items():
        assert stated[f"{kind}_f32"] == sum(found[name] for name in modules)
    assert (stated["choice of operands"] > 0) == (kernel in ("durbin", "gramschmidt", "adi", "ludcmp"))
