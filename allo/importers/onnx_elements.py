"""Operators of ONNX on elements and along dimensions as layers: activations, several operands, sums and extremes."""

from __future__ import annotations

from typing import Any

from ..ir.types import TensorType
from .composed import log_sum_exp
from .exported import NotImported
from .node_layers import NodeLayers
from .onnx_layers import Layers, Reader, layer
from .onnx_nodes import OnnxNode


def _several(operator: str, *, mean: bool = False) -> Reader:
    """One operand after the other."""

    def read(node: OnnxNode) -> Layers:
        layers, kind, count = NodeLayers(node), node.type_of(node.outputs[0]), len(node.inputs)
        total = node.operand(0)
        if count == 1:
            layers.add("" if not mean else "one", "reshape", (node.array(0),), kind)
        for position in range(1, count):
            is_last = position == count - 1 and not mean
            shape = kind if is_last else TensorType(kind.element, _broadcast(node, position))
            total = layers.add("" if is_last else f"part{position}", operator, (total, node.operand(position)), shape)
        if mean:
            layers.add("", "div", (layers.made[-1].name, float(count)), kind)
        yield from layers.made

    return read


def _broadcast(node: OnnxNode, last: int) -> tuple[int, ...]:
    from numpy import broadcast_shapes

    return tuple(broadcast_shapes(*(node.shape(position) for position in range(last + 1))))


def _with(operator: str, **defaults: Any) -> Reader:
    """An operator whose attributes are the options of its layer, with what they are if they are left out."""

    def read(node: OnnxNode) -> Layers:
        options = {name.rstrip("_"): node.attributes.get(given, default)
                   for name, (given, default) in defaults.items()}  # fmt: skip
        yield layer(node, operator, node.array(0), **options)

    return read


def _clip(node: OnnxNode) -> Layers:
    bounds = [node.known(position).item() if node.has(position) else None for position in (1, 2)]
    yield layer(node, "clamp", node.array(0), low=bounds[0], high=bounds[1])


def _hard_sigmoid(node: OnnxNode) -> Layers:
    alpha, beta = node.attributes.get("alpha", 0.2), node.attributes.get("beta", 0.5)
    if abs(alpha - 1 / 6) <= 1e-6 and beta == 0.5:
        yield layer(node, "hardsigmoid", node.array(0))
        return
    layers = NodeLayers(node)
    line = layers.each("line", "add", layers.each("scaled", "mul", node.array(0), alpha), beta)
    layers.each("", "clamp", line, low=0.0, high=1.0)
    yield from layers.made


def _swish(node: OnnxNode) -> Layers:
    """`x * sigmoid(alpha * x)`, times the second operand of SwiGLU."""
    layers, alpha, x = NodeLayers(node), node.attributes.get("alpha", 1.0), node.array(0)
    is_last = node.operator == "Swish"
    if alpha == 1.0:
        gate = layers.each("" if is_last else "gate", "silu", x)
    else:
        sigmoid = layers.each("sigmoid", "sigmoid", layers.each("scaled", "mul", x, alpha))
        gate = layers.each("" if is_last else "gate", "mul", x, sigmoid)
    if not is_last:
        layers.each("", "mul", gate, node.operand(1))
    yield from layers.made


def _is_nan(node: OnnxNode) -> Layers:
    yield layer(node, "ne", node.array(0), node.array(0))


# -- along dimensions ------------------------------------------------------------------------------


def _dimensions(node: OnnxNode) -> tuple[int, ...]:
    rank = len(node.shape(0))
    axes = node.ints(1, "axes")
    if not axes and node.attributes.get("noop_with_empty_axes"):
        return ()
    return tuple(sorted(axis % rank for axis in axes)) or tuple(range(rank))


def _reduction(operator: str, before: str = "", after: str = "") -> Reader:
    """A sum, mean or largest element, of what `before` makes of elements; `after` makes the result of it."""

    def read(node: OnnxNode) -> Layers:
        layers, result, source = NodeLayers(node), node.type_of(node.outputs[0]), node.array(0)
        dimensions = _dimensions(node)
        if before:
            source = layers.each("each", before, source)
        if dimensions:
            source = layers.add("along" if after else "", operator, (source,), result, dimensions=dimensions)
        if after:
            layers.add("", after, (source,), result)
        elif not dimensions:
            layers.shaped("", source, result.shape)
        yield from layers.made

    return read


def _log_sum_exp(node: OnnxNode) -> Layers:
    """The logarithm of a sum of powers, of which the largest is 1; `LogSoftmax` is taken from the elements."""
    layers, source, is_softmax = NodeLayers(node), node.array(0), node.operator == "LogSoftmax"
    dimensions = (node.attributes.get("axis", -1) % len(node.shape(0)),) if is_softmax else _dimensions(node)
    if not dimensions:
        raise NotImported("it has no axes (noop_with_empty_axes)")
    log_sum_exp(layers, source, dimensions, is_softmax=is_softmax)
    yield from layers.made


ELEMENTS: dict[str, Reader] = {
    "Add": _several("add"), "Mul": _several("mul"), "Sum": _several("add"), "Max": _several("maximum"),
    "Min": _several("minimum"), "Mean": _several("add", mean=True),
    "Clip": _clip, "HardSigmoid": _hard_sigmoid, "Swish": _swish, "SwiGLU": _swish, "IsNaN": _is_nan,
    "Gelu": _with("gelu", approximate=("approximate", "none")),
    "LeakyRelu": _with("leaky_relu", slope=("alpha", 0.01)), "Elu": _with("elu", alpha=("alpha", 1.0)),
    "Celu": _with("celu", alpha=("alpha", 1.0)), "ThresholdedRelu": _with("above", least=("alpha", 1.0)),
    "Selu": _with("selu", alpha=("alpha", 1.67326319217681884765625), gamma=("gamma", 1.05070102214813232421875)),
    "ReduceMean": _reduction("mean"), "ReduceSum": _reduction("sum"), "ReduceMax": _reduction("amax"),
    "ReduceMin": _reduction("amax", "neg", "neg"), "ReduceL1": _reduction("sum", "abs"),
    "ReduceL2": _reduction("sum", "square", "sqrt"), "ReduceSumSquare": _reduction("sum", "square"),
    "ReduceLogSum": _reduction("sum", "", "log"), "ReduceLogSumExp": _log_sum_exp, "LogSoftmax": _log_sum_exp,
}  # fmt: skip
