"""Designs placed and routed for ECP5, the netlist that is placed in simulation, and what is refused."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import allo
from allo.backend.rtl.library import library_directory, library_files
from allo.backend.rtl.synthesise import PlacedDesign, nextpnr, placed, yosys
from allo.errors import TargetError, ToolError
from allo.ir.types import Stateful, float16, int8, int32
from allo.target import Fpga, PlaceAndRoute, load_target
from tests.backend.rtl.simulated import bits
from tests.backend.rtl.test_chip import Chip

needs_yosys = pytest.mark.skipif(not yosys.is_available(), reason="needs Yosys: pip install allo[synth]")
needs_nextpnr = pytest.mark.skipif(
    not (yosys.is_available() and nextpnr.is_available()), reason="needs Yosys and nextpnr: pip install allo[synth]"
)
BLINK = """
module blink(input logic clk, input logic [7:0] a, b, output logic [15:0] y);
  always_ff @(posedge clk) y <= a * b + y;
endmodule
"""
PINS = """LOCATE COMP "clk" SITE "P3";
IOBUF PORT "clk" IO_TYPE=LVCMOS33;
"""


def ecp5() -> Fpga:
    found = load_target("ecp5")
    assert isinstance(found, Fpga)
    return found


def scaled(x: int8[32], y: int32[32], k: int32):
    for i in range(32):
        y[i] += x[i] * k


@pytest.mark.slow
@needs_nextpnr
def test_a_kernel_down_to_its_bitstream(tmp_path: Path) -> None:
    s = allo.customize(scaled)
    s.pipeline("i")
    found = s.build(target="rtl", device="ecp5").synthesise()
    assert isinstance(found, PlacedDesign)
    assert found.device == "LFE5U-85F-8BG381C" and len(found.clocks) == 3
    assert sorted(found.clocks)[1] == found.clock
    assert 50 < found.clock < 400 and 1 <= found.dsp <= 4 and 100 < found.lut < 1500 and 100 < found.ff < 1000
    found.write(tmp_path / "kernel.bit")
    written = (tmp_path / "kernel.bit").read_bytes()
    assert written == found.bitstream and written.startswith(b"\xff\x00") and b"LFE5U-85F" in written[:200]
    assert ".device LFE5U-85F" in found.configuration
    assert re.fullmatch(
        r"\d+ LUT, \d+ FF, \d+ DSP, [\d.]+ BRAM, [\d.]+ MHz "
        r"\(measured: nextpnr for LFE5U-85F-8BG381C, median of [\d.]+, [\d.]+, [\d.]+\)", str(found)
    )  # fmt: skip


@pytest.mark.slow
@needs_nextpnr
def test_pins_are_where_the_constraints_say() -> None:
    with pytest.raises(ToolError) as caught:
        placed({"blink.sv": BLINK}, "blink", ecp5(), seeds=1, constraints=PINS)
    message = str(caught.value)
    assert message.startswith("nextpnr does not place and route 'blink':\n")
    assert "IO 'y[15]' is unconstrained in LPF" in message
    narrow = BLINK.replace("[7:0]", "[1:0]").replace("[15:0]", "[1:0]")
    every = [f"{name}[{k}]" for name in ("a", "b", "y") for k in range(2)]
    sites = zip(every, ("A4", "A5", "B4", "B5", "C4", "C5"), strict=True)
    text = PINS + "".join(f'LOCATE COMP "{name}" SITE "{site}";\n' for name, site in sites)
    found = placed({"blink.sv": narrow}, "blink", ecp5(), seeds=1, constraints=text)
    assert (found.ff, len(found.clocks)) == (2, 1)


@pytest.mark.slow
@needs_nextpnr
def test_what_does_not_fit() -> None:
    text = BLINK.replace("blink(", "wide(").replace("[7:0]", "[150:0]").replace("[15:0]", "[301:0]")
    with pytest.raises(ToolError) as caught:
        placed({"wide.sv": text}, "wide", ecp5(), seeds=1)
    assert str(caught.value).startswith("nextpnr does not place and route 'wide':\n")
    assert "ERROR: " in str(caught.value)


@needs_yosys
@needs_nextpnr
def test_what_yosys_refuses() -> None:
    with pytest.raises(ToolError, match=r"^Yosys does not synthesise the design 'blink':\n"):
        placed({"blink.sv": BLINK.replace("endmodule", "nothing n (); endmodule")}, "blink", ecp5())


def test_without_nextpnr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nextpnr, "is_available", lambda: False)
    monkeypatch.setattr(yosys, "is_available", lambda: True)
    monkeypatch.setattr("allo.backend.rtl.synthesise.placement.yosys_version", lambda: "1")
    with pytest.raises(ToolError) as caught:
        allo.customize(scaled).build(target="rtl").synthesise(target="ecp5")
    assert str(caught.value) == (
        "placing and routing for ECP5 needs nextpnr, and it is not installed\n  hint: pip install allo[synth]"
    )


def test_devices_and_options_that_do_not_fit(tmp_path: Path) -> None:
    built = allo.customize(scaled).build(target="rtl")
    refused = {
        "target 'u280' is placed by 'vivado', and only 'nextpnr-ecp5' is known": lambda: placed(
            {}, "m", replace(ecp5(), name="u280", place_and_route=PlaceAndRoute("vivado", "", "", 1))
        ),
        "no tool without a vendor places and routes for 'u280'\n"
        '  hint: there is one for target="ecp5"': lambda: placed({}, "m", load_target("u280")),
        "seeds must be the number of runs, at least 1, got 0": lambda: placed({}, "m", ecp5(), seeds=0),
        "hardware is made for FPGAs, and 'xdna1_npu1' is none\n"
        '  hint: take target="ecp5"': lambda: built.synthesise(target="xdna1_npu1"),
        "nothing is placed for 'u280', and so constraints= has no meaning": lambda: built.synthesise(
            constraints="a.lpf"
        ),
    }
    for message, call in refused.items():
        with pytest.raises(TargetError) as caught:
            call()
        assert str(caught.value) == message
    missing = tmp_path / "board.lpf"
    with pytest.raises(ToolError) as told:
        built.synthesise(target="ecp5", constraints=missing)
    assert str(told.value) == f"cannot read the constraints '{missing}': No such file or directory"


# -- the netlist that is placed ---------------------------------------------------------------------------


def rounded(x: float16[8]) -> float16:
    calls: Stateful[int32] = 0
    total: float16 = 0
    calls += 1
    for i in range(8):
        total += x[i]
    if calls > 1:
        total = -total
    return total


def with_includes(file: Path) -> str:
    return re.sub(r'`include "(.*)"', lambda one: with_includes(file.parent / one[1]), file.read_text())


@pytest.mark.slow
@needs_yosys
def test_gates_for_ecp5_compute_what_the_kernel_does(tmp_path: Path) -> None:
    """Yosys' netlist with its models of ECP5's cells, driven through the serial port."""
    s = allo.customize(rounded)
    built, on_cpu = s.build(target="rtl"), s.build()
    top = built.design.board.name
    for name, text in built.chip_files.items():
        (tmp_path / name).write_text(text)
    recipe = (library_directory() / "synthesise" / "ecp5.ys").read_text().splitlines()
    lines = [line.replace("TOP", top) for line in recipe if line and line[0] != "#"]
    commands = [yosys.reading(list(built.chip_files), top), *lines, f"select {top}"]
    yosys.run_yosys([*commands, "write_verilog -noattr -selected gates.v"], tmp_path, top)
    import pyosys  # where its models of cells are

    cells = Path(pyosys.__path__[0]) / "share" / "ecp5" / "cells_sim.v"
    chip = Chip(built, files={"gates.v": (tmp_path / "gates.v").read_text(), "cells.v": with_includes(cells)})
    on_chip = built.on_chip(chip.transfer)
    x = np.random.default_rng(3).normal(size=8).astype(np.float16)
    for _ in range(3):
        assert bits(on_chip(x)) == bits(on_cpu(x))


@pytest.mark.slow
@needs_yosys
def test_a_memory_with_two_writers_is_of_blocks(tmp_path: Path) -> None:
    files = library_files(["allo_ram_tdp"])
    files["allo_ram_tdp.sv"] = (library_directory() / "synthesise" / "ecp5" / "allo_ram_tdp.sv").read_text()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    read = yosys.reading(list(files), "allo_ram_tdp", W=32, DEPTH=1024)
    said = yosys.run_yosys([read, "synth_ecp5 -top allo_ram_tdp", "select -assert-count 2 t:DP16KD"], tmp_path, "it")
    assert "DP16KD" in said
