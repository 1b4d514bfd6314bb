"""Programs in the manner of published Allo: types of all widths, conversions between them, and bits."""

import ml_dtypes
import numpy as np
import pytest

import allo
from allo.ir.types import (
    Fixed,
    Int,
    UInt,
    bfloat16,
    bool,
    float16,
    float32,
    float64,
    index,
    int1,
    int8,
    int16,
    int32,
    int64,
    int128,
    uint1,
    uint3,
    uint8,
    uint16,
    uint32,
    uint64,
)

LENGTH = 10


def integers(low: int, high: int, dtype: type = np.int32) -> np.ndarray:
    return np.random.default_rng(high).integers(low, high, LENGTH, dtype=dtype)


def test_conversions_by_name() -> None:
    def kernel(a: int32) -> float32:
        return float(int(float(a)))

    assert allo.customize(kernel).build()(-5) == -5.0


def test_float_to_int_drops_the_fraction() -> None:
    def kernel(A: float32[4]) -> int32[4]:
        B: int32[4] = 0
        for i in range(4):
            B[i] = A[i]
        return B

    got = allo.customize(kernel).build()(np.array([2.9, -2.9, 0.5, -0.5], np.float32))
    assert got.tolist() == [2, -2, 0, 0]


def test_constants_take_the_declared_type() -> None:
    def kernel() -> (int32, float32, uint8, float32):
        a: int32 = 6.7
        b: float32 = 1
        c: uint8 = 300
        d: float32 = a / 4
        return a, b, c, d

    assert allo.customize(kernel).build()() == (6, 1.0, 44, 1.0)


@pytest.mark.parametrize(
    ("T", "dtype"),
    [
        (int8, np.int8),
        (int16, np.int16),
        (int64, np.int64),
        (uint8, np.uint8),
        (uint16, np.uint16),
        (uint64, np.uint64),
        (float16, np.float16),
        (float64, np.float64),
        (bfloat16, ml_dtypes.bfloat16),
    ],
    ids=str,
)
def test_one_kernel_for_each_type(T: object, dtype: type) -> None:
    def kernel(A: T[LENGTH], B: T[LENGTH]) -> T[LENGTH]:
        C: T[LENGTH] = 0
        for i in range(LENGTH):
            C[i] = A[i] + B[i] if A[i] > B[i] else A[i] * B[i]
        return C

    A, B = integers(0, 12).astype(dtype), integers(0, 10).astype(dtype)
    np.testing.assert_array_equal(allo.customize(kernel).build()(A, B), np.where(A > B, A + B, A * B))


def test_widths_that_numpy_has_not() -> None:
    def kernel(A: Int(7)[LENGTH], b: uint3) -> Int(11)[LENGTH]:
        C: Int(11)[LENGTH] = 0
        for i in range(LENGTH):
            C[i] = A[i] * b - 1
        return C

    A = integers(-64, 64, np.int8)
    got = allo.customize(kernel).build()(A, 7)
    np.testing.assert_array_equal(got, A.astype(np.int16) * 7 - 1)
    assert got.dtype == np.int16


def test_assignments_wrap() -> None:
    def kernel(a: uint8, b: uint8) -> (uint8, uint16, int16, int8, Int(5)):
        return a + b, a * b, b - a, a + b, a + b

    assert allo.customize(kernel).build()(200, 100) == (44, 20000, -100, 44, 12)


def test_wide_product() -> None:
    def kernel(a: int64, b: int64) -> (int64, int64):
        x: int128 = a * b
        high: int64 = x >> 64
        return high, x[0:64]

    high, low = allo.customize(kernel).build()(-(2**62) - 12345, 987654321)
    assert (high << 64) + low % 2**64 == (-(2**62) - 12345) * 987654321


def test_division_and_remainder() -> None:
    def kernel(a: int32, b: int32) -> (int32, int32, int32, float32):
        c: int32 = a / b
        x: float32 = a
        return c, a // b, a % b, x / b

    assert allo.customize(kernel).build()(-7, 2) == (-3, -4, 1, -3.5)


def test_floats_of_three_widths() -> None:
    def kernel(A: float16[4], B: bfloat16[4], C: float64[4]) -> float64[4]:
        D: float64[4] = 0
        for i in range(4):
            D[i] = A[i] * B[i] + C[i]
        return D

    A, B = np.array([1, 2, 3, 0.5], np.float16), np.array([2, 4, -1, 8], ml_dtypes.bfloat16)
    got = allo.customize(kernel).build()(A, B, np.full(4, 0.25))
    np.testing.assert_array_equal(got, [2.25, 8.25, -2.75, 4.25])


def test_index_is_a_type_of_arguments() -> None:
    def kernel(A: float32[LENGTH], at: index) -> float32:
        return A[at] + A[LENGTH - 1 - at]

    A = np.arange(LENGTH, dtype=np.float32) ** 2
    assert allo.customize(kernel).build()(A, 7) == 49 + 4


def test_truth_values() -> None:
    def kernel(A: bool[4], b: bool) -> bool[4]:
        C: bool[4] = False
        for i in range(4):
            C[i] = A[i] and not b
        return C

    A = np.array([True, False, True, False])
    np.testing.assert_array_equal(allo.customize(kernel).build()(A, False), A)
    np.testing.assert_array_equal(allo.customize(kernel).build()(A, np.bool_(True)), np.zeros(4))


def test_signed_bit_is_minus_one() -> None:
    def kernel(A: int32[LENGTH]) -> (int1[LENGTH], uint1[LENGTH]):
        B: int1[LENGTH] = 0
        C: uint1[LENGTH] = 0
        for i in range(LENGTH):
            B[i] = A[i] > 3
            C[i] = A[i] > 3
        return B, C

    A = np.arange(LENGTH, dtype=np.int32)
    signed, unsigned = allo.customize(kernel).build()(A)
    np.testing.assert_array_equal(signed, np.where(A > 3, -1, 0))
    np.testing.assert_array_equal(unsigned, A > 3)


def test_fixed_point_inside() -> None:
    T = Fixed(8, 3)

    def kernel(A: float32[4]) -> float32[4]:
        B: Fixed(12, 4)[4] = 0
        C: float32[4] = 0
        for i in range(4):
            x: T = A[i]
            B[i] = x * x
            C[i] = B[i]
        return C

    A = np.array([1.3, -2.2, 0.1, 3.0], np.float32)
    quantised = np.floor(A * 8) / 8
    np.testing.assert_array_equal(allo.customize(kernel).build()(A), np.floor(quantised**2 * 16) / 16)


def test_width_of_a_type_is_a_number() -> None:
    T = UInt(12)

    def kernel(x: T) -> int32:
        ones: int32 = 0
        for i in range(T.bits):
            ones += x[i]
        return ones * 100 + T.bits

    assert allo.customize(kernel).build()(0b1011_0000_0001) == 412


def test_scalars_of_numpy() -> None:
    def kernel(a: int32, b: float32, c: uint8, d: bool) -> float32:
        return a * b + c if d else 0.0

    module = allo.customize(kernel).build()
    assert module(np.int32(2), np.float32(1.5), np.uint8(3), np.bool_(True)) == module(2, 1.5, 3, True) == 6.0


def test_bit_of_an_expression() -> None:
    def kernel(A: int32[LENGTH], B: int32[LENGTH], C: int32[LENGTH]):
        for i in range(LENGTH):
            B[i] = (A[i] + 1)[0]
            C[i] = (A[i] + 1)[1:4]

    A = integers(0, 1000)
    B, C = np.zeros_like(A), np.zeros_like(A)
    allo.customize(kernel).build()(A, B, C)
    np.testing.assert_array_equal(B, (A + 1) & 1)
    np.testing.assert_array_equal(C, (A + 1) >> 1 & 7)


def test_bits_are_set() -> None:
    def kernel(A: uint1[LENGTH], B: int32[LENGTH], C: uint8[LENGTH]):
        for i in range(LENGTH):
            b: int32 = B[i]
            b[0] = A[i]
            b[28:32] = 5
            B[i] = b
            B[i][8:16] = C[i]
            (B[i])[4] = 1

    A, B, C = integers(0, 2, np.uint8), integers(0, 8), integers(0, 256, np.uint8)
    wanted = (B & ~1) | A | (5 << 28) | (C.astype(np.int32) << 8) | 16
    allo.customize(kernel).build()(A, B, C)
    np.testing.assert_array_equal(B, wanted)


def test_slices_at_places_of_loops() -> None:
    def kernel(A: uint32, x: uint8) -> uint32:
        y: uint32 = A
        for i in range(4):
            y[8 * i : 8 * i + 8] = x + i
        return y

    assert allo.customize(kernel).build()(0, 0xFE) == 0x0100FFFE


def test_reverse() -> None:
    def kernel(A: uint8[LENGTH], B: Int(5)[LENGTH]):
        for i in range(LENGTH):
            A[i] = A[i].reverse()
            B[i] = B[i].reverse()

    A, B = integers(0, 256, np.uint8), integers(-16, 16, np.int8)
    wanted_A = [int(f"{x:08b}"[::-1], 2) for x in A]
    wanted_B = [int(f"{x % 32:05b}"[::-1], 2) for x in B]
    allo.customize(kernel).build()(A, B)
    assert A.tolist() == wanted_A
    assert B.tolist() == [x - 32 * (x >= 16) for x in wanted_B]


def test_bitcast_there_and_back() -> None:
    def kernel(A: uint32[LENGTH]) -> (float32[LENGTH], int32[LENGTH]):
        B: float32[LENGTH] = 0
        C: int32[LENGTH] = 0
        for i in range(LENGTH):
            B[i] = A[i].bitcast()
            C[i] = B[i].bitcast()
        return B, C

    A = integers(0, 2**30).astype(np.uint32)
    B, C = allo.customize(kernel).build()(A)
    np.testing.assert_array_equal(B, A.view(np.float32))
    np.testing.assert_array_equal(C, A.view(np.int32))


def test_packed_binary_convolution() -> None:
    L, channels, outputs, size, taps = 32, 1, 4, 8, 3
    n = size - taps + 1

    def kernel(
        A: UInt(L)[channels, size, size], F: UInt(L)[outputs, channels, taps, taps]
    ) -> int32[outputs, n, n]:
        B: int32[outputs, n, n] = 0
        for c, h, w in allo.grid(outputs, n, n):
            v: int32 = 0
            for rc, rh, rw, rb in allo.reduction(channels, taps, taps, L):
                v += 1 - 2 * (A[rc, h + rh, w + rw] ^ F[c, rc, rh, rw])[rb]
            B[c, h, w] = v
        return B

    generator = np.random.default_rng(0)
    A = generator.integers(0, 2**32, (channels, size, size), dtype=np.uint32)
    F = generator.integers(0, 2**32, (outputs, channels, taps, taps), dtype=np.uint32)
    differ = np.lib.stride_tricks.sliding_window_view(A[0], (taps, taps)) ^ F[:, 0, None, None]
    wanted = taps * taps * L - 2 * np.bitwise_count(differ).sum(axis=(-1, -2), dtype=np.int32)
    np.testing.assert_array_equal(allo.customize(kernel).build()(A, F), wanted)
