"""Tools that are there are run: here stand-ins for them, which run the kernel and leave stored reports."""

from __future__ import annotations

import io
import json
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import allo
from allo.backend.hls.project.link_reports import LinkReport
from allo.backend.hls.project.tool_reports import CosimReport, ImplementationReport, SynthesisReport
from allo.errors import TargetError, ToolError
from allo.ir.types import int32

from . import tools
from .designs import DESIGNS, gemm
from .test_csim import inputs, same

pytestmark = tools.needs_make


def build(folder: Path, mode: str, target: str = "vitis_hls", **configs: Any) -> Any:
    return allo.customize(gemm).build(target=target, mode=mode, project=folder / "p", configs=configs)


def failure(folder: Path, mode: str = "csyn", **configs: Any) -> str:
    module = build(folder, mode, **configs)
    with pytest.raises(ToolError) as caught:
        module(*(() if mode == "csyn" else np.zeros((2, 8, 8), np.float32)))
    return str(caught.value).replace(str(folder), "DIR")


# -- synthesis -------------------------------------------------------------------------------------


def test_synthesis_gives_its_report(tmp_path: Path, monkeypatch: Any, capfd: Any) -> None:
    tools.install(monkeypatch, "vitis_hls", folder=tmp_path)
    module = build(tmp_path, "csyn")
    assert module.report is None and capfd.readouterr().err == ""  # the build only writes
    report = module()
    assert isinstance(report, SynthesisReport)
    assert report is module.report is module.reports["csyn"]
    assert capfd.readouterr().err.startswith("csyn: synthesis by Vitis HLS: done in ")
    assert "Running csyn.tcl" in (tmp_path / "p" / "logs" / "csyn.log").read_text()


def test_later_releases_have_another_command(tmp_path: Path, monkeypatch: Any) -> None:
    bin_folder = tools.install(monkeypatch, "vitis_hls", folder=tmp_path)
    (bin_folder / "vitis_hls").rename(bin_folder / "old_tool")
    tools.script(
        bin_folder, "vitis-run", f'[ "$1 $2 $3" = "--mode hls --tcl" ] && {bin_folder}/old_tool -f "$4"'
    )
    assert isinstance(build(tmp_path, "csyn")(), SynthesisReport)


def test_what_is_up_to_date_is_not_synthesised_again(tmp_path: Path, monkeypatch: Any) -> None:
    tools.install(monkeypatch, "vitis_hls", folder=tmp_path)
    build(tmp_path, "csyn")()
    report = tmp_path / "p" / "hls.prj/solution/syn/report/csynth.xml"
    before = report.stat().st_mtime_ns
    build(tmp_path, "csyn")()
    assert report.stat().st_mtime_ns == before
    build(tmp_path, "csyn", frequency=100)()
    assert report.stat().st_mtime_ns > before


def test_a_synthesised_build_does_not_run(tmp_path: Path, monkeypatch: Any) -> None:
    tools.install(monkeypatch, "vitis_hls", folder=tmp_path)
    with pytest.raises(TargetError) as caught:
        build(tmp_path, "csyn")(*np.zeros((2, 8, 8), np.float32))
    assert str(caught.value) == (
        "this build of 'gemm' cannot be called with arguments: mode 'csyn' does not run it\n"
        '  hint: build with mode="csim" to simulate it'
    )


def test_implementation_gives_both_reports(tmp_path: Path, monkeypatch: Any) -> None:
    tools.install(monkeypatch, "vitis_hls", folder=tmp_path)
    module = build(tmp_path, "impl")
    module()
    assert list(module.reports) == ["csyn", "impl"]
    assert isinstance(module.report, ImplementationReport) and module.report.meets_timing


def test_vivado_hls(tmp_path: Path, monkeypatch: Any) -> None:
    bin_folder = tools.install(monkeypatch, "vitis_hls", folder=tmp_path)
    (bin_folder / "vitis_hls").rename(bin_folder / "other")
    report = "hls.prj/solution/syn/report"
    move = f"mv {report}/csynth.xml {report}/gemm_top_csynth.xml"
    tools.script(bin_folder, "vivado_hls", f"{bin_folder}/other $* && {move}")
    assert isinstance(build(tmp_path, "csyn", "vivado_hls")(), SynthesisReport)


def test_a_bitstream_for_pynq(tmp_path: Path, monkeypatch: Any, capfd: Any) -> None:
    tools.install(monkeypatch, "vitis_hls", "vivado", folder=tmp_path)
    assert isinstance(build(tmp_path, "hw", "pynq")(), SynthesisReport)
    assert (tmp_path / "p" / "gemm_top.bit").exists()
    goals = [line.split(":")[0] for line in capfd.readouterr().err.splitlines()]
    assert goals == ["csyn", "ip", "bitstream"]
    registers = json.loads((tmp_path / "p" / "registers.json").read_text())["arguments"]
    assert [a["offset"] for a in registers] == [
        0x10,
        0x1C,
        0x30,
    ]  # the last one as the tool says, not as the rule


# -- what goes wrong -------------------------------------------------------------------------------


def test_a_tool_that_fails(tmp_path: Path, monkeypatch: Any) -> None:
    bin_folder = tools.install(monkeypatch, folder=tmp_path)
    lines = "; ".join(f"echo line {n}" for n in range(20))
    tools.script(
        bin_folder, "vitis_hls", f"{lines}; echo 'ERROR: [HLS 214-124] use of undeclared identifier'; exit 3"
    )
    text = failure(tmp_path)
    head, _, last = text.partition("  its last lines:\n")
    assert head == (
        "synthesis by Vitis HLS failed with status 2\n"
        "  command: make -C DIR/p csyn\n"
        "  log: DIR/p/logs/csyn.log\n"
    )
    shown = last.splitlines()
    assert len(shown) == 8 and "    ERROR: [HLS 214-124] use of undeclared identifier" in shown


def test_a_tool_that_takes_too_long(tmp_path: Path, monkeypatch: Any) -> None:
    bin_folder = tools.install(monkeypatch, folder=tmp_path)
    tools.script(bin_folder, "vitis_hls", f"sleep 60 & echo $! > {tmp_path}/child; wait")
    start = time.monotonic()
    text = failure(tmp_path, timeout=0.5)
    assert time.monotonic() - start < 20
    child = Path("/proc") / (tmp_path / "child").read_text().strip()
    assert (
        not child.exists() or "Z (zombie)" in (child / "status").read_text()
    )  # nothing goes on behind our back
    assert text.startswith(
        "synthesis did not end within 0.5 s (configs['timeout'])\n  command: make -C DIR/p csyn\n"
    )


def test_a_tool_without_report(tmp_path: Path, monkeypatch: Any) -> None:
    bin_folder = tools.install(monkeypatch, folder=tmp_path)
    tools.script(bin_folder, "vitis_hls", "exit 0")
    assert failure(tmp_path).startswith("synthesis by Vitis HLS failed with status 2\n")


def only_reports(tmp_path: Path, monkeypatch: Any, outcome: str) -> None:
    """A tool whose co-simulation runs nothing and reports `outcome`."""
    bin_folder = tools.install(monkeypatch, "vitis_hls", folder=tmp_path)
    (bin_folder / "vitis_hls").rename(bin_folder / "synthesis")
    report = "hls.prj/solution/sim/report"
    row = f"|   Verilog|      {outcome}|  1|  1|  1|  NA|  NA|  NA|  1|"
    cosim = f"mkdir -p {report}; echo '{row}' > {report}/gemm_top_cosim.rpt"
    tools.script(
        bin_folder, "vitis_hls", f'case "$*" in *csyn*) {bin_folder}/synthesis "$@";; *) {cosim};; esac'
    )


def test_a_simulation_that_fails(tmp_path: Path, monkeypatch: Any) -> None:
    only_reports(tmp_path, monkeypatch, "Fail")
    module = build(tmp_path, "cosim")
    with pytest.raises(ToolError) as caught:
        module(*np.zeros((2, 8, 8), np.float32))
    log = tmp_path / "p" / "logs" / "cosim.log"
    assert str(caught.value) == f"the RTL of 'gemm_top' does not compute what the C++ does\n  log: {log}"


def test_a_run_that_writes_nothing(tmp_path: Path, monkeypatch: Any) -> None:
    only_reports(tmp_path, monkeypatch, "Pass")
    module = build(tmp_path, "cosim")
    with pytest.raises(ToolError) as caught:
        module(*np.zeros((2, 8, 8), np.float32))
    path = tmp_path / "p"
    assert str(caught.value) == (
        f"the run ended well, but did not write {path / 'data' / 'C.out.bin'}\n  command: make -C {path} cosim"
    )


def test_xrt_that_is_not_set_up(tmp_path: Path, monkeypatch: Any) -> None:
    tools.install(monkeypatch, "v++", folder=tmp_path)
    monkeypatch.delenv("XILINX_XRT", raising=False)
    assert failure(tmp_path, "hw_emu") == (
        "the project is written to DIR/p, but XRT is not set up here (no variable XILINX_XRT)\n"
        "  hint: source the set-up script of the tool, then run `make -C DIR/p run TARGET=hw_emu`"
    )


def test_make_that_is_missing(tmp_path: Path, monkeypatch: Any) -> None:
    bin_folder = tools.install(monkeypatch, "vitis_hls", folder=tmp_path)
    monkeypatch.setenv("PATH", str(bin_folder))
    assert failure(tmp_path) == (
        "the project is written to DIR/p, but there is no command 'make'\n"
        "  hint: install make, then run `make -C DIR/p csyn`"
    )


def test_results_that_follow_the_arguments(tmp_path: Path, monkeypatch: Any) -> None:
    module = allo.customize(gemm).build(target="vitis_hls", mode="csim")
    A, B = np.ones((2, 8, 8), np.float32)
    for array, error, text in [
        ([], TypeError, "the array for result 0 must be a NumPy array, got list"),
        (np.zeros(8, np.float32), ValueError, "the array for result 0 must have shape (8, 8), got (8,)"),
        (
            np.zeros((8, 8), np.float16),
            TypeError,
            "the array for result 0 must have dtype float32, got float16, which does not hold every float32",
        ),
    ]:
        with pytest.raises(error) as caught:
            module(A, B, array)
        assert str(caught.value) == text
    C, wide = np.zeros((8, 8), np.float32), np.zeros((8, 8))
    C.flags.writeable = False
    with pytest.raises(ValueError) as caught:
        module(A, B, C)
    assert str(caught.value) == "the array for result 0 is read-only"
    module(A, B, wide)
    assert np.array_equal(wide, module(A, B)) and wide.any()


# -- runs ------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ["scheduled_gemm", "points", "bits"])
def test_co_simulation_is_called_like_the_cpu(name: str, tmp_path: Path, monkeypatch: Any) -> None:
    tools.install(monkeypatch, "vitis_hls", folder=tmp_path)
    module = DESIGNS[name]().build(target="vitis_hls", mode="cosim", project=tmp_path / "p")
    expected = DESIGNS[name]().build()
    (arguments, *_) = inputs(name)
    mine, others = (
        tuple(np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments) for _ in range(2)
    )
    assert same(module(*mine), expected(*others))
    assert all(map(same, mine, others))
    assert isinstance(module.report, CosimReport) and module.report.total == 1042


vadd = allo.IPModule("vadd", Path(__file__).parents[1] / "external" / "sources" / "vadd.cpp", link_hls=True)


def added(A: int32[32], B: int32[32]) -> int32[32]:
    C: int32[32]
    vadd(A, B, C)  # noqa: F821
    return C  # noqa: F821


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["cosim", "hw"])
def test_external_kernels_come_along(mode: str, tmp_path: Path, monkeypatch: Any) -> None:
    tools.install(monkeypatch, "vitis_hls", "v++", folder=tmp_path)
    tools.install_xrt(monkeypatch, tmp_path)
    module = allo.customize(added).build(target="vitis_hls", mode=mode, project=tmp_path / "p")
    A = np.arange(32, dtype=np.int32)
    assert same(module(A, A), A * 2)
    assert (tmp_path / "p" / "external" / "source" / "vadd.cpp").exists()


@pytest.mark.slow
@pytest.mark.parametrize("host", ["xrt", "opencl"])
@pytest.mark.parametrize("name", ["scheduled_gemm", "points", "bits"])
def test_a_card_is_called_like_the_cpu(host: str, name: str, tmp_path: Path, monkeypatch: Any) -> None:
    tools.install(monkeypatch, "v++", "emconfigutil", folder=tmp_path)
    tools.install_xrt(monkeypatch, tmp_path)
    mode = "hw_emu" if host == "xrt" else "hw"
    s = DESIGNS[name]()
    module = s.build(target="vitis_hls", mode=mode, project=tmp_path / "p", configs={"host": host})
    expected = DESIGNS[name]().build()
    for arguments in inputs(name):
        mine, others = (
            tuple(np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments) for _ in range(2)
        )
        assert (
            same(module(*mine), expected(*others)) or name == "bits"
        )  # the count of `bits` starts anew in each run
        assert all(map(same, mine, others))
        assert module.milliseconds is not None and module.milliseconds > 0
        assert isinstance(module.reports["kernel"], SynthesisReport)
        assert isinstance(module.report, LinkReport)
        assert (module.report.implementation is None) == (mode == "hw_emu")
        expected.reset()


@pytest.mark.slow
def test_emulation_says_so(tmp_path: Path, monkeypatch: Any) -> None:
    tools.install(monkeypatch, "v++", "emconfigutil", folder=tmp_path)
    tools.install_xrt(monkeypatch, tmp_path)
    module = build(tmp_path, "sw_emu")
    module(*np.zeros((2, 8, 8), np.float32))
    assert module.reports == {}  # nothing was synthesised
    assert (
        "XCL_EMULATION_MODE=sw_emu ./host kernel.sw_emu.xclbin" in (tmp_path / "p/logs/run.log").read_text()
    )
    shutil.rmtree(tmp_path / "p" / "data")
    with pytest.raises(ToolError, match=r"gemm_top: .*file too short"):
        (tmp_path / "p" / "kernel.sw_emu.xclbin").write_text("no library")
        module(*np.zeros((2, 8, 8), np.float32))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_what_runs_and_for_how_long(tmp_path: Path, monkeypatch: Any) -> None:
    bin_folder = tools.install(monkeypatch, "vitis_hls", folder=tmp_path)
    (bin_folder / "vitis_hls").rename(bin_folder / "fast")
    tools.script(bin_folder, "vitis_hls", f"sleep 1.3; {bin_folder}/fast $*")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    build(tmp_path, "csyn")()
    head, *lines = terminal.getvalue().split("\r")
    assert head == "" and lines[:2] == [
        "csyn: synthesis by Vitis HLS, 0:00",
        "csyn: synthesis by Vitis HLS, 0:01",
    ]
    assert lines[-1].startswith("csyn: synthesis by Vitis HLS: done in ")
