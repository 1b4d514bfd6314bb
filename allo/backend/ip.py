"""Functions of C++ as kernels, by the name of their file in published Allo."""

from .external.module import IPModule

__all__ = ["IPModule"]
