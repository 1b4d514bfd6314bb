"""Cells of a synthesised netlist, as the blocks of an FPGA."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields

from ....errors import InternalError

_LUT = re.compile(r"LUT[1-6]|INV")
_MEMORY = re.compile(r"(RAM\d+(?:M\d*|X\d+[A-Z0-9]*))(?:_1)?")
_MEMORY_LUTS = {  # of look-up tables that are memories, by the cell
    "RAM32M": 4, "RAM64M": 4, "RAM32M16": 8, "RAM64M8": 8,
    "RAM32X1S": 1, "RAM64X1S": 1, "RAM128X1S": 2, "RAM256X1S": 4, "RAM512X1S": 8,
    "RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4, "RAM256X1D": 8, "RAM32X16DR8": 8, "RAM64X8SW": 8,
}  # fmt: skip
_SHIFT = ("SRL16E", "SRLC16E", "SRLC32E")
_REGISTER = re.compile(r"FD[RSCP]E")


@dataclass(frozen=True, slots=True)
class Utilization:
    """Blocks of an UltraScale+ device, synthesised (Yosys): not placed and routed.

    `lut` counts look-up tables of logic, of memories and of shift registers, `memory_lut` and `shift_lut` are those of
    the latter two. `dsp` are DSP48E1 cells, which stand for DSP48E2; `bram18` and `bram36` block RAMs by their size.
    `clock` is in MHz, estimated of the netlist with the delays of lib/templates/rtl/synthesise/ultrascale.toml; None if
    nothing takes time.
    """

    lut: int
    ff: int
    dsp: int
    bram18: int
    bram36: int
    uram: int
    carry: int
    memory_lut: int
    shift_lut: int
    clock: float | None = None

    @property
    def bram(self) -> float:
        """Block RAMs of 36 Kbit, as tools of AMD count them."""
        return self.bram36 + self.bram18 / 2

    def plus(self, other: Utilization, times: int = 1) -> Utilization:
        """Both together, `other` so many times; a clock of both is not known."""
        names = [field.name for field in fields(self) if field.name != "clock"]
        return Utilization(**{name: getattr(self, name) + times * getattr(other, name) for name in names})

    def __str__(self) -> str:
        counted = f"{self.lut} LUT, {self.ff} FF, {self.dsp} DSP, {self.bram:g} BRAM, {self.uram} URAM"
        clock = "" if self.clock is None else f", {self.clock:.0f} MHz (estimated)"
        return f"{counted} (synthesised: Yosys){clock}"


def utilization(cells: Mapping[str, int], clock: float | None = None) -> Utilization:
    """Of a netlist that has so many cells of each type."""

    def total(pattern: re.Pattern[str]) -> int:
        return sum(count for cell, count in cells.items() if pattern.fullmatch(cell))

    memory = 0
    for cell, count in cells.items():
        match = _MEMORY.fullmatch(cell)
        if match is not None:
            if match[1] not in _MEMORY_LUTS:
                raise InternalError(f"nobody says how many look-up tables a {cell} takes")
            memory += _MEMORY_LUTS[match[1]] * count
    shift = sum(cells.get(cell, 0) for cell in _SHIFT)
    return Utilization(
        lut=total(_LUT) + memory + shift,
        ff=total(_REGISTER),
        dsp=cells.get("DSP48E1", 0),
        bram18=total(re.compile(r"RAMB18E[12]")),
        bram36=total(re.compile(r"RAMB36E[12]")),
        uram=total(re.compile(r"URAM288\w*")),
        carry=total(re.compile(r"CARRY[48]")),
        memory_lut=memory,
        shift_lut=shift,
        clock=clock,
    )
