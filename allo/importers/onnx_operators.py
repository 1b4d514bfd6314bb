"""Operators of ONNX as layers: one function for each that is read, by its name in the default domain."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..ir.types import TensorType
from .composed import group_norm, softmax_along
from .exported import NotImported
from .graph import Layer
from .node_layers import NodeLayers
from .onnx_attention import ATTENTION
from .onnx_elements import ELEMENTS
from .onnx_layers import Layers, Reader, layer
from .onnx_nodes import OnnxNode
from .onnx_quantized import QUANTIZED
from .onnx_windows import WINDOWS


def _simple(operator: str, count: int) -> Reader:
    def read(node: OnnxNode) -> Layers:
        if len(node.inputs) != count:
            raise NotImported(f"it has {len(node.inputs)} inputs, and {count} are read")
        yield layer(node, operator, *(node.operand(position) for position in range(count)))

    return read


def _first(operator: str) -> Reader:
    def read(node: OnnxNode) -> Layers:
        yield layer(node, operator, node.array(0))

    return read


def _between(node: OnnxNode, suffix: str, operator: str, inputs: tuple[str, ...], shape: Any, **options: Any) -> Layer:
    """A layer in front of the one of the result."""
    kind = TensorType(node.type_of(node.outputs[0]).element, tuple(shape))
    return Layer(f"{node.outputs[0]}_{suffix}", operator, inputs, options, kind, node.origin)


def _gemm(node: OnnxNode) -> Layers:
    layers, result = NodeLayers(node), node.type_of(node.outputs[0])
    a, b = node.array(0), node.array(1)
    if node.attributes.get("transA"):
        a = layers.turned("turned", a, (1, 0))
    operator = "linear" if node.attributes.get("transB") else "matmul"
    alpha, beta = (node.attributes.get(name, 1.0) for name in ("alpha", "beta"))
    has_bias = node.has(2) and beta != 0
    if alpha == beta == 1 and (not has_bias or node.shape(2) == result.shape[-1:]):
        layers.add("", operator, (a, b, *([node.array(2)] if has_bias else [])), result)
    else:
        product = layers.add("product", operator, (a, b), result)
        scaled = layers.each("scaled", "mul", product, alpha)
        added = node.operand(2) if has_bias else 0
        if has_bias and beta != 1:
            added = layers.each("bias", "mul", node.array(2), beta)
        layers.add("", "add", (scaled, added), result)
    yield from layers.made


def _batch_norm(node: OnnxNode) -> Layers:
    if node.attributes.get("training_mode"):
        raise NotImported("it is in training mode")
    yield layer(
        node, "batch_norm", *(node.array(number) for number in range(5)), eps=node.attributes.get("epsilon", 1e-5)
    )


def _softmax(node: OnnxNode) -> Layers:
    name, axis = node.outputs[0], node.attributes.get("axis", -1)
    yield from softmax_along(name, node.array(0), axis, node.type_of(name), node.origin)


def _row_norm(node: OnnxNode) -> Layers:
    """A norm along the last dimensions, which become one."""
    layers, shape, kind = NodeLayers(node), node.shape(0), node.type_of(node.outputs[0])
    first = node.attributes.get("axis", -1) % len(shape)
    size = prod(shape[first:])
    given = [name for name in (node.maybe(1), node.maybe(2)) if name]
    if any(node.outputs[1:]):
        raise NotImported("it gives its mean and deviation")
    options: dict[str, Any] = {"eps": node.attributes.get("epsilon", 1e-5)}
    operator = "rms_norm" if node.operator == "RMSNormalization" else "layer_norm"
    if operator == "layer_norm":
        options["weighted"] = True
    if first == len(shape) - 1 and all(node.type_of(name).shape == shape[-1:] for name in given):
        yield layer(node, operator, node.array(0), *given, **options)
        return
    rows = layers.shaped("rows", node.array(0), (*shape[:first], size))
    scales = []
    for number, name in enumerate(given):
        own = TensorType(node.type_of(name).element, shape[first:])
        scales.append(layers.shaped(f"scale{number}", layers.add(f"each{number}", "expand", (name,), own), (size,)))
    flat = TensorType(kind.element, (*shape[:first], size))
    normal = layers.add("normal", operator, (rows, *scales), flat, **options)
    layers.shaped("", normal, shape)
    yield from layers.made


def _group_norm(node: OnnxNode) -> Layers:
    channels = node.shape(0)[1]
    groups = node.attributes["num_groups"] if node.operator == "GroupNormalization" else channels
    scales, eps = (node.array(1), node.array(2)), node.attributes.get("epsilon", 1e-5)
    name = node.outputs[0]
    yield from group_norm(name, node.array(0), scales, groups, eps, node.type_of(name), node.origin)


def _transpose(node: OnnxNode) -> Layers:
    rank = len(node.shape(0))
    yield layer(node, "permute", node.array(0), order=tuple(node.attributes.get("perm", range(rank)[::-1])))


def _concat(node: OnnxNode) -> Layers:
    rank = len(node.shape(0))
    inputs = (node.array(position) for position in range(len(node.inputs)))
    yield layer(node, "concat", *inputs, dimension=node.attributes["axis"] % rank)


def _slice(node: OnnxNode) -> Layers:
    """A slice in each dimension that has one."""
    starts, ends = node.ints(1, "starts"), node.ints(2, "ends")
    shape, source = list(node.shape(0)), node.array(0)
    axes, steps = node.ints(3, "axes") or tuple(range(len(starts))), node.ints(4, "steps") or (1,) * len(starts)
    for number, (axis, start, end, step) in enumerate(zip(axes, starts, ends, steps, strict=True)):
        if step < 1:
            raise NotImported("it goes backwards")
        own = range(shape[axis])[start:end:step]
        shape[axis] = len(own)
        options = {"dimension": axis % len(shape), "start": own.start, "step": step}
        if number == len(axes) - 1:
            yield layer(node, "slice", source, **options)
            return
        yield (part := _between(node, f"slice{number}", "slice", (source,), shape, **options))
        source = part.name


def _split(node: OnnxNode) -> Layers:
    start, rank = 0, len(node.shape(0))
    dimension = node.attributes.get("axis", 0) % rank
    for name in node.outputs:
        kind = node.type_of(name)
        options = {"dimension": dimension, "start": start, "step": 1}
        yield Layer(name, "slice", (node.array(0),), options, kind, node.origin)
        start += kind.shape[dimension]


def _gather(node: OnnxNode) -> Layers:
    shape = node.shape(0)
    dimension = node.attributes.get("axis", 0) % len(shape)
    indices = node.values.constants.get(node.array(1))
    if indices is not None and not indices.ndim and -shape[dimension] <= indices < shape[dimension]:
        yield layer(node, "select", node.array(0), dimension=dimension, index=indices.item() % shape[dimension])
    else:
        yield layer(node, "index", node.array(0), node.array(1), dimension=dimension, wraps=True)


def _triangle(node: OnnxNode) -> Layers:
    """Elements on one side of a diagonal; the others are 0."""
    layers, shape = NodeLayers(node), node.shape(0)
    offset = node.known(1).item() if node.has(1) else 0
    places = np.arange(shape[-1]) - np.arange(shape[-2])[:, None]
    inside = layers.known("inside", places >= offset if node.attributes.get("upper", 1) else places <= offset)
    layers.add("", "where", (inside, node.array(0), 0), node.type_of(node.outputs[0]))
    yield from layers.made


READERS: dict[str, Reader] = {
    **QUANTIZED, **WINDOWS, **ATTENTION, **ELEMENTS,
    "Equal": _simple("eq", 2), "Less": _simple("lt", 2), "LessOrEqual": _simple("le", 2),
    "Greater": _simple("gt", 2), "GreaterOrEqual": _simple("ge", 2), "And": _simple("logical_and", 2),
    "Or": _simple("logical_or", 2), "Xor": _simple("ne", 2), "Not": _simple("logical_not", 1),
    "Where": _simple("where", 3), "Cast": _simple("convert", 1), "CastLike": _first("convert"),
    "Sub": _simple("sub", 2), "Div": _simple("div", 2), "Pow": _simple("pow", 2), "PRelu": _simple("prelu", 2),
    **{name: _simple(name.lower(), 1) for name in (
        "Relu", "Sigmoid", "Tanh", "Exp", "Log", "Sqrt", "Erf", "Neg", "Abs", "Reciprocal", "Sin", "Cos", "HardSwish",
        "Softplus", "Softsign", "Mish",
    )},
    "Reshape": _first("reshape"), "Flatten": _first("reshape"), "Squeeze": _first("reshape"),
    "Unsqueeze": _first("reshape"), "Expand": _first("expand"), "Tile": _first("repeat"),
    "MatMul": _simple("matmul", 2), "Gemm": _gemm, "BatchNormalization": _batch_norm, "Softmax": _softmax,
    "LayerNormalization": _row_norm, "RMSNormalization": _row_norm, "GroupNormalization": _group_norm,
    "InstanceNormalization": _group_norm, "Transpose": _transpose, "Concat": _concat, "Slice": _slice,
    "Split": _split, "Gather": _gather, "Trilu": _triangle,
}  # fmt: skip


def constant(node: OnnxNode) -> np.ndarray[Any, Any] | None:
    """The result of a node that gives what is known without computing: constants, shapes, ranges."""
    if node.operator == "Constant":
        value = next(iter(node.attributes.values()))
        return np.asarray(value, None if isinstance(value, np.ndarray) else _number_type(value))
    if node.operator == "Shape":
        return np.array(node.shape(0)[node.attributes.get("start", 0) : node.attributes.get("end")], np.int64)
    if node.operator == "Size":
        return np.array(prod(node.shape(0)), np.int64)
    if node.operator == "ConstantOfShape":
        return np.full(tuple(node.known(0)), np.asarray(node.attributes.get("value", np.float32(0))).reshape(()))
    if node.operator == "Range":
        return np.arange(*(node.known(position).item() for position in range(3)), dtype=node.known(0).dtype)
    return None


def _number_type(value: Any) -> type[np.generic]:
    first = value[0] if isinstance(value, list | tuple) else value
    return np.float32 if isinstance(first, float) else np.int64
