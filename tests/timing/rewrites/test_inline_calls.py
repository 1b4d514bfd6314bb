"""Straight code in the pipelines that call it: what stands there, what stays a call, and what that costs."""

from __future__ import annotations

import numpy as np

import allo
from allo.ir.types import int32
from allo.target import load_target


def doubled(x: int32) -> int32:
    return x + x


def quadrupled(x: int32) -> int32:
    return doubled(doubled(x))


def swap(A: int32[8], i: int32, j: int32):
    kept: int32 = A[i]
    A[i] = A[j]
    A[j] = kept


def total(A: int32[8]) -> int32:
    sum: int32 = 0
    for k in range(8):
        sum += A[k]
    return sum


def kernel(A: int32[8], P: int32[8], B: int32[8]):
    for i in range(8):
        kept: int32 = quadrupled(B[i])
        swap(A, P[i], i)
        B[i] = kept


def test_bodies_stand_where_they_are_called(after, told) -> None:
    s = allo.customize(kernel)
    s.pipeline("i")
    made = after(s, "inline-calls")
    line = kernel.__code__.co_firstlineno
    assert told(made) == [
        f"inline-calls: the body of '{name}' stands where it is called" for name in ("quadrupled", "swap")
    ] + ["inline-calls: the body of 'doubled' stands where it is called"] * 2
    assert [one.at.line for one in made.rewrites if one.at][:2] == [line + 2, line + 3]
    top = str(made.module.function("kernel"))
    assert "call" not in top
    assert top.count('allo.name = "kept"') == 1 and top.count('allo.name = "kept_1"') == 1


def test_places_that_data_decide_are_no_subscripts_of_loops() -> None:
    s = allo.customize(kernel)
    s.pipeline("i")
    A, P, B = (np.random.default_rng(n).integers(0, 8, 8).astype(np.int32) for n in range(3))
    wanted = A.copy(), P.copy(), B.copy()
    s.build()(*wanted)
    s.build(target="vitis_hls", mode="csim", rewrites=["allo-inline-calls"])(A, P, B)
    for found, one in zip((A, P, B), wanted, strict=True):
        np.testing.assert_array_equal(found, one)


def test_what_stays_a_call(after, told) -> None:
    def sums(A: int32[8], B: int32[8]):
        for i in range(8):
            B[i] = total(A)

    def plain(A: int32[8]):
        for i in range(8):
            A[i] = doubled(A[i])

    s = allo.customize(sums)
    s.pipeline("i")
    assert told(after(s, "inline-calls")) == []  # a loop takes turns
    s.unroll("total:k")
    assert told(after(s, "inline-calls")) == ["inline-calls: the body of 'total' stands where it is called"]
    assert told(after(allo.customize(plain), "inline-calls")) == []  # no pipeline


def test_unrolled_loops_with_calls_are_straight(after, told) -> None:
    def weighted(A: int32[4, 8], i: int32) -> int32:
        sum: int32 = 0
        for k in range(4):
            if k != 2:
                sum += quadrupled(A[k, i])
        return sum

    def sums(A: int32[4, 8], B: int32[8]):
        for i in range(8):
            B[i] = weighted(A, i)

    s = allo.customize(sums)
    s.pipeline("i")
    assert told(after(s, "inline-calls")) == []  # the loop takes turns
    s.unroll("weighted:k")
    s.partition("A", dim=1)
    assert len(told(after(s, "inline-calls"))) == 4
    A, B = np.arange(32, dtype=np.int32).reshape(4, 8), np.zeros(8, np.int32)
    built = s.build(target="rtl")
    built(A, B)
    np.testing.assert_array_equal(B, 4 * (A[0] + A[1] + A[3]))
    assert built.cycles == built.predicted_cycles < 16


def test_an_estimate_of_own_hardware_is_that_of_the_body() -> None:
    s = allo.customize(kernel)
    s.pipeline("i")
    found = allo.estimate(s, load_target("u280").under("rtl"), rewritten=True)
    built = s.build(target="rtl")
    assert found.cycles == built.predicted_cycles
    assert [str(one) for one in found.rewrites if "inline" in one.name]
    assert not allo.estimate(s, "u280").rewrites


def test_loops_around_what_stays_a_call_take_turns() -> None:
    def first(x: int32[8, 8], i: int32) -> int32:
        sum: int32 = 0
        for j in range(i):
            sum += x[i, j]
        return sum

    def kernel(x: int32[8, 8], y: int32[2, 8], z: int32[8]):
        for k in range(2):
            for i in range(8):
                if z[i] > 2:
                    y[k, i] = first(x, i)

    s = allo.customize(kernel)
    s.pipeline("i")
    s.pipeline("first:j")
    x, y = np.arange(64, dtype=np.int32).reshape(8, 8), np.zeros((2, 8), np.int32)
    z = np.arange(8, dtype=np.int32)
    built = s.build(target="rtl")
    built(x, y, z)
    np.testing.assert_array_equal(y, np.where(z > 2, np.tril(x, -1).sum(1), 0)[None].repeat(2, 0))
    u280 = load_target("u280").under("rtl")
    timed = allo.dataflow.build(s, target="simulator", timed=u280)
    timed(x, y, z)
    assert timed.timing.cycles == built.cycles
    line = kernel.__code__.co_firstlineno + 2
    assert str(allo.estimate(s, u280, rewritten=True).rewrites[0]) == (
        f"kernel, line {line}: allo-inline-calls: loop 'i' is not pipelined: 'first', which it calls, is not straight "
        "code"
    )
