"""Pictures and tables of schedules."""

from .drawing import Drawing, draw
from .estimated import estimate_report
from .structure import BufferRow, LoopRow, StructureReport, structure_report

__all__ = ["BufferRow", "Drawing", "LoopRow", "StructureReport", "draw", "estimate_report", "structure_report"]
