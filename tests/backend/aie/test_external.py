"""External kernels: functions of C++ that cores link, run on the model by the compiler of the host."""

# Streams and arrays of regions are declared by annotations.

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.backend.aie import is_available
from allo.backend.aie.external_kernel import ExternalModule
from allo.errors import KernelError, TargetError
from allo.ir.types import int32
from allo.memory import Layout

FILE = Path(__file__).parent / "kernels.cc"
N = 256
PART = Layout("S0")


def kernel(top: str, inputs: list[int], outputs: list[int]) -> ExternalModule:
    count = {"scale_add": 3, "negate": 2}[top]
    return ExternalModule(top, FILE, inputs, outputs, signature=["int32[64]"] * count)


def region() -> Any:
    scale_add = kernel("scale_add", [0, 1], [2])

    @df.region()
    def top(A: int32[N], B: int32[N], C: int32[N]):
        @df.kernel(mapping=[4], args=[A, B, C])
        def core(a: int32[N] @ PART, b: int32[N] @ PART, c: int32[N] @ PART):
            c[:] = 0
            scale_add(a, b, c)

    return top


def test_it_runs_and_is_linked(tmp_path: Path) -> None:
    A, B, C = np.arange(N, dtype=np.int32), np.ones(N, np.int32), np.zeros(N, np.int32)
    built = df.build(region(), target="aie", project=str(tmp_path / "project"))
    built(A, B, C)
    np.testing.assert_array_equal(C, 3 * A + B)
    assert [use.access for use in built.graph.nodes[0].parts] == ["in", "in", "out"]
    kinds = ", ".join(["memref<64xi32>"] * 3)
    assert f'func.func private @scale_add({kinds}) attributes {{link_with = "scale_add.o"}}' in built.mlir
    assert (tmp_path / "project" / "kernels.cc").read_text() == FILE.read_text()
    makefile = (tmp_path / "project" / "Makefile").read_text()
    assert "top.mlir scale_add.o\n" in makefile and "scale_add.o: kernels.cc\n" in makefile


def test_cores_name_the_file_in_the_older_release() -> None:
    text = df.build(region(), target="aie", dialect="v1.0").mlir
    assert text.count('} {link_with = "scale_add.o"}') == 4
    assert "aiex.runtime_sequence(" in text and "aie.device(npu1_4col)" in text


def test_relative_paths_start_from_the_file_that_names_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert ExternalModule("negate", "kernels.cc", [0], [1]).source.implementations == (str(FILE),)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: kernel("scale_add", [0], [2]),
            "'scale_add' has parameters 0 to 2, each to be an input or an output; got input_idx=[0] and output_idx=[2]",
        ),
        (
            lambda: kernel("negate", [1], [0]),
            "parameter 0 of 'negate', 'a', is const, and output_idx says that it is changed\n"
            "  hint: list it in input_idx",
        ),
    ],
)
def test_wrong_lists(make: Any, message: str) -> None:
    with pytest.raises(KernelError) as caught:
        make()
    assert str(caught.value) == message


def test_templates_are_not_linked() -> None:
    twice = allo.IPModule("twice<64>", str(FILE))

    @df.region()
    def top(A: int32[64]):
        @df.kernel(args=[A])
        def core(a: int32[64]):
            twice(a)

    with pytest.raises(TargetError) as caught:
        df.build(top, target="aie")
    text = re.sub(r'File ".*?", line \d+, column \d+: ', "", str(caught.value))
    assert text.splitlines()[0].startswith(
        "cores link functions of C++ that are in one file, take arrays, and are no"
    )
    assert (
        text.splitlines()[-1] == '  hint: write a function like `extern "C" void f(int32_t *a, int32_t *b)`'
    )


def test_no_tool_of_a_device_is_taken_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert not is_available()
