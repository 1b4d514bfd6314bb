"""Operators of ONNX on integers that stand for floats, as layers: quantisation, and products of quantised values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..ir.types import Float, Int, TensorType, UInt
from .exported import NotImported
from .graph import Layer, Operand
from .onnx_nodes import OnnxNode

type Layers = Iterator[Layer]


def window_options(node: OnnxNode, window: tuple[int, ...]) -> dict[str, Any]:
    """How a convolution moves its window, whose shape this is."""
    if len(window) != 2:
        raise NotImported("it is a convolution of other than two dimensions")
    return {
        "stride": pair(node, "strides"), "padding": padding(node), "dilation": pair(node, "dilations"),
        "groups": node.attributes.get("group", 1),
    }  # fmt: skip


def pair(node: OnnxNode, name: str) -> tuple[int, int]:
    """Two numbers, by default 1 and 1."""
    first, second = node.attributes.get(name, (1, 1))
    return int(first), int(second)


def padding(node: OnnxNode) -> tuple[int, int]:
    """The padding, which has to be the same on both sides."""
    automatic = node.attributes.get("auto_pad", "NOTSET")
    if automatic not in ("NOTSET", "VALID"):
        raise NotImported(f"its padding is {automatic}")
    top, left, bottom, right = node.attributes.get("pads", (0, 0, 0, 0))
    if (top, left) != (bottom, right):
        raise NotImported("its padding is not the same on both sides")
    return int(top), int(left)


class _Layers:
    """The layers of one node, each behind those that it needs."""

    def __init__(self, node: OnnxNode) -> None:
        self.node = node
        self.made: list[Layer] = []

    def add(self, suffix: str, operator: str, inputs: tuple[Operand, ...], kind: TensorType, **options: Any) -> str:
        """One layer; that of the result has no `suffix`."""
        name = f"{self.node.outputs[0]}_{suffix}" if suffix else self.node.outputs[0]
        self.made.append(Layer(name, operator, inputs, options, kind, self.node.origin))
        return name

    def each(self, suffix: str, position: int, rank: int, axis: int) -> Operand:
        """A scale or zero: 0 if it is missing, a number, or an array along a dimension of `rank` ones."""
        node = self.node
        if not node.has(position):
            return 0
        operand = node.operand(position)
        if not isinstance(operand, str):
            return operand
        kind, places = node.type_of(operand), [1] * rank
        if len(kind.shape) > 1:
            raise NotImported(f"its input {position} has {len(kind.shape)} dimensions")
        if rank:
            places[axis] = kind.shape[0] if kind.shape else 1
        return self.add(suffix, "reshape", (operand,), TensorType(kind.element, tuple(places)))

    def real(self, suffix: str, position: int, axis: int) -> str:
        """The floats that the integers `position` mean, whose scale and zero are the two inputs behind."""
        shape = self.node.shape(position)
        scales = self.each(f"{suffix}_scales", position + 1, len(shape), axis)
        zeros = self.each(f"{suffix}_zeros", position + 2, len(shape), axis)
        kind = TensorType(Float(32), shape)
        return self.add(suffix, "dequantize", (self.node.array(position), scales, zeros), kind)

    def quantised(self, source: str, position: int, axis: int = -1) -> None:
        """The result: the integers that stand for `source`, whose scale and zero are inputs from `position` on."""
        kind = self.node.type_of(self.node.outputs[0])
        options: dict[str, Any] = {**_bounds(kind), "divides": True}
        rank, group = len(kind.shape), self.node.attributes.get("block_size")
        if group:
            scales, zeros = _of_groups(self.node, position, axis, rank)
            options["group"] = group
        else:
            scales, zeros = (self.each(*part, rank, axis) for part in (("scales", position), ("zeros", position + 1)))
        self.add("", "quantize", (source, scales, zeros), kind, **options)

    def centred(self, suffix: str, position: int, zero: int) -> str:
        """Integers less their zero, which is one for all or one for each column."""
        node, kind = self.node, self.node.type_of(self.node.array(position))
        if not node.has(zero):
            return node.array(position)
        if node.shape(zero) not in ((), (1,), kind.shape[-1:]) or (suffix == "first" and node.shape(zero) != ()):
            raise NotImported(f"its input {zero} has other than one number")
        inputs = (node.array(position), node.operand(zero))
        return self.add(suffix, "sub", inputs, TensorType(Int(16), kind.shape))


def _bounds(kind: TensorType) -> dict[str, int]:
    element = kind.element
    if not isinstance(element, Int | UInt):
        raise NotImported("its result is not of integers")
    least = -(1 << element.width - 1) if isinstance(element, Int) else 0
    return {"low": least, "high": least + (1 << element.width) - 1}


def _of_groups(node: OnnxNode, position: int, axis: int, rank: int) -> tuple[Operand, Operand]:
    if axis % rank != rank - 1:
        raise NotImported("its groups (block_size) are not along the last dimension")
    return node.array(position), node.array(position + 1) if node.has(position + 1) else 0


def _quantize(node: OnnxNode) -> Layers:
    layers = _Layers(node)
    layers.quantised(node.array(0), 1, node.attributes.get("axis", 1) % max(len(node.shape(0)), 1))
    yield from layers.made


def _dequantize(node: OnnxNode) -> Layers:
    layers, kind = _Layers(node), node.type_of(node.outputs[0])
    rank = len(kind.shape)
    axis = node.attributes.get("axis", 1) % max(rank, 1)
    if group := node.attributes.get("block_size"):
        scales, zeros = _of_groups(node, 1, axis, rank)
        layers.add("", "dequantize", (node.array(0), scales, zeros), kind, group=group)
    else:
        scales, zeros = (layers.each(*part, rank, axis) for part in (("scales", 1), ("zeros", 2)))
        layers.add("", "dequantize", (node.array(0), scales, zeros), kind)
    yield from layers.made


def _product(node: OnnxNode) -> Layers:
    """A product of matrices: of the numbers that both operands mean, as integers again."""
    layers = _Layers(node)
    first, second = layers.real("first", 0, -2), layers.real("second", 3, -1)
    kind = TensorType(Float(32), node.type_of(node.outputs[0]).shape)
    layers.quantised(layers.add("product", "matmul", (first, second), kind), 6)
    yield from layers.made


def _convolution(node: OnnxNode) -> Layers:
    """A convolution of quantised values; its bias is of integers whose scale is that of the sums."""
    layers, options = _Layers(node), window_options(node, node.shape(3)[2:])
    kind = TensorType(Float(32), node.type_of(node.outputs[0]).shape)
    result = layers.add(
        "convolved", "conv2d", (layers.real("image", 0, 1), layers.real("weights", 3, 0)), kind, **options
    )
    if node.has(8):
        scales = (layers.each("first_scale", 1, 3, 0), layers.each("second_scale", 4, 3, 0))
        places = TensorType(Float(32), (kind.shape[1], 1, 1))
        whole = TensorType(node.type_of(node.array(8)).element, places.shape)
        scale = layers.add("scale_of_sums", "mul", scales, places) if any(isinstance(s, str) for s in scales) else (
            scales[0] * scales[1]  # type: ignore[operator]
        )  # fmt: skip
        bias = layers.add("bias", "reshape", (node.array(8),), whole)
        real = layers.add("bias_real", "dequantize", (bias, scale, 0), places)
        result = layers.add("added", "add", (result, real), kind)
    layers.quantised(result, 6, 1)
    yield from layers.made


def _sums(operator: str) -> Callable[[OnnxNode], Layers]:
    """Sums of products of integers, less their zeros."""

    def read(node: OnnxNode) -> Layers:
        layers = _Layers(node)
        options = window_options(node, node.shape(1)[2:]) if operator == "conv2d" else {}
        if operator == "conv2d" and node.has(3) and node.shape(3) not in ((), (1,)):
            raise NotImported("its weights have several zeros")
        inputs = (layers.centred("first", 0, 2), layers.centred("second", 1, 3))
        layers.add("", operator, inputs, node.type_of(node.outputs[0]), **options)
        yield from layers.made

    return read


QUANTIZED: dict[str, Callable[[OnnxNode], Layers]] = {
    "QuantizeLinear": _quantize, "DequantizeLinear": _dequantize, "QLinearMatMul": _product,
    "QLinearConv": _convolution, "MatMulInteger": _sums("matmul"), "ConvInteger": _sums("conv2d"),
}  # fmt: skip
