"""Sums of products of integers in place of sums of products of the floats that they stand for.

Source: Jacob et al. 2018, section 2.2: the scales of both operands are multiplied with the sum, not with its terms.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..ir.names import unique_name
from ..ir.types import Float, Int, TensorType, UInt
from .graph import Array, Layer, LayerGraph, Operand

_SUM = Int(32)


@dataclass(frozen=True, slots=True)
class IntegerOperands:
    """The operands of a product: integers, their zeros, their scales; `weights` are known."""

    x: str
    x_type: TensorType
    x_width: int
    x_scale: float
    x_zero: int
    weights: Array
    scales: Array  # one, one for each output, or one for each output and group
    group: int


def integer_products(graph: LayerGraph) -> LayerGraph:
    """Linear layers, products of matrices and convolutions of dequantised values add up integers, in 32 bits.

    Weights are known, with one scale for all, for each output, or (linear layers) for groups of columns; the other
    operand has one scale and one zero. What cannot overflow 32 bits is done so; the rest stays a product of floats.
    """
    layers, constants, types = {one.name: one for one in graph.layers}, dict(graph.constants), graph.types()
    names, made = set(types), list[Layer]()
    for layer in graph.layers:
        found = _operands(layer, layers, constants, types)
        made += [layer] if found is None else _integer(layer, found, constants, names)
    return replace(graph, layers=tuple(made), constants=constants)


def _known(operand: Operand, constants: Mapping[str, Array]) -> Array | None:
    return constants.get(operand) if isinstance(operand, str) else np.asarray(operand)


def _operands(
    layer: Layer, layers: Mapping[str, Layer], constants: Mapping[str, Array], types: Mapping[str, TensorType]
) -> IntegerOperands | None:
    """The integers that a product is made of, if it is one."""
    if layer.operator not in ("linear", "matmul", "conv2d") or not isinstance(layer.type.element, Float):
        return None
    given = [layers.get(str(operand)) for operand in layer.inputs[:2]]
    first, second = given
    if first is None or second is None or any(one.operator != "dequantize" for one in (first, second)):
        return None
    parts = [_known(operand, constants) for operand in (*first.inputs[1:], *second.inputs)]
    x_scale, x_zero, weights, scales, zeros = parts
    if x_scale is None or x_zero is None or weights is None or scales is None or zeros is None:
        return None
    group = int(second.options.get("group", 0))
    if x_scale.size != 1 or x_zero.size != 1 or (group and (layer.operator != "linear" or zeros.any())):
        return None
    if layer.operator == "matmul" and (weights.ndim != 2 or len(layer.inputs) > 2):
        return None
    axis = 1 if layer.operator == "matmul" else 0
    if not group and scales.size != 1 and scales.size != weights.shape[axis]:
        return None
    if not group and scales.size != 1 and scales.shape[axis - weights.ndim :][0] != weights.shape[axis]:
        return None
    whole = weights.astype(np.int64) - (0 if group else zeros.astype(np.int64))
    source = types[str(first.inputs[0])]
    terms = group if group else math.prod(weights.shape) // weights.shape[axis]
    assert isinstance(source.element, Int | UInt)
    zero = int(x_zero.reshape(()))
    if terms * ((1 << source.element.width) + abs(zero)) * max(int(np.abs(whole).max()), 1) >= 1 << 31:
        return None
    own = scales if group else scales.reshape(-1)
    return IntegerOperands(
        str(first.inputs[0]), source, source.element.width, float(x_scale.reshape(())), zero, _narrow(whole), own, group
    )


def _narrow(whole: Array) -> Array:
    """Weights in 8 bits where that is enough."""
    return whole.astype(np.int8 if whole.min() >= -128 and whole.max() < 128 else np.int16)


def _integer(layer: Layer, found: IntegerOperands, constants: dict[str, Array], names: set[str]) -> list[Layer]:
    """The layers: the integers less their zero, the sum of products, its scale, and what is added."""

    def own(part: str) -> str:
        return unique_name(f"{layer.name}_{part}", names)

    made: list[Layer] = []
    weights, scale, x = own("integers"), own("scale"), found.x
    constants[weights] = found.weights
    wide = np.asarray(found.scales, np.float64) * found.x_scale
    if layer.operator == "conv2d" and wide.size > 1:
        wide = wide.reshape(-1, 1, 1)
    constants[scale] = wide.astype(np.float32)
    if found.x_zero:
        x = own("centred")
        kind = TensorType(Int(16 if found.x_width < 15 else 32), found.x_type.shape)
        made.append(replace(layer, name=x, operator="sub", inputs=(found.x, found.x_zero), options={}, type=kind))
    if found.group:
        parts_shape = (*found.x_type.shape[:-1], found.scales.shape[-1], found.group)
        constants[weights] = found.weights.reshape(-1, *parts_shape[-2:])
        element = made[-1].type.element if made else found.x_type.element
        kind, before, x = TensorType(element, parts_shape), x, own("groups")
        made.append(replace(layer, name=x, operator="reshape", inputs=(before,), options={}, type=kind))
    bias = layer.inputs[2:]
    shape = (*layer.type.shape, found.scales.shape[-1]) if found.group else layer.type.shape
    operator = "grouped_linear" if found.group else layer.operator
    sums = replace(layer, name=own("sums"), operator=operator, inputs=(x, weights), type=TensorType(_SUM, shape))
    result = replace(layer, options={}, operator="dequantize", inputs=(sums.name, scale, 0))
    made.append(sums)
    if found.group:
        parts = replace(result, name=own("parts"), type=TensorType(layer.type.element, shape))
        made.append(parts)
        result = replace(result, operator="sum", inputs=(parts.name,), options={"dimensions": (len(shape) - 1,)})
    if not bias:
        return [*made, result]
    made.append(replace(result, name=own("scaled")))
    added = bias[0]
    if layer.operator == "conv2d":
        places = TensorType(layer.type.element, (layer.type.shape[1], 1, 1))
        added = own("bias")
        made.append(replace(layer, name=added, operator="reshape", inputs=bias, options={}, type=places))
    return [*made, replace(layer, operator="add", inputs=(made[-1 - (added != bias[0])].name, added), options={})]
