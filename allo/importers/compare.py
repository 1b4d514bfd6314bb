"""Comparison of a model, layer by layer: machine code of its kernel against NumPy, or against stored values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..customize.schedule import customize
from ..picture import aligned
from .graph import Array, Layer
from .kernel import ImportedKernel


@dataclass(frozen=True, slots=True)
class LayerDifference:
    """A layer: the largest difference of its elements, the largest element, and whether that is within tolerance."""

    layer: Layer
    difference: float
    largest: float
    fits: bool


@dataclass(frozen=True, slots=True)
class LayerComparison:
    """The layers that were compared, in the order of the model; true if all are within tolerance."""

    layers: tuple[LayerDifference, ...]
    tolerance: float

    @property
    def first(self) -> LayerDifference | None:
        """The first layer that differs by more than the tolerance."""
        return next((found for found in self.layers if not found.fits), None)

    def __bool__(self) -> bool:
        return self.first is None

    def __str__(self) -> str:
        rows = [("layer", "operator", "module", "difference", "largest", "")]
        for found in self.layers:
            layer = found.layer
            numbers = f"{found.difference:.2e}", f"{found.largest:.2e}"
            rows.append((layer.name, layer.operator, layer.origin.module, *numbers, "" if found.fits else "differs"))
        first = self.first
        text = f"all {len(self.layers)} layers are within {self.tolerance:g} of their largest element"
        if first is not None:
            layer = first.layer
            text = f"the first layer that differs is '{layer.name}', {layer.operator} of {layer.origin}"
        return "\n".join([*aligned(rows), text])


def compare_layers(
    kernel: ImportedKernel,
    *arrays: Any,
    expected: Mapping[str, Array] | None = None,
    tolerance: float = 1e-4,
) -> LayerComparison:
    """The layers of `kernel`, compiled for the CPU with all of them as results, against what they should be.

    `arrays` are the arguments. `expected` are values by the names of the nodes of the exported model, such as those
    that `torch_values` gives; those that it lacks are not compared. By default NumPy computes the layers. A layer
    fits if no element differs by more than `tolerance` times its largest one; errors of all layers before add up.
    """
    graph = kernel.graph
    wanted = expected if expected is not None else kernel.values(*[np.array(array) for array in arrays])
    names = {layer.name: layer.name if expected is None else graph.means.get(layer.name, layer.name)
             for layer in graph.layers}  # fmt: skip
    compared = [layer for layer in graph.layers if names[layer.name] in wanted]
    if not compared:
        return LayerComparison((), tolerance)
    whole = kernel.with_results(tuple(layer.name for layer in compared))
    results = customize(whole).build()(*[np.array(array) for array in arrays])
    results = results if isinstance(results, tuple | list) else (results,)
    found = []
    for layer, result in zip(compared, results, strict=True):
        found.append(_difference(layer, np.asarray(result), np.asarray(wanted[names[layer.name]]), tolerance))
    return LayerComparison(tuple(found), tolerance)


def _difference(layer: Layer, result: Array, wanted: Array, tolerance: float) -> LayerDifference:
    if wanted.shape != result.shape:
        raise ValueError(f"the values of '{layer.name}' have the shape {wanted.shape}, and the layer {result.shape}")
    own, other = result.astype(np.float64), wanted.astype(np.float64)
    same = (own == other) | (np.isnan(own) & np.isnan(other))  # infinities too
    with np.errstate(invalid="ignore"):
        apart = np.where(same, 0.0, np.abs(own - other))
    finite = np.abs(other[np.isfinite(other)])
    largest = float(finite.max(initial=0.0))
    difference = float(apart.max(initial=0.0)) if not np.isnan(apart).any() else np.inf
    return LayerDifference(layer, difference, largest, difference <= tolerance * largest)
