"""Two exact products by one multiplication of packed operands, in systolic arrays and in gemv; gemv itself."""

import numpy as np
import pytest

import allo
from allo.ir.types import float32, float64, int4, int8, int16, int32, uint8
from allo.library import reference
from allo.library.gemv import doubled_gemv, gemv, packed_int4xint8_gemv, packed_int8xint8_gemv
from allo.library.systolic import (
    doubled_systolic,
    doubled_tile,
    packed_int4xint8_systolic,
    packed_int8xint8_systolic,
)

from .instances import built, floats, integers


@pytest.mark.parametrize("scheduled", [False, True])
@pytest.mark.parametrize("shape", [(8, 5, 12, 4, 4), (3, 7, 2, 1, 2), (4, 1, 6, 2, 6)])
@pytest.mark.parametrize("kernel, bits", [(packed_int8xint8_systolic, 8), (packed_int4xint8_systolic, 4)])
def test_systolic(kernel, bits, shape, scheduled):
    A, B = integers(np.int8, shape[0], shape[1]), integers(np.int8, shape[1], shape[2], bits=bits)
    C = np.zeros((shape[0], shape[2]), np.int32)
    built(kernel, [*shape, 1], scheduled)(A, B, C)
    np.testing.assert_array_equal(C, reference.systolic(A, B, np.int32))


def words(values, bits):
    """Words of integers along the last axis, the first lowest, as Python integers."""
    lanes = [(values[..., n].astype(object) & ((1 << bits) - 1)) << (n * bits) for n in range(values.shape[-1])]
    return sum(lanes)


@pytest.mark.parametrize("scheduled", [False, True])
@pytest.mark.parametrize("kernel, bits", [(packed_int8xint8_systolic, 8), (packed_int4xint8_systolic, 4)])
def test_systolic_on_words(kernel, bits, scheduled):
    M, K, N, PP = 4, 3, 8, 2
    A, B = integers(np.int8, M, K), integers(np.int8, K, N, bits=bits)
    rows = words(A.reshape(M // PP, PP, K).transpose(0, 2, 1), 8).astype(np.uint16).view(np.int16)
    columns = words(B.reshape(K, N // PP, PP), bits)
    columns = columns.astype(np.uint16).view(np.int16) if bits == 8 else columns.astype(np.uint8).view(np.int8)
    C = np.zeros((M // PP, N), np.int64)
    built(kernel, [M, K, N, 4, 4, PP], scheduled)(rows, columns, C)
    got = np.stack([C.astype(np.int32), (C >> 32).astype(np.int32)], axis=1).reshape(M, N)
    np.testing.assert_array_equal(got, reference.systolic(A, B, np.int32))


def test_all_pairs_of_products_are_exact():
    """Every a with every pair of extreme and middle weights."""
    A = np.arange(-128, 128, dtype=np.int8).reshape(256, 1)
    B = np.array(
        [[p for pair in ((x, y) for x in (-128, -1, 0, 1, 127) for y in (-128, -1, 0, 1, 127)) for p in pair]]
    )
    C = np.zeros((256, 50), np.int32)
    built(packed_int8xint8_systolic, [256, 1, 50, 256, 50, 1], False)(A, B.astype(np.int8), C)
    np.testing.assert_array_equal(C, A.astype(np.int32) @ B)


def test_one_multiplication_for_two_products():
    text = str(allo.customize(doubled_tile, instantiate=[int8, int8, int32, 5, 4, 4]).module)
    assert text.count("arith.muli") == 1 and "memref<5x2xi25>" in text and "i33" in text


def test_wider_operands():
    A, B = integers(np.int16, 4, 3), integers(np.int8, 3, 4)
    C = np.zeros((4, 4), np.int32)
    built(doubled_systolic, [int16, int8, int32, 4, 3, 4, 2, 2], True)(A, B, C)
    np.testing.assert_array_equal(C, reference.systolic(A, B, np.int32))


@pytest.mark.parametrize(
    "parameters, message",
    [
        ([uint8, int8, int32, 4, 3, 4, 2, 2], "only if they are signed integers, got uint8 * int8"),
        ([int8, int8, int32, 5, 3, 4, 2, 2], "M = 5 is not a multiple of 2"),
        ([int8, int8, int32, 4, 3, 3, 2, 3], "Nt = 3 is not a multiple of 2"),
    ],
)
def test_refusals(parameters, message):
    with pytest.raises(allo.KernelError) as caught:
        allo.customize(doubled_systolic, instantiate=parameters)
    assert message in str(caught.value)


@pytest.mark.parametrize("scheduled", [False, True])
@pytest.mark.parametrize("M, N, P", [(8, 5, 4), (7, 3, 4), (5, 6, 1), (2, 1, 2)])
def test_gemv_shapes(M, N, P, scheduled):
    A, x, y = integers(np.int8, M, N), integers(np.int8, N), np.zeros(M, np.int32)
    built(gemv, [int8, int8, int32, M, N, P], scheduled)(A, x, y)
    np.testing.assert_array_equal(y, reference.gemv(A, x, np.int32))


def test_gemv_of_fewer_rows_than_lanes():
    with pytest.raises(allo.KernelError, match="groups of 8 are larger than M = 2"):
        allo.customize(gemv, instantiate=[int8, int8, int32, 2, 1, 8])


@pytest.mark.parametrize("kind, dtype", [(float32, np.float32), (float64, np.float64)])
def test_gemv_floats(kind, dtype):
    A, x, y = floats(9, 20, dtype=dtype), floats(20, dtype=dtype), np.zeros(9, dtype)
    built(gemv, [kind, kind, kind, 9, 20, 4], True)(A, x, y)
    np.testing.assert_allclose(y, reference.gemv(A, x, np.float64), rtol=1e-4)


@pytest.mark.parametrize("scheduled", [False, True])
@pytest.mark.parametrize("M, N, P", [(8, 5, 4), (6, 9, 2), (4, 1, 4)])
@pytest.mark.parametrize("kernel, bits", [(packed_int8xint8_gemv, 8), (packed_int4xint8_gemv, 4)])
def test_packed_gemv(kernel, bits, M, N, P, scheduled):
    A, x, y = integers(np.int8, M, N, bits=bits), integers(np.int8, N), np.zeros(M, np.int32)
    built(kernel, [M, N, P], scheduled)(A, x, y)
    np.testing.assert_array_equal(y, reference.gemv(A, x, np.int32))


def test_doubled_gemv_has_one_multiplication():
    text = str(allo.customize(doubled_gemv, instantiate=[int4, int8, int32, 4, 3, 2]).module)
    assert text.count("arith.muli") == 1 and "i25" in text
