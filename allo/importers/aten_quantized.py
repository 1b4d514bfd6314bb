"""Operators of PyTorch between floats and the integers that stand for them, as layers (`quantized_decomposed`)."""

from __future__ import annotations

from collections.abc import Callable

from ..ir.types import Int, TensorType, UInt
from .aten_moves import Layers, layer
from .exported import AtenNode, NotImported
from .graph import Layer, Operand

_PREFIX = "quantized_decomposed"


def _bounds(node: AtenNode, name: str) -> dict[str, int]:
    """The least and the largest integer, which have to be some of the array."""
    kind, low, high = node.type_of(name).element, node.int("quant_min"), node.int("quant_max")
    if not isinstance(kind, Int | UInt):
        raise NotImported("its integers are none")
    least = -(1 << kind.width - 1) if isinstance(kind, Int) else 0
    if not least <= low <= high < least + (1 << kind.width):
        raise NotImported(f"its integers are {low} to {high}, which {kind!r} does not hold")
    return {"low": low, "high": high}


def _own_layer(node: AtenNode, suffix: str, operator: str, source: str, shape: tuple[int, ...]) -> Layer:
    kind = TensorType(node.type_of(source).element, shape)
    return Layer(f"{node.outputs[0]}_{suffix}", operator, (source,), {}, kind, node.origin)


def _each(node: AtenNode, suffix: str, name: str) -> tuple[list[Layer], Operand]:
    """The scales or zeros of a node: a number, an array for all, or one for each place along the axis `axis`."""
    given = node.arguments.get(name)
    if given is None and name == "zero_points":
        return [], 0
    operand = node.operand(name)
    if not isinstance(operand, str):
        return [], operand
    rank = len(node.type_of(node.outputs[0]).shape)
    places = [1] * rank
    if "axis" in node.arguments:
        axis = node.int("axis") % rank
        places[axis] = node.type_of(operand).shape[0]
    made = _own_layer(node, suffix, "reshape", operand, tuple(places))
    return [made], made.name


def _quantize(scale: str, zero: str) -> Callable[[AtenNode], Layers]:
    def read(node: AtenNode) -> Layers:
        bounds = _bounds(node, node.outputs[0])
        before, scales = _each(node, "scales", scale)
        more, zeros = _each(node, "zeros", zero)
        yield from (*before, *more)
        if isinstance(scales, str):
            inverse = Layer(f"{node.outputs[0]}_inverse", "reciprocal", (scales,), {}, before[0].type, node.origin)
            yield inverse
            factor: Operand = inverse.name
        else:
            factor = 1.0 / scales
        yield layer(node, "quantize", node.array("input"), factor, zeros, **bounds, divides=False)

    return read


def _dequantize(scale: str, zero: str) -> Callable[[AtenNode], Layers]:
    def read(node: AtenNode) -> Layers:
        before, scales = _each(node, "scales", scale)
        more, zeros = _each(node, "zeros", zero)
        yield from (*before, *more)
        yield layer(node, "dequantize", node.array("input"), scales, zeros)

    return read


def _dequantize_groups(node: AtenNode) -> Layers:
    zeros = node.maybe("zero_points")
    inputs = (node.array("input"), node.array("scales"), 0 if zeros is None else zeros)
    yield layer(node, "dequantize", *inputs, group=node.int("group_size"))


QUANTIZED: dict[str, Callable[[AtenNode], Layers]] = {
    f"{_PREFIX}.quantize_per_tensor.default": _quantize("scale", "zero_point"),
    f"{_PREFIX}.quantize_per_tensor.tensor": _quantize("scale", "zero_point"),
    f"{_PREFIX}.quantize_per_channel.default": _quantize("scales", "zero_points"),
    f"{_PREFIX}.dequantize_per_tensor.default": _dequantize("scale", "zero_point"),
    f"{_PREFIX}.dequantize_per_tensor.tensor": _dequantize("scale", "zero_point"),
    f"{_PREFIX}.dequantize_per_channel.default": _dequantize("scales", "zero_points"),
    f"{_PREFIX}.dequantize_per_channel_group.default": _dequantize_groups,
}
