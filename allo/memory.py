"""Memory of arrays, as kernels and schedules state it."""

from .ir.memory import Memory
from .layout import Layout

__all__ = ["Layout", "Memory"]
