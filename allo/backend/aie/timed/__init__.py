"""Timed runs of the model of an array: cycles of the code of cores, object FIFOs and DMA engines, and their figures."""

from .array_run import ArrayRun, given_cycles, timed_run
from .core_cycles import CoreCycles, Kernels, kernels_of
from .ranking import fastest_mappings

__all__ = ["ArrayRun", "CoreCycles", "Kernels", "fastest_mappings", "given_cycles", "kernels_of", "timed_run"]
