"""What a kernel and its schedule say of memories."""

from .ir.memory import Memory

__all__ = ["Memory"]
