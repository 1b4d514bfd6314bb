"""Parts of one array in a call: accepted if they surely have no element in common, whatever the subscripts are."""

from collections.abc import Callable

import numpy as np
import pytest

import allo
from allo.ir.types import int8, int16, int32, uint8


def exchange(X: int32[2], Y: int32[2]):
    for i in range(2):
        first: int32 = X[i]
        X[i] = Y[i]
        Y[i] = first


def test_a_subscript_that_may_wrap_may_be_any() -> None:
    """`int8(200) + 256` is 200."""

    def kernel(A: int32[512, 2], u: uint8):
        exchange(A[u], A[int8(u) + 256])

    with pytest.raises(allo.KernelError, match="may have elements of 'A' in common"):
        allo.customize(kernel)


def test_conversions_to_more_bits_keep_rows_apart(agree: Callable[..., list[object]]) -> None:
    def kernel(A: int32[512, 2], u: uint8):
        exchange(A[u], A[int16(u) + 256])

    A = np.arange(1024, dtype=np.int32).reshape(512, 2)
    _, changed = agree(kernel, A, 200)
    wanted = A.copy()
    wanted[[200, 456]] = A[[456, 200]]
    np.testing.assert_array_equal(changed, wanted)


def mirror(X: int32[4], Y: int32[4]):
    for i in range(4):
        first: int32 = X[i]
        X[i] = Y[3 - i]
        Y[3 - i] = first


def test_elements_of_different_residues_are_apart(agree: Callable[..., list[object]]) -> None:
    def kernel(A: int32[8]):
        mirror(A[::2], A[1::2])

    A = np.arange(8, dtype=np.int32)
    _, changed = agree(kernel, A)
    np.testing.assert_array_equal(changed, A[::-1])


def test_elements_of_one_residue_may_meet() -> None:
    def kernel(A: int32[10]):
        mirror(A[0:8:2], A[2:10:2])

    with pytest.raises(allo.KernelError, match="may have elements of 'A' in common"):
        allo.customize(kernel)


def test_parts_one_behind_the_other_are_apart(agree: Callable[..., list[object]]) -> None:
    def kernel(A: int32[8]):
        mirror(A[0:4], A[4:8])

    A = np.arange(8, dtype=np.int32)
    _, changed = agree(kernel, A)
    np.testing.assert_array_equal(changed, A[::-1])


def test_parts_that_share_one_element_may_meet() -> None:
    def kernel(A: int32[8]):
        mirror(A[0:4], A[3:7])

    with pytest.raises(allo.KernelError, match="may have elements of 'A' in common"):
        allo.customize(kernel)
