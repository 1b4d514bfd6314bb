"""Pictures and tables of schedules."""

from .drawing import Drawing, draw
from .structure import BufferRow, LoopRow, StructureReport, structure_report

__all__ = ["BufferRow", "Drawing", "LoopRow", "StructureReport", "draw", "structure_report"]
