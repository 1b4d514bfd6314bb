"""Layers of one node of a model, each behind those that it needs: what the importers of all formats write."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np

from ..ir.arrays import array_element_type
from ..ir.types import Bool, TensorType
from .graph import Array, Layer, LayerOrigin, Operand


class ModelNode(Protocol):
    """A node as any importer reads it."""

    @property
    def outputs(self) -> tuple[str, ...]: ...
    @property
    def origin(self) -> LayerOrigin: ...
    def type_of(self, name: str) -> TensorType: ...


class NodeLayers[N: ModelNode]:
    """The layers of one node; `made` has those until now, and types are found by name."""

    def __init__(self, node: N) -> None:
        self.node = node
        self.made: list[Layer] = []
        self._own: dict[str, TensorType] = {}

    def add(self, suffix: str, operator: str, inputs: tuple[Operand, ...], kind: TensorType, **options: Any) -> str:
        """One layer; that of the result has no `suffix`."""
        return self.named(f"{self.node.outputs[0]}_{suffix}" if suffix else self.node.outputs[0],
                          operator, inputs, kind, **options)  # fmt: skip

    def named(self, name: str, operator: str, inputs: tuple[Operand, ...], kind: TensorType, **options: Any) -> str:
        """One layer with a name of the model."""
        self.made.append(Layer(name, operator, inputs, options, kind, self.node.origin))
        self._own[name] = kind
        return name

    def known(self, suffix: str, array: Array) -> str:
        """An array whose elements are known."""
        element = array_element_type(array)
        assert element is not None
        values = tuple(array.reshape(-1).tolist())
        return self.add(suffix, "numbers", (), TensorType(element, array.shape), values=values)

    def type_of(self, name: str) -> TensorType:
        """The type of an input, or of a layer."""
        return self._own.get(name) or self.node.type_of(name)

    def each(self, suffix: str, operator: str, *inputs: Operand, **options: Any) -> str:
        """An elementwise layer of the element type and the shape of its first operand."""
        return self.add(suffix, operator, inputs, self.type_of(str(inputs[0])), **options)

    def compared(self, suffix: str, operator: str, first: str, second: Operand, shape: tuple[int, ...]) -> str:
        """Truth values."""
        return self.add(suffix, operator, (first, second), TensorType(Bool(), shape))

    def shaped(self, suffix: str, source: str, shape: tuple[int, ...]) -> str:
        """The elements of `source` in another shape."""
        return self.add(suffix, "reshape", (source,), TensorType(self.type_of(source).element, shape))

    def turned(self, suffix: str, source: str, order: tuple[int, ...]) -> str:
        """The dimensions of `source` in another order."""
        kind = self.type_of(source)
        shape = tuple(kind.shape[d] for d in order)
        return self.add(suffix, "permute", (source,), TensorType(kind.element, shape), order=order)

    def along(self, suffix: str, operator: str, source: str, dimensions: Iterable[int]) -> str:
        """A sum, a mean or largest elements along dimensions, each of which has one place left."""
        kind, gone = self.type_of(source), tuple(sorted(dimensions))
        kept = TensorType(kind.element, tuple(1 if d in gone else e for d, e in enumerate(kind.shape)))
        return self.add(suffix, operator, (source,), kept, dimensions=gone)

    def placed(self, suffix: str, source: str, dimension: int, places: Iterable[int]) -> str:
        """The parts of `source` along a dimension that stand at these places."""
        kind, numbers = self.type_of(source), np.asarray(list(places), np.int64)
        shape = (*kind.shape[:dimension], len(numbers), *kind.shape[dimension + 1 :])
        name = self.known(f"{suffix or 'all'}_places", numbers)
        return self.add(suffix, "index", (source, name), TensorType(kind.element, shape), dimension=dimension)

    def cut(self, suffix: str, source: str, dimension: int, start: int, extent: int, step: int = 1) -> str:
        """`extent` parts of `source` along a dimension, from `start` on."""
        kind = self.type_of(source)
        shape = (*kind.shape[:dimension], extent, *kind.shape[dimension + 1 :])
        options = {"dimension": dimension, "start": start, "step": step}
        return self.add(suffix, "slice", (source,), TensorType(kind.element, shape), **options)
