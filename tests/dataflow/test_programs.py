"""Dataflow designs through all doors, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.ir.types import int32
from allo.memory import Layout
from tests.dataflow import programs as p

from .doors import in_c, through

rng = np.random.default_rng(7)
S = Layout.Shard


def numbers(*shape: int, dtype: type = np.int16) -> np.ndarray:
    return rng.integers(-9, 9, shape).astype(dtype)


@in_c
def test_producer_and_consumer(csim: bool) -> None:
    A = numbers(p.M, p.N, dtype=np.int32)
    seen = through(p.producer_consumer, A, np.zeros_like(A), csim=csim)
    np.testing.assert_array_equal(seen.arguments[1], A + 1)


def test_parts_of_rows_and_single_columns() -> None:
    """One dimension has as many runs as the grid has rows, the other all its elements, and a third task waits."""

    @df.region()
    def design(C: int32[4, 2]):
        @df.kernel(mapping=[2, 2, 3], args=[C])
        def task(own: int32[4, 2] @ [S(0), S(1)]):
            i, j, k = df.get_pid()
            with allo.meta_if(k == 0):
                for r in range(2):
                    own[r, 0] = own[r, 0] * 10 + 2 * i + j

    s, C = df.customize(design), numbers(4, 2, dtype=np.int32)
    wanted = C * 10 + np.array([[0, 1], [0, 1], [2, 3], [2, 3]])
    with pytest.warns(allo.ScheduleNote, match="partition_type=Partition.Block, dim=1, factor=2"):
        s.build(target="vitis_hls", mode="csim")(C)
    np.testing.assert_array_equal(C, wanted)


def test_systolic_array() -> None:
    A, B, C = numbers(p.M, p.K), numbers(p.K, p.N), np.zeros((p.M, p.N), np.int16)
    s = df.customize(p.systolic)
    np.testing.assert_array_equal(through(p.systolic, A, B, C, csim=False).arguments[2], A @ B)
    with pytest.warns(allo.ScheduleNote) as told:
        divided = s.build(target="vhls").hls_code
    assert str(told[0].message) == (
        "tasks of 'systolic' share arrays, which hardware cannot: the build adds "
        's.partition("systolic:A", dim=1); s.partition("systolic:B", dim=2); '
        's.partition("systolic:C", dim=1); s.partition("systolic:C", dim=2)\n'
        "  hint: write these steps yourself, or others that keep the tasks apart"
    )
    assert not s.steps and divided == df.build(p.systolic, target="vhls").hls_code
    s.partition("systolic:A", dim=2)  # what steps have partitioned is left as it is: who reads one bank has a copy
    with pytest.warns(allo.ScheduleNote):
        copied = s.build(target="vitis_hls", mode="csim")
    given = np.zeros_like(C)
    copied(A, B, given)
    np.testing.assert_array_equal(given, A @ B)
    assert "systolic_copy_A(" in copied.hls_code
    s.undo()
    s.partition("systolic:A", dim=1)  # processes of an FPGA read different banks
    s.partition("systolic:B", dim=2)
    s.partition("systolic:C")
    assert df.build(p.systolic, target="vhls").hls_code == s.build(target="vhls").hls_code
    s.pipeline("gemm:S__k_4._k")
    given, timed = C.copy(), s.build(timed=True)
    timed(A, B, given)
    assert allo.estimate(s).cycles == timed.timing.cycles
    given = C.copy()
    s.build(target="vitis_hls", mode="csim")(A, B, given)
    np.testing.assert_array_equal(given, A @ B)
    assert s.verify()


def test_blocks() -> None:
    A = numbers(p.L, 4)
    np.testing.assert_array_equal(through(p.blocks, A, np.zeros_like(A)).arguments[1], 2 * A)


@in_c
def test_fork_and_join(csim: bool) -> None:
    A = numbers(p.L, dtype=np.int32)
    seen = through(p.fork_join, A, np.zeros_like(A), csim=csim)
    np.testing.assert_array_equal(seen.arguments[1], A**2 - A**3)


def test_feedback() -> None:
    A = numbers(p.L)
    np.testing.assert_array_equal(through(p.feedback, A, np.zeros_like(A)).arguments[1], A * A)


@in_c
def test_chain_with_a_scalar_of_the_region(csim: bool) -> None:
    A = numbers(p.L)
    seen = through(p.chain, A, np.zeros_like(A), 5, csim=csim)
    np.testing.assert_array_equal(seen.arguments[1], A + 15)


def test_template_regions_in_tasks() -> None:
    A = numbers(p.L)
    once = through(p.doubling, A, np.zeros_like(A), instantiate=[p.int16, p.L], csim=False)
    np.testing.assert_array_equal(once.arguments[1], 2 * A + 1)
    np.testing.assert_array_equal(through(p.regions_in_a_task, A, np.zeros_like(A)).arguments[1], 4 * A + 3)


@in_c
def test_template_regions_in_regions(csim: bool) -> None:
    A = numbers(p.L)
    seen = through(p.regions_in_a_region, A, np.zeros_like(A), csim=csim)
    np.testing.assert_array_equal(seen.arguments[1], 4 * A + 3)


def test_constants_of_the_position() -> None:
    A, B = numbers(4, p.L), np.zeros((4, p.L), np.int16)
    wanted = (A * np.array(p.FACTORS)[:, None])[::-1].copy()
    for place in range(4):
        wanted[3 - place, :place] = 0
        wanted[3 - place, 7 if p.factor(place) == 1 else 6] = 77 if p.factor(place) == 1 else 66
    wanted[1, 5] = 55
    np.testing.assert_array_equal(through(p.constants, A, B, csim=False).arguments[1], wanted)


def test_positions_on_diagonals() -> None:
    A = numbers(6, 6, dtype=np.int8)
    wanted = A.copy()
    wanted[np.arange(6), 5 - np.arange(6)] = 2
    wanted[np.arange(6), np.arange(6)] = 1
    np.testing.assert_array_equal(through(p.diagonal, A, np.zeros_like(A), csim=False).arguments[1], wanted)


@in_c
def test_streams_are_arguments_of_tasks(csim: bool) -> None:
    A = numbers(p.L)
    seen = through(p.streams_as_arguments, A, np.zeros_like(A), csim=csim)
    np.testing.assert_array_equal(seen.arguments[1], A)


def test_build_takes_regions_and_their_schedules() -> None:
    A = numbers(p.L)
    for built in (df.build(p.feedback), df.build(df.customize(p.feedback), target="simulator")):
        B = np.zeros_like(A)
        built(A, B)
        np.testing.assert_array_equal(B, A * A)
    assert "hls::stream" in df.build(p.feedback, target="vhls").hls_code


def test_shards_of_vectors() -> None:
    A = numbers(p.L)
    np.testing.assert_array_equal(
        through(p.shards_of_vectors, A, np.zeros_like(A), csim=False).arguments[1], A + 1
    )


@pytest.mark.parametrize("region", [p.shards_as_wholes, p.shards_by_elements])
def test_shards_of_matrices(region: Callable[..., Any]) -> None:
    A, B, C = numbers(p.M, p.K), numbers(p.K, p.N), np.zeros((p.M, p.N), np.int16)
    np.testing.assert_array_equal(through(region, A, B, C, csim=False).arguments[2], A @ B)


def test_shards_that_are_used_as_wholes_and_by_elements() -> None:
    A = numbers(p.L)
    wanted = 2 * A.reshape(2, -1)[:, ::-1].reshape(-1)
    np.testing.assert_array_equal(through(p.shards_of_both_kinds, A.copy(), csim=False).arguments[0], wanted)


def test_halves_of_an_array() -> None:
    A = numbers(2 * p.L)
    seen = through(p.exchange, A, np.zeros_like(A), csim=False)
    np.testing.assert_array_equal(seen.arguments[1], np.roll(A, p.L))
