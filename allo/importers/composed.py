"""Layers that are made of several: what both importers need."""

from __future__ import annotations

from collections.abc import Iterator

from ..ir.types import TensorType
from .graph import Layer, LayerOrigin


def softmax_along(name: str, source: str, dimension: int, kind: TensorType, origin: LayerOrigin) -> Iterator[Layer]:
    """The softmax along one dimension, which is turned to be the last one and back."""
    rank = len(kind.shape)
    if dimension % rank == rank - 1:
        yield Layer(name, "softmax", (source,), {}, kind, origin)
        return
    order = (*(d for d in range(rank) if d != dimension % rank), dimension % rank)
    turned = TensorType(kind.element, tuple(kind.shape[d] for d in order))
    back = {"order": tuple(order.index(d) for d in range(rank))}
    yield Layer(f"{name}_turned", "permute", (source,), {"order": order}, turned, origin)
    yield Layer(f"{name}_last", "softmax", (f"{name}_turned",), {}, turned, origin)
    yield Layer(name, "permute", (f"{name}_last",), back, kind, origin)
