"""Built modules of the CPU, by the name of their file in published Allo."""

from .cpu import LLVMModule

__all__ = ["LLVMModule"]
