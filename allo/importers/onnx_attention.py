"""Operators of ONNX for transformers as layers: attention with caches, rotary positions, caches that are written."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..ir.types import Bool, Int, TensorType
from .exported import NotImported
from .node_layers import NodeLayers
from .onnx_layers import Layers, Reader
from .onnx_nodes import OnnxNode


def _attention(node: OnnxNode) -> Layers:
    """Attention whose queries are the last of the keys: a causal mask and windows count from behind the cache."""
    if any(node.outputs[3:]):
        raise NotImported("it gives its scores")
    if node.has(4) != node.has(5):
        raise NotImported("its cache has one half")
    layers, attributes = NodeLayers(node), node.attributes
    names = [_with_heads(layers, position) for position in range(3)]
    query, held = names[0], [_present(layers, position, names[position]) for position in (1, 2)]
    shape, keys = layers.type_of(query).shape, layers.type_of(held[0]).shape
    before = keys[2] - layers.type_of(names[1]).shape[2]
    scores = (*shape[:3], keys[2])
    windows = [attributes.get(f"{side}_window_size", -1) for side in ("left", "right")]
    causal = bool(attributes.get("is_causal"))
    masks = _visible(layers, scores, before, windows, causal=causal and bool(before or node.has(6)))
    mask = _joined(layers, scores, masks)
    options: dict[str, Any] = {"causal": causal and not before and not node.has(6)}
    options["scale"] = attributes.get("scale", shape[-1] ** -0.5)
    if cap := attributes.get("softcap", 0.0):
        options["softcap"] = cap
    inputs = (query, *held, *([mask] if mask else []))
    result = TensorType(node.type_of(node.array(0)).element, (*shape[:3], layers.type_of(held[1]).shape[3]))
    if len(node.shape(0)) == 4:
        layers.add("", "attention", inputs, result, **options)
    else:
        heads = layers.add("heads", "attention", inputs, result, **options)
        turned = layers.turned("tokens", heads, (0, 2, 1, 3))
        layers.shaped("", turned, node.type_of(node.outputs[0]).shape)
    yield from layers.made


def _with_heads(layers: NodeLayers[OnnxNode], position: int) -> str:
    """Queries, keys or values with a dimension for heads in front of that for tokens."""
    node = layers.node
    name, shape = node.array(position), node.shape(position)
    if len(shape) == 4:
        return name
    heads = node.attributes["kv_num_heads" if position else "q_num_heads"]
    part = ("queries", "new_keys", "new_values")[position]
    split = layers.shaped(f"{part}_split", name, (*shape[:2], heads, shape[2] // heads))
    return layers.turned(part, split, (0, 2, 1, 3))


def _present(layers: NodeLayers[OnnxNode], position: int, new: str) -> str:
    """Keys or values with those of the cache in front, which come out."""
    node, part = layers.node, ("", "keys", "values")[position]
    name = node.outputs[position] if len(node.outputs) > position else ""
    if node.has(position + 3):
        shape, kind = node.shape(position + 3), layers.type_of(new)
        whole = TensorType(kind.element, (*shape[:2], shape[2] + kind.shape[2], shape[3]))
        both = (node.array(position + 3), new)
        return layers.named(name or f"{node.outputs[0]}_{part}", "concat", both, whole, dimension=2)
    return layers.named(name, "reshape", (new,), layers.type_of(new)) if name else new


def _visible(
    layers: NodeLayers[OnnxNode], scores: tuple[int, ...], before: int, windows: list[int], *, causal: bool
) -> list[str]:
    """Which keys each query sees, but for the mask that is given."""
    node, (batch, _, queries, keys) = layers.node, scores
    distance = np.arange(keys) - np.arange(queries)[:, None] - before  # of a key behind the place of a query
    if not node.has(6):
        seen = distance <= 0 if causal else np.ones(distance.shape, np.bool_)
        seen &= (distance >= -windows[0]) if windows[0] >= 0 else True
        seen &= (distance <= windows[1]) if windows[1] >= 0 else True
        return [] if seen.all() else [layers.known("visible", seen)]
    if max(windows) >= 0:
        raise NotImported("it has windows in a cache whose lengths are given (nonpad_kv_seqlen)")
    # A query `i` of `queries` stands at the place `length - queries + i` of the cache of its sample.
    length = layers.shaped("lengths", node.array(6), (batch, 1, 1, 1))
    needed = distance + queries if causal else np.broadcast_to(np.arange(keys), (queries, keys))
    least = layers.known("places", np.ascontiguousarray(needed.astype(np.int64)))
    return [layers.compared("visible", "le" if causal else "lt", least, length, (batch, 1, queries, keys))]


def _joined(layers: NodeLayers[OnnxNode], scores: tuple[int, ...], masks: list[str]) -> str | None:
    """One mask of that which is given, and of others."""
    node = layers.node
    if not node.has(3):
        return masks[0] if masks else None
    given, kind = node.array(3), node.type_of(node.array(3))
    if kind.shape[-1] not in (1, scores[-1]):
        raise NotImported("its mask is shorter than the keys")
    if not masks:
        return given
    shape = np.broadcast_shapes(kind.shape, layers.type_of(masks[0]).shape)
    if isinstance(kind.element, Bool):
        return layers.add("mask", "logical_and", (given, masks[0]), TensorType(kind.element, shape))
    return layers.add("mask", "where", (masks[0], given, -math.inf), TensorType(kind.element, shape))


def _rotary(node: OnnxNode) -> Layers:
    """Pairs of columns turned by the angles of their positions (Su et al. 2021)."""
    layers, attributes, x = NodeLayers(node), node.attributes, node.array(0)
    kind = node.type_of(x)
    if len(kind.shape) == 3:
        heads = attributes["num_heads"]
        batch, length, width = kind.shape
        x = layers.turned("heads", layers.shaped("split", x, (batch, length, heads, width // heads)), (0, 2, 1, 3))
    shape = layers.type_of(x).shape
    batch, heads, length, size = shape
    turns = attributes.get("rotary_embedding_dim", 0) or size
    half = turns // 2
    tables = [_angles(layers, position, half) for position in (1, 2)]
    starts, step = ((0, 1), 2) if attributes.get("interleaved") else ((0, half), 1)
    part = TensorType(kind.element, (batch, heads, length, half))
    first, second = (
        layers.add(f"half{n}", "slice", (x,), part, dimension=3, start=start, step=step)
        for n, start in enumerate(starts)
    )
    cos, sin = tables
    factors = (first, cos), (second, sin), (first, sin), (second, cos)
    products = [layers.each(f"product{n}", "mul", *both) for n, both in enumerate(factors)]
    turned = [layers.each("real", "sub", *products[:2]), layers.each("imaginary", "add", *products[2:])]
    if step == 2:
        columns = [layers.shaped(f"column{n}", name, (*part.shape, 1)) for n, name in enumerate(turned)]
        pairs = layers.add("pairs", "concat", (*columns,), TensorType(kind.element, (*part.shape, 2)), dimension=4)
        turned = [layers.shaped("joined", pairs, (*part.shape[:3], turns))]
    if turns < size:
        rest = TensorType(kind.element, (*part.shape[:3], size - turns))
        turned.append(layers.add("rest", "slice", (x,), rest, dimension=3, start=turns, step=1))
    if len(turned) > 1:
        turned = [layers.add("turned", "concat", (*turned,), TensorType(kind.element, shape), dimension=3)]
    back = layers.turned("tokens", turned[0], (0, 2, 1, 3)) if len(kind.shape) == 3 else turned[0]
    layers.shaped("", back, kind.shape)
    yield from layers.made


def _angles(layers: NodeLayers[OnnxNode], position: int, half: int) -> str:
    """Cosines or sines of all places, with a dimension for heads."""
    node, part = layers.node, ("", "cosines", "sines")[position]
    table, kind = node.array(position), node.type_of(node.array(position))
    if kind.shape[-1] != half:
        raise NotImported("its tables have other than half of the columns that are turned")
    if node.has(3):
        rows = TensorType(kind.element, (*node.shape(3), half))
        table = layers.add(f"{part}_rows", "index", (table, node.array(3)), rows, dimension=0)
    batch, length = layers.type_of(table).shape[:2]
    return layers.shaped(part, table, (batch, 1, length, half))


def _tensor_scatter(node: OnnxNode) -> Layers:
    """A cache in which new tokens stand from some place on."""
    layers, cache = NodeLayers(node), node.type_of(node.array(0))
    dimension, extent = node.attributes.get("axis", -2) % len(cache.shape), node.shape(1)
    if node.attributes.get("mode", "linear") != "linear" or cache.shape[0] != 1:
        raise NotImported("its cache is a ring (mode), or that of several samples")
    steps = layers.known("steps", np.arange(extent[dimension]))
    if node.has(2):
        kind = TensorType(Int(64), (extent[dimension],))
        start = layers.shaped("start", node.array(2), (1,))
        steps = layers.add("places", "add", (start, steps), kind)
    layers.add("", "index_put", (node.array(0), node.array(1), steps), cache, dimension=dimension)
    yield from layers.made


ATTENTION: dict[str, Reader] = {
    "Attention": _attention, "RotaryEmbedding": _rotary, "TensorScatter": _tensor_scatter,
}  # fmt: skip
