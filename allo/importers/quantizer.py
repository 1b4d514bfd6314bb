"""Quantisation of models: floats in products become integers with scales that samples of inputs show.

Source: Jacob et al. 2018, section 3; groups of weights as in Frantar et al. 2022 (GPTQ), without its search.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import AlloError
from ..ir.names import unique_name
from ..ir.types import Float, Int, TensorType
from .fold import simplified
from .graph import Array, Layer, LayerGraph
from .kernel import ImportedKernel

_PRODUCTS = {"linear": 0, "matmul": 1, "conv2d": 0}  # the dimension of the weights in which outputs are


def quantized(
    kernel: ImportedKernel,
    samples: Sequence[Sequence[Any]],
    *,
    weights: int = 8,
    group: int | None = None,
    skip: Collection[str] = (),
) -> ImportedKernel:
    """The kernel whose products of values and known weights are sums of products of integers.

    Linear layers, products of matrices and convolutions get int8 values, with one scale for each array, which is the
    largest element in the `samples` (each the arguments of `kernel`) divided by 127, and weights of `weights` bits (2
    to 8), with one scale for each output, or for each `group` of columns of a linear layer. Zeros are 0. Layers in
    `skip` and all others stay as they are. `compare_layers(result, x, expected=kernel.values(x), tolerance=0.1)` shows
    how far each layer is from floats.

    Raises AlloError for widths, groups, names and samples that do not fit.
    """
    graph = kernel.graph
    if not 2 <= weights <= 8 or (group is not None and group < 1):
        raise AlloError(f"weights of {weights} bits in groups of {group} cannot be quantised",
                        hint="weights=2 to 8, and group=None or a number of columns, such as 32")  # fmt: skip
    if not samples:
        raise AlloError("scales of values are found in samples, and there are none",
                        hint="quantized(kernel, [(x,)]) with arguments that the model is used for")  # fmt: skip
    unknown = sorted(set(skip) - {layer.name for layer in graph.layers})
    if unknown:
        raise AlloError(f"'{graph.name}' has no layer '{unknown[0]}'", hint="print(kernel) shows the layers")
    made = _Quantized(graph, weights, group, frozenset(skip), _largest(kernel, samples))
    result = ImportedKernel(simplified(made.graph()), weights_as_arguments=bool(kernel.weights))
    return result


def _largest(kernel: ImportedKernel, samples: Sequence[Sequence[Any]]) -> dict[str, float]:
    """The largest absolute value that each array has in any sample."""
    found: dict[str, float] = {}
    for sample in samples:
        weights = list(kernel.weights.values()) if len(sample) < len(kernel.arguments) else []
        for name, array in kernel.values(*sample, *weights).items():
            if array.dtype.kind == "f" and array.size:
                found[name] = max(found.get(name, 0.0), float(np.abs(array).max()))
    wrong = next((name for name, value in found.items() if not np.isfinite(value)), None)
    products = {str(layer.inputs[0]) for layer in kernel.graph.layers if layer.operator in _PRODUCTS}
    if wrong is not None and wrong in products:
        raise AlloError(f"'{wrong}' is not finite in the samples", hint="give samples that the model is used for")
    return found


class _Quantized:
    """The graph with layers `quantize` and `dequantize` in front of its products."""

    def __init__(
        self, graph: LayerGraph, bits: int, group: int | None, skip: frozenset[str], largest: dict[str, float]
    ) -> None:
        self.before = graph
        self.bits, self.group, self.skip, self.largest = bits, group, skip, largest
        self.types, self.constants = graph.types(), dict(graph.constants)
        self.names = set(self.types)
        self.layers: list[Layer] = []
        self.values: dict[str, str] = {}  # dequantised ones by the names of floats

    def graph(self) -> LayerGraph:
        """The new graph, with its own names for the weights."""
        for layer in self.before.layers:
            weights = self.before.constants.get(str(layer.inputs[1])) if layer.operator in _PRODUCTS else None
            stays = layer.type.element != Float(32) or layer.name in self.skip or layer.inputs[0] in self.constants
            if weights is None or stays or (layer.operator == "matmul" and weights.ndim != 2):
                self.layers.append(layer)
                continue
            inputs = (self._value(layer), self._weights(layer, weights), *layer.inputs[2:])
            self.layers.append(replace(layer, inputs=inputs))
        return replace(self.before, layers=tuple(self.layers), constants=self.constants, means={})

    def _value(self, layer: Layer) -> str:
        source = str(layer.inputs[0])
        if source not in self.values:
            shape, scale = self.types[source].shape, np.float32(self.largest[source] / 127 or 1.0).item()
            q, real = (unique_name(f"{source}_{part}", self.names) for part in ("int8", "real"))
            options = {"low": -128, "high": 127, "divides": False}
            inputs = (source, 1.0 / scale, 0)
            self.layers.append(Layer(q, "quantize", inputs, options, TensorType(Int(8), shape), layer.origin))
            self.layers.append(Layer(real, "dequantize", (q, scale, 0), {}, self.types[source], layer.origin))
            self.values[source] = real
        return self.values[source]

    def _weights(self, layer: Layer, weights: Array) -> str:
        options: dict[str, int] = {}
        if self.group is not None and layer.operator == "linear":
            if weights.shape[1] % self.group:
                text = f"groups of {self.group} do not divide the {weights.shape[1]} columns of '{layer.name}'"
                raise AlloError(text, hint=f"another group, or skip={{'{layer.name}'}}")
            options = {"group": self.group}
        whole, scales = quantized_weights(weights, self.bits, _PRODUCTS[layer.operator], options.get("group"))
        q, scale, real = (unique_name(f"{layer.name}_weights_{part}", self.names) for part in ("int", "scale", "real"))
        self.constants |= {q: whole, scale: scales}
        kind = TensorType(Float(32), weights.shape)
        self.layers.append(Layer(real, "dequantize", (q, scale, 0), options, kind, layer.origin))
        return real


def quantized_weights(weights: Array, bits: int, axis: int, group: int | None = None) -> tuple[Array, Array]:
    """Integers of `bits` bits, in int8, and their scales (float32): for each place along `axis`, or each group of the
    last dimension. The largest weight of each becomes the largest integer; halves are rounded to even."""
    most = 2 ** (bits - 1) - 1
    if group:
        parts = weights.reshape(*weights.shape[:-1], -1, group)
        largest = np.abs(parts).max(-1)
    else:
        others = tuple(d for d in range(weights.ndim) if d != axis)
        largest = np.abs(weights).max(others, keepdims=True)
    scales = np.where(largest > 0, largest / most, 1.0).astype(np.float32)
    each = np.repeat(scales, group, -1) if group else scales
    return np.clip(np.rint(weights / each), -most, most).astype(np.int8), scales
