"""Pictures and tables of schedules."""

from .drawing import Drawing, draw, draw_banks, draw_loops
from .roofline import draw_roofline
from .structure import BufferRow, LoopRow, StructureReport, structure_report
from .waveform import draw_waveform

__all__ = [
    "BufferRow", "Drawing", "LoopRow", "StructureReport", "draw", "draw_banks", "draw_loops", "draw_roofline",
    "draw_waveform", "structure_report",
]  # fmt: skip
