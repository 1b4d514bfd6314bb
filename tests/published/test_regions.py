"""Dataflow regions as programs for published Allo write them: simulator and C simulation give the same bits."""

# ruff: noqa: F821 - streams are declared without a value

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import allo
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


@df.region()
def grid(A: int32[4, 4], B: int32[4, 4]):
    fifo: Stream[int32, 4]

    @df.kernel(mapping=[2, 2], args=[A, B])
    def core(A: int32[4, 4], B: int32[4, 4]):
        i, j = df.get_pid()
        for x in range(2):
            for y in range(2):
                B[i * 2 + x, j * 2 + y] = A[i * 2 + x, j * 2 + y] + 1

    @df.kernel(mapping=[1])
    def source():
        for n in range(4):
            fifo.put(n)

    @df.kernel(mapping=[1])
    def drain():
        total: int32 = 0
        for n in range(4):
            total += fifo.get() + n


def test_functions_of_positions_by_number() -> None:
    s = df.customize(grid)
    s.pipeline("core_0_1:y")
    s.unroll("source_0:n", factor=2)
    s.pipeline(s.get_loops("core_1_0").S_x_0.y, initiation_interval=2)
    s.pipeline(s.get_loops("drain_0")["S_n_0"]["n"])
    assert str(s.steps).splitlines() == [
        "s.separate(\"core\", positions='0, 1')",
        's.pipeline("core[0, 1]:S_x_0.y")',
        's.unroll("source:S_n_0.n", factor=2)',
        "s.separate(\"core\", positions='1, 0')",
        's.pipeline("core[1, 0]:S_x_0.y", initiation_interval=2)',
        's.pipeline("drain:S_n_0.n")',
    ]
    assert [loop.function for loop in s.get_loops("core_1_0").S_x_0] == ["core[1, 0]"] * 2
    A, B = np.arange(16, dtype=np.int32).reshape(4, 4), np.zeros((4, 4), np.int32)
    s.build()(A, B)
    np.testing.assert_array_equal(B, A + 1)
    for wrong, why in (
        ("core_0:y", "the module has no function 'core_0'"),
        ("core_2_0:y", r"'core\[2, 0\]' is outside the grid of task 'core': dimension 0 has the positions 0 to 1"),
    ):
        with pytest.raises(allo.ScheduleError, match=why):
            s.pipeline(wrong)
