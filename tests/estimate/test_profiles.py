"""Rules of profiles: for each a kernel of which it changes the estimate, and one that it leaves alone."""

# ruff: noqa: F821, B007 - kernels declare arrays without a value

from __future__ import annotations

import pytest

import allo
from allo.customize import Schedule
from allo.estimate.rules import as_the_tool_reads
from allo.ir.types import float32
from allo.target import Fpga, load_target
from allo.verify import Equivalent

VENDOR = "vitis_hls_2023.2"


def estimate(s: allo.Schedule, profile: str | None = VENDOR, *, unsafe_math: bool = False) -> allo.Estimate:
    return allo.estimate(s, profile=profile, unsafe_math=unsafe_math)


def fpga(target: object) -> Fpga:
    assert isinstance(target, Fpga)
    return target


def states(found: allo.Estimate) -> list[str]:
    return [loop.state for loop in found.loops]


# -- automatic pipelines -------------------------------------------------------------------------------


def test_innermost_loops_are_pipelined() -> None:
    def scaled(A: float32[100], B: float32[100]):
        for i in range(100):
            B[i] = 2.0 * A[i]

    s = allo.customize(scaled)
    assert (states(estimate(s, None)), states(estimate(s))) == (["sequential"], ["pipelined"])
    assert estimate(s).cycles == allo.estimate(s, auto_pipeline=True).cycles == 109


@pytest.mark.parametrize(("trips", "expected"), [(64, ["pipelined", "unrolled"]), (65, ["flattened", "pipelined"])])
def test_the_loop_around_a_short_one_is_pipelined(trips: int, expected: list[str]) -> None:
    def scaled(A: float32[100, trips], B: float32[100, trips]):
        for i in range(100):
            for j in range(trips):
                B[i, j] = 2.0 * A[i, j]

    assert states(estimate(allo.customize(scaled))) == expected


def test_a_short_loop_beside_a_long_one_is_pipelined_itself() -> None:
    def two(A: float32[100, 65], B: float32[100, 4]):
        for i in range(100):
            for j in range(4):
                B[i, j] = 0.0
            for k in range(65):
                A[i, k] = 0.0

    assert states(estimate(allo.customize(two))) == ["sequential", "pipelined", "pipelined"]


def test_what_is_inside_of_a_pipeline_or_calls_is_not_marked() -> None:
    def one(A: float32[100]):
        for j in range(100):
            A[j] += 1.0

    def often(A: float32[100], B: float32[100, 100]):
        for i in range(100):
            one(A)
        for k in range(100):
            for j1 in range(100):
                B[k, j1] = 0.0

    s = allo.customize(often)
    s.pipeline("k")
    assert states(estimate(s)) == ["pipelined", "sequential", "pipelined", "unrolled"]


# -- flattened nests ------------------------------------------------------------------------------------


def sums(A: float32[100, 100], q: float32[100]):
    for i in range(100):
        q[i] = 0.0
        for j in range(100):
            q[i] += A[i, j]
        q[i] = 2.0 * q[i]


def test_statements_between_loops_do_not_end_a_nest() -> None:
    """A sum in memory takes 8 cycles, and iterations of `i` follow at once."""
    found = estimate(allo.customize(sums))
    assert states(found) == ["flattened", "pipelined"]
    assert found.loop("j").interval == 8
    assert found.cycles is not None and 80_000 < found.cycles < 80_040
    assert states(allo.estimate(allo.customize(sums), auto_pipeline=True)) == ["sequential", "pipelined"]


def test_a_loop_that_is_marked_is_not_flattened() -> None:
    s = allo.customize(sums)
    s.unroll("i", factor=2)
    assert states(estimate(s)) == ["sequential", "pipelined"]
    assert estimate(s).cycles == allo.estimate(s, auto_pipeline=True).cycles


def test_a_second_loop_or_a_call_ends_a_nest() -> None:
    def cleared(row: float32[100]):
        row[0] = 0.0

    def called(A: float32[100, 100], row: float32[100]):
        for i in range(100):
            cleared(row)
            for j in range(100):
                A[i, j] = row[0]

    assert "flattened" not in states(estimate(allo.customize(called)))


def test_a_value_that_is_used_on_both_sides_ends_a_nest() -> None:
    text = """
    module attributes {allo.top = "f"} {
      func.func @f(%x: memref<100xf32>, %y: memref<100x100xf32>) {
        affine.for %i = 0 to 100 {
          %a = affine.load %x[%i] : memref<100xf32>
          affine.for %j = 0 to 100 {
            affine.store %a, %y[%i, %j] : memref<100x100xf32>
          } {allo.name = "j"}
        } {allo.name = "i", allo.nest = "S"}
        return
      }
    }"""
    assert states(estimate(Schedule.from_mlir(text))) == ["sequential", "pipelined"]


def test_a_flat_nest_means_the_same() -> None:
    s = allo.customize(sums)
    read = as_the_tool_reads(s.ir, fpga(load_target("u280")).under(VENDOR).rules)
    assert str(read).count("affine.if") == 2
    assert isinstance(allo.verify(s, Schedule.from_mlir(str(read))), Equivalent)


def test_the_design_itself_stays_as_it_is() -> None:
    s = allo.customize(sums)
    before = str(s.module)
    estimate(s)
    assert str(s.module) == before


# -- nests at once --------------------------------------------------------------------------------------


def two_fills(A: float32[100], B: float32[200]):
    for i in range(100):
        A[i] = 0.0
    for j in range(200):
        B[j] = 0.0


def test_nests_that_share_nothing_run_at_once() -> None:
    s = allo.customize(two_fills)
    assert (allo.estimate(s, auto_pipeline=True).cycles, estimate(s).cycles) == (310, 205)
    parts = estimate(s).kernel.timelines[0].parts
    assert [(part.begin, part.end) for part in parts] == [(0, 105), (0, 205)]


def test_nests_that_read_one_array_follow_one_another() -> None:
    def two_copies(A: float32[100], B: float32[100], C: float32[100]):
        for i in range(100):
            B[i] = A[i]
        for j in range(100):
            C[j] = A[j]

    assert estimate(allo.customize(two_copies)).cycles == 212


def test_what_runs_at_once_shares_no_operators() -> None:
    def two_sums(A: float32[100], B: float32[100], C: float32[100], D: float32[100]):
        for i in range(100):
            B[i] = A[i] + 1.0
        for j in range(100):
            D[j] = C[j] + 1.0

    s = allo.customize(two_sums)
    assert (allo.estimate(s, auto_pipeline=True).dsp, estimate(s).dsp) == (2, 4)


# -- short recurrences ----------------------------------------------------------------------------------


def total(A: float32[100], B: float32[100], s: float32[1]):
    for i in range(100):
        s[0] += A[i]


def test_a_sum_that_is_asked_for_early_has_a_short_adder() -> None:
    s = allo.customize(total)
    s.pipeline("i")
    found = estimate(s).loop("i")
    assert (found.interval, str(found.reason)) == (4, "recurrence through s: 3 add + 1 write over distance 1")
    assert (estimate(s).dsp, estimate(s, None).loop("i").interval) == (0, 7)


def test_nobody_asks_in_a_pipeline_that_the_tool_makes() -> None:
    assert estimate(allo.customize(total)).loop("i").interval == 7


def test_an_interval_of_seven_needs_no_short_adder() -> None:
    s = allo.customize(total)
    s.pipeline("i", initiation_interval=7)
    assert (estimate(s).loop("i").interval, estimate(s).dsp) == (7, 2)


def test_two_sums_in_a_row_are_too_long_for_short_adders() -> None:
    def twice(A: float32[100], B: float32[100], s: float32[1]):
        for i in range(100):
            s[0] = s[0] + A[i] + B[i]

    s = allo.customize(twice)
    s.pipeline("i")
    assert (estimate(s).loop("i").interval, estimate(s).dsp) == (13, 2)


def test_no_short_adder_at_a_clock_above_its_own() -> None:
    s = allo.customize(total)
    s.pipeline("i")
    assert allo.estimate(s, profile=VENDOR, frequency=400).loop("i").interval == 9


# -- shared operators -----------------------------------------------------------------------------------


def scaled_in_turn(A: float32[100], B: float32[100]):
    for i in range(100):
        B[i] = 5.0 * A[i]
    for j in range(100):
        B[j] = 3.0 * A[j]


def test_nests_of_one_function_share_operators_of_the_tool() -> None:
    s = allo.customize(scaled_in_turn)
    s.pipeline("i")
    s.pipeline("j")
    assert (estimate(s).dsp, estimate(s, "rtl").dsp) == (3, 2)


def test_functions_share_no_operators() -> None:
    def scaled(A: float32[100], B: float32[100]):
        for i in range(100):
            B[i] = 2.0 * A[i]

    def scaled_too(A: float32[100], B: float32[100]):
        for i in range(100):
            B[i] = 3.0 * A[i]

    def both(A: float32[100], B: float32[100]):
        scaled(A, B)
        scaled_too(A, B)

    assert estimate(allo.customize(both)).dsp == 6


# -- partitions -----------------------------------------------------------------------------------------


def through(A: float32[64, 4], B: float32[64, 4]):
    kept: float32[64, 4]
    for i in range(64):
        for j in range(4):
            kept[i, j] = A[i, j] + 1.0
    for i1 in range(64):
        for j1 in range(4):
            B[i1, j1] = kept[i1, j1] * 2.0


def in_rows() -> allo.Schedule:
    s = allo.customize(through)
    for loop in ("i", "i1"):
        s.pipeline(loop)
    for array in ("A", "B"):
        s.partition(array, dim=2)
    return s


def test_arrays_of_the_function_are_divided() -> None:
    found = estimate(in_rows())
    assert (found.loop("i").interval, estimate(in_rows(), None).loop("i").interval) == (1, 2)
    assert found.notes == (
        "through: the tool divides 'kept' unasked, as s.partition(\"through:kept\", dim=2, factor=2) would",
    )


def test_arrays_of_which_the_user_has_said_what_they_are_stay() -> None:
    bound, divided = in_rows(), in_rows()
    bound.bind("kept", allo.Memory(resource="BRAM"))
    divided.partition("kept", dim=1, factor=2)
    assert (estimate(bound).loop("i").interval, estimate(bound).notes) == (2, ())
    assert (estimate(divided).loop("i").interval, estimate(divided).notes) == (2, ())


def test_arrays_that_a_call_is_given_stay() -> None:
    def filled(kept: float32[64, 4]):
        for i in range(64):
            for j in range(4):
                kept[i, j] = 0.0

    def copied(B: float32[64, 4]):
        kept: float32[64, 4]
        filled(kept)
        for i in range(64):
            for j in range(4):
                B[i, j] = kept[i, j]

    s = allo.customize(copied)
    s.pipeline("copied:i")
    s.partition("copied:B", dim=2)
    assert (estimate(s).loop("copied:i").interval, estimate(s).notes) == (2, ())


def test_arguments_are_not_divided() -> None:
    def filled(A: float32[64, 4]):
        for i in range(64):
            for j in range(4):
                A[i, j] = 0.0

    s = allo.customize(filled)
    assert (estimate(s).loop("i").interval, estimate(s).notes) == (2, ())


# -- unsafe math ----------------------------------------------------------------------------------------


def products(A: float32[100, 16], x: float32[16], y: float32[100]):
    for i in range(100):
        for j in range(16):
            y[i] += A[i, j] * x[j]


def test_sums_become_trees_if_that_is_asked_for() -> None:
    s = allo.customize(products)
    s.pipeline("i")
    s.partition("A", dim=2)
    s.partition("x")
    assert (estimate(s).loop("i").depth, estimate(s, unsafe_math=True).loop("i").depth) == (101, 35)


@pytest.mark.parametrize(("profile", "who"), [(None, "no profile is chosen"), ("rtl", "profile 'rtl' has it not")])
def test_unsafe_math_is_an_option_of_a_tool(profile: str | None, who: str) -> None:
    with pytest.raises(allo.AlloError) as caught:
        estimate(allo.customize(products), profile, unsafe_math=True)
    assert str(caught.value) == (
        f'unsafe math is an option of a tool, and {who}\n  hint: take profile="vitis_hls_2023.2"'
    )
