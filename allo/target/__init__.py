"""Descriptions of hardware: values, and the files of data that they are read from."""

from .components import Capacity, Control, IntegerOperator, Limits, MemoryKind, Operator
from .description import External, Target
from .fpga import Fpga
from .loader import known_targets, load_target
from .profile import AutomaticPipelines, Profile, ShortRecurrences, ToolRule, ToolRules

__all__ = [
    "AutomaticPipelines",
    "Capacity",
    "Control",
    "External",
    "Fpga",
    "IntegerOperator",
    "Limits",
    "MemoryKind",
    "Operator",
    "Profile",
    "ShortRecurrences",
    "Target",
    "ToolRule",
    "ToolRules",
    "known_targets",
    "load_target",
]
