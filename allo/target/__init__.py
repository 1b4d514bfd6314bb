"""Descriptions of hardware: values, and the files of data that they are read from."""

from .description import External, Target
from .fpga import Capacity, Control, Fpga, IntegerOperator, Limits, MemoryKind, Operator
from .loader import known_targets, load_target

__all__ = [
    "Capacity",
    "Control",
    "External",
    "Fpga",
    "IntegerOperator",
    "Limits",
    "MemoryKind",
    "Operator",
    "Target",
    "known_targets",
    "load_target",
]
