"""Resources of grids: each position is counted as what it does there, as if it had a function of its own."""

from __future__ import annotations

# ruff: noqa: F821 - tasks use the streams that a region declares
import random
from collections.abc import Callable
from dataclasses import astuple
from typing import Any

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.backend.instantiate import instantiate
from allo.ir.types import Stream, int16, int32
from tests.dataflow.designs import elements, systolic, tiles
from tests.dataflow.test_random_positions import stepped
from tests.seeds import sweep


def resources(s: allo.Schedule) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What an estimate says, and what it says of the module with a function for each class of positions."""
    apart = allo.estimate(instantiate(s.ir)).resources
    return astuple(allo.estimate(s).resources), astuple(apart)


REGIONS = (elements.unified, systolic.daisy_chain, tiles.flash_attention)
SLOW = [pytest.param(region, marks=pytest.mark.slow) for region in REGIONS]


@pytest.mark.parametrize("region", [systolic.packed, *SLOW], ids=lambda region: region.__name__)
def test_positions_cost_what_they_do(region: Callable[..., Any]) -> None:
    seen, apart = resources(df.customize(region))
    assert seen == apart


@sweep(60, quick=3)
def test_positions_with_functions_of_their_own_are_counted_once(seed: int) -> None:
    s = stepped(random.Random(seed))
    seen, apart = resources(s)
    assert seen == apart


def test_conditions_inside_of_a_pipeline() -> None:
    """Only the first position multiplies, in code that is scheduled in one piece."""

    @df.region()
    def line(A: int16[8], B: int16[8]):
        pipe: Stream[int16, 2][5]

        @df.kernel(mapping=[4], args=[A])
        def cell(A: int16[8]):
            i = df.get_pid()
            for k in range(8):
                value: int16 = 0
                with allo.meta_if(i == 0):
                    value = A[k] * A[7 - k]
                with allo.meta_else():
                    value = pipe[i].get()
                pipe[i + 1].put(value)

        @df.kernel(mapping=[1], args=[B])
        def sink(B: int16[8]):
            for k in range(8):
                B[k] = pipe[4].get()

    s = df.customize(line)
    s.pipeline("cell:k")
    seen, apart = resources(s)
    assert seen == apart
    assert allo.estimate(s).dsp == 1


def test_conditions_that_are_computed_of_the_position() -> None:
    """Two positions multiply; what decides that is no hardware."""

    @df.region()
    def grid(A: int16[4, 4, 8], B: int16[4, 4, 8]):
        @df.kernel(mapping=[4, 4], args=[A, B])
        def cell(A: int16[4, 4, 8], B: int16[4, 4, 8]):
            i, j = df.get_pid()
            for k in range(8):
                if i * j == 2:
                    B[i, j, k] = A[i, j, k] * A[i, j, 7 - k]
                elif i * i == j:
                    B[i, j, k] = A[i, j, k] + 1
                else:
                    B[i, j, k] = A[i, j, k]

    s = df.customize(grid)
    seen, apart = resources(s)
    assert seen == apart
    assert allo.estimate(s).dsp == 2


def test_multipliers_of_two_rows() -> None:
    size = 6

    @df.region()
    def grid(A: int16[size, size], B: int16[size, size]):
        line: Stream[int16, 2][size, size + 1]

        @df.kernel(mapping=[size, size], args=[A, B])
        def cell(A: int16[size, size], B: int16[size, size]):
            i, j = df.get_pid()
            with allo.meta_if(j == 0):
                for k in range(4):
                    line[i, j + 1].put(A[i, k])
            with allo.meta_elif(i in {0, size - 1}):
                for _k in range(4):
                    line[i, j + 1].put(line[i, j].get() * A[i, j])
            with allo.meta_else():
                for _k in range(4):
                    line[i, j + 1].put(line[i, j].get())

        @df.kernel(mapping=[size], args=[B])
        def sink(B: int16[size, size]):
            i = df.get_pid()
            for k in range(4):
                B[i, k] = line[i, size].get()

    estimate = allo.estimate(df.customize(grid))
    cell = next(function for function in estimate.functions if function.name == "cell")
    assert (cell.instances, cell.resources.dsp, estimate.dsp) == (size * size, 1, 2 * (size - 1))


def chain(count: int) -> allo.Schedule:
    """Elements that hand on a vector, each to the next one."""

    def line(A: int32[count, 16], x: int32[16], C: int32[count]):
        for i in range(count, name="PE"):
            total: int32 = 0
            for k in range(16):
                total += A[i, k] * x[k]
            C[i] = total

    s = allo.customize(line)
    s.pipeline("k")
    fetched = s.buffer_at("x", "i")
    s.relay(fetched, s.unfold("PE", axes=[0]), axis=0, depth=4)
    s.partition("line:A", dim=1)
    s.partition("line:C")
    s.dataflow("line")
    return s


def grid(rows: int, columns: int) -> allo.Schedule:
    """Rows of one matrix come from the left, columns of the other one from above."""

    def product(A: int32[rows, 16], B: int32[16, columns], C: int32[rows, columns]):
        for i, j in allo.grid(rows, columns, name="PE"):
            total: int32 = 0
            for k in range(16):
                total += A[i, k] * B[k, j]
            C[i, j] = total

    s = allo.customize(product)
    s.pipeline("k")
    left, above = s.buffer_at("A", "j"), s.buffer_at("B", "j")
    elements = s.unfold("PE", axes=[0, 1])
    s.relay(left, elements, axis=1, depth=4)
    s.relay(above, elements, axis=0, depth=4)
    s.partition("product:A", dim=1)
    s.partition("product:B", dim=2)
    s.partition("product:C")
    s.dataflow("product")
    return s


CHAINS = {
    "two": (chain, (2,), ((2, 16), (16,), (2,))), "nine": (chain, (9,), ((9, 16), (16,), (9,))),
    "four by two": (grid, (4, 2), ((4, 16), (16, 2), (4, 2))),
    "two by five": (grid, (2, 5), ((2, 16), (16, 5), (2, 5))),
}  # fmt: skip


@pytest.mark.parametrize("name", CHAINS)
def test_the_last_element_of_a_chain_waits_for_all_before_it(name: str) -> None:
    """Also where what comes from outside is late: it goes through all elements that hand it on, and no others."""
    make, sizes, shapes = CHAINS[name]
    schedule = make(*sizes)
    timed = schedule.build(target="simulator", timed="u280")
    timed(*(np.ones(shape, np.int32) for shape in shapes))
    assert allo.estimate(schedule).cycles == timed.timing.cycles
