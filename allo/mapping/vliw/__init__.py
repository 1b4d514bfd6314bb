"""GEMM kernels of compute tiles as VLIW programs: bounds, modulo schedules, a model of slots that runs them."""

from .bounds import KernelBounds, bounds_of
from .instruction import MachineOperation
from .machine import XDNA1, IssueSlot, VliwMachine
from .modulo import KernelSchedule, schedule_of
from .operations import GemmShape
from .program import KernelProgram, gemm_program
from .simulate import KernelRun, simulated

__all__ = [
    "XDNA1",
    "GemmShape",
    "IssueSlot",
    "KernelBounds",
    "KernelProgram",
    "KernelRun",
    "KernelSchedule",
    "MachineOperation",
    "VliwMachine",
    "bounds_of",
    "gemm_program",
    "schedule_of",
    "simulated",
]
