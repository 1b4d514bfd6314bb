"""Cycles of programs on an array: never below their bounds, near to them where cores are busy, and waits that end."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from allo.errors import ContractionError
from allo.mapping.teir.npu import MainMemory, NpuArray, NpuProgram, NpuWait, npu_program, timed_on_array
from benchmarks.utilisation import PUBLISHED, TILES, bound, kernel_cycles, tiles_bound_near, tiles_of
from benchmarks.utilisation import program_of as fig_13
from tests.mapping.teir.npu.test_npu import tec_of
from tests.seeds import sweep


def program_of(array: NpuArray | None = None, tile: int = 64, **sizes: int) -> NpuProgram:
    tec = tec_of("acdf,bcfe->abde", sizes | {"d": tile, "e": tile, "f": tile}, "def", "abc")
    return npu_program(tec, array or NpuArray())


def test_one_tile_on_one_core_takes_each_step_after_the_other() -> None:
    tec = tec_of("df,fe->de", {"d": 64, "e": 64, "f": 64}, "def", "")
    program = npu_program(tec, NpuArray(rows=1, columns=1))
    run = timed_on_array(program, 2263)
    stream, handed_on = 64 * 64 * 2 // 4, 6
    assert run.cycles == 2 * stream + 2263 + 2 * stream + handed_on
    assert run.products == 64**3 and run.cores == run.array_cores == 1


@pytest.mark.parametrize("kernel", [2048, 2263, 2346, 4000])
def test_busy_cores_are_as_fast_as_their_kernel(kernel: int) -> None:
    """The kernels of section 6 of the thesis, one without a cycle to spare, and a slow one."""
    run = timed_on_array(program_of(a=16, b=16, c=24), kernel)
    assert 0.96 < run.utilisation / (2048 / kernel) <= 1


def test_streams_bound_small_tiles() -> None:
    program = program_of(tile=16, a=16, b=16, c=24)
    run = timed_on_array(program, 48)
    assert program.cycles(48)["in0"] > program.cycles(48)["cores"]
    assert run.utilisation < 0.27 and run.waiting > run.cycles // 2


def test_two_objects_hide_transfers_behind_products() -> None:
    slow, fast = (timed_on_array(program_of(a=4, b=4, c=40), kernel).cycles for kernel in (4096, 2048))
    around = (2 + 1 + 4) * 2048  # to a core, and out of it behind those of three others of its column
    assert 0 < fast - 40 * 2048 - around < 60
    assert abs(slow - fast - 40 * 2048) < 60  # tiles come just in time, or wait: the cycles in which they are handed on


@sweep(30, 5)
def test_random_programs_end_and_take_no_less_than_their_bounds(seed: int) -> None:
    choice = random.Random(seed)
    sizes = {"a": choice.randint(2, 13), "b": choice.randint(2, 13), "c": choice.randint(2, 4)}
    array = NpuArray(rows=choice.randint(1, 4), columns=4)
    tec = tec_of("acdf,bcfe->abde", sizes | {"d": 16, "e": 8, "f": 32}, "def", choice.choice(("abc", "bac")))
    program = npu_program(tec, array)
    kernel = choice.randint(32, 400)
    run = timed_on_array(program, kernel)
    assert run.cycles >= max(program.cycles(kernel).values())
    assert run.products == tec.operations // 2


def test_a_power_mode_is_a_clock() -> None:
    run = timed_on_array(program_of(a=4, b=4, c=4), 2263)
    assert run.gflops(1790) == pytest.approx(run.utilisation * 16 * 256 * 1.79)
    assert str(run) == f"{run.cycles:,} cycles on 16 of 16 cores: {run.utilisation:.1%} of peak (simulated)"


LAYOUTS = ("adcf,cfbe->adbe", "acdf,bcfe->adbe", "acdf,bcfe->abde")  # Fig. 13 of the thesis
KERNEL = 2346  # of a tile of 64 x 64 x 64, 87.3 % of peak: its red line


def test_layouts_matter_in_the_fastest_power_mode() -> None:
    """More than 22 points lie between rows of tiles and tiles in order at 1,790 MHz; at 790 MHz next to none."""
    sizes = {"a": 8, "b": 8, "c": 24, "d": 64, "e": 64, "f": 64}
    programs = [npu_program(tec_of(expression, sizes, "def", "abc")) for expression in LAYOUTS]
    found = {
        clock: [timed_on_array(program, KERNEL, clock).utilisation for program in programs] for clock in (790, 1790)
    }
    assert found[1790][1] - found[1790][0] > 0.22 and abs(found[1790][1] - found[1790][2]) < 0.04
    assert abs(found[790][1] - found[790][0]) < 0.03
    slow = [timed_on_array(program, KERNEL, 1790, MainMemory(10)).utilisation for program in programs]
    assert all(a < b for a, b in zip(slow, found[1790], strict=True))
    whole = timed_on_array(programs[0], KERNEL, 1790, MainMemory(1e6))
    assert whole.cycles == timed_on_array(programs[0], KERNEL).cycles


def test_cycles_of_kernels_from_one_of_a_single_core() -> None:
    """Section 6.3: the kernel of 64 x 64 x 64 has 87.3 % of peak, that of 64 x 80 x 64 three points more."""
    assert kernel_cycles((64, 64, 64)) == KERNEL
    assert kernel_cycles((64, 64, 80)) == pytest.approx(2560 / 0.905, rel=0.015)


def test_published_contractions_stay_below_the_best_tile_of_their_intensity() -> None:
    """Fig. 14: 36, 56 and 78.5 % where kernels do 5.9, 15 and above 22 operations per byte."""
    before = 0.0
    for (least, most), layout, published in PUBLISHED:
        if layout != TILES:
            continue
        best = max(tiles_of(least, most), key=bound)
        found = timed_on_array(fig_13(layout, best, c=32), kernel_cycles(best), 1020).utilisation
        assert max(before, float(published) / 100) < found < bound(best)
        before = found


def test_tiles_that_streams_bound_where_the_thesis_measured() -> None:
    """Fig. 14: 36 and 56 %; streams of four bytes a cycle bound a tile with a side of 36 at 36 / 64 of peak."""
    near = [tiles_bound_near(*PUBLISHED[k][0], float(PUBLISHED[k][2]) / 100) for k in (0, 1)]
    assert near[0] == [(36, 60, 8), (40, 52, 8), (52, 40, 8), (60, 36, 8)]
    assert len(near[1]) == 76 and {min(tile[:2]) for tile in near[1]} == {36}
    found = timed_on_array(fig_13(TILES, (36, 72, 40), c=32), kernel_cycles((36, 72, 40)), 790).utilisation
    assert 0.53 < found < bound((36, 72, 40)) == 36 / 64


def test_requests_of_a_tile() -> None:
    rows, order = (npu_program(tec_of(e, dict.fromkeys("abcdef", 8) | dict.fromkeys("def", 64), "def", "abc"))
                   for e in LAYOUTS[::2])  # fmt: skip
    for program, wanted in ((rows, 64), (order, 64 * 64 * 2 // 256)):
        assert {MainMemory().requests(transfer) for transfer in program.transfers} == {wanted}
    assert MainMemory(64, 256).cycles(1000) == 4


@pytest.mark.parametrize("value", [0, -1.5, True, "fast", float("inf")])
def test_memories_and_clocks_that_are_none(value: object) -> None:
    with pytest.raises(ContractionError) as error:
        MainMemory(gigabytes=value)  # type: ignore[arg-type]
    assert str(error.value) == f"gigabytes of main memory is a positive number, got {value!r}"
    with pytest.raises(ContractionError) as error:
        timed_on_array(program_of(a=4, b=4, c=4), KERNEL, value)  # type: ignore[arg-type]
    assert str(error.value) == f"a clock is a positive number of megahertz, got {value!r}"


def test_programs_that_wait_for_ever_and_kernels_that_cannot_be() -> None:
    program = program_of(a=4, b=4, c=4)
    left = tuple(i for i in program.sequence if isinstance(i, NpuWait) or (i.tensor, i.column) != (0, 1))
    with pytest.raises(ContractionError, match=r"^the program waits for ever: "):
        timed_on_array(replace(program, sequence=left), 2263)
    for kernel in (2047, True, 2263.0):
        with pytest.raises(ContractionError) as error:
            timed_on_array(program, kernel)  # type: ignore[arg-type]
        assert str(error.value) == f"a kernel of 262,144 products takes 2,048 cycles at least, got {kernel!r}"
