"""Reports of `v++ --link`, written by hand in the form of the tool, become values; other forms are errors."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import allo
from allo.backend.hls.project.link_reports import Clock, LinkReport, read_kernel_usage, read_link, read_slack
from allo.backend.hls.project.tool_reports import Usage
from allo.errors import ToolError

from . import tools
from .designs import gemm

REPORTS = Path(__file__).parent / "reports"
INFO = "kernel.xclbin.info"
USED = "link/impl_1_kernel_util_routed.rpt"
TIMING = "link/impl_1_hw_bb_locked_timing_summary_routed.rpt"
READ_INFO = partial(read_link, kernel="gemm_top", frequency=300, is_placed=False)
READ_USED = partial(read_kernel_usage, kernel="gemm_top")
HINT = "\n  hint: this release of the tool writes another form; read the report itself"


def linked(folder: Path, *, is_placed: bool = True) -> LinkReport:
    """The stored reports as v++ would leave them."""
    shutil.copy(REPORTS / INFO, folder / INFO)
    shutil.copytree(REPORTS / "link", folder / "_x" / "reports" / "link" / "imp")
    return read_link(folder / INFO, "gemm_top", 300, is_placed=is_placed)


def test_a_binary_for_a_card(tmp_path: Path) -> None:
    report = linked(tmp_path)
    assert report.clocks == (Clock("DATA_CLK", "DATA", 287), Clock("KERNEL_CLK", "KERNEL", 500))
    assert report.banks == (("A", "HBM[0]"), ("B", "HBM[0]"), ("C", "HBM[1]"))
    routed = report.implementation
    assert routed is not None and not routed.meets_timing  # the linker lowered the clock
    assert routed.resources[2] == Usage("BRAM", 12.5, 1784)
    assert routed.slack == 0.003  # after the last repair of routing
    assert str(report).splitlines() == [
        "linked for xilinx_u280_gen3x16_xdma_1_202211_1",
        "  clock DATA_CLK: 287 MHz",
        "  clock KERNEL_CLK: 500 MHz",
        "  A in HBM[0]",
        "  B in HBM[0]",
        "  C in HBM[1]",
        "  after placement and routing: 3.48432 ns of 3.33333 ns, worst slack 0.003 ns",
        "    LUT: 4,234 of 1,164,477 (0 %)",
        "    FF: 6,543 of 2,400,886 (0 %)",
        "    BRAM: 12.5 of 1,784 (1 %)",
        "    URAM: 0 of 960 (0 %)",
        "    DSP: 5 of 9,014 (0 %)",
    ]


def test_an_emulation_is_not_placed(tmp_path: Path) -> None:
    report = linked(tmp_path, is_placed=False)  # whatever an earlier run for a card has left
    assert report.implementation is None
    assert str(report).endswith("\n  no reports of placement and routing")


def test_the_summary_of_timing() -> None:
    assert read_slack(REPORTS / TIMING) == -0.146


@pytest.mark.parametrize(
    ("read", "file", "old", "new", "message"),
    [
        (READ_INFO, INFO, "287 MHz", "fast", "line 38 of the report FILE has 'fast' where a number is expected"),
        (READ_INFO, INFO, "DATA\n", "OTHER\n",
         "the report FILE has no clock of type DATA with a line 'Frequency:'"),
        (READ_INFO, INFO, "Platform VBNV", "Shell", "the report FILE has no line 'Platform VBNV:'"),
        (READ_USED, USED, "| User Budget ", "| Budget ",
         "the report FILE has no row 'User Budget' in a table with a column 'Name'"),
        (READ_USED, USED, "| gemm_top ", "| other    ",
         "the report FILE has no row 'gemm_top' in a table with a column 'Name'"),
        (READ_USED, USED, "| URAM ", "| SRAM ", "the report FILE has no column 'URAM'"),
        (READ_USED, USED, "1784 [100.00%]", "1784",
         "line 14 of the report FILE has '1164477 [100.00%] | 577489 [100.00%] | 2400886 [100.00%] | 1784 | "
         "960 [100.00%] | 9014 [100.00%]' where counts like '12 [ 0.67%]' are expected"),
        (read_slack, TIMING, "-0.146", "    NA", "line 18 of the report FILE has 'NA' where a number is expected"),
        (read_slack, TIMING, "WNS(ns)", "Slack", "the report FILE has no column 'WNS(ns)'"),
    ],
)  # fmt: skip
def test_other_forms(read: object, file: str, old: str, new: str, message: str, tmp_path: Path) -> None:
    text = (REPORTS / file).read_text()
    assert old in text
    path = tmp_path / "report"
    path.write_text(text.replace(old, new))
    with pytest.raises(ToolError) as caught:
        read(path)  # type: ignore[operator]
    assert str(caught.value).replace(str(path), "FILE") == message + HINT


@tools.needs_make
def test_a_link_without_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bin_folder = tools.install(monkeypatch, folder=tmp_path)
    tools.script(bin_folder, "v++", "exit 0")
    monkeypatch.setenv("XILINX_XRT", str(tmp_path))
    module = allo.customize(gemm).build(target="vitis_hls", mode="hw_emu", project=tmp_path / "p")
    with pytest.raises(ToolError) as caught:
        module(*np.zeros((2, 8, 8), np.float32))
    assert str(caught.value).replace(str(tmp_path), "DIR") == (
        "step 'link' ended well but left no report\n"
        "  looked for: DIR/p/kernel.hw_emu.xclbin.info\n"
        "  log: DIR/p/logs/link.log"
    )
