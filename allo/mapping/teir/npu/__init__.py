"""Contractions on arrays of XDNA: rules, transfers, programs of cores, and a model that runs them."""

from .choose import npu_plan
from .model import run_on_array
from .program import CoreEvent, CoreLoop, NpuProgram, TileLayout, npu_program
from .rules import XDNA, XDNA_ARRAY, NpuArray, check_npu
from .timed import MainMemory, NpuRun, timed_on_array
from .transfers import Distribution, NpuLoops, NpuTransfer, NpuWait

__all__ = [
    "XDNA",
    "XDNA_ARRAY",
    "CoreEvent",
    "CoreLoop",
    "Distribution",
    "MainMemory",
    "NpuArray",
    "NpuLoops",
    "NpuProgram",
    "NpuRun",
    "NpuTransfer",
    "NpuWait",
    "TileLayout",
    "check_npu",
    "npu_plan",
    "npu_program",
    "run_on_array",
    "timed_on_array",
]
