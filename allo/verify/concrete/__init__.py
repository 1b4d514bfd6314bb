"""Computation graphs of programs with fixed sizes: runs them on expressions, each stored once, and compares."""

from .compare import Equal, Limit, compare

__all__ = ["Equal", "Limit", "compare"]
