"""Arguments that are written whole and never read."""

from collections.abc import Callable

import pytest

import allo
from allo.ir.types import int32
from allo.poly import overwritten_arguments


def first_argument(kernel: Callable[..., None]) -> bool:
    return 0 in overwritten_arguments(allo.customize(kernel).ir, kernel.__name__)


def vector(A: int32[8], B: int32[8]):
    for i in range(8):
        A[i] = B[7 - i]


def transposed(A: int32[4, 8]):
    for j in range(8):
        for i in range(4):
            A[i, j] = i


def repeated(A: int32[8]):
    for t in range(3):
        for i in range(8):
            A[i] = t + i


def twice(A: int32[8]):
    A[3] = 1
    for i in range(8):
        A[i] = i


def shifted(A: int32[8]):
    for i in range(-1, 7):
        A[i + 1] = i


def tiled(A: int32[8]):
    for o in range(4):
        for i in range(2):
            A[2 * o + i] = i


def halves(A: int32[8, 8]):
    for i in range(8):
        for j in range(i):
            A[i, j] = 0
        for j in range(i, 8):
            A[i, j] = 1


def branches(A: int32[8]):
    for i in range(8):
        if i < 3:
            A[i] = 0
        else:
            A[i] = 1


@pytest.mark.parametrize(
    "kernel",
    [vector, transposed, repeated, twice, shifted, tiled, halves, branches],
    ids=lambda kernel: kernel.__name__,
)
def test_all_elements_are_stored(kernel: Callable[..., None]) -> None:
    assert first_argument(kernel)


def strided(A: int32[8]):
    for i in range(0, 8, 2):
        A[i] = i


def late(A: int32[8]):
    for i in range(1, 8):
        A[i] = i


def short(A: int32[8]):
    for i in range(7):
        A[i] = i


def diagonal(A: int32[8, 8]):
    for i in range(8):
        A[i, i] = i


def swapped(A: int32[4, 8]):
    for i in range(4):
        for j in range(4):
            A[j, i] = j


def guarded(A: int32[8], B: int32[8]):
    for i in range(8):
        if B[i] > 0:
            A[i] = i


def triangle(A: int32[8, 8]):
    for i in range(8):
        for j in range(i, 8):
            A[i, j] = j


def never(A: int32[8], B: int32[8]):
    for _ in range(0):
        for i in range(8):
            A[i] = B[i]


def accumulated(A: int32[8], B: int32[8]):
    for i in range(8):
        A[i] += B[i]


def read_elsewhere(A: int32[8], B: int32[8]):
    B[0] = A[0]
    for i in range(8):
        A[i] = i


@pytest.mark.parametrize(
    "kernel",
    [strided, late, short, diagonal, swapped, guarded, triangle, never, accumulated, read_elsewhere],
    ids=lambda kernel: kernel.__name__,
)
def test_what_is_not_seen_to_be_overwritten(kernel: Callable[..., None]) -> None:
    assert not first_argument(kernel)


def test_a_place_that_depends_on_data():
    def scattered(A: int32[8], P: int32[8]):
        for i in range(8):
            A[P[i]] = i

    assert not first_argument(scattered)


def test_a_split_loop_still_writes_all() -> None:
    s = allo.customize(transposed)
    s.split("i", 2)
    s.unroll(s.split("j", 4)[1])
    assert 0 in overwritten_arguments(s.ir, "transposed")


def test_a_kernel_that_is_called_may_read() -> None:
    def reader(A: int32[8]):
        for i in range(8):
            A[i] = A[i] + 1

    def top(A: int32[8]):
        for i in range(8):
            A[i] = i
        reader(A)

    assert not first_argument(top)
