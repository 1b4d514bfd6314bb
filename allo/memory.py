"""Memory of arrays, as kernels and schedules state it."""

from .ir.memory import Memory

__all__ = ["Memory"]
