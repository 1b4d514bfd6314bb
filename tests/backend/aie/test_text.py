"""Text for MLIR-AIE: a program in whole, and that of each part in others."""

from __future__ import annotations

import re
import runpy
import sys
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from mlir import ir

import allo.dataflow as df
from allo.errors import TargetError
from allo.ir.types import int16, int32
from allo.mapping import ShimTransfer

from . import programs

N = 16
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


@df.region()
def many(A: int32[N], B: int32[N], C: int32[N], D: int16[N], E: int32[N], F: int16[N], G: int32[N]):
    @df.kernel(mapping=[1], args=[A, B, C, D, E, F, G])
    def f(a: int32[N], b: int32[N], c: int32[N], d: int16[N], e: int32[N], f: int16[N], g: int32[N]):
        for i in range(N):
            g[i] = a[i] + b[i] + c[i] * d[i]
            f[i] = e[i]


FAKE_XRT = """
import numpy as np
from types import SimpleNamespace
class bo:
    cacheable = host_only = 0
    def __init__(self, device, size, flags, group): self.bytes, self.group = np.zeros(size, np.uint8), group
    def write(self, data, offset): self.bytes[offset:offset + data.nbytes] = data.view(np.uint8)
    def read(self, size, offset): return self.bytes[offset:offset + size].copy()
    def sync(self, direction, size, offset): assert size == self.bytes.nbytes and offset == 0
xclBOSyncDirection = SimpleNamespace(XCL_BO_SYNC_BO_TO_DEVICE=0, XCL_BO_SYNC_BO_FROM_DEVICE=1)
device = lambda number: SimpleNamespace(register_xclbin=lambda binary: None)
xclbin = lambda file: SimpleNamespace(get_uuid=lambda: 0, get_kernels=lambda: [SimpleNamespace(get_name=lambda: "k")])
hw_context = lambda device, uuid: None
class kernel:
    def __init__(self, context, name): pass
    def group_id(self, number): return number
    def __call__(self, operation, code, count, *buffers):
        import run_on_model
        assert [buffer.group for buffer in buffers] == list(range(3, 3 + len(buffers)))
        run_on_model.run([buffer.bytes for buffer in buffers])
        return SimpleNamespace(wait=lambda: None)
"""


def test_more_arguments_than_a_call_has_buffers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays of one width share buffers; the host program puts them there, as the descriptors expect."""
    built = df.build(many, target="aie", project=str(tmp_path / "project"))
    assert [buffer.name for buffer in built.plan.buffers] == ["A_B", "C", "D_F", "E", "G"]
    state = np.random.default_rng(0)
    arrays = [state.integers(-99, 99, N).astype(kind) for kind in (*"iii", np.int16, *"i", np.int16, *"i")]
    wanted = [array.copy() for array in arrays]
    built(*wanted)
    a, b, c, d, e, _, _ = arrays
    np.testing.assert_array_equal(wanted[6], a + b + c * d)
    np.testing.assert_array_equal(wanted[5], e.astype(np.int16))

    def run(buffers: list[np.ndarray[Any, Any]]) -> None:
        """What the array would do: transfers with the offsets of the text."""
        given: dict[str, Any] = {}
        found = re.findall(r"dma_memcpy_nd\(%(\w+)\[0, 0, 0, (\d+)\]", built.mlir)
        steps = [step for step in built.sequence.steps if isinstance(step, ShimTransfer)]
        for (name, first), step in zip(found, steps, strict=True):
            number = [buffer.name for buffer in built.plan.buffers].index(name)
            elements = buffers[number].view(f"i{step.argument.bits // 8}")
            given[step.argument.name] = elements[int(first) : int(first) + N]
        built(*(given[name] for name in "ABCDEFG"))

    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "pyxrt.py").write_text(FAKE_XRT)
    monkeypatch.setitem(sys.modules, "run_on_model", SimpleNamespace(run=run))
    monkeypatch.chdir(tmp_path)
    files = [f"{name}.npy" for name in "ABCDEFG"]
    for file, array in zip(files, arrays, strict=True):
        np.save(file, array)
    np.zeros(4, np.uint32).tofile("insts.bin")
    monkeypatch.setattr(sys, "argv", ["run.py", *files])
    runpy.run_path(str(tmp_path / "project" / "run.py"))
    for file, array in zip(files, wanted, strict=True):
        np.testing.assert_array_equal(np.load(file), array)


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
    shapes = re.findall(r'<rect [^>]*class="([\w-]+)"/>\n(?:<text [^>]*middle">(core_\d+)<)?', drawn._repr_svg_())
    kinds = {name: kind for kind, name in shapes if name}
    assert len(kinds) == 16 and set(kinds.values()) == {"hue0"}  # all cores run the same
    again = deepcopy(drawn)
    assert again == drawn and again.drawing == drawn.drawing


def test_copies_and_pickles() -> None:
    import pickle

    built = pickle.loads(pickle.dumps(df.build(programs.vector_scale, target="aie")))
    A, B = np.arange(programs.N, dtype=np.int32), np.zeros(programs.N, np.int32)
    built(A, B)
    np.testing.assert_array_equal(B, 3 * A)
