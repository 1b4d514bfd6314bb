"""Vector kernels of cores: products of matrices and loops as C++ for the vector unit, with their layouts."""

from .inject import KernelChoice
from .layouts import KeptCopy
from .products import has_product
from .region import KernelRegion, with_kernels
from .source import kernel_headers, known_cycles, known_products

__all__ = [
    "KeptCopy",
    "KernelChoice",
    "KernelRegion",
    "has_product",
    "kernel_headers",
    "known_cycles",
    "known_products",
    "with_kernels",
]
