"""Projects for TAPA, Intel HLS and Catapult: what they refuse, and runs with stand-ins for the tools."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import allo
from allo.backend.headers import include_directory
from allo.backend.hls.project.link_reports import LinkReport
from allo.backend.hls.project.reports import UnreadReport
from allo.backend.hls.vendors.catapult import directive_lines
from allo.errors import TargetError, ToolError
from allo.ir.types import Fixed, Int, int32
from allo.ir.types import bool as boolean

from . import tools
from .designs import DESIGNS, gemm
from .test_csim import inputs, same
from .test_project import run_script
from .test_project_run import added
from .write_golden_projects import FOLDER

SETTINGS = "device, part, frequency, timeout"


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        ("tapa", {"mode": "csyn"},
         "target 'tapa' has no mode 'csyn'\n  hint: its modes: csim, fast_hw_emu, hw_emu, hw"),
        ("ihls", {"mode": "hw"}, "target 'ihls' has no mode 'hw'\n  hint: its modes: csim, csyn, cosim"),
        ("catapult", {"mode": "impl"}, "target 'catapult' has no mode 'impl'\n  hint: its modes: csim, csyn, cosim"),
        ("catapult", {"mode": "csyn"},
         'mode "csyn" writes a project and needs its folder\n  hint: pass project="folder"'),
        ("ihls", {"configs": {"word_bits": 64}},
         f"there is no setting 'word_bits' in configs\n  hint: the settings: {SETTINGS}"),
        ("tapa", {"configs": {"host": "xrt"}},
         f"there is no setting 'host' in configs\n  hint: the settings: {SETTINGS}, platform, hbm_mapping"),
        ("ihls", {"mode": "csyn", "project": "p", "configs": {"device": "u280"}},
         "target 'ihls' is for intel devices, and 'u280' is of family 'alveo'\n"
         "  hint: its devices: arria10, cyclone10gx, stratix10"),
        ("tapa", {"mode": "hw", "project": "p", "configs": {"part": "xcvu9p-flga2104-2-i"}},
         "mode 'hw' needs a platform, and device 'xcvu9p-flga2104-2-i' has none\n"
         "  hint: give configs['platform'], or choose a device that is a card"),
    ],
)  # fmt: skip
def test_refusals(
    target: str, options: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TargetError) as caught:
        allo.customize(gemm).build(target=target, **options)
    assert str(caught.value) == message
    assert not list(tmp_path.iterdir())


def test_tapa_compiles_one_file(tmp_path: Path) -> None:
    with pytest.raises(TargetError) as caught:
        allo.customize(added).build(target="tapa", mode="hw", project=tmp_path / "p")
    assert str(caught.value) == (
        "'added' calls external kernels, and TAPA compiles one file\n"
        '  hint: write them as kernels, or build with target="vitis_hls"'
    )


def test_a_part_that_is_not_listed(tmp_path: Path) -> None:
    s, configs = allo.customize(gemm), {"part": "10AX115S2F45I1SG", "frequency": 240}
    s.build(target="ihls", mode="csyn", project=tmp_path, configs=configs)
    assert "HARDWARE := -march=10AX115S2F45I1SG --clock 240MHz\n" in (tmp_path / "Makefile").read_text()


def renamed(short: Int(5)[4], B: Fixed(9, 4, "rnd")[4]) -> int32:
    for i in range(4):
        B[i] = short[i]
    return 0


def test_arguments_are_called_as_in_cxx(tmp_path: Path) -> None:
    """`short` is a word of C++; the result has no parameter there."""
    module = allo.customize(renamed).build(target="catapult", mode="csyn", project=tmp_path)
    (name,) = re.findall(r"\(ac_int<5, true> (\w+)\[4\], ", (tmp_path / "kernel.h").read_text())
    assert [port.name for port in module.ports] == [name, "B", "result"] and name != "short"
    assert (
        f'{{"{name}", Kind::memory, Element::bits, true, false, 4}}' in (tmp_path / "arguments.h").read_text()
    )


# -- runs ------------------------------------------------------------------------------------------


def check_like_the_cpu(module: Any, name: str) -> None:
    """A call of the project returns what the CPU does, and leaves the same in the arguments."""
    expected = DESIGNS[name]().build()
    (arguments, *_) = inputs(name)
    mine, others = (
        tuple(np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments) for _ in range(2)
    )
    assert same(module(*mine), expected(*others))
    assert all(map(same, mine, others))


RUNS = [
    ("ihls", "cosim", "bits"), ("ihls", "cosim", "points"),
    ("catapult", "cosim", "chain"), ("catapult", "cosim", "points"),
    ("tapa", "fast_hw_emu", "chain"), ("tapa", "hw_emu", "blur"),
]  # fmt: skip


@tools.needs_make
@pytest.mark.parametrize(
    ("target", "mode", "name"),
    [pytest.param(*run, marks=[pytest.mark.slow] * (run[2] != "chain")) for run in RUNS],
)
def test_a_project_is_called_like_the_cpu(
    target: str, mode: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools.install(monkeypatch, "i++", "catapult", "tapa", "v++", "emconfigutil", folder=tmp_path)
    monkeypatch.setenv("XILINX_XRT", str(tmp_path))
    module = DESIGNS[name]().build(target=target, mode=mode, project=tmp_path / "p")
    check_like_the_cpu(module, name)
    assert module.milliseconds == (2.5 if target == "tapa" else None)
    assert list(module.reports) == {
        ("ihls", "cosim"): ["cosim-program"],
        ("catapult", "cosim"): ["csyn"],
        ("tapa", "fast_hw_emu"): [],
    }.get((target, mode), ["link"])


@tools.needs_make
@pytest.mark.parametrize(
    ("target", "path"), [("ihls", "csyn.prj/reports/report.html"), ("catapult", "Catapult/gemm.v1/rtl.rpt")]
)
def test_reports_that_are_not_read(
    target: str, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools.install(monkeypatch, "i++", "catapult", folder=tmp_path)
    report = allo.customize(gemm).build(target=target, mode="csyn", project=tmp_path / "p")()
    assert report == UnreadReport(tmp_path / "p" / path)
    assert str(report) == f"not read by allo: {tmp_path / 'p' / path}"


@tools.needs_make
@pytest.mark.slow
def test_a_binary_of_tapa_has_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools.install(monkeypatch, "tapa", "v++", folder=tmp_path)
    monkeypatch.setenv("XILINX_XRT", str(tmp_path))
    module = allo.customize(gemm).build(target="tapa", mode="hw", project=tmp_path / "p")
    module(*np.zeros((2, 8, 8), np.float32))
    assert isinstance(module.report, LinkReport) and module.report.implementation is not None
    (tmp_path / "p" / "kernel.hw.xclbin").unlink()
    (tmp_path / "bin" / "v++").write_text("#!/bin/sh\nexit 0\n")
    with pytest.raises(ToolError, match=r"gemm: cannot read kernel\.hw\.xclbin"):
        module(*np.zeros((2, 8, 8), np.float32))


def flags(A: boolean[4], n: int32, B: boolean[4]):
    for i in range(4):
        B[i] = A[i] == (i < n)


@tools.needs_make
@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "program", "standard"),
    [("tapa", "host", "c++17"), ("ihls", "testbench", "c++14"), ("catapult", "testbench", "c++17")],
)
def test_the_program_of_the_host_runs_here(target: str, program: str, standard: str, tmp_path: Path) -> None:
    """Against our headers, without any tool; it agrees with the simulation from Python."""
    A, B = np.array([1, 0, 0, 1], np.bool_), np.zeros(4, np.bool_)
    allo.customize(flags).build(target=target, mode="csim", project=tmp_path)(A, 2, B)
    assert B.tolist() == [True, False, True, False]
    assert (tmp_path / "data" / "B.expected.bin").read_bytes() == B.tobytes()
    warnings = ["-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-Wno-unused-label"]
    command = [
        "g++",
        f"-std={standard}",
        *warnings,
        f"-I{include_directory()}",
        "kernel.cpp",
        f"{program}.cpp",
    ]
    subprocess.run([*command, "-o", program], cwd=tmp_path, check=True)
    subprocess.run([tmp_path / program], cwd=tmp_path, check=True)
    assert (tmp_path / "data" / "B.out.bin").read_bytes() == B.tobytes()
    (tmp_path / "data" / "A.bin").write_bytes(b"\0\0\0\0")
    done = subprocess.run([tmp_path / program], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and "values of B are not the expected ones" in done.stderr
    if target == "tapa":
        done = subprocess.run([tmp_path / program, "x.xo"], cwd=tmp_path, capture_output=True, text=True)
        assert done.stderr == "flags: the headers of the simulation cannot run x.xo\n"


# -- scripts ---------------------------------------------------------------------------------------


def test_the_script_of_catapult() -> None:
    assert run_script(FOLDER / "gemm_catapult", "csyn.tcl") == [
        "project new -name Catapult",
        "solution new -state initial",
        "solution options defaults",
        "solution options set /Input/CppStandard c++17",
        "flow package require /SCVerify",
        "file normalize data",
        "flow package option set /SCVerify/INVOKE_ARGS cell",
        "solution file add ./kernel.cpp -type C++",
        "solution file add ./testbench.cpp -type C++ -exclude true",
        "go analyze",
        "solution design set gemm -top",
        "go compile",
        "solution library add nangate-45nm_beh -- -rtlsyntool DesignCompiler -vendor Nangate -technology 045nm",
        "solution library add ccs_sample_mem",
        "go libraries",
        "directive set -CLOCKS clk {-CLOCK_PERIOD 2}",
        "go assembly",
        "directive set /gemm/B:rsc -INTERLEAVE 4",
        "go architect",
        "go allocate",
        "go extract",
        "project save",
        "exit",
    ]


def test_directives_have_paths() -> None:
    code = """\
void part(int C[4]) {
  int d[4];
  // directive set d:rsc -INTERLEAVE 2
}

#pragma hls_design
void stage(ac_channel<int> &in, int B[8]) {
  // directive set B:rsc -BLOCK_SIZE 2
  int b[8];
  // directive set b:rsc -MAP_TO_MODULE {[Register]}
}

#pragma hls_design top
void all(int A[8], int B[8]) {
  static ac_channel<int> fifo;
  // directive set fifo:cns -FIFO_DEPTH 2
  // directive set A:rsc -INTERLEAVE 4
}
"""
    assert directive_lines(code, "all") == [
        "directive set /all/core/part:d:rsc -INTERLEAVE 2",
        "directive set /all/stage/B:rsc -BLOCK_SIZE 2",
        "directive set /all/stage/core/b:rsc -MAP_TO_MODULE {[Register]}",
        "directive set /all/fifo:cns -FIFO_DEPTH 2",
        "directive set /all/A:rsc -INTERLEAVE 4",
    ]
