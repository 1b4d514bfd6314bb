"""Descriptions of hardware: values, and the files of data that they are read from."""

from .description import (
    Control,
    Device,
    External,
    IntegerOperator,
    Limits,
    MemoryKind,
    Operator,
    Target,
)
from .loader import known_targets, load_target

__all__ = [
    "Control",
    "Device",
    "External",
    "IntegerOperator",
    "Limits",
    "MemoryKind",
    "Operator",
    "Target",
    "known_targets",
    "load_target",
]
