"""Text for MLIR-AIE: a program in whole, and that of each part in others."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from mlir import ir

import allo.dataflow as df
from allo.errors import TargetError

from . import programs

GOLDEN = Path(__file__).parent / "producer_consumer.mlir"


def test_whole_text() -> None:
    assert df.build(programs.producer_consumer, target="aie").mlir == GOLDEN.read_text()


def test_links_and_broadcasts() -> None:
    text = df.build(programs.gemm, target="aie", instantiate=[programs.Ty, 4, 4]).mlir
    assert text.count("aie.objectfifo.link") == 8 and text.count("aie.core(") == 16
    fifo = r"aie\.objectfifo @A_0\(%tile_\d_0, \{%tile_0_2, %tile_1_2, %tile_2_2, %tile_3_2\}, 1 : i32\) : "
    assert re.search(fifo + r"!aie\.objectfifo<memref<8x16xi16>>", text)
    assert re.search(
        r"aie\.objectfifo\.link \[@C_out_\d+, @C_out_\d+\] -> \[@hub_out_8\] \(\[0, 64\] \[\]\)", text
    )


def test_streams_within_a_core_are_arrays_and_counts_from_zero() -> None:
    steps = [("chain", ["producer_0", "consumer_0"])]
    text = df.build(programs.producer_consumer, target="aie", mapping_primitives=steps).mlir
    assert re.search(r'sym_name = "core_0_2_pipe_\d"\} : memref<512xi32>', text)
    assert len(re.findall(r"memref\.store %c0_i32, %core_0_2_pipe_\w+\[%c0\] : memref<1xi32>", text)) == 2
    assert "@pipe" not in text


@pytest.mark.parametrize("name", ["vector_add", "collective", "tensor_parallel"])
def test_cores_parse_as_upstream_mlir(name: str) -> None:
    """Only operations of AIE's dialects are unknown; no type or operation of ours is left."""
    text = df.build(getattr(programs, name), target="aie").mlir
    assert "allo" not in text
    bodies = re.findall(r"^    %core_\w+ = aie\.core\(.*?\) \{\n(.*?)^    \}", text, re.MULTILINE | re.DOTALL)
    buffers = dict(re.findall(r"%(\w+) = aie\.buffer\(.*\) \{.*\} : (.*)", text))
    assert bodies
    with ir.Context() as own:
        own.allow_unregistered_dialects = True
        for body in bodies:
            used = [name for name in buffers if f"%{name}[" in body]
            taken = ", ".join(f"%{name}: {buffers[name]}" for name in used)
            lines = body.replace("aie.end", "return")
            ir.Module.parse(f"func.func @core({taken}) {{\n{lines}\n}}").operation.verify()


def test_projects(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    built = df.build(programs.vector_scale, target="aie", project=str(folder))
    assert (folder / "top.mlir").read_text() == built.mlir
    assert "usage: python run.py A.npy B.npy" in (folder / "run.py").read_text()
    assert str(built.capacity) in (folder / "plan.txt").read_text()
    df.build(programs.vector_scale, target="aie", project=str(folder))  # once more


def test_folders_of_others_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(TargetError) as caught:
        df.build(programs.vector_scale, target="aie", project=str(tmp_path))
    assert str(caught.value) == (
        f"the folder {tmp_path} exists and is no project of allo; nothing is written to it\n"
        "  hint: name a folder that does not exist yet, or an empty one"
    )
    with pytest.raises(TargetError) as caught:
        df.build(programs.vector_scale, target="aie", project=str(tmp_path / "thesis.tex"))
    assert str(caught.value) == (
        f"the project folder {tmp_path / 'thesis.tex'} is a file\n  hint: name a folder that does not exist yet"
    )


def test_the_drawing_has_all_tiles() -> None:
    drawn = df.build(programs.vector_add, target="aie").draw()
    assert drawn.splitlines()[2].split() == ["row", "5", "core_3", "core_4", "core_11", "core_12"]
    assert "A_0: memory tile (0, 1) -> core_0 (0, 2), 2 x 64 bytes, depth 3" in drawn


def test_copies_and_pickles() -> None:
    import pickle

    built = pickle.loads(pickle.dumps(df.build(programs.vector_scale, target="aie")))
    A, B = np.arange(programs.N, dtype=np.int32), np.zeros(programs.N, np.int32)
    built(A, B)
    np.testing.assert_array_equal(B, 3 * A)
