"""Operators of ONNX on integers that stand for floats, as layers: quantisation, and products of quantised values."""

from __future__ import annotations

import math
from typing import Any

from ..ir.types import Float, Int, TensorType, UInt
from .exported import NotImported
from .graph import Operand
from .node_layers import NodeLayers
from .onnx_layers import Layers, Reader, window_options
from .onnx_nodes import OnnxNode


class _Layers(NodeLayers[OnnxNode]):
    """Layers with scales and zeros."""

    def scale(self, suffix: str, position: int, rank: int, axis: int) -> Operand:
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
        scales = self.scale(f"{suffix}_scales", position + 1, len(shape), axis)
        zeros = self.scale(f"{suffix}_zeros", position + 2, len(shape), axis)
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
            scales, zeros = (self.scale(*part, rank, axis) for part in (("scales", position), ("zeros", position + 1)))
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
        scales, zeros = (layers.scale(*part, rank, axis) for part in (("scales", 1), ("zeros", 2)))
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
        scales = (layers.scale("first_scale", 1, 3, 0), layers.scale("second_scale", 4, 3, 0))
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


def _sums(operator: str) -> Reader:
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


def _dynamic(node: OnnxNode) -> Layers:
    """Integers of 8 bits from 0 on, whose scale and zero are those of the values: 0 is one of them."""
    layers, x = _Layers(node), node.array(0)
    values, integers = node.type_of(x), node.type_of(node.outputs[0])
    one, number = TensorType(values.element, (1,)), TensorType(values.element, ())
    flat = layers.shaped("flat", x, (math.prod(values.shape),))
    largest = layers.add("largest", "amax", (flat,), one, dimensions=(0,))
    negative = layers.each("negative", "neg", flat)
    opposite = layers.add("opposite", "amax", (negative,), one, dimensions=(0,))
    below = layers.each("below", "maximum", opposite, 0.0)  # how far the values reach below 0
    spread = layers.each("spread", "add", layers.each("above", "maximum", largest, 0.0), below)
    is_empty = layers.compared("is_empty", "eq", spread, 0.0, (1,))
    wide = layers.add("wide", "where", (is_empty, 1.0, spread), one)
    scales = layers.each("scales", "div", wide, 255.0)
    options = {**_bounds(integers), "divides": True}
    zeros = layers.add("zeros", "quantize", (below, scales, 0), TensorType(integers.element, (1,)), **options)
    names = [*node.outputs[1:], "", ""]
    scale = layers.named(names[0] or f"{node.outputs[0]}_scale", "reshape", (scales,), number)
    zero = layers.named(names[1] or f"{node.outputs[0]}_zero", "reshape", (zeros,), TensorType(integers.element, ()))
    layers.add("", "quantize", (x, scale, zero), integers, **options)
    yield from layers.made


QUANTIZED: dict[str, Reader] = {
    "QuantizeLinear": _quantize, "DequantizeLinear": _dequantize, "QLinearMatMul": _product,
    "QLinearConv": _convolution, "MatMulInteger": _sums("matmul"), "ConvInteger": _sums("conv2d"),
    "DynamicQuantizeLinear": _dynamic,
}  # fmt: skip
