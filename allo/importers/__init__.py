"""Models of other frameworks as kernels: exported programs of PyTorch, and ONNX (docs/pytorch.md)."""

from .compare import LayerComparison, LayerDifference, compare_layers
from .generation import GeneratorEstimate, estimate_generator
from .generator import write_generator
from .graph import Layer, LayerGraph, LayerOrigin
from .kernel import ImportedKernel
from .onnx_file import from_onnx
from .pytorch import from_pt2, from_pytorch, torch_values
from .quantizer import quantized

__all__ = [
    "GeneratorEstimate",
    "ImportedKernel",
    "Layer",
    "LayerComparison",
    "LayerDifference",
    "LayerGraph",
    "LayerOrigin",
    "compare_layers",
    "estimate_generator",
    "from_onnx",
    "from_pt2",
    "from_pytorch",
    "quantized",
    "torch_values",
    "write_generator",
]
