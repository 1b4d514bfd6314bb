"""Layers that are made of several, and their names: what both importers need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ..ir.names import unique_name
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


def without_padding(pool: Layer, image: TensorType) -> Iterator[Layer]:
    """An average pool that does not count the padding: sums, divided by how many elements of the image are in each."""
    element, options = pool.type.element, {**pool.options, "divisor": 1}
    total, ones, count = (f"{pool.name}_{part}" for part in ("total", "ones", "count"))
    yield Layer(total, "avg_pool2d", pool.inputs, options, pool.type, pool.origin)
    yield Layer(ones, "full", (), {"value": 1}, TensorType(element, (1, 1, *image.shape[-2:])), pool.origin)
    counts = TensorType(element, (1, 1, *pool.type.shape[-2:]))
    yield Layer(count, "avg_pool2d", (ones,), options, counts, pool.origin)
    yield Layer(pool.name, "div", (total, count), {}, pool.type, pool.origin)


def with_own_names(made: Iterable[Layer], results: tuple[str, ...], taken: set[str]) -> list[Layer]:
    """The layers of one node, of which those inside have names that no other value has; `taken` gets them."""
    layers = list(made)
    inside = {layer.name: unique_name(layer.name, taken) for layer in layers if layer.name not in results}
    return [
        replace(
            layer, name=inside.get(layer.name, layer.name),
            inputs=tuple(inside.get(o, o) if isinstance(o, str) else o for o in layer.inputs),
        )
        for layer in layers
    ]  # fmt: skip
