"""Backend `"allo"` of `torch.compile`: functions of PyTorch as kernels, which run as machine code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from ..customize.schedule import customize
from ..errors import AlloError
from ..ir.arrays import form_dtype
from .export import exported
from .graph import Array
from .pytorch import from_pt2


def torch_backend(module: Any, inputs: list[Any], **options: Any) -> Callable[..., tuple[Any, ...]]:
    """What `torch.compile(model, backend="allo")` calls with each graph of `model`: a function on tensors of the CPU.

    Parameters are arguments of the kernel, so that a model can be changed between calls. Raises AlloError where
    gradients are wanted or extents are not known, and ModelError as `allo.from_pytorch` does. `options` are those of
    `Schedule.build`. Source: Allo paper, section 7.
    """
    import torch

    if torch.is_grad_enabled() and any(getattr(value, "requires_grad", False) for value in inputs):
        raise AlloError("kernels have no gradients", hint="call the compiled model inside of `torch.no_grad()`")
    if not all(isinstance(value, torch.Tensor) for value in inputs):
        raise AlloError(
            "the extents of a tensor are not known when the model is compiled",
            hint='torch.compile(model, backend="allo", dynamic=False)',
        )
    examples = tuple(torch.zeros(value.shape, dtype=value.dtype) for value in inputs)
    kernel = from_pt2(exported(module, examples), name="compiled")
    built = customize(kernel).build(**options)
    kinds = [form_dtype(kernel.element(name)) for name in kernel.graph.results]
    kinds_given = list(kernel.arguments.values())
    changed = [number for number, name in enumerate(kernel.arguments) if name in kernel.graph.updates]

    def call(*tensors: Any) -> tuple[Any, ...]:
        arrays = [_argument(_array_of(tensor.detach(), torch), kind.shape)
                  for tensor, kind in zip(tensors, kinds_given, strict=True)]  # fmt: skip
        results = built(*arrays)
        several = results if isinstance(results, tuple | list) else (results,)
        for number in changed:
            if not tensors[number].is_contiguous():  # the kernel has changed a copy
                tensors[number].copy_(_tensor_of(arrays[number], torch).reshape(tensors[number].shape))
        return tuple(
            _tensor_of(np.asarray(result, kind), torch) for result, kind in zip(several, kinds, strict=True)
        )

    return call


def _argument(array: Array, shape: tuple[int, ...]) -> Any:
    """What a kernel takes: a number, or elements in their order."""
    return np.ascontiguousarray(array).reshape(shape) if shape else array.item()


def _array_of(tensor: Any, torch: Any) -> Array:
    """The elements of a tensor, where they are; NumPy itself has no bfloat16."""
    if tensor.dtype == torch.bfloat16:
        bits: Array = tensor.view(torch.int16).numpy()
        return bits.view(ml_dtypes.bfloat16)
    array: Array = tensor.numpy()
    return array


def _tensor_of(array: Array, torch: Any) -> Any:
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)
