"""Reports of the vendors' tools, written by hand with their element names, become values."""

from __future__ import annotations

from pathlib import Path

import pytest

from allo.backend.hls.project.tool_reports import (
    LoopReport,
    Range,
    Usage,
    read_cosim,
    read_implementation,
    read_registers,
    read_synthesis,
)
from allo.errors import ToolError

REPORTS = Path(__file__).parent / "reports"


def test_synthesis() -> None:
    report = read_synthesis(REPORTS / "csynth.xml")
    assert (report.top, report.part) == ("gemm_top", "xcu280-fsvh2892-2L-e")
    assert (report.target_clock, report.estimated_clock) == (3.33, 2.433)
    assert (report.latency, report.interval) == (Range(1042, 1298), Range(1043, 1299))
    assert report.resources[1] == Usage("DSP", 5, 9024)
    (outer,) = report.loops
    assert outer.loops == (
        LoopReport("l_S_i_j_0_k_l_S_i_j_0_j", Range(64, 64), Range(76, 76), 1, 13, ()),
        LoopReport("l_tail", Range(0, 32), Range(0, None), None, None, ()),
    )


def test_modules_of_a_synthesis_report() -> None:
    (module,) = read_synthesis(REPORTS / "csynth.xml").modules
    assert (module.name, module.latency, module.interval) == ("gemm", Range(820, 820), Range(820, 820))
    assert module.loops[0] == LoopReport("l_C_init_0_l_C_init_1", Range(64, 64), Range(64, 64), 1, 1, ())
    assert module.resources[0] == Usage("DSP", 5, None)


def test_a_synthesis_report_is_readable() -> None:
    assert str(read_synthesis(REPORTS / "csynth.xml")).splitlines()[:9] == [
        "gemm_top on xcu280-fsvh2892-2L-e, as estimated by synthesis",
        "  clock: 2.433 ns of 3.33 ns",
        "  latency: 1,042 to 1,298 cycles, a new call every 1,043 to 1,299 cycles",
        "  loop l_S_i_j_0_i: 8 trips, 760 cycles",
        "    loop l_S_i_j_0_k_l_S_i_j_0_j: 64 trips, 76 cycles, II 1, depth 13",
        "    loop l_tail: 0 to 32 trips, 0 to ? cycles",
        "  gemm: 820 cycles; DSP: 5, FF: 601, LUT: 955",
        "    loop l_C_init_0_l_C_init_1: 64 trips, 64 cycles, II 1, depth 1",
        "  BRAM_18K: 6 of 4,032 (0 %)",
    ]


def test_latencies_that_are_unknown(tmp_path: Path) -> None:
    text = (REPORTS / "csynth.xml").read_text().replace("<Worst-caseLatency>1298", "<Worst-caseLatency>undef")
    (tmp_path / "csynth.xml").write_text(text.replace("<DSP>", "<DSP48E>").replace("</DSP>", "</DSP48E>"))
    report = read_synthesis(tmp_path / "csynth.xml")
    assert report.latency == Range(1042, None)
    assert report.resources[1] == Usage("DSP", 5, 9024)  # as earlier releases call it


def test_cosim() -> None:
    report = read_cosim(REPORTS / "cosim.rpt")
    assert (report.language, report.passed, report.latency, report.total) == (
        "Verilog",
        True,
        Range(1042, 1050),
        1042,
    )
    assert str(report) == "co-simulation of Verilog passed: latency 1,042 to 1,050 cycles, interval ? cycles"


def test_cosim_of_earlier_releases(tmp_path: Path) -> None:
    (tmp_path / "r").write_text("|VHDL|Fail|5|6|7|8|9|10|\n|Verilog|NA|NA|NA|NA|NA|NA|NA|\n")
    report = read_cosim(tmp_path / "r")
    assert (report.language, report.passed, report.interval, report.total) == (
        "VHDL",
        False,
        Range(8, 10),
        None,
    )


def test_implementation() -> None:
    report = read_implementation(REPORTS / "export_impl.xml")
    assert (report.target_clock, report.achieved_clock, report.meets_timing) == (3.33, 2.911, True)
    assert report.resources[0] == Usage("BRAM", 6, 4032)


def test_registers_of_drivers() -> None:
    assert read_registers(REPORTS / "xgemm_top_hw.h") == {"a": 0x10, "b": 0x1C, "c": 0x30}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<profile", "the report FILE is no XML: unclosed token: line 1, column 0"),
        (
            "<profile/>",
            "the report FILE has no element PerformanceEstimates/SummaryOfOverallLatency/Best-caseLatency\n"
            "  hint: this release of the tool writes another form; read the report itself",
        ),
    ],
)
def test_reports_of_another_form(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "csynth.xml"
    path.write_text(text)
    with pytest.raises(ToolError) as caught:
        read_synthesis(path)
    assert str(caught.value).replace(str(path), "FILE") == message


def test_a_number_that_is_none(tmp_path: Path) -> None:
    text = (REPORTS / "export_impl.xml").read_text().replace("2.911", "fast")
    (tmp_path / "r.xml").write_text(text)
    with pytest.raises(ToolError) as caught:
        read_implementation(tmp_path / "r.xml")
    assert str(caught.value) == (
        f"the report {tmp_path / 'r.xml'} has 'fast' where a number is expected: TimingReport/AchievedClockPeriod"
    )


def test_a_cosim_report_without_runs(tmp_path: Path) -> None:
    (tmp_path / "r").write_text("nothing")
    with pytest.raises(ToolError) as caught:
        read_cosim(tmp_path / "r")
    assert str(caught.value) == f"the report {tmp_path / 'r'} has no row of a simulation that ran"


def test_a_report_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ToolError) as caught:
        read_synthesis(tmp_path / "x")
    assert str(caught.value) == f"the report {tmp_path / 'x'} cannot be read: No such file or directory"
