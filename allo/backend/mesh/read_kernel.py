"""A kernel that is a tile program, with the machine code of its parts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ...customize import Schedule
from ..cpu import LLVMModule
from .reading import ReadProgram
from .segments import SegmentCodes, segment_codes


@dataclass(frozen=True)
class ReadKernel:
    """A tile program that was read of a kernel, and its machine code, made when it runs for the first time."""

    program: ReadProgram
    schedule: Schedule

    @cached_property
    def segments(self) -> SegmentCodes:
        """What cores run between transfers."""
        return segment_codes(self.program)

    @cached_property
    def whole(self) -> LLVMModule:
        """The kernel on the CPU."""
        return self.schedule.build()
