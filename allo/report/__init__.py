"""Pictures and tables of schedules."""

from .structure import BufferRow, LoopRow, StructureReport, structure_report
from .traffic import Count

__all__ = ["BufferRow", "Count", "LoopRow", "StructureReport", "structure_report"]
