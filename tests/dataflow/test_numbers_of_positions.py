"""Numbers that Python computes of the position: lists, powers, functions; what asks about tasks knows them."""

# ruff: noqa: F821 - tasks use the streams that a region declares

from __future__ import annotations

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.errors import DataflowError, KernelError
from allo.ir.types import Stream, float32, int32
from allo.verify import Equivalent

from .published_style import networks

P = 6
TO = [3, 0, 5, 1, 2, 4]
STEPS = (0.5, 1.5, 2.5, 3.5, 4.5, 5.5)


def is_prime(n: int) -> bool:
    return n > 1 and all(n % k for k in range(2, n))


@pytest.mark.parametrize(
    "make",
    [networks.bitonic_sorter, networks.kogge_stone, networks.hypercube_allreduce],
    ids=lambda make: make.__name__,
)
def test_what_asks_about_tasks_knows_them(make: object) -> None:
    """Estimates are those of timed runs, and proofs are found: which stream is used does not depend on data."""
    region, given, _ = make()  # type: ignore[operator]
    s = df.customize(region)
    timed = s.build(target="simulator", timed=True)
    timed(*(array.copy() for array in given))
    assert s.report(target="u280").cycles == timed.timing.cycles
    assert isinstance(s.verify(), Equivalent)


@df.region()
def permuted(A: int32[P], B: float32[P], C: int32[40]):
    wire: Stream[int32, 2][P]

    @df.kernel(mapping=[P], args=[A])
    def source(A: int32[P]):
        p = df.get_pid()
        with allo.meta_if(p < P - 1):
            wire[TO[p]].put(A[p] * TO[p + 1])  # there is no TO[P]
        with allo.meta_else():
            wire[TO[p]].put(A[p] * 2**p)

    @df.kernel(mapping=[P], args=[B])
    def sink(B: float32[P]):
        p = df.get_pid()
        B[p] = wire[p].get() * STEPS[p]

    @df.kernel(mapping=[40], args=[C])
    def primes(C: int32[40]):
        n = df.get_pid()
        with allo.meta_if(is_prime(n)):
            C[n] = n
        with allo.meta_else():
            C[n] = -1


def test_lists_powers_and_functions() -> None:
    A = np.arange(1, P + 1, dtype=np.int32)
    factors = np.array([*TO[1:], 2 ** (P - 1)])
    wanted = np.zeros(P)
    wanted[TO] = A * factors
    for run in (df.build(permuted), allo.interpret(permuted)):
        B, C = np.zeros(P, np.float32), np.zeros(40, np.int32)
        run(A, B, C)
        np.testing.assert_array_equal(B, (wanted * STEPS).astype(np.float32))
        np.testing.assert_array_equal(C, [n if is_prime(n) else -1 for n in range(40)])


def test_a_wrong_list_is_refused_before_a_run() -> None:
    """Two positions put into one stream: seen without data."""
    both = [0, 1, 1]

    @df.region()
    def top(A: int32[3], B: int32[3]):
        wire: Stream[int32, 2][3]

        @df.kernel(mapping=[3], args=[A])
        def source(A: int32[3]):
            p = df.get_pid()
            wire[both[p]].put(A[p])

        @df.kernel(mapping=[3], args=[B])
        def sink(B: int32[3]):
            p = df.get_pid()
            B[p] = wire[p].get()

    with pytest.raises(DataflowError) as caught:
        df.customize(top)
        df.build(top)(np.zeros(3, np.int32), np.zeros(3, np.int32))
    assert "wire" in caught.value.diagnostics[0].message


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ([1, 2], "IndexError at position [2]: list index out of range"),
        ([1, "a", 2], "it is a Python str at some position"),
    ],
)
def test_what_is_no_number_at_a_position(row: list[object], why: str) -> None:
    def kernel(A: int32[3]):
        @df.kernel(mapping=[3], args=[A])
        def task(A: int32[3]):
            p = df.get_pid()
            A[p] = row[p]

    with pytest.raises(KernelError) as caught:
        df.customize(kernel)
    assert caught.value.diagnostics[0].message == f"`row[p]` is not a compile-time constant: {why}"


LENGTHS = np.array([200, 3, 130, 7], np.uint8)


@df.region()
def of_lengths(A: int32[256], B: int32[340]):
    s: Stream[int32, 4]

    @df.kernel(mapping=[1], args=[A])
    def source(a: int32[256]):
        for i in range(4):
            n: int32 = LENGTHS[i]
            for j in range(n):
                s.put(a[j])

    @df.kernel(mapping=[1], args=[B])
    def sink(b: int32[340]):
        for j in range(340):
            b[j] = s.get()


def test_tables_without_a_sign_are_counted_as_what_they_are() -> None:
    A, B = np.arange(256, dtype=np.int32), np.zeros(340, np.int32)
    df.build(of_lengths)(A, B)
    np.testing.assert_array_equal(B, np.concatenate([A[:n] for n in LENGTHS]))
