"""Timed runs of the model of an array: cycles of the code of cores, object FIFOs and DMA engines, and their figures."""

from .array_run import ArrayRun, timed_run
from .ranking import fastest_mappings

__all__ = ["ArrayRun", "fastest_mappings", "timed_run"]
