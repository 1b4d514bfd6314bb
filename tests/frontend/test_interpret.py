"""`allo.interpret` gives the bits of machine code for every type, and an error where a program has no meaning."""

# ruff: noqa: F821

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import allo
from allo.errors import CheckError, KernelError
from allo.ir.types import (
    Fixed,
    Stateful,
    Struct,
    UFixed,
    bfloat16,
    float16,
    float32,
    int1,
    int4,
    int8,
    int32,
    uint8,
    uint32,
    uint128,
)

P = Struct({"count": int8, "w": Fixed(8, 4)})
Q = Fixed(8, 4, rounding="rnd", overflow="sat")


def dot(A: int8[4], B: int8[4]) -> int32:
    total: int32 = 0
    for i in range(4, name="dot"):
        total += A[i] * B[i]
    return total


def difference(A: uint8[2]) -> int32:
    return A[0] - A[1]


def odd(A: int4[3], B: uint128[3], F: Q[3], x: float32) -> (UFixed(10, 3), bool):
    for i in range(3):
        A[i] = A[i] * 3
        B[i] = (B[i] << 100) + A[i]
        F[i] = F[i] * x
    return F[0] + 1, A[0] > B[1]


def halves(A: float16[4], B: bfloat16[4]) -> float32:
    for i in range(4):
        A[i] = A[i] * A[i] + A[i]
        B[i] = B[i] / 3.0 + A[i]
    return A[0] + B[0]


def structs(ps: P[2], word: uint32) -> P:
    first: P = ps[0]
    ps[0].count += 100
    ps[1] = first
    word[0:8] = ps[0].w.bitcast()
    ps[1].w = word[0:8].bitcast(Fixed(8, 4))
    made: P
    made.count = word
    made.w = first.w - ps[0].count
    return made


def operators(A: int8[3, 4], B: int8[4, 2]) -> int32[3, 2]:
    C: int32[3, 2] = allo.matmul(A, B)
    C[:, 0] = C[:, 1] * A[0:3, 0] - 1
    return C + C


def counted(step: int32) -> int32:
    calls: Stateful[int32] = 5
    calls += step
    return calls


def calling(step: int32) -> int32:
    return counted(step) * 100 + counted(1)


def rounds(x: int32) -> int32:
    n: int32 = 0
    while x != 1:
        x = 3 * x + 1 if x % 2 else x // 2
        n += 1
    return n


def ints(seed: int, dtype: Any, *shape: int) -> Any:
    return np.random.default_rng(seed).integers(-100, 100, shape).astype(dtype)


CASES: dict[str, tuple[Callable[..., Any], Callable[[], tuple[Any, ...]]]] = {
    "dot": (dot, lambda: (np.full(4, 100, np.int8), np.full(4, 100, np.int8))),
    "difference": (difference, lambda: (np.array([1, 5], np.uint8),)),
    "odd": (
        odd,
        lambda: (
            np.array([-8, 7, 3], np.int8),
            np.array([1, 2, 1 << 90], object),
            np.array([7.5, -3.3, 0.1]),
            1.7,
        ),
    ),
    "halves": (
        halves,
        lambda: (
            np.array([0.1, 300, 1e-4, -2], np.float16),
            np.array([1, 1e38, 0, 7], np.float32).astype(allo.ir.arrays.numpy_dtype(bfloat16)),
        ),
    ),
    "structs": (structs, lambda: (np.array([P(count=60, w=1.5), P(count=-1, w=-8)]), 0xDEADBEEF)),
    "operators": (operators, lambda: (ints(1, np.int8, 3, 4), ints(2, np.int8, 4, 2))),
    "rounds": (rounds, lambda: (27,)),
}


@pytest.mark.parametrize("name", CASES)
def test_same_bits_as_machine_code(name: str) -> None:
    kernel, inputs = CASES[name]
    mine, theirs = inputs(), inputs()
    got, wanted = allo.interpret(kernel)(*mine), allo.customize(kernel).build()(*theirs)
    results = zip((got, *mine), (wanted, *theirs), strict=True)
    for ours, other in results:
        assert np.asarray(ours).dtype == np.asarray(other).dtype
        assert np.array_equal(np.asarray(ours), np.asarray(other)), (ours, other)


def test_sums_and_differences_do_not_wrap() -> None:
    assert allo.interpret(dot)(np.full(4, 100, np.int8), np.full(4, 100, np.int8)) == 40000
    assert allo.interpret(difference)(np.array([1, 5], np.uint8)) == -4


def test_each_interpreted_kernel_has_its_own_state() -> None:
    first, second = allo.interpret(calling), allo.interpret(calling)
    assert [first(1), first(2), second(4)] == [607, 910, 910]


def template[T, N](A: T[N]) -> T:
    total: T = 0
    for i in range(N):
        total += A[i]
    return total


def test_templates_and_rules() -> None:
    full = np.full(3, 100, np.int8)
    assert allo.interpret(template, instantiate=[int8, 3])(full) == 44
    assert allo.interpret(template, instantiate={"T": int32, "N": 3})(full.astype(np.int32)) == 300

    def minus(a: uint8, b: uint32) -> float32:
        return a - b

    assert allo.interpret(minus)(1, 2) == -1
    assert allo.interpret(minus, typing_rule_set="cpp")(1, 2) == float(np.float32(2**32 - 1))


def halved(T: int8[8, 8], V: int8[8]):
    for i in range(8):
        for j in range(8):
            T[i, j] = (V[7 - j] * i) // 2


def test_vectors_of_odd_widths_on_the_cpu() -> None:
    """LLVM 22 gets vectors of 40 bits wrong: `allo-native-integers` leaves it none."""
    v = ints(0, np.int8, 8)
    mine, theirs = np.zeros((8, 8), np.int8), np.zeros((8, 8), np.int8)
    allo.interpret(halved)(mine, v)
    allo.customize(halved).build()(theirs, v)
    assert np.array_equal(mine, theirs)


def test_halves_in_the_reference() -> None:
    v, found = ints(0, np.int8, 8), np.zeros((8, 8), np.int8)
    allo.interpret(halved)(found, v)
    products = v[::-1].astype(np.int32)[None, :] * np.arange(8)[:, None]
    assert np.array_equal(found, (products // 2).astype(np.int8))


# -- what has no meaning ----------------------------------------------------------------------------------


def outside(A: int32[4], n: int32) -> int32:
    return A[n + 1]


def never_given(n: int32) -> int32:
    x: int32
    if n > 0:
        x = 1
    return x


def moved(A: int32[4], n: int32):
    B: int32[4]
    C: int32[4]
    for i in range(n):
        B[i] = A[i]
    for i in range(4):
        C[i] = B[i] + 1
    for i in range(4):
        A[i] = C[i]


def bits(x: uint8, n: int32) -> int1:
    return x[n]


def half_a_word(n: int32) -> uint8:
    x: uint8
    x[0:4] = 3
    if n > 0:
        x[4:8] = 1
    return x


def part_of_result(n: int32) -> int32[2]:
    B: int32[2]
    B[n] = 1
    return B


@pytest.mark.parametrize(
    ("kernel", "good", "bad", "message"),
    [
        (outside, (2,), (3,), "subscript 4 is outside of dimension 0 of 'A', which has 4 elements"),
        (never_given, (1,), (0,), "'x' has no value where it is read"),
        (moved, (4,), (3,), "element [3] of 'C' has no value where it is read"),
        (bits, (7,), (8,), "there is no bit 8 in a number of 8 bits"),
        (half_a_word, (1,), (0,), "'x' has no value where it is read"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_no_meaning(kernel: Any, good: tuple[int], bad: tuple[int], message: str) -> None:
    first = (3,) if kernel is bits else (np.arange(4, dtype=np.int32),) if kernel in (outside, moved) else ()
    assert allo.interpret(kernel)(*first, *good) == allo.customize(kernel).build()(*first, *good)
    with pytest.raises(CheckError) as caught:
        allo.interpret(kernel)(*first, *bad)
    diagnostic = caught.value.diagnostics[0]
    assert diagnostic.message == message
    assert diagnostic.at is not None and diagnostic.at.file == __file__
    assert diagnostic.at.line > kernel.__code__.co_firstlineno
    if kernel is not half_a_word:  # a debug build looks at words as a whole
        with pytest.raises(CheckError) as checked:
            allo.customize(kernel).build(check=True)(*first, *bad)
        assert checked.value.diagnostics[0].message == message


def test_results_without_a_value() -> None:
    found = []
    for run in (allo.interpret(part_of_result), allo.customize(part_of_result).build(check=True)):
        with pytest.raises(CheckError) as caught:
            run(1)
        found.append(str(caught.value).splitlines()[:2])
    assert found[0] == found[1] and found[0][1].strip() == "return B"


def test_arguments_are_checked_as_those_of_built_kernels() -> None:
    run = allo.interpret(outside)
    with pytest.raises(ValueError, match=r"argument 'A' must have shape \(4,\), got \(3,\)"):
        run(np.zeros(3, np.int32), 1)
    with pytest.raises(ValueError, match="argument 'A' has the element 4294967296, but int32 holds"):
        run(np.full(4, 1 << 32), 1)
    with pytest.raises(TypeError, match="outside\\(\\) has no argument 'm'; its arguments are A, n"):
        run(np.zeros(4, np.int32), m=1)
    with pytest.raises(TypeError, match=r"outside\(\) takes 2 arguments, got 1"):
        run(np.zeros(4, np.int32))


def test_mistakes_of_the_kernel_are_reported() -> None:
    def wrong(A: int32[4]):
        A[0] = B

    with pytest.raises(KernelError, match="name 'B' is not defined"):
        allo.interpret(wrong)


def test_signed_overflow_in_subscripts_of_cpp() -> None:
    def far(A: int32[4], n: int32) -> int32:
        return A[(n + n) // 1073741824]

    a = np.arange(4, dtype=np.int32)
    assert allo.interpret(far, typing_rule_set="cpp")(a, 1 << 29) == 1
    message = "`1073741824 + 1073741824` does not fit int32, and C++ does not say what it is in such a place"
    with pytest.raises(CheckError) as caught:
        allo.interpret(far, typing_rule_set="cpp")(a, 1 << 30)
    assert caught.value.diagnostics[0].message == message
