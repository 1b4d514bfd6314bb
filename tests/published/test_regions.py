"""Dataflow regions as programs for published Allo write them: simulator and C simulation give the same bits."""

# ruff: noqa: F821 - streams are declared without a value

from collections.abc import Callable
from typing import Any

import numpy as np

import allo.dataflow as df
from allo.ir.types import Stream, int32


def assert_gives(region: Callable[..., Any], *arguments: np.ndarray, wanted: np.ndarray) -> None:
    """The last argument is `wanted`, in both runs."""
    for target, options in (("simulator", {}), ("vitis_hls", {"mode": "csim"})):
        given = [argument.copy() for argument in arguments]
        df.build(region, target=target, **options)(*given)
        np.testing.assert_array_equal(given[-1], wanted)


def test_kernels_that_give_numbers_are_called() -> None:
    def dot(A: int32[4], B: int32[4]) -> int32:
        total: int32 = 0
        for i in range(4):
            total += A[i] * B[i]
        return total

    @df.region()
    def top(A: int32[4], B: int32[4], C: int32[1]):
        @df.kernel(mapping=[1], args=[A, B, C])
        def product(A: int32[4], B: int32[4], C: int32[1]):
            C[0] = dot(A, B)

    A = np.arange(4, dtype=np.int32)
    assert_gives(top, A, A + 1, np.zeros(1, np.int32), wanted=np.array([A @ (A + 1)]))


def test_caches_read_what_is_asked_for() -> None:
    """The row is that of the position, the column comes out of a stream: rows are banks of their own."""

    @df.region()
    def top(A: int32[2, 8], B: int32[2, 8]):
        wanted: Stream[int32, 4][2]
        found: Stream[int32, 4][2]

        @df.kernel(mapping=[2], args=[A])
        def cache(A: int32[2, 8]):
            p = df.get_pid()
            for _ in range(8):
                column: int32 = wanted[p].get()
                found[p].put(A[p, column])

        @df.kernel(mapping=[2], args=[B])
        def element(B: int32[2, 8]):
            p = df.get_pid()
            for i in range(8):
                wanted[p].put(7 - i)
                B[p, i] = found[p].get()

    A = np.arange(16, dtype=np.int32).reshape(2, 8)
    assert_gives(top, A, np.zeros_like(A), wanted=A[:, ::-1])


def test_defaults_of_published_allo_are_said() -> None:
    @df.region()
    def top(A: int32[4], B: int32[4]):
        @df.kernel(mapping=[1], args=[A, B])
        def doubled(A: int32[4], B: int32[4]):
            for i in range(4):
                B[i] = A[i] * 2

    A = np.arange(4, dtype=np.int32)
    for default in (True, False):
        s = df.customize(top, opt_default=default)
        s.pipeline("doubled:i")
        for built in (s.build(), df.build(top, target="simulator", opt_default=default, enable_tensor=default)):
            B = np.zeros(4, np.int32)
            built(A, B)
            assert B.tolist() == [0, 2, 4, 6]
