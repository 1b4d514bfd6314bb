"""Operators of ONNX on images as layers: convolutions, pools, padding, other sizes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .composed import bordered, windows_rounded_up, with_own_divisors
from .exported import NotImported
from .graph import Array
from .node_layers import NodeLayers
from .onnx_layers import Layers, Reader, layer, padding, pair, window_options
from .onnx_nodes import OnnxNode


def _conv(node: OnnxNode) -> Layers:
    options = window_options(node, node.shape(1)[2:])
    yield layer(node, "conv2d", node.array(0), node.array(1), node.maybe(2), **options)


def _pool(node: OnnxNode) -> Layers:
    window = tuple(node.attributes["kernel_shape"])
    if len(window) != 2:
        raise NotImported("its windows have other than two dimensions")
    if node.attributes.get("storage_order") and len(node.outputs) > 1:
        raise NotImported("it counts columns first (storage_order)")
    kind, stride, dilation = node.type_of(node.array(0)), pair(node, "strides"), pair(node, "dilations")
    options: dict[str, Any] = {"window": window, "stride": stride, "dilation": dilation}
    options |= padding(node, window, stride, dilation)
    if node.attributes.get("ceil_mode"):
        if "behind" in options:
            raise NotImported("it has more padding on one side, and windows behind the image (ceil_mode)")
        options = windows_rounded_up(kind.shape[-2:], options)
    if node.operator == "MaxPool":
        yield layer(node, "max_pool2d", node.array(0), **options)
        return
    if options.pop("dilation") != (1, 1):
        raise NotImported("its windows have gaps (dilations)")
    made = layer(node, "avg_pool2d", node.array(0), divisor=window[0] * window[1], **options)
    counted, behind = bool(node.attributes.get("count_include_pad")), any(options.get("behind", ()))
    is_inside = options["padding"] == (0, 0) and not behind
    if is_inside or (counted and not (behind and node.attributes.get("ceil_mode"))):
        yield made
    else:
        yield from with_own_divisors(made, kind, count_padding=counted)


def _global_pool(operator: str) -> Reader:
    def read(node: OnnxNode) -> Layers:
        yield layer(node, operator, node.array(0), dimensions=tuple(range(2, len(node.shape(0)))))

    return read


def _pad(node: OnnxNode) -> Layers:
    """Constants in front and behind, in one dimension after the other; a negative number takes elements away."""
    if node.attributes.get("mode", "constant") != "constant":
        raise NotImported("it repeats what is inside (mode)")
    layers, rank = NodeLayers(node), len(node.shape(0))
    axes, pads = node.ints(3, "axes") or tuple(range(rank)), node.ints(1, "pads")
    if len(pads) != 2 * len(axes):
        raise NotImported("its padding is not that of its axes")
    value = node.known(2).item() if node.has(2) else 0
    sides = zip(pads[: len(axes)], pads[len(axes) :], strict=True)
    bordered(layers, "", node.array(0), {a % rank: pair for a, pair in zip(axes, sides, strict=True)}, value)
    yield from layers.made


_NEAREST: dict[str, Callable[[Any], Any]] = {
    "round_prefer_floor": lambda x: np.ceil(x - 0.5), "round_prefer_ceil": lambda x: np.floor(x + 0.5),
    "floor": np.floor, "ceil": np.ceil,
}  # fmt: skip


def _resize(node: OnnxNode) -> Layers:
    """The nearest element for each, along all dimensions whose extents are others."""
    attributes = node.attributes
    if attributes.get("mode", "nearest") != "nearest":
        raise NotImported(f"it interpolates (mode {attributes['mode']!r})")
    if attributes.get("axes") or attributes.get("keep_aspect_ratio_policy", "stretch") != "stretch":
        raise NotImported("it changes some axes, or keeps the ratio of sides")
    layers, source, shape = NodeLayers(node), node.array(0), node.shape(0)
    wanted = node.type_of(node.outputs[0]).shape
    scales = node.known(2).tolist() if node.has(2) and node.known(2).size else [
        new / old for new, old in zip(wanted, shape, strict=True)
    ]  # fmt: skip
    for axis, (old, new, scale) in enumerate(zip(shape, wanted, scales, strict=True)):
        places = _places(node, old, new, scale)
        if new == old and (places == np.arange(old)).all():
            continue
        source = layers.placed(f"along{axis}", source, axis, places.tolist())
    layers.shaped("", source, wanted)
    yield from layers.made


def _places(node: OnnxNode, old: int, new: int, scale: float) -> Array:
    """Which element of `old` ones each of `new` ones is."""
    how = node.attributes.get("coordinate_transformation_mode", "half_pixel")
    x = np.arange(new)
    match how:
        case "half_pixel" | "pytorch_half_pixel":
            at = (x + 0.5) / scale - 0.5 if new > 1 or how == "half_pixel" else np.zeros(1)
        case "asymmetric":
            at = x / scale
        case "align_corners":
            at = x * (old - 1) / (new - 1) if new > 1 else np.zeros(1)
        case _:
            raise NotImported(f"its places are {how!r}")
    nearest = _NEAREST[node.attributes.get("nearest_mode", "round_prefer_floor")]
    return np.asarray(np.clip(nearest(at), 0, old - 1), np.int64)


def _depth_to_space(node: OnnxNode) -> Layers:
    layers, size = NodeLayers(node), node.attributes["blocksize"]
    n, channels, rows, columns = node.shape(0)
    left = channels // size**2
    if node.attributes.get("mode", "DCR") == "DCR":
        parts, order = (n, size, size, left, rows, columns), (0, 3, 4, 1, 5, 2)
    else:
        parts, order = (n, left, size, size, rows, columns), (0, 1, 4, 2, 5, 3)
    turned = layers.turned("turned", layers.shaped("parts", node.array(0), parts), order)
    layers.shaped("", turned, (n, left, rows * size, columns * size))
    yield from layers.made


def _space_to_depth(node: OnnxNode) -> Layers:
    layers, size = NodeLayers(node), node.attributes["blocksize"]
    n, channels, rows, columns = node.shape(0)
    parts = layers.shaped("parts", node.array(0), (n, channels, rows // size, size, columns // size, size))
    blocks_first = node.attributes.get("mode", "DCR") == "DCR"
    turned = layers.turned("turned", parts, (0, 3, 5, 1, 2, 4) if blocks_first else (0, 1, 3, 5, 2, 4))
    layers.shaped("", turned, (n, math.prod((channels, size, size)), rows // size, columns // size))
    yield from layers.made


WINDOWS: dict[str, Reader] = {
    "Conv": _conv, "MaxPool": _pool, "AveragePool": _pool, "GlobalAveragePool": _global_pool("mean"),
    "GlobalMaxPool": _global_pool("amax"), "Pad": _pad, "Resize": _resize, "DepthToSpace": _depth_to_space,
    "SpaceToDepth": _space_to_depth,
}  # fmt: skip
