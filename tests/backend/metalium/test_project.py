"""Projects for TT-Metalium: emitted files run on all cores of the emulation, and planted faults are found there."""

from __future__ import annotations

import random
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from allo import tile
from allo.backend.metalium.project import MetaliumProject
from allo.errors import TargetError
from allo.ir.arrays import form_dtype
from allo.ir.types import int32
from allo.mapping.tiles.program import TileArray
from tests.backend.mesh.test_simulate import drawn_mapping
from tests.backend.metalium import kernels
from tests.seeds import sweep

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="the emulation needs g++")
BLOCKS = {"BM": 32, "BN": 32, "BK": 32}
SQUARE = 'spread(m="x", n="y")\n'
CASES: list[tuple[Any, dict[str, int] | None, str]] = [
    (kernels.attention, {"CAUSAL": 1}, 'spread(head="y", m="x")\n'
     'load("K", "broadcast", "noc0_h", inside="n", buffers=2)\n' 'load("V", "broadcast", "noc1_h", inside="n")'),
    (kernels.gemm, BLOCKS, SQUARE + 'load("A", "broadcast", "noc1_v", inside="k", buffers=2)\n'
     'load("B", "broadcast", "noc0_h", inside="k")\nstore("C", buffers=1)'),
    (kernels.gemm, {"BM": 64, "BN": 96, "BK": 32}, 'load("A", "per core", inside="k", buffers=2)'),
    (kernels.gemm, BLOCKS, 'spread(n="y")\nload("A", "broadcast", "noc0_v", inside="m", buffers=2)\n'
     'load("B", "per core", inside=None)\nstore("C", buffers=2)'),
    (kernels.heads, None, SQUARE + 'load("W", "broadcast twice", "noc0_h", "noc1_v", inside="k", buffers=2)'),
    (kernels.heads, None, SQUARE + 'load("W", "wavefront", "noc0_h", "noc0_v", inside="k", buffers=2)'),
    (kernels.tails, None, 'spread(m=("x", "y"))\nload("W", "wavefront", "noc0_h", "noc0_v", inside=None)'),
    (kernels.tails, None, 'spread(m=("x", "y"))\nload("W", "broadcast twice", "noc1_v", "noc0_h", inside=None)'),
    (kernels.tails, None, 'spread(m="x")\nload("W", "broadcast", "noc0_h", inside="m", buffers=2)\n'
     'load("X", "per core", inside="m")'),
    (kernels.attention, {"CAUSAL": 0}, 'load("K", "per core", inside=None)'),
    (kernels.batched, None, ""),
    (kernels.split_k, None, 'load("A", "per core", inside="k", buffers=2)'),
    (kernels.softmax, None, ""),
    (kernels.layernorm, None, 'spread(m="x")\nload("G", "broadcast", "noc0_h", inside=None)'),
    (kernels.mlp, None, 'spread(m="x")\nload("W", "broadcast", "noc0_h", inside="h", buffers=2)'),
    (kernels.uneven, None, SQUARE),
    (kernels.chosen, None, 'load("V", "broadcast", "noc0_h", inside=None)'),
    (kernels.integers, None, 'spread(m="y")'),
    (kernels.convolution, {"R": 3}, 'spread(h="x", w="y")\nload("X", "per core", inside="p", buffers=2)\n'
     'load("F", "broadcast twice", "noc0_h", "noc1_v", inside="q", buffers=2)'),
    (kernels.windows, None, 'load("X", "per core", inside=None)'),
]  # fmt: skip


def plan_of(kernel: Any, values: dict[str, int] | None, steps: str = "") -> tile.TilePlan:
    return tile.plan(kernel, "wormhole_n300d", values).replay(steps)


@pytest.mark.parametrize(
    ("kernel", "values", "steps"),
    [case if k == 0 else pytest.param(*case, marks=pytest.mark.slow) for k, case in enumerate(CASES)],
)
def test_results_are_those_of_the_kernel(
    kernel: Any, values: dict[str, int] | None, steps: str, tmp_path: Path
) -> None:
    demand_equal(plan_of(kernel, values, steps), tmp_path, 7)


@sweep(9, 0)
def test_results_of_random_plans(seed: int, tmp_path: Path) -> None:
    """Any member of the space of any kernel here, and any order in which kernels of cores take turns."""
    kernel, values, _ = random.Random(seed).choice(CASES)
    plan = plan_of(kernel, values)
    demand_equal(replace(plan, mapping=drawn_mapping(plan.program, plan.mesh, seed)), tmp_path, seed)


def demand_equal(plan: tile.TilePlan, folder: Path, seed: int) -> None:
    """The emitted text against the kernel, up to the bits that sources of the matrix unit, and bfloat16, hold."""
    draw = np.random.default_rng(seed)
    arrays = [drawn(draw, a) for a in plan.program.arrays]
    wanted = [array.copy() for array in arrays]
    plan.source.build()(*wanted)
    plan.build(project=folder).run(*arrays, seed=seed)
    for made, expected in zip(arrays, wanted, strict=True):
        if made.dtype == np.int32:
            np.testing.assert_array_equal(made, expected)
            continue
        scale = np.abs(expected.astype(np.float32)).max()
        np.testing.assert_allclose(made.astype(np.float32), expected.astype(np.float32), atol=0.01 * scale)


def drawn(draw: np.random.Generator, array: TileArray) -> Any:
    """Random elements; of float32 such as sources hold, so that both sides of choices are taken alike."""
    if array.element == int32:
        return draw.integers(-9, 9, array.shape, np.int32) * draw.choice([1, 200000], array.shape).astype(np.int32)
    made = draw.standard_normal(array.shape).astype("bfloat16")
    return made.astype(form_dtype(array.element))


def test_comparisons_of_infinities_and_nan(tmp_path: Path) -> None:
    values = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 0.5, 1.5, -3.0], np.float32)
    pairs = np.array([(a, d) for a in values for d in values], np.float32)
    A, D = (np.tile(pairs[:, side], 16).reshape(32, 32) for side in (0, 1))
    made, wanted = np.zeros((6, 32, 32), np.float32), np.zeros((6, 32, 32), np.float32)
    plan = plan_of(kernels.compared, None)
    plan.source.build()(A, D, wanted)
    plan.build(project=tmp_path).run(A, D, made)
    np.testing.assert_array_equal(made, wanted)
    assert all(set(np.unique(part)) == {1.0, 2.0} for part in wanted)


def square(folder: Path) -> MetaliumProject:
    return plan_of(*CASES[1]).build(project=folder)


FAULTS: list[tuple[str, str, str, str]] = [
    ("kernels/compute.cpp", "cb_wait_front(cb_B, 1);", "",
     "core (0, 0), compute: tile 0 of 'B' is read, and 0 were waited for"),
    ("kernels/reader.cpp", "tree_of(19, 2, 0, 0)", "tree_of(19, 1, 0, 0)", "deadlock: "),
    ("kernels/reader.cpp", "    noc_semaphore_set(valid, tree.root ? 1 : 0);\n", "", "deadlock: "),
    ("host.cpp", "CircularBufferConfig(4096, {{0,", "CircularBufferConfig(3072, {{0,",
     "the size of 'A' is no number of pages"),
    ("kernels/reader.cpp", "noc_async_read_barrier();", "", "transfers of the NoC are under way: a barrier is missing"),
    ("kernels/reader.cpp", "(x) * 3", "(x + 9) * 3", "is asked of a buffer with 12 pages"),
    ("kernels/reader.cpp", "bytes, to[4], false", "bytes, to[4] + 1, false",
     "a multicast says that it reaches 3 cores, and reaches 2"),
    ("kernels/writer.cpp", "noc_async_write_barrier();", "",
     "transfers of the NoC are under way: a barrier is missing"),
    ("kernels/reader.cpp", "noc_async_atomic_barrier(0);", "",
     "the kernel ends while semaphores are increased: noc_async_atomic_barrier is missing"),
    ("kernels/compute.cpp", "reconfig_data_format(cb_B, cb_A);", "", "the format of source A is not that of 'B'"),
    ("host.cpp", ".noc_mode = NOC_MODE::DM_DYNAMIC_NOC",
     ".noc_mode = NOC_MODE::DM_DEDICATED_NOC",
     "the kernel uses NoC 1"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("file", "old", "new", "message"), FAULTS)
def test_planted_faults_are_found(file: str, old: str, new: str, message: str, tmp_path: Path) -> None:
    made = square(tmp_path)
    text = made.files[file]
    assert old in text
    (tmp_path / file).write_text(text.replace(old, new))
    arrays = [np.ones(array.shape, form_dtype(array.element)) for array in plan_of(*CASES[1]).program.arrays]
    with pytest.raises(TargetError) as caught:
        made.run(*arrays)
    assert message in str(caught.value)
    if message == "deadlock: ":
        assert "waits for semaphore" in str(caught.value)


@pytest.mark.slow
def test_reads_of_rows_keep_their_place_in_32_bytes(tmp_path: Path) -> None:
    plan = plan_of(kernels.windows, None)
    made = plan.build(project=tmp_path)
    text = made.files["kernels/reader.cpp"]
    (tmp_path / "kernels/reader.cpp").write_text(text.replace("offset + half", "offset + 4 + half"))
    with pytest.raises(TargetError) as caught:
        made.run(*(np.ones(array.shape, np.float32) for array in plan.program.arrays))
    assert "reader: a read of DRAM brings bytes from 4 to 0 of 32 bytes" in str(caught.value)


def test_the_files_of_a_project(tmp_path: Path) -> None:
    made = square(tmp_path)
    assert sorted(made.files) == [
        "CMakeLists.txt", "README.md", "host.cpp", "kernels/compute.cpp", "kernels/reader.cpp", "kernels/writer.cpp"
    ]  # fmt: skip
    assert all((tmp_path / name).read_text() == text for name, text in made.files.items())
    assert 'load("B", "broadcast", "noc0_h", inside="k", buffers=1)' in made.files["README.md"]
    assert made.buffers == ("A", "B", "C", "acc")
