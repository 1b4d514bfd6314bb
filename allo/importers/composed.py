"""Layers that are made of several, and their names: what both importers need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

from ..ir.names import unique_name
from ..ir.types import TensorType
from .exported import NotImported
from .graph import Layer, LayerOrigin
from .node_layers import NodeLayers


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


def windows_rounded_up(size: Sequence[int], options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a pool of an image of two dimensions that has another window where some of it is left at its end.

    `behind` are the rows and columns that the image then lacks. No window begins behind the image with the padding in
    front of it, as in PyTorch and ONNX.
    """
    behind = []
    for extent, inside, stride, border, step in zip(
        size, options["window"], options["stride"], options["padding"], options.get("dilation", (1, 1)), strict=True
    ):
        reach = step * (inside - 1) + 1
        last = -(-(extent + 2 * border - reach) // stride)
        last -= last * stride >= extent + border
        behind.append(max(0, last * stride + reach - extent - 2 * border))
    return {**options, "behind": tuple(behind)}


def with_own_divisors(pool: Layer, image: TensorType, *, count_padding: bool = False) -> Iterator[Layer]:
    """An average pool of windows that differ: sums, divided by how many elements of the image, and of its padding if
    that counts, are in each. What is `behind` the padding never counts."""
    element, options = pool.type.element, {**pool.options, "divisor": 1}
    total, ones, count = (f"{pool.name}_{part}" for part in ("total", "ones", "count"))
    yield Layer(total, "avg_pool2d", pool.inputs, options, pool.type, pool.origin)
    borders = options["padding"] if count_padding else (0, 0)
    size = [extent + 2 * border for extent, border in zip(image.shape[-2:], borders, strict=True)]
    yield Layer(ones, "full", (), {"value": 1}, TensorType(element, (1, 1, *size)), pool.origin)
    counts = TensorType(element, (1, 1, *pool.type.shape[-2:]))
    counted = {**options, "padding": (0, 0)} if count_padding else options
    yield Layer(count, "avg_pool2d", (ones,), counted, counts, pool.origin)
    yield Layer(pool.name, "div", (total, count), {}, pool.type, pool.origin)


def bordered(
    layers: NodeLayers[Any], suffix: str, source: str, sides: Mapping[int, tuple[int, int]], value: float
) -> str:
    """Elements of one value in front and behind, in one dimension after the other; a negative number takes away."""
    kind, steps = layers.type_of(source), [(axis, pair) for axis, pair in sides.items() if pair != (0, 0)]
    shape, label = list(kind.shape), f"{suffix}_" if suffix else ""
    for axis, pair in steps:
        parts = []
        for place, size in enumerate(pair):
            shape[axis] += min(size, 0)
            border = TensorType(kind.element, (*shape[:axis], size, *shape[axis + 1 :]))
            made = layers.add(f"{label}border{axis}_{place}", "full", (), border, value=value) if size > 0 else ""
            parts.append(made)
        if min(pair) < 0:
            source = layers.cut(f"{label}cut{axis}", source, axis, max(0, -pair[0]), shape[axis])
        inputs = tuple(name for name in (parts[0], source, parts[1]) if name)
        shape[axis] += sum(max(size, 0) for size in pair)
        if len(inputs) > 1:
            whole = TensorType(kind.element, tuple(shape))
            source = layers.add(f"{label}padded{axis}", "concat", inputs, whole, dimension=axis)
    return layers.shaped(suffix, source, tuple(shape))


def log_sum_exp(layers: NodeLayers[Any], source: str, dimensions: tuple[int, ...], *, is_softmax: bool) -> None:
    """The logarithm of a sum of powers, the largest of them 1; with `is_softmax` it is taken from the elements."""
    largest = layers.along("largest", "amax", source, dimensions)
    less = layers.each("less", "sub", source, largest)
    total = layers.along("total", "sum", layers.each("powers", "exp", less), dimensions)
    logarithm = layers.each("logarithm", "log", total)
    if is_softmax:
        layers.each("", "sub", less, logarithm)
    else:
        whole = layers.each("whole", "add", largest, logarithm)
        layers.shaped("", whole, layers.node.type_of(layers.node.outputs[0]).shape)


def group_norm(
    name: str,
    source: str,
    scales: tuple[str | None, str | None],
    groups: int,
    eps: float,
    kind: TensorType,
    origin: LayerOrigin,
) -> Iterator[Layer]:
    """The norm of groups of channels: a layer norm of rows that are groups, times and plus one of `scales` for each
    channel."""
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
