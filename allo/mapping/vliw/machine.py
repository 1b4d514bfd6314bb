"""The processor of a compute tile of XDNA: what one instruction holds, when results are there, registers, banks.

Source: Steinert, "Fast Tensor Contractions on an XDNA Neural Processing Unit" (2025), sections 2.1 and 4.1, Tab. 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class IssueSlot(StrEnum):
    """A unit that one operation of an instruction is for."""

    LOAD_A = "a"
    LOAD_B = "b"
    STORE = "s"
    SCALAR = "x"
    MOVE = "m"
    VECTOR = "v"


@dataclass(frozen=True, slots=True)
class VliwMachine:
    """Latencies are cycles from an operation to the first instruction that sees what it writes."""

    load: int = 7  # vld, 256 bits
    load_converted: int = 5  # vlda.conv.fp32.bfloat16, slot a only
    multiply: int = 6  # vmac.f, 4 x 8 by 8 x 4
    scalar: int = 1
    branch: int = 6  # five instructions behind a jump are run
    vectors: int = 12  # x, 512 bits
    accumulators: int = 16  # bm, 512 bits
    pointers: int = 8
    modifiers: int = 8
    banks: int = 4
    bank_bytes: int = 16384
    instruction_bytes: int = 16
    program_bytes: int = 16384

    def bank(self, address: int) -> int:
        """The bank of a byte of data memory."""
        return address // self.bank_bytes % self.banks


XDNA1 = VliwMachine()
