"""Export of PyTorch modules as `.pt2` archives in memory, with the operators kept whole that layers mean.

It needs nothing but PyTorch, so that scripts for environments without Allo can load this file alone.
"""

from __future__ import annotations

import io
from typing import Any

# Operators that stay one node each: decomposed, attention and norms would be dozens of them.
KEPT = (
    "linear.default", "scaled_dot_product_attention.default", "layer_norm.default", "rms_norm.default",
    "silu.default", "softmax.int", "conv2d.default", "conv2d.padding", "max_pool2d.default",
    "adaptive_avg_pool2d.default", "matmul.default", "split.Tensor", "transpose.int", "hardswish.default",
    "hardsigmoid.default", "leaky_relu.default", "flatten.using_ints",
    "group_norm.default", "instance_norm.default",
)  # fmt: skip


def exported(
    module: Any, inputs: tuple[Any, ...], keywords: dict[str, Any] | None = None, strict: bool = False,
    dynamic: Any = None,
) -> bytes:  # fmt: skip
    """The archive of `module` for tensors of the shapes and types of `inputs`, in evaluation mode, without gradients.

    `strict` is that of `torch.export.export`, which some models need that keep caches in objects, and `dynamic` its
    `dynamic_shapes`. Raises what
    `torch.export.export` raises.
    """
    import torch

    modes = [(part, part.training) for part in module.modules()]
    try:
        for part, _ in modes:  # modules that were exported before, such as quantised ones, refuse `eval()`
            part.training = False
        with torch.no_grad():
            program = torch.export.export(module, inputs, keywords, dynamic_shapes=dynamic, strict=strict)
            table = torch.export.default_decompositions()
            for operator in list(table):
                if str(operator).removeprefix("aten.") in KEPT:
                    del table[operator]
            program = program.run_decompositions(table)
    finally:
        for part, training in modes:
            part.training = training
    buffer = io.BytesIO()
    torch.export.save(program, buffer)
    return buffer.getvalue()


def values_of_nodes(archive: bytes, inputs: tuple[Any, ...]) -> dict[str, Any]:
    """The NumPy arrays of all nodes of an exported program, by their names, as PyTorch computes them."""
    import torch

    module = torch.export.load(io.BytesIO(archive)).module()
    found: dict[str, Any] = {}

    class Watch(torch.fx.Interpreter):  # type: ignore[misc]
        def run_node(self, node: Any) -> Any:
            result = super().run_node(node)
            if isinstance(result, torch.Tensor):
                wide = result.float() if result.dtype == torch.bfloat16 else result  # NumPy has no bfloat16
                found[node.name] = wide.detach().clone().numpy()
            return result

    with torch.no_grad():
        Watch(module).run(*inputs)
    return found
