"""Models of other frameworks as kernels: exported programs of PyTorch, and ONNX."""

from __future__ import annotations

from pathlib import Path

from .archive import Pt2Archive
from .exported import read_program
from .fold import simplified
from .kernel import ImportedKernel
from .reading import layers_of

__all__ = ["ImportedKernel", "read_pt2"]


def read_pt2(source: str | Path | bytes, *, weights_as_arguments: bool = False) -> ImportedKernel:
    graph = simplified(layers_of(read_program(Pt2Archive(source))))
    return ImportedKernel(graph, weights_as_arguments=weights_as_arguments)
