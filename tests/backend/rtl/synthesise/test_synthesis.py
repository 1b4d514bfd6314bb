"""Counts of designs, and what synthesis refuses."""

from __future__ import annotations

import pytest

import allo
from allo.backend.rtl.library import library_files
from allo.backend.rtl.synthesise import Utilization, synthesised, yosys
from allo.backend.rtl.synthesise.counts import utilization
from allo.errors import InternalError, ToolError
from allo.ir.types import int8, int32

needs_yosys = pytest.mark.skipif(not yosys.is_available(), reason="needs Yosys: pip install allo[synth]")

MEMORY = """
module kept(input logic clk, input logic we, input logic [9:0] waddr, input logic [31:0] wdata, input logic ren,
  input logic [9:0] raddr, output logic [31:0] rdata);
  allo_ram_sdp #(.W(32), .DEPTH(1024), .STYLE("block")) ram (.*);
endmodule
"""


@pytest.mark.slow
@needs_yosys
def test_a_block_ram() -> None:
    counted = synthesised({**library_files(["allo_ram_sdp"]), "kept.sv": MEMORY}, "kept")
    assert counted == Utilization(0, 0, 0, 0, 1, 0, 0, 0, 0, clock=738.0)
    assert str(counted) == "0 LUT, 0 FF, 0 DSP, 1 BRAM, 0 URAM (synthesised: Yosys), 738 MHz (estimated)"


def products(A: int8[16], B: int8[16]) -> int32:
    total: int32 = 0
    for i in range(16):
        total += A[i] * B[i]
    return total


@needs_yosys
@pytest.mark.slow
def test_a_kernel() -> None:
    s = allo.customize(products)
    s.pipeline("i")
    counted = s.build(target="rtl").synthesise()
    assert counted.dsp == 1
    assert counted.bram == 0  # A and B lie outside
    assert 20 < counted.ff < 100 and 20 < counted.lut < 100


@needs_yosys
def test_what_yosys_refuses() -> None:
    with pytest.raises(ToolError) as caught:
        synthesised({"kept.sv": MEMORY}, "kept")  # without the library
    message = str(caught.value)
    assert message.startswith("Yosys does not synthesise the design 'kept':\n")
    assert "unknown module 'allo_ram_sdp'" in message


def test_without_yosys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yosys, "is_available", lambda: False)
    with pytest.raises(ToolError) as caught:
        synthesised({"kept.sv": MEMORY}, "kept")
    assert str(caught.value) == (
        "synthesis needs Yosys, and it is not installed\n  hint: pip install allo[synth]"
    )


def test_cells_are_counted_as_blocks() -> None:
    cells = {"LUT2": 3, "LUT6": 4, "INV": 1, "FDRE": 5, "FDSE": 1, "SRL16E": 2, "RAM64M8": 2, "RAM32X1D": 1,
             "DSP48E1": 7, "RAMB18E2": 3, "RAMB36E2": 2, "CARRY8": 6, "IBUF": 9}  # fmt: skip
    assert utilization(cells) == Utilization(
        lut=8 + 18 + 2, ff=6, dsp=7, bram18=3, bram36=2, uram=0, carry=6, memory_lut=18, shift_lut=2
    )
    assert utilization(cells).bram == 3.5
    with pytest.raises(InternalError, match="nobody says how many look-up tables a RAM1024M takes"):
        utilization({"RAM1024M": 1})
