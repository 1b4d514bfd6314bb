"""Operators of ONNX as layers: one function for each that is read, by its name in the default domain."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..ir.types import TensorType
from .composed import group_norm, softmax_along, windows_rounded_up, with_own_divisors
from .exported import NotImported
from .graph import Layer, Operand
from .onnx_nodes import OnnxNode
from .onnx_quantized import QUANTIZED, padding, pair, window_options

type Layers = Iterator[Layer]


def layer(node: OnnxNode, operator: str, *inputs: Operand | None, **options: Any) -> Layer:
    """The layer of the first result of a node."""
    given = tuple(operand for operand in inputs if operand is not None)
    return Layer(node.outputs[0], operator, given, options, node.type_of(node.outputs[0]), node.origin)


def _simple(operator: str, count: int) -> Callable[[OnnxNode], Layers]:
    def read(node: OnnxNode) -> Layers:
        if len(node.inputs) != count:
            raise NotImported(f"it has {len(node.inputs)} inputs, and {count} are read")
        yield layer(node, operator, *(node.operand(position) for position in range(count)))

    return read


def _first(operator: str) -> Callable[[OnnxNode], Layers]:
    def read(node: OnnxNode) -> Layers:
        yield layer(node, operator, node.array(0))

    return read


def _between(node: OnnxNode, suffix: str, operator: str, inputs: tuple[str, ...], shape: Any, **options: Any) -> Layer:
    """A layer in front of the one of the result."""
    kind = TensorType(node.type_of(node.outputs[0]).element, tuple(shape))
    return Layer(f"{node.outputs[0]}_{suffix}", operator, inputs, options, kind, node.origin)


def _gemm(node: OnnxNode) -> Layers:
    if node.attributes.get("alpha", 1.0) != 1.0 or node.attributes.get("beta", 1.0) != 1.0:
        raise NotImported("it scales what it adds (alpha, beta)")
    a, b = node.array(0), node.array(1)
    if node.attributes.get("transA"):
        turned = _between(node, "turned", "permute", (a,), node.shape(0)[::-1], order=(1, 0))
        yield turned
        a = turned.name
    operator = "linear" if node.attributes.get("transB") else "matmul"
    result = node.type_of(node.outputs[0]).shape
    if not node.has(2) or node.shape(2) == result[-1:]:
        yield layer(node, operator, a, b, node.maybe(2))
        return
    product = _between(node, "product", operator, (a, b), result)
    yield product
    yield layer(node, "add", product.name, node.operand(2))


def _conv(node: OnnxNode) -> Layers:
    options = window_options(node, node.shape(1)[2:])
    yield layer(node, "conv2d", node.array(0), node.array(1), node.maybe(2), **options)


def _pool(node: OnnxNode) -> Layers:
    window = tuple(node.attributes["kernel_shape"])
    if len(window) != 2:
        raise NotImported("its windows have other than two dimensions")
    if node.attributes.get("storage_order"):
        raise NotImported("it counts columns first (storage_order)")
    borders, kind = padding(node), node.type_of(node.array(0))
    options: dict[str, Any] = {"window": window, "stride": pair(node, "strides"), "padding": borders}
    options["dilation"] = pair(node, "dilations")
    if node.attributes.get("ceil_mode"):
        options = windows_rounded_up(kind.shape[-2:], options)
    if node.operator == "MaxPool":
        yield layer(node, "max_pool2d", node.array(0), **options)
        return
    if options.pop("dilation") != (1, 1):
        raise NotImported("its windows have gaps (dilations)")
    made = layer(node, "avg_pool2d", node.array(0), divisor=window[0] * window[1], **options)
    counts_padding = borders == (0, 0) or bool(node.attributes.get("count_include_pad"))
    differ = not counts_padding or any(options.get("behind", ()))
    yield from with_own_divisors(made, kind, count_padding=counts_padding) if differ else (made,)


def _global_pool(node: OnnxNode) -> Layers:
    rank = len(node.shape(0))
    yield layer(node, "mean", node.array(0), dimensions=tuple(range(2, rank)))


def _batch_norm(node: OnnxNode) -> Layers:
    if node.attributes.get("training_mode"):
        raise NotImported("it is in training mode")
    yield layer(
        node, "batch_norm", *(node.array(number) for number in range(5)), eps=node.attributes.get("epsilon", 1e-5)
    )


def _last_dimension(node: OnnxNode) -> None:
    rank = len(node.shape(0))
    if node.attributes.get("axis", -1) % rank != rank - 1:
        raise NotImported("it is not along the last dimension")


def _softmax(node: OnnxNode) -> Layers:
    name, axis = node.outputs[0], node.attributes.get("axis", -1)
    yield from softmax_along(name, node.array(0), axis, node.type_of(name), node.origin)


def _layer_norm(node: OnnxNode) -> Layers:
    _last_dimension(node)
    eps = node.attributes.get("epsilon", 1e-5)
    yield layer(node, "layer_norm", node.array(0), node.array(1), node.maybe(2), eps=eps, weighted=True)


def _group_norm(node: OnnxNode) -> Layers:
    channels = node.shape(0)[1]
    groups = node.attributes["num_groups"] if node.operator == "GroupNormalization" else channels
    scales, eps = (node.array(1), node.array(2)), node.attributes.get("epsilon", 1e-5)
    name = node.outputs[0]
    yield from group_norm(name, node.array(0), scales, groups, eps, node.type_of(name), node.origin)


def _rms_norm(node: OnnxNode) -> Layers:
    _last_dimension(node)
    yield layer(node, "rms_norm", node.array(0), node.array(1), eps=node.attributes.get("epsilon", 1e-5))


def _attention(node: OnnxNode) -> Layers:
    if node.has(6) or len(node.outputs) > 3:
        raise NotImported("it has lengths without padding (nonpad_kv_seqlen), or gives its scores")
    causal = bool(node.attributes.get("is_causal"))
    if node.has(4) != node.has(5) or (node.has(4) and causal):
        raise NotImported("its cache has one half, or a causal mask, whose place depends on the version: give a mask")
    if node.attributes.get("softcap", 0.0) or len(node.shape(0)) != 4:
        raise NotImported("it bounds its scores (softcap), or has its heads in one dimension")
    scale = node.attributes.get("scale", node.shape(0)[-1] ** -0.5)
    present = []
    for position, part in ((1, "keys"), (2, "values")):
        name = node.outputs[position] if len(node.outputs) > position else ""
        held = node.array(position)
        if node.has(position + 3):  # the cache is in front, and what comes out is the next one
            shape, more = node.shape(position + 3), node.shape(position)
            whole = TensorType(node.type_of(held).element, (*shape[:2], shape[2] + more[2], shape[3]))
            before, name = (node.array(position + 3), held), name or f"{node.outputs[0]}_{part}"
            yield Layer(name, "concat", before, {"dimension": 2}, whole, node.origin)
            held = name
        elif name:
            yield Layer(name, "reshape", (held,), {}, node.type_of(held), node.origin)
        present.append(held)
    yield layer(
        node, "attention", node.array(0), *present, node.maybe(3), causal=causal, scale=scale
    )


def _reduction(operator: str) -> Callable[[OnnxNode], Layers]:
    def read(node: OnnxNode) -> Layers:
        rank = len(node.shape(0))
        axes = node.ints(1, "axes")
        if not axes and node.attributes.get("noop_with_empty_axes"):
            raise NotImported("it has no axes (noop_with_empty_axes)")
        dimensions = tuple(sorted(axis % rank for axis in axes)) or tuple(range(rank))
        yield layer(node, operator, node.array(0), dimensions=dimensions)

    return read


def _clip(node: OnnxNode) -> Layers:
    bounds = [node.known(position).item() if node.has(position) else None for position in (1, 2)]
    yield layer(node, "clamp", node.array(0), low=bounds[0], high=bounds[1])


def _gelu(node: OnnxNode) -> Layers:
    yield layer(node, "gelu", node.array(0), approximate=node.attributes.get("approximate", "none"))


def _leaky_relu(node: OnnxNode) -> Layers:
    yield layer(node, "leaky_relu", node.array(0), slope=node.attributes.get("alpha", 0.01))


def _hard_sigmoid(node: OnnxNode) -> Layers:
    if abs(node.attributes.get("alpha", 0.2) - 1 / 6) > 1e-6 or node.attributes.get("beta", 0.5) != 0.5:
        raise NotImported("it is not clamp(x / 6 + 1 / 2, 0, 1)")
    yield layer(node, "hardsigmoid", node.array(0))


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


READERS: dict[str, Callable[[OnnxNode], Layers]] = {
    **QUANTIZED,
    "Add": _simple("add", 2), "Sub": _simple("sub", 2), "Mul": _simple("mul", 2), "Div": _simple("div", 2),
    "Pow": _simple("pow", 2), "Max": _simple("maximum", 2), "Min": _simple("minimum", 2), "Sum": _simple("add", 2),
    "Equal": _simple("eq", 2), "Less": _simple("lt", 2), "LessOrEqual": _simple("le", 2),
    "Greater": _simple("gt", 2), "GreaterOrEqual": _simple("ge", 2), "And": _simple("logical_and", 2),
    "Or": _simple("logical_or", 2), "Not": _simple("logical_not", 1), "Where": _simple("where", 3),
    "Relu": _simple("relu", 1), "Sigmoid": _simple("sigmoid", 1), "Tanh": _simple("tanh", 1),
    "Exp": _simple("exp", 1), "Log": _simple("log", 1), "Sqrt": _simple("sqrt", 1), "Erf": _simple("erf", 1),
    "Neg": _simple("neg", 1), "Abs": _simple("abs", 1), "Reciprocal": _simple("reciprocal", 1),
    "Sin": _simple("sin", 1), "Cos": _simple("cos", 1), "HardSwish": _simple("hardswish", 1),
    "Swish": _simple("silu", 1), "Cast": _simple("convert", 1), "CastLike": _first("convert"),
    "Reshape": _first("reshape"), "Flatten": _first("reshape"), "Squeeze": _first("reshape"),
    "Unsqueeze": _first("reshape"), "Expand": _first("expand"), "Tile": _first("repeat"),
    "MatMul": _simple("matmul", 2), "Gemm": _gemm, "Conv": _conv, "MaxPool": _pool, "AveragePool": _pool,
    "GlobalAveragePool": _global_pool, "BatchNormalization": _batch_norm, "Softmax": _softmax,
    "LayerNormalization": _layer_norm, "RMSNormalization": _rms_norm,
    "GroupNormalization": _group_norm, "InstanceNormalization": _group_norm, "Attention": _attention,
    "ReduceMean": _reduction("mean"), "ReduceSum": _reduction("sum"), "ReduceMax": _reduction("amax"),
    "Clip": _clip, "Gelu": _gelu, "LeakyRelu": _leaky_relu, "HardSigmoid": _hard_sigmoid, "Transpose": _transpose,
    "Concat": _concat, "Slice": _slice, "Split": _split, "Gather": _gather,
}  # fmt: skip


def constant(node: OnnxNode) -> np.ndarray[Any, Any] | None:
    """The result of a node that gives what is known without computing: constants, shapes, ranges."""
    if node.operator == "Constant":
        value = next(iter(node.attributes.values()))
        return np.asarray(value, None if isinstance(value, np.ndarray) else _number_type(value))
    if node.operator == "Shape":
        return np.array(node.shape(0)[node.attributes.get("start", 0) : node.attributes.get("end")], np.int64)
    if node.operator == "ConstantOfShape":
        return np.full(tuple(node.known(0)), np.asarray(node.attributes.get("value", np.float32(0))).reshape(()))
    if node.operator == "Range":
        return np.arange(*(node.known(position).item() for position in range(3)), dtype=node.known(0).dtype)
    return None


def _number_type(value: Any) -> type[np.generic]:
    first = value[0] if isinstance(value, list | tuple) else value
    return np.float32 if isinstance(first, float) else np.int64
