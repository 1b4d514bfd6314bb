"""Layers of one ONNX node, each behind those that it needs, and the windows that its attributes describe."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from ..ir.arrays import array_element_type
from ..ir.names import unique_name
from ..ir.types import Bool, TensorType
from .exported import NotImported
from .graph import Array, Layer, Operand
from .onnx_nodes import OnnxNode

type Layers = Iterator[Layer]
type Reader = Callable[[OnnxNode], Layers]


def layer(node: OnnxNode, operator: str, *inputs: Operand | None, **options: Any) -> Layer:
    """The layer of the first result of a node."""
    given = tuple(operand for operand in inputs if operand is not None)
    return Layer(node.outputs[0], operator, given, options, node.type_of(node.outputs[0]), node.origin)


class NodeLayers:
    """The layers of one node; `made` has those until now, and types are found by name."""

    def __init__(self, node: OnnxNode) -> None:
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
        """A constant of its own."""
        values, element = self.node.values, array_element_type(array)
        assert element is not None
        name = unique_name(f"{self.node.outputs[0]}_{suffix}", {*values.types, *values.constants})
        values.constants[name], values.types[name] = array, TensorType(element, array.shape)
        return name

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
