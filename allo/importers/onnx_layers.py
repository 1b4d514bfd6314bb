"""Layers of one ONNX node, and the windows that its attributes describe."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from .exported import NotImported
from .graph import Layer, Operand
from .onnx_nodes import OnnxNode

type Layers = Iterator[Layer]
type Reader = Callable[[OnnxNode], Layers]


def layer(node: OnnxNode, operator: str, *inputs: Operand | None, **options: Any) -> Layer:
    """The layer of the first result of a node."""
    given = tuple(operand for operand in inputs if operand is not None)
    return Layer(node.outputs[0], operator, given, options, node.type_of(node.outputs[0]), node.origin)


def window_options(node: OnnxNode, window: tuple[int, ...]) -> dict[str, Any]:
    """How a convolution moves its window, whose shape this is."""
    if len(window) != 2:
        raise NotImported("it is a convolution of other than two dimensions")
    stride, dilation = pair(node, "strides"), pair(node, "dilations")
    options = {"stride": stride, "dilation": dilation, "groups": node.attributes.get("group", 1)}
    return {**options, **padding(node, window, stride, dilation)}


def pair(node: OnnxNode, name: str) -> tuple[int, int]:
    """Two numbers, by default 1 and 1."""
    first, second = node.attributes.get(name, (1, 1))
    return int(first), int(second)


def padding(
    node: OnnxNode, window: tuple[int, ...], stride: tuple[int, int], dilation: tuple[int, int]
) -> dict[str, tuple[int, int]]:
    """The `padding` in front of an image, and how much more there is `behind` it, where that differs."""
    automatic, pads = node.attributes.get("auto_pad", "NOTSET"), node.attributes.get("pads", (0, 0, 0, 0))
    if automatic == "VALID":
        pads = (0, 0, 0, 0)
    elif automatic in ("SAME_UPPER", "SAME_LOWER"):
        whole = []
        for extent, inside, step, gap in zip(node.shape(0)[2:], window, stride, dilation, strict=True):
            whole.append(max(0, (math.ceil(extent / step) - 1) * step + gap * (inside - 1) + 1 - extent))
        less, more = [total // 2 for total in whole], [total - total // 2 for total in whole]
        pads = (*less, *more) if automatic == "SAME_UPPER" else (*more, *less)
    elif automatic != "NOTSET":
        raise NotImported(f"its padding is {automatic}")
    top, left, bottom, right = map(int, pads)
    behind = (bottom - top, right - left)
    return {"padding": (top, left), **({"behind": behind} if any(behind) else {})}
