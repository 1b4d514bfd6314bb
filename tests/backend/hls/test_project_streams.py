"""Streams among the arguments of an entry: ports of AXI in a project, arrays of their elements in a call."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import allo
from allo.errors import TargetError

from . import tools

BODY = """
  affine.for %i = 0 to 3 {
    affine.for %j = 0 to 2 {
      %x = allo.stream_get %a : !allo.stream<i32, 2>
      %w = affine.load %W[%j] : memref<2xi32>
      %y = arith.muli %x, %w : i32
      allo.stream_put %b, %y : !allo.stream<i32, 2>
    } {allo.name = "j"}
  } {allo.name = "i", allo.nest = "i"}
"""


TRIANGLE = """
  affine.for %i = 0 to 8 {
    affine.if affine_set<(d0) : (d0 - 4 >= 0)>(%i) {
      %x = allo.stream_get %a : !allo.stream<i32, 2>
      affine.for %j = 0 to affine_map<(d0) -> (d0)>(%i) {
        allo.stream_put %b, %x : !allo.stream<i32, 2>
      } {allo.name = "j"}
    }
  } {allo.name = "i", allo.nest = "i"}
"""


def schedule(body: str = BODY, element: str = "i32", before: str = "") -> allo.Schedule:
    stream = f"!allo.stream<{element}, 2>"
    arguments = f'%a: {stream} {{allo.name = "a"}}, %W: memref<2xi32> {{allo.name = "W"}}'
    function = f'func.func @scale({arguments}, %b: {stream} {{allo.name = "b"}}) {{{body}  return\n}}'
    return allo.Schedule.from_mlir(f'module attributes {{allo.top = "scale"}} {{{before}{function}}}')


def call(module: Any) -> np.ndarray[Any, Any]:
    out = np.zeros(6, np.int32)
    module(np.arange(6, dtype=np.int32), np.array([10, -1], np.int32), out)
    return out


WANTED = [0, -1, 20, -3, 40, -5]


def test_streams_are_ports_of_axi() -> None:
    code = schedule().build(target="vitis_hls").hls_code
    entry = code[code.index('extern "C"') :]
    assert entry.startswith(
        'extern "C" void scale_top(hls::stream<int32_t> &a, const int32_t *W, hls::stream<int32_t> &b) {\n'
        "#pragma HLS interface axis port=a\n"
        "#pragma HLS interface m_axi port=W offset=slave bundle=gmem0 depth=2\n"
        "#pragma HLS interface axis port=b\n"
        "#pragma HLS interface s_axilite port=W bundle=control\n"
        "#pragma HLS interface s_axilite port=return bundle=control\n"
    )
    assert "  scale(a, local_W, b);\n" in entry
    assert code.count("interface axis") == 2  # the kernel itself is no entry


@tools.needs_make
def test_a_simulation_takes_and_gives_arrays() -> None:
    assert call(schedule().build(target="vitis_hls", mode="csim")).tolist() == WANTED


@tools.needs_make
@pytest.mark.slow
@pytest.mark.parametrize("target", ["vitis_hls", "vivado_hls"])
def test_co_simulation(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bin_folder = tools.install(monkeypatch, "vitis_hls", folder=tmp_path)
    report = "hls.prj/solution/syn/report"
    copy = f"if [ -f {report}/csynth.xml ]; then cp {report}/csynth.xml {report}/scale_top_csynth.xml; fi"
    tools.script(bin_folder, "vivado_hls", f"{bin_folder}/vitis_hls $* && {copy}")
    module = schedule().build(target=target, mode="cosim", project=tmp_path / "p")
    assert call(module).tolist() == WANTED
    assert list(module.reports) == ["csyn", "cosim"]
    assert not (tmp_path / "p" / "host.cpp").exists()
    assert "there is no host program" in (tmp_path / "p" / "README.md").read_text()
    assert "| `a` | a stream; read | `int32[6]` | 24 |" in (tmp_path / "p" / "README.md").read_text()


def test_the_number_of_elements_is_that_of_calls() -> None:
    callee = """func.func @inner(%s: !allo.stream<i32, 2> {allo.name = "s"}) {
  affine.for %k = 0 to 5 {
    %c = arith.constant 1 : i32
    allo.stream_put %s, %c : !allo.stream<i32, 2>
  } {allo.name = "k", allo.nest = "k"}
  return
}
"""
    body = """
  affine.for %i = 0 to 2 {
    %x = allo.stream_get %a : !allo.stream<i32, 2>
    func.call @inner(%b) : (!allo.stream<i32, 2>) -> ()
  } {allo.name = "i", allo.nest = "i"}
"""
    module = schedule(body, before=callee).build(target="vitis_hls")
    assert [(port.name, port.shape, port.writes) for port in module.ports if port.is_stream] == [
        ("a", (2,), False),
        ("b", (10,), True),
    ]


def test_elements_in_triangles_and_branches_on_loops_are_counted() -> None:
    module = schedule(TRIANGLE).build(target="vitis_hls")
    assert [port.shape for port in module.ports if port.is_stream] == [(4,), (4 + 5 + 6 + 7,)]


def test_arrays_of_elements_are_checked() -> None:
    module = schedule().build(target="vitis_hls", mode="csim")
    with pytest.raises(ValueError) as caught:
        module(np.zeros(5, np.int32), np.zeros(2, np.int32), np.zeros(6, np.int32))
    assert str(caught.value) == "argument 'a' must have shape (6,), got (5,)"


FORWARD = """  %x = allo.stream_get %a : !allo.stream<{0}, 2>
    allo.stream_put %b, %x : !allo.stream<{0}, 2>
"""
BRANCH = """
  affine.for %i = 0 to 8 {
    %x = allo.stream_get %a : !allo.stream<i32, 2>
    %c = arith.trunci %x : i32 to i1
    scf.if %c {
      allo.stream_put %b, %x : !allo.stream<i32, 2>
    }
  } {allo.name = "i", allo.nest = "i"}
"""
EMPTY = """
  %e = allo.stream_empty %a : !allo.stream<i32, 2>
""" + FORWARD.format("i32")
BOTH = """
  %x = allo.stream_get %a : !allo.stream<i32, 2>
  allo.stream_put %a, %x : !allo.stream<i32, 2>
"""
MAKES = "let constants and loop variables decide where puts and gets run, or let the kernel make the stream itself"


@pytest.mark.parametrize(
    ("made", "target", "options", "message"),
    [
        (schedule, "vitis_hls", {"mode": "hw_emu", "project": "p"},
         "argument 'a' of 'scale' is a stream, and in mode 'hw_emu' a host runs the kernel, which reaches its memory "
         "only\n  hint: let a kernel that has arrays as arguments move the data, or build for csim, csyn or cosim"),
        (lambda: schedule(BRANCH), "vitis_hls", {},
         "argument 'b' of 'scale' is a stream, and how many elements pass through it depends on data or "
         f"arguments of the call\n"
         f"  hint: {MAKES}"),
        (lambda: schedule(EMPTY), "vitis_hls", {},
         "argument 'a' of 'scale' is a stream, and how many elements pass through it depends on whether it is empty or "
         f"full\n  hint: {MAKES}"),
        (lambda: schedule(BOTH), "vitis_hls", {},
         "argument 'a' of 'scale' is a stream that is put into and taken from; a port goes one way\n"
         "  hint: use a stream for each way"),
        (lambda: schedule(BOTH.split("allo.stream_put")[0]), "vitis_hls", {},
         "argument 'b' of 'scale' is a stream that is not used; a port goes one way\n  hint: take the argument out"),
        (lambda: schedule(FORWARD.format("i5"), "i5"), "vitis_hls", {},
         "argument 'a' of 'scale' is a stream of int5, and a program on the host puts plain numbers into streams\n"
         "  hint: use integers of 8, 16, 32 or 64 bits, float32 or float64"),
        (schedule, "vitis_hls", {"configs": {"hbm_mapping": {"a": "HBM[0]"}}},
         "configs['hbm_mapping'] names 'a', which is a stream\n"
         "  hint: only arrays and results are in memory; take the entry out"),
        (schedule, "pynq", {},
         "'scale' has a stream in its signature (!allo.stream<i32, 2>) and cannot be called from Python\n"
         "  hint: build a kernel that makes the stream itself and calls this one"),
    ],
)  # fmt: skip
def test_refusals(made: Any, target: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(TargetError) as caught:
        made().build(target=target, **options)
    assert re.sub(r'^File "-", line \d+, column \d+: ', "", str(caught.value)) == message
