"""Types and statements in hardware: fixed point, structs, wide arguments, copies, states, arrays that calls return."""

from __future__ import annotations

import numpy as np
import pytest

import allo
from allo.backend.rtl import RTLModule
from allo.customize import Partition
from allo.ir.types import Fixed, Int, Stateful, Struct, UFixed, UInt, bfloat16, float16, float32, int8, int32
from allo.memory import Memory

from .simulated import assert_as_predicted, assert_in_hardware, bits
from .test_loops import numbers

RANDOM = np.random.default_rng(7)


def test_copies_of_whole_arrays() -> None:
    def copies(x: int32[3, 4, 5], y: int32[3, 4, 5]):
        inner: int32[3, 4, 5] = x
        for i, j, k in allo.grid(3, 4, 5):
            inner[i, j, k] += y[2 - i, j, k]
        y[:, :, :] = inner

    s = allo.customize(copies)
    s.partition("x", dim=3, factor=2)
    s.partition("y", dim=2, factor=2, partition_type=Partition.Block)
    s.bind("inner", memory=Memory(resource="URAM"))
    assert_as_predicted(s, numbers(3, 4, 5), numbers(3, 4, 5), random_state=2)


def test_calls_that_return_arrays() -> None:
    def doubled(x: int32[16], n: int32) -> int32[16]:
        made: int32[16] = 0
        for i in range(16):
            made[i] = 2 * x[i] + n
        return made

    def twice(x: int32[16]) -> int32[16]:
        first: int32[16] = doubled(x, 3)
        return doubled(first, 4)

    s = allo.customize(twice)
    built = assert_as_predicted(s, numbers(16))
    assert_in_hardware(s, built, np.ma.array(numbers(16), mask=np.arange(16) % 2))  # an array of a class of its own


def total(x: int32) -> int32:
    held: Stateful[int32] = 5
    held += x
    return held


def history(x: int32[6], y: int32[6]):
    seen: Stateful[int8[6]] = [1, 2, 3, -4, 5, 6]
    for i in range(6):
        seen[i] += x[i]
        y[i] = total(seen[5 - i])
    y[0] += total(1)


@pytest.mark.parametrize("pipelined", [False, True])
def test_states_stay_from_call_to_call(pipelined: bool) -> None:
    s = allo.customize(history)
    if pipelined:
        s.bind("seen", memory=Memory(resource="BRAM"))
    built, on_cpu = s.build(target="rtl", random_state=4), s.build()
    assert isinstance(built, RTLModule)
    for turn in range(5):
        x = numbers(6)
        y, wanted = np.zeros(6, np.int32), np.zeros(6, np.int32)
        built(x, y)
        on_cpu(x, wanted)
        assert bits(y) == bits(wanted)
        assert built.predicted_cycles == built.cycles
        if turn == 2:
            built.reset()
            on_cpu.reset()


FORMATS = [Fixed(12, 4), UFixed(7, 3), Fixed(40, 17), UFixed(33, 33), Fixed(9, 2, "rnd_conv", "sat")]


@pytest.mark.parametrize("T", FORMATS, ids=repr)
def test_fixed_point(T: Fixed | UFixed) -> None:
    def arithmetic(x: T[12], y: T[12], z: float32[12], q: T[12]) -> T:
        sum: T = 0
        for i in range(12):
            sum += x[i] * y[i]
            if x[i] < y[i]:
                q[i] = x[i] / y[i]
            else:
                q[i] = x[i] - y[i]
            z[i] = float32(x[i]) * 0.5
        return sum

    def operand() -> np.ndarray:
        low = -(2 ** (min(T.width, 50) - T.fracs - 2)) if isinstance(T, Fixed) else 0
        made = RANDOM.uniform(low, 2 ** (min(T.width, 50) - T.fracs - 2), 12)
        return np.where(np.abs(made) < 0.1, 1, made)

    s = allo.customize(arithmetic)
    s.pipeline("i")
    s.partition("x", factor=3)
    assert_as_predicted(s, operand(), operand(), np.zeros(12, np.float32), operand())


def test_floats_become_fixed_point() -> None:
    T = Fixed(14, 6)

    def converted(x: float32[40], y: T[40], n: int32[40]):
        for i in range(40):
            y[i] = x[i]
            n[i] = y[i]

    x = np.concatenate([RANDOM.uniform(-200, 200, 30), [0, -0.0, 1e-30, 1e30, -1e30, 127.99, -128, 5e-324, 2.5, -2.5]])
    s = allo.customize(converted)
    s.pipeline("i")
    assert_as_predicted(s, x.astype(np.float32), np.zeros(40), np.zeros(40, np.int32))


@pytest.mark.parametrize("T", [Int(65), UInt(100), Int(128), Fixed(70, 12)], ids=repr)
def test_arguments_of_more_than_64_bits(T: Int | UInt | Fixed) -> None:
    def summed(x: T[6], y: T[6], n: T) -> T:
        last: T = n
        for i in range(6):
            last = last + x[i]
            y[i] = last * 3
        return last

    x = np.array([int(n) << k for k, n in enumerate(RANDOM.integers(0, 1 << 57, 6))], object)
    s = allo.customize(summed)
    built, on_cpu = s.build(target="rtl", random_state=5), s.build()
    y, wanted = np.zeros(6, object), np.zeros(6, object)
    assert built(x, y, 77) == on_cpu(x, wanted, 77)
    assert list(y) == list(wanted)
    assert built.cycles == built.predicted_cycles


def test_structs() -> None:
    P = Struct((("at", int32), ("weight", float32), ("few", UInt(5)), ("part", Fixed(10, 3))))
    Q = Struct((("re", float32), ("im", float32)))

    def moved(x: P[8], y: P[8], first: P, z: Q[8]) -> P:
        last: P = first
        for i in range(8):
            y[i] = P(at=x[i].at + last.at, weight=x[7 - i].weight * 2.0, few=x[i].few + 3, part=x[i].part)
            z[i] = Q(re=z[i].im, im=z[i].re * x[i].weight)
            last = x[i]
        return last

    s = allo.customize(moved)
    s.partition("x", factor=2)
    form = [("at", np.int32), ("weight", np.float32), ("few", np.uint8), ("part", np.float64)]
    x = np.array([(int(n), k / 3, k, k / 8 - 3) for k, n in enumerate(RANDOM.integers(-99, 99, 8))], form)
    z = RANDOM.standard_normal((8, 2)).astype(np.float32).view([("re", np.float32), ("im", np.float32)])[:, 0]
    assert_as_predicted(s, x, np.zeros(8, form), {"at": 3, "weight": 1.0, "few": 30, "part": 2.5}, z.copy())


@pytest.mark.parametrize("T", [float16, bfloat16], ids=repr)
def test_short_floats(T: object) -> None:
    def mixed(x: T[16], y: T[16], z: float32[16]):
        for i in range(16):
            y[i] = x[i] * y[i] + x[15 - i]
            if y[i] > x[i]:
                z[i] += y[i]

    s = allo.customize(mixed)
    s.pipeline("i")
    form = np.float16
    if T is bfloat16:
        form = pytest.importorskip("ml_dtypes").bfloat16
    x, y = (RANDOM.standard_normal(16).astype(form) for _ in range(2))
    assert_as_predicted(s, x, y, np.zeros(16, np.float32))


def test_comparisons_of_floats() -> None:
    """Each operator, its negation, and the truth of a float, also of NaN."""

    def compared(x: float32[36], y: float32[36], told: UInt(8)[36], truth: bool[36], counts: UInt(8)[36]):
        for i in range(36):
            told[i][0] = x[i] == y[i]
            told[i][1] = x[i] != y[i]
            told[i][2] = x[i] < y[i]
            told[i][3] = x[i] <= y[i]
            told[i][4] = x[i] > y[i]
            told[i][5] = x[i] >= y[i]
            told[i][6] = not (x[i] < y[i])
            truth[i] = x[i]
            if x[i] != y[i]:
                counts[i] += 1

    x, y = (a.flatten() for a in np.meshgrid(*(np.array([0, -0.0, 1, -2, np.inf, np.nan], np.float32),) * 2))
    told, counts, truth = np.zeros(36, np.uint8), np.zeros(36, np.uint8), np.zeros(36, bool)
    assert_as_predicted(allo.customize(compared), x, y, told, truth, counts)
    assert ((told >> 1 & 1) == (x != y)).all() and (counts == (x != y)).all() and (truth == (x != 0)).all()


def test_rows_that_move_up_before_they_are_read() -> None:
    """A read behind guarded writes takes no port of its own: writes of other rows are in between."""

    def moving(x: int32[64], y: int32[64]):
        rows: int32[3, 64] = 0
        for t in range(4):
            for i in range(64):
                if i < 60:
                    rows[0, i] = rows[1, i]
                    rows[1, i] = rows[2, i]
                    rows[2, i] = x[i] + t
                y[i] = y[i] + rows[0, i] * 3 + rows[1, i] - rows[2, i]

    s = allo.customize(moving)
    s.pipeline("i")
    s.partition("rows", dim=1)
    s.bind("rows", memory=Memory(resource="LUTRAM"))
    built = assert_as_predicted(s, numbers(64), numbers(64), random_state=3)
    assert built.loops[-1].intervals == (1, 1)


def test_quotients_of_floats_without_a_rest() -> None:
    def whole(x: float32[32], y: float32[32], z: float32[32]):
        for i in range(32):
            z[i] = x[i] // y[i]

    s = allo.customize(whole)
    s.pipeline("i")
    x, y = (RANDOM.standard_normal(32).astype(np.float32) * 9 for _ in range(2))
    assert_as_predicted(s, x, y, np.zeros(32, np.float32))


def test_results_that_are_arguments_or_one_array_twice() -> None:
    def same(x: int32[8], y: int32[8]) -> (int32[8], int32[8], int32[8]):
        both: int32[8] = 0
        for i in range(8):
            x[i] += y[i]
            both[i] = x[i] - 1
        return x, both, both

    s = allo.customize(same)
    built, on_cpu = s.build(target="rtl"), s.build()
    x, y = numbers(8), numbers(8)
    other = x.copy()
    assert [bits(a) for a in built(x, y)] == [bits(a) for a in on_cpu(other, y)]
    assert bits(x) == bits(other)


def test_bits_as_another_type() -> None:
    def there_and_back(A: UInt(32)[16]) -> (float32[16], int32[16]):
        B: float32[16] = 0
        C: int32[16] = 0
        for i in range(16):
            B[i] = A[i].bitcast()
            C[i] = B[i].bitcast()
        return B, C

    A = RANDOM.integers(0, 2**30, 16).astype(np.uint32)
    B, C = allo.customize(there_and_back).build(target="rtl")(A)
    assert bits(B) == bits(A.view(np.float32)) and bits(C) == bits(A.view(np.int32))
