"""Descriptions of hardware: values, and the files of data that they are read from."""

from .array import ArrayTiming, DmaLimits, NativeProduct, ProcessorArray, TileKind, TileLimits
from .components import Capacity, Control, IntegerOperator, Limits, MemoryKind, Operator, PlaceAndRoute
from .description import External, Target
from .fpga import Fpga
from .loader import known_targets, load_target
from .profile import AutomaticPipelines, Profile, ShortRecurrences, ToolRule, ToolRules

__all__ = [
    "ArrayTiming",
    "AutomaticPipelines",
    "Capacity",
    "Control",
    "DmaLimits",
    "External",
    "Fpga",
    "IntegerOperator",
    "Limits",
    "MemoryKind",
    "NativeProduct",
    "Operator",
    "PlaceAndRoute",
    "ProcessorArray",
    "Profile",
    "ShortRecurrences",
    "Target",
    "TileKind",
    "TileLimits",
    "ToolRule",
    "ToolRules",
    "known_targets",
    "load_target",
]
