"""Timed runs of the model of an array: cycles by hand, products of matrices, published figures, what has no time."""

# Streams of regions are declared by annotations.
# ruff: noqa: F821

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.errors import TargetError
from allo.ir.types import Stream, bfloat16, int8, int16, int32
from allo.library.aie import GEMM
from allo.memory import Layout
from allo.target import ProcessorArray, TileKind, load_target
from benchmarks import npu
from tests.seeds import sweep

from . import programs
from .random_mapped import program

N = 64


@df.region()
def doubled(A: int32[N], B: int32[N]):
    @df.kernel(mapping=[1], args=[A, B])
    def core(a: int32[N], b: int32[N]):
        for i in range(N):
            b[i] = a[i] * 2


@df.region()
def halves(A: int32[N], B: int32[N]):
    rows: Stream[int32[N], 1]

    @df.kernel(mapping=[1], args=[A])
    def first(a: int32[N]):
        rows.put(a * 2)

    @df.kernel(mapping=[1], args=[B])
    def second(b: int32[N]):
        b[:] = rows.get() + 1


@df.region()
def searched(A: int32[N], B: int32[N]):
    @df.kernel(mapping=[1], args=[A, B])
    def core(a: int32[N], b: int32[N]):
        for i in range(N):
            left: int32 = a[i]
            while left > 0:
                left -= 3
            b[i] = left


@df.region()
def triangle(A: int32[N], B: int32[N]):
    @df.kernel(mapping=[1], args=[A, B])
    def core(a: int32[N], b: int32[N]):
        for i in range(N):
            b[i] = 0
            for j in range(i):
                b[i] += a[j]


WAY = 3 * 2  # cycles through the switches of a shim tile, a memory tile and the core above


def test_cycles_by_hand() -> None:
    """64 words come, a load, a product and a store for each, 64 words leave; a cycle from each process to the next."""
    run = df.build(doubled, target="aie").timed()
    assert run.cycles == 1 + 64 + WAY + 1 + 64 * 3 + 1 + 64 + WAY + 1
    assert run.milliseconds == pytest.approx(run.cycles / 1e6)


def test_words_take_the_time_of_their_way() -> None:
    """Two cycles a switch: by memory tiles to the core at the top and back, and from core to core."""
    array = load_target("xdna1_npu1")
    assert isinstance(array, ProcessorArray)
    column = replace(array, columns=1)
    at_once = replace(column, timing=replace(array.timing, hop=0))
    slow, fast = (df.build(programs.vector_scale, target="aie", device_type=own).timed() for own in (column, at_once))
    assert slow.cycles - fast.cycles == 2 * (2 + 5 + 5 + 2)
    apart = replace(array, tiles={**array.tiles, TileKind.CORE: replace(array.tiles[TileKind.CORE], beside={})})
    run = df.build(halves, target="aie", device_type=apart).timed()
    first = 1 + 64 + WAY + 1 + 64 * 3
    second = first + 1 + 64 + 2 * 2 + 1 + 64 * 3
    assert run.cycles == second + 1 + 64 + WAY + 2 + 1


def test_a_core_waits_for_what_another_one_makes() -> None:
    run = df.build(halves, target="aie").timed()
    spans = {task.name: (task.begin, task.end) for task in run.tasks}
    assert spans["first_0"][1] == 1 + 64 + WAY + 1 + 64 * 3 + 1  # the last: until what it has made is seen
    assert spans["second_0"][1] == spans["first_0"][1] + 64 * 3 + 1
    waits = {task.name: task.stalls for task in run.tasks}
    assert waits["second_0"] == spans["first_0"][1]


def test_loops_of_other_lengths_are_counted_one_by_one() -> None:
    run = df.build(triangle, target="aie").timed()
    inner = 4 * sum(range(N))  # two loads, a sum, a store
    core = next(task for task in run.tasks if task.name == "core_0")
    assert core.end == 1 + 64 + WAY + 1 + N * (1 + 6) + inner  # a store, and the branch of the outer loop


def test_vectors_have_lanes() -> None:
    """16 lanes of 32 bits; a store takes two cycles."""
    built = df.build(doubled, target="aie")
    assert built.timed(kernels="vector").cycles == 1 + 64 + WAY + 1 + 4 * 2 + 1 + 64 + WAY + 1


@df.region()
def chained(A: int32[N], B: int32[N]):
    @df.kernel(mapping=[1], args=[A, B])
    def core(a: int32[N], b: int32[N]):
        b[0] = a[0]
        for i in range(1, N):
            b[i] = b[i - 1] + a[i]


@df.region()
def summed(A: int32[N], B: int32[1]):
    @df.kernel(mapping=[1], args=[A, B])
    def core(a: int32[N], b: int32[1]):
        b[0] = 0
        for i in range(N):
            b[0] += a[i]


@df.region()
def through_scratch(A: int32[N], B: int32[N]):
    @df.kernel(mapping=[1], args=[A, B])
    def core(a: int32[N], b: int32[N]):
        own: int32[2] = 0
        for i in range(N):
            own[1] = a[i]
            b[i] = own[1] * own[1]


def test_lanes_do_not_wait_for_one_another() -> None:
    """A chain of iterations is scalar code; parts of a sum, and scratch of an iteration, are lanes."""
    scalar, vector = (df.build(chained, target="aie").timed(kernels=own).cycles for own in ("scalar", "vector"))
    assert scalar == vector
    for region, most in ((summed, 4 * 3), (through_scratch, 4 * 6)):
        scalar, vector = (df.build(region, target="aie").timed(kernels=own).cycles for own in ("scalar", "vector"))
        assert scalar - vector >= N * 3 - most


@cache
def gemm(kind: Any, parts: tuple[int, int, int], rows: int = 4, columns: int = 4, tile: int = 64) -> Any:
    Pm, Pn, Pk = parts
    n = 2 * tile if kind is int8 else tile
    top, steps = GEMM(tile * Pm, n * Pn, tile * Pk, Pm, Pn, Pk, kind, kind, columns, rows)
    return df.build(top, target="aie", mapping_primitives=steps)


def test_one_kernel_takes_what_was_measured() -> None:
    """64 x 64 x 64 of bf16 by the library of AIE: 90.5 % - 3.2 points of the peak (XDNA thesis, 6.2 and 6.3)."""
    run = gemm(bfloat16, (1, 1, 1)).timed(kernels="vector")
    core = next(task for task in run.tasks if task.name.startswith("gemm"))
    busy = core.end - core.begin - core.stalls
    assert 64**3 / 128 / busy == pytest.approx(0.873, abs=0.01)


def test_a_product_on_16_cores() -> None:
    run = gemm(int16, (4, 4, 4)).timed(kernels="vector")
    assert run.cycles == 25609 and run.multiplied == {"i16": 256**3}


@pytest.mark.exhaustive
def test_whole_arrays_beside_published_ones() -> None:
    """Predictions, as the page has them: above what Dato measured in each row (7.2.1 and 7.3)."""
    page = (Path(__file__).resolve().parents[3] / "docs/npu.md").read_text()
    table = npu.utilisation()
    assert table in page and npu.scaling() in page
    rows = [[cell.removesuffix(" %") for cell in row.split(" | ")] for row in table.strip("|").splitlines()[2:]]
    assert len(rows) == 3
    assert all(float(row[2]) > float(row[3].strip(" |%")) for row in rows)
    assert npu.gemm("i16").run.multiplied == {"i16": 512**3}


def test_one_row_of_cores_computes_the_same() -> None:
    """Results of a core are taken while parts of later ones are still to be sent."""
    top, steps = GEMM(32, 8, 8, 8, 2, 2, int16, int16, 2, 1)
    state = np.random.default_rng(0)
    A, B = (state.integers(-99, 99, shape).astype(np.int16) for shape in ((32, 8), (8, 8)))
    C = np.zeros((32, 8), np.int16)
    df.build(top, target="aie", mapping_primitives=steps)(A, B, C)
    np.testing.assert_array_equal(C, A @ B)


def test_power_modes_are_clocks() -> None:
    built = df.build(doubled, target="aie")
    slow, fast = built.timed("powersaver"), built.timed("turbo")
    assert slow.cycles == fast.cycles and slow.milliseconds / fast.milliseconds == pytest.approx(1790 / 790)
    assert "at 790 MHz" in str(slow) and "power mode powersaver" in str(slow)


def test_products_are_found_in_nests(capsys: pytest.CaptureFixture[str]) -> None:
    """Batches, other orders of loops, sums that begin elsewhere; not a product of a matrix and a vector."""
    size = 8

    @df.region()
    def top(A: int16[2, size, size], B: int16[2, size, size], C: int16[2, size, size], v: int16[size]):
        @df.kernel(mapping=[1], args=[A, B, C, v])
        def core(
            a: int16[2, size, size], b: int16[2, size, size], c: int16[2, size, size], w: int16[size]
        ):
            c[:, :, :] = allo.bmm(a, b)
            for k, j, i in allo.grid(size, size, size):
                c[0, i, j] += a[1, i, k] * b[0, k, j]
            for i, k in allo.grid(size, size):
                c[1, 0, i] += a[0, i, k] * w[k]

    built = df.build(top, target="aie", profile=True)
    assert built.timed().multiplied == {"i16": 3 * size**3}
    state = np.random.default_rng(0)
    seen = [state.integers(-9, 9, (2, size, size)).astype(np.int16) for _ in range(3)]
    seen.append(state.integers(-9, 9, size).astype(np.int16))
    wanted = [array.copy() for array in seen]
    df.build(top)(*wanted)
    built(*seen)
    for one, other in zip(seen, wanted, strict=True):  # sums that others read are not summed again for these
        np.testing.assert_array_equal(one, other)
    printed = capsys.readouterr().out
    assert printed.startswith("top on npu1 at 1000 MHz: *") and printed.endswith("nothing is measured\n")


@df.region()
def no_product(A: int16[8, 8], B: int16[8, 8], C: int16[8, 8]):
    @df.kernel(mapping=[1], args=[A, B, C])
    def core(a: int16[8, 8], b: int16[8, 8], c: int16[8, 8]):
        c[:, :] = 0
        for i, k, j in allo.grid(8, 8, 8):
            c[0, j] += a[i, k] * b[k, j]
        for i in range(8):
            for j, k in allo.grid(8, i):
                c[i, j] += a[i, k] * b[k, j]


@df.region()
def in_triangles(A: int16[8, 8], B: int16[8, 8], C: int16[8, 8, 8]):
    @df.kernel(mapping=[1], args=[A, B, C])
    def core(a: int16[8, 8], b: int16[8, 8], c: int16[8, 8, 8]):
        for u in range(8):
            for v in range(u):
                if v > 2:
                    for i, j, k in allo.grid(8, 8, 8):
                        c[u, i, j] += a[i, k] * b[k, j]


def test_sums_over_all_rows_and_triangles_are_no_products() -> None:
    assert df.build(no_product, target="aie").timed().multiplied == {}


def test_products_in_loops_of_other_lengths_are_counted() -> None:
    """Conditions on these loops are as if they held, as in the time that they take."""
    assert df.build(in_triangles, target="aie").timed().multiplied == {"i16": 28 * 8**3}


def busy(built: Any, task: str) -> int:
    core = next(own for own in built.timed(kernels="vector").tasks if own.name.startswith(task))
    return int(core.end - core.begin - core.stalls) - 1  # the last: until what it has made is seen


@df.region()
def flat(A: int16[2, 8], B: int16[8, 8], C: int16[2, 8]):
    @df.kernel(mapping=[1], args=[A, B, C])
    def core(a: int16[2, 8], b: int16[8, 8], c: int16[2, 8]):
        product: int16[2, 8] = allo.matmul(a, b)
        c[:, :] = product + 1


@df.region()
def batch(A: int16[2, 8, 8], B: int16[2, 8, 8], C: int16[2, 8, 8]):
    @df.kernel(mapping=[1], args=[A, B, C])
    def core(a: int16[2, 8, 8], b: int16[2, 8, 8], c: int16[2, 8, 8]):
        product: int16[2, 8, 8] = allo.bmm(a, b)
        c[:, :, :] = product + 1


def test_shapes_of_native_products() -> None:
    """2 x 8 results of 8 terms are two products of 2 x 4 x 8, 8 x 8 are eight of 4 x 2 x 8; batches are no terms.

    An instruction more for each block of results, 25 cycles for the call; of what is added, 32 lanes at once.
    """
    assert busy(df.build(flat, target="aie"), "core_0") == 25 + (2 + 1) + 1
    assert busy(df.build(batch, target="aie"), "core_0") == 25 + 2 * 2 * (4 + 1) + 2 * 64 // 32


@df.region()
def three(A: int32[N], B: int32[N], C: int32[N], D: int32[N]):
    @df.kernel(mapping=[4], args=[A, B, C, D])
    def core(
        a: int32[N] @ [Layout.Shard(0)], b: int32[N] @ [Layout.Shard(0)],
        c: int32[N] @ [Layout.Shard(0)], d: int32[N] @ [Layout.Shard(0)],
    ):  # fmt: skip
        d[:] = a + b + c


def test_several_objects_of_one_fifo_are_given_back() -> None:
    """A core has two inputs, so that parts of three arrays come through one of them, in turn."""
    built = df.build(three, target="aie", mapping_primitives=[("bundle", [f"core_{k}" for k in range(4)])])
    assert any(len(fifo.slots[0].uses) > 4 for fifo in built.plan.fifos.arrays)
    assert built.timed().cycles > 4 * 16 * 3


@sweep(40, 6)
def test_whatever_runs_has_a_time(seed: int, tmp_path: Path) -> None:
    """Objects come and go in the timed model as in the one that computes, or it would not end."""
    made = program(seed)
    try:
        built = df.build(made.region(tmp_path, seed), target="aie", mapping_primitives=made.steps)
    except TargetError as error:
        pytest.skip(str(error).splitlines()[0])
    scalar, vector = built.timed(), built.timed(kernels="vector")
    moved = sum(fifo.bytes * len(fifo.objects) for fifo in built.plan.fifos.arrays)
    assert scalar.cycles >= vector.cycles >= moved / 4 / (2 * 2 * built.array.columns)
    assert made.arrays(Random(seed))


def test_files(tmp_path: Path) -> None:
    run = df.build(halves, target="aie").timed()
    events = json.loads(run.save(tmp_path / "run.json").read_text())["traceEvents"]
    named = {event["args"].get("name") for event in events if event["ph"] == "M"}
    assert {"first_0", "second_0", "shim A_0"} <= named
    assert "halves on npu1" in run.save(tmp_path / "run.html").read_text()


def test_functions_of_cpp_need_a_time(tmp_path: Path) -> None:
    scale = programs.scale_in_cpp(tmp_path)

    @df.region()
    def scaled(A: int32[N], B: int32[N]):
        @df.kernel(mapping=[1], args=[A, B])
        def core(a: int32[N], b: int32[N]):
            b[:] = 0
            scale(a, b)

    built = df.build(scaled, target="aie")
    assert told(built).startswith("nothing is known of the time that 'scale' takes\n")
    assert told(built).endswith("  hint: say so: cycles={'scale': ...}")
    slow, fast = built.timed(cycles={"scale": 1000}), built.timed(cycles={"scale": 10})
    assert slow.cycles - fast.cycles == 990


def told(built: Any, **options: Any) -> str:
    with pytest.raises(TargetError) as caught:
        built.timed(**options)
    lines = str(caught.value).splitlines()
    return "\n".join([lines[0].split(": ", 1)[1] if lines[0].startswith("File") else lines[0], lines[-1]])


def test_refusals() -> None:
    built = df.build(programs.vector_scale, target="aie")
    assert told(built, kernels="vectors") == (
        "kernels must be 'scalar', 'vector'; got 'vectors'\n  hint: did you mean 'vector'?"
    )
    assert told(built, power_mode="fast") == (
        "'xdna1_npu1' has no power mode 'fast'; there is powersaver, balanced, turbo\n"
        "'xdna1_npu1' has no power mode 'fast'; there is powersaver, balanced, turbo"
    )
    assert told(built, cycles={"scale": -1}).startswith(
        "cycles= has the cycles of functions of C++, by name: {'scale': 120}; got {'scale': -1}"
    )
    assert told(df.build(searched, target="aie")) == (
        "how long a core takes depends on data here\n  hint: loops with affine bounds have a time"
    )


def test_modules_that_do_not_divide() -> None:
    with pytest.raises(TargetError) as caught:
        GEMM(9, 64, 64, 4, 2, 2, int16, int16)
    assert str(caught.value) == (
        "M = 9 has nothing left for the last of 4 parts of 4\n  hint: ask for fewer parts"
    )
    with pytest.raises(TargetError) as caught:
        GEMM(60, 64, 64, 6, 2, 2, int16, int16)
    assert str(caught.value) == (
        "6 x 2 parts are not shared evenly by 4 x 4 cores\n  hint: let row_num divide Pm, and col_num Pn"
    )
