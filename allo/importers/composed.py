"""Layers that are made of several, and their names: what both importers need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import prod

from ..ir.names import unique_name
from ..ir.types import TensorType
from .exported import NotImported
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


def group_norm(
    made: Layer, source: str, scales: tuple[str | None, str | None], groups: int, eps: float
) -> Iterator[Layer]:
    """The norm of groups of channels, as `made`: a layer norm of rows that are groups, times and plus one of `scales`
    for each channel."""
    kind, origin, name = made.type, made.origin, made.name
    batch, channels, *places = kind.shape
    if channels % groups:
        raise NotImported(f"{groups} groups do not divide {channels} channels")
    rows = TensorType(kind.element, (batch, groups, channels // groups * prod(places)))
    yield Layer(f"{name}_groups", "reshape", (source,), {}, rows, origin)
    options = {"eps": eps, "weighted": False}
    yield Layer(f"{name}_normal", "layer_norm", (f"{name}_groups",), options, rows, origin)
    steps = [(step, scale) for step, scale in zip(("mul", "add"), scales, strict=True) if scale is not None]
    result = f"{name}_whole" if steps else name
    yield Layer(result, "reshape", (f"{name}_normal",), {}, kind, origin)
    column = TensorType(kind.element, (channels, *(1 for _ in places)))
    for number, (step, scale) in enumerate(steps, 1):
        yield Layer(f"{name}_{step}", "reshape", (scale,), {}, column, origin)
        after = name if number == len(steps) else f"{name}_scaled"
        yield Layer(after, step, (result, f"{name}_{step}"), {}, kind, origin)
        result = after


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
