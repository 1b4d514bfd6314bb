"""Models of PyTorch as kernels: from modules where PyTorch is installed, from exported files where it is not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ToolError
from .archive import Pt2Archive
from .export import exported, values_of_nodes
from .exported import read_program
from .fold import simplified
from .graph import Array
from .kernel import ImportedKernel
from .reading import kernel_name, layers_of


def from_pt2(
    source: str | Path | bytes,
    *,
    name: str | None = None,
    sizes: Mapping[str, int] | None = None,
    weights_as_arguments: bool = False,
) -> ImportedKernel:
    """The kernel of a model that `torch.export.save` has written, to a file or to bytes; PyTorch is not needed.

    Arguments and results are arrays of the shapes and types that the model was exported with, in their order. Buffers
    that it changes, such as caches, are arguments behind them, which are changed in place. Parameters and all else
    that is known is a constant, or with `weights_as_arguments` an argument behind all others, with its values in
    `kernel.weights`. `name` is the name of the kernel, by default that of the file. `sizes` gives the extents of a
    model that was exported with `dynamic_shapes`, by the names of their symbols: `{"s27": 16}`.
    Batch norms become part of the convolution before them, and what can be computed now is (docs/pytorch.md).

    Raises ModelError with all operators that no layer means, each with its module and line of the model, and for files
    that are no exported models, AlloError.
    """
    program = read_program(Pt2Archive(source), sizes or {})
    if name is not None:
        program.name = kernel_name(name)
    return ImportedKernel(simplified(layers_of(program)), weights_as_arguments=weights_as_arguments)


def from_pytorch(
    model: Any,
    example_inputs: Any,
    keywords: dict[str, Any] | None = None,
    *,
    name: str | None = None,
    weights_as_arguments: bool = False,
    strict: bool = False,
) -> ImportedKernel:
    """The kernel of a module of PyTorch for tensors of the shapes and types of `example_inputs`, one or several.

    The module is exported to memory, in evaluation mode and without gradients, with attention, norms and the like kept
    whole, and read as `from_pt2` reads a file; `keywords` are its keyword arguments, `strict` is that of
    `torch.export.export`. The kernel is called `name`, or like the class of the module.

    Raises ToolError without PyTorch (`pip install allo[torch]`), what `torch.export.export` raises for modules that
    it cannot export, and ModelError as `from_pt2` does. Source: Allo paper, section 7; PyTorch 2, `torch.export`.
    """
    archive = exported(model, _inputs("from_pytorch", example_inputs), keywords, strict)
    return from_pt2(archive, name=name or type(model).__name__, weights_as_arguments=weights_as_arguments)


def torch_values(source: str | Path | bytes, inputs: Any) -> dict[str, Array]:
    """The values of all nodes of an exported model as PyTorch computes them, for `allo.importers.compare_layers`.

    `inputs` are tensors or arrays. Raises ToolError without PyTorch.
    """
    tensors = _inputs("torch_values", inputs)
    return values_of_nodes(source if isinstance(source, bytes) else Path(source).read_bytes(), tensors)


def _inputs(function: str, given: Any) -> tuple[Any, ...]:
    """Tensors of one or several tensors or arrays."""
    try:
        import torch
    except ImportError as error:
        raise ToolError(
            f"{function} needs PyTorch, which cannot be imported: {error}",
            hint="pip install 'allo[torch]', or export the model elsewhere and read the file with allo.from_pt2",
        ) from None
    several = given if isinstance(given, tuple | list) else (given,)
    return tuple(torch.as_tensor(value) if isinstance(value, np.ndarray) else value for value in several)
