"""Pictures and tables of schedules."""

from .drawing import Drawing, draw
from .structure import BufferRow, LoopRow, StructureReport, structure_report
from .traffic import Count

__all__ = ["BufferRow", "Count", "Drawing", "LoopRow", "StructureReport", "draw", "structure_report"]
