"""Operators of PyTorch as layers: a function for each that is read, by the name that exported programs have for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..ir.types import Float
from .composed import softmax_along
from .exported import AtenNode, NotImported
from .graph import Layer, Operand

type Layers = Iterator[Layer]

_UNARY = {
    "relu", "silu", "sigmoid", "tanh", "exp", "log", "sqrt", "rsqrt", "reciprocal", "neg", "abs", "sin", "cos", "erf",
    "hardswish", "hardsigmoid", "logical_not", "square",
}  # fmt: skip
_BINARY = {
    "mul": "mul", "div": "div", "maximum": "maximum", "minimum": "minimum", "eq": "eq", "ne": "ne", "lt": "lt",
    "le": "le", "gt": "gt", "ge": "ge", "logical_and": "logical_and", "logical_or": "logical_or",
    "bitwise_and": "logical_and", "bitwise_or": "logical_or",
}  # fmt: skip
_RESHAPES = {
    "view.default", "reshape.default", "_unsafe_view.default", "unsqueeze.default", "squeeze.dim", "squeeze.dims",
    "squeeze.default", "flatten.using_ints", "view_copy.default", "unflatten.int",
}  # fmt: skip


def layer(node: AtenNode, operator: str, *inputs: Operand | None, **options: Any) -> Layer:
    """The layer of the first result of a node."""
    given = tuple(operand for operand in inputs if operand is not None)
    return Layer(node.outputs[0], operator, given, options, node.type_of(node.outputs[0]), node.origin)


def _parts(node: AtenNode, dimension: int, sizes: list[int]) -> Layers:
    start = 0
    for name, size in zip(node.outputs, sizes, strict=True):
        options = {"dimension": dimension, "start": start, "step": 1}
        yield Layer(name, "slice", (node.array("self"),), options, node.type_of(name), node.origin)
        start += size


def _split(node: AtenNode) -> Layers:
    dimension = _dimension(node, "dim")
    shapes = [node.type_of(name).shape for name in node.outputs]
    yield from _parts(node, dimension, [shape[dimension] for shape in shapes])


def _dimension(node: AtenNode, name: str, operand: str = "self", default: int = 0) -> int:
    return node.int(name, default) % max(len(node.type_of(node.array(operand)).shape), 1)


def _slice(node: AtenNode) -> Layers:
    dimension = _dimension(node, "dim")
    extent = node.type_of(node.array("self")).shape[dimension]
    start = node.int("start", 0)
    start = min(max(start + extent if start < 0 else start, 0), extent)
    yield layer(
        node, "slice", node.array("self"), dimension=dimension, start=start, step=node.int("step", 1)
    )


def _select(node: AtenNode) -> Layers:
    dimension = _dimension(node, "dim")
    index = node.int("index")
    extent = node.type_of(node.array("self")).shape[dimension]
    yield layer(node, "select", node.array("self"), dimension=dimension, index=index % extent)


def _concat(node: AtenNode) -> Layers:
    arrays = node.arrays("tensors")
    rank = len(node.type_of(node.outputs[0]).shape)
    yield layer(node, "concat", *arrays, dimension=node.int("dim", 0) % rank)


def _permute(node: AtenNode) -> Layers:
    dims = node.ints("dims")
    yield layer(node, "permute", node.array("self"), order=tuple(d % len(dims) for d in dims))


def _transpose(node: AtenNode) -> Layers:
    rank = len(node.type_of(node.array("self")).shape)
    order = list(range(rank))
    first, second = (node.int(name) % rank for name in ("dim0", "dim1")) if rank > 1 else (0, 0)
    if "dim0" not in node.arguments:
        first, second = 0, rank - 1
    order[first], order[second] = order[second], order[first]
    yield layer(node, "permute", node.array("self"), order=tuple(order))


def _matrix_transpose(node: AtenNode) -> Layers:
    rank = len(node.type_of(node.array("self")).shape)
    yield layer(node, "permute", node.array("self"), order=tuple(reversed(range(rank))))


def _addmm(node: AtenNode) -> Layers:
    if node.float("alpha", 1) != 1 or node.float("beta", 1) != 1:
        raise NotImported("it scales what it adds (alpha, beta)")
    yield layer(node, "matmul", node.array("mat1"), node.array("mat2"), node.array("self"))


def _conv2d(node: AtenNode) -> Layers:
    padding = node.arguments.get("padding", (0, 0))
    if padding == "valid":
        padding = (0, 0)
    if node.arguments.get("transposed"):
        raise NotImported("it is a transposed convolution")
    kernel = node.type_of(node.array("weight")).shape[2:]
    dilation, stride = _pair(node.ints("dilation", (1, 1))), _pair(node.ints("stride", (1, 1)))
    if len(kernel) != 2:
        raise NotImported("it is a convolution of other than two dimensions")
    if padding == "same":
        whole = [d * (k - 1) for d, k in zip(dilation, kernel, strict=True)]
        if any(size % 2 for size in whole):
            raise NotImported("its padding is not the same on both sides")
        padding = tuple(size // 2 for size in whole)
    elif isinstance(padding, str):
        raise NotImported(f"its padding is {padding!r}")
    else:
        padding = _pair(node.ints("padding", (0, 0)))
    yield layer(
        node, "conv2d", node.array("input"), node.array("weight"), node.maybe("bias"),
        stride=stride, padding=padding, dilation=dilation, groups=node.int("groups", 1),
    )  # fmt: skip


def _pair(values: tuple[int, ...]) -> tuple[int, int]:
    if len(values) == 1:
        return values[0], values[0]
    if len(values) != 2:
        raise NotImported("its windows have other than two dimensions")
    return values[0], values[1]


def _max_pool(node: AtenNode) -> Layers:
    if node.arguments.get("ceil_mode"):
        raise NotImported("it rounds the number of windows up (ceil_mode)")
    window = _pair(node.ints("kernel_size"))
    yield layer(
        node, "max_pool2d", node.array("self"), window=window, stride=_pair(node.ints("stride", ()) or window),
        padding=_pair(node.ints("padding", (0, 0))), dilation=_pair(node.ints("dilation", (1, 1))),
    )  # fmt: skip


def _average_pool(node: AtenNode) -> Layers:
    if node.arguments.get("ceil_mode"):
        raise NotImported("it rounds the number of windows up (ceil_mode)")
    window, padding = _pair(node.ints("kernel_size")), _pair(node.ints("padding", (0, 0)))
    if padding != (0, 0) and node.arguments.get("count_include_pad") is False:
        raise NotImported("it does not count the padding (count_include_pad=False)")
    divisor = node.int("divisor_override", window[0] * window[1])
    stride = _pair(node.ints("stride", ()) or window)
    yield layer(
        node, "avg_pool2d", node.array("self"), window=window, stride=stride, padding=padding, divisor=divisor
    )


def _adaptive_pool(node: AtenNode) -> Layers:
    size, wanted = node.type_of(node.array("self")).shape[-2:], node.type_of(node.outputs[0]).shape[-2:]
    if any(extent % output for extent, output in zip(size, wanted, strict=True)):
        raise NotImported("its windows differ in size: the outputs do not divide the image")
    window = size[0] // wanted[0], size[1] // wanted[1]
    yield layer(
        node, "avg_pool2d", node.array("self"), window=window, stride=window, padding=(0, 0),
        divisor=window[0] * window[1],
    )  # fmt: skip


def _reduction(operator: str) -> Callable[[AtenNode], Layers]:
    def read(node: AtenNode) -> Layers:
        rank = len(node.type_of(node.array("self")).shape)
        dims = node.ints("dim", ()) or tuple(range(rank))
        yield layer(node, operator, node.array("self"), dimensions=tuple(sorted(d % rank for d in dims)))

    return read


def _softmax(node: AtenNode) -> Layers:
    name = node.outputs[0]
    yield from softmax_along(name, node.array("self"), node.int("dim"), node.type_of(name), node.origin)


def _layer_norm(node: AtenNode) -> Layers:
    if len(node.ints("normalized_shape")) != 1:
        raise NotImported("it normalises over more than the last dimension")
    yield layer(
        node, "layer_norm", node.array("input"), node.maybe("weight"), node.maybe("bias"),
        eps=node.float("eps", 1e-5), weighted=node.maybe("weight") is not None,
    )  # fmt: skip


def _rms_norm(node: AtenNode) -> Layers:
    if len(node.ints("normalized_shape")) != 1:
        raise NotImported("it normalises over more than the last dimension")
    element = node.type_of(node.outputs[0]).element
    least = {16: 2.0**-10, 32: 2.0**-23, 64: 2.0**-52}
    default = least[element.width] if isinstance(element, Float) else 0.0
    yield layer(node, "rms_norm", node.array("input"), node.maybe("weight"), eps=node.float("eps", default))


def _batch_norm(node: AtenNode) -> Layers:
    if node.arguments.get("training"):
        raise NotImported("it is in training mode")
    weight, bias = node.maybe("weight"), node.maybe("bias")
    mean, variance = node.maybe("running_mean"), node.maybe("running_var")
    if mean is None or variance is None:
        raise NotImported("it has no running mean and variance")
    ones, zeros = (1.0 if weight is None else weight), (0.0 if bias is None else bias)
    yield layer(
        node, "batch_norm", node.array("input"), ones, zeros, mean, variance, eps=node.float("eps", 1e-5)
    )


def _attention(node: AtenNode) -> Layers:
    if node.float("dropout_p", 0.0):
        raise NotImported("it drops values at random (dropout_p)")
    size = node.type_of(node.array("query")).shape[-1]
    yield layer(
        node, "attention", node.array("query"), node.array("key"), node.array("value"), node.maybe("attn_mask"),
        causal=bool(node.arguments.get("is_causal")), scale=node.float("scale", size**-0.5),
    )  # fmt: skip


def _index_put(node: AtenNode) -> Layers:
    if node.arguments.get("accumulate"):
        raise NotImported("it adds to what is there (accumulate)")
    yield from _indexed(node, "index_put", node.array("self"), node.array("values"))


def _index(node: AtenNode) -> Layers:
    """Subscripts along one dimension; others only where they are known, as those of masks are."""
    given = {d: index for d, index in enumerate(node.arrays("indices")) if index is not None}
    if len(given) == 1 and len(node.type_of(next(iter(given.values()))).shape) <= 1:
        yield from _indexed(node, "index", node.array("self"))
    else:
        yield layer(node, "gather", node.array("self"), *given.values(), dimensions=tuple(given))


def _indexed(node: AtenNode, operator: str, *inputs: str) -> Layers:
    """Subscripts along one dimension, by an array of one dimension."""
    given = [(d, index) for d, index in enumerate(node.arrays("indices")) if index is not None]
    if len(given) != 1 or len(node.type_of(given[0][1]).shape) > 1:
        raise NotImported("it has other subscripts than those along one dimension, in one row")
    yield layer(node, operator, *inputs, given[0][1], dimension=given[0][0])


def _with_alpha(operator: str) -> Callable[[AtenNode], Layers]:
    def read(node: AtenNode) -> Layers:
        alpha = node.float("alpha", 1)
        options = {} if alpha == 1 else {"alpha": alpha}
        yield layer(node, operator, node.operand("self"), node.operand("other"), **options)

    return read


def _clamp(low: str, high: str, default: float | None) -> Callable[[AtenNode], Layers]:
    def read(node: AtenNode) -> Layers:
        bounds = [
            node.arguments.get(low, default and -default), node.arguments.get(high, default)
        ]  # fmt: skip
        if not all(bound is None or isinstance(bound, int | float) for bound in bounds):
            raise NotImported("its bounds are not known")
        yield layer(node, "clamp", node.array("self"), low=bounds[0], high=bounds[1])

    return read


def _gelu(node: AtenNode) -> Layers:
    yield layer(node, "gelu", node.array("self"), approximate=node.arguments.get("approximate", "none"))


def _pow(node: AtenNode) -> Layers:
    yield layer(node, "pow", node.operand("self"), node.operand("exponent"))


def _leaky_relu(node: AtenNode) -> Layers:
    yield layer(node, "leaky_relu", node.array("self"), slope=node.float("negative_slope", 0.01))


def _unary(operator: str) -> Callable[[AtenNode], Layers]:
    def read(node: AtenNode) -> Layers:
        yield layer(node, operator, node.array("input" if "input" in node.arguments else "self"))

    return read


def _binary(operator: str) -> Callable[[AtenNode], Layers]:
    def read(node: AtenNode) -> Layers:
        if node.arguments.get("rounding_mode") is not None:
            raise NotImported("it rounds quotients (rounding_mode)")
        yield layer(node, operator, node.operand("self"), node.operand("other"))

    return read


def _where(node: AtenNode) -> Layers:
    yield layer(node, "where", node.array("condition"), node.operand("self"), node.operand("other"))


def _arange(node: AtenNode) -> Layers:
    start, step = node.float("start", 0), node.float("step", 1)
    yield layer(node, "arange", start=start, step=step)


def _filled(value: float | None) -> Callable[[AtenNode], Layers]:
    def read(node: AtenNode) -> Layers:
        given = node.arguments.get("s", node.arguments.get("fill_value"))
        if value is None and not isinstance(given, int | float):
            raise NotImported("its value is not known")
        yield layer(node, "full", value=given if value is None else value)

    return read


def _cumsum(node: AtenNode) -> Layers:
    yield layer(node, "cumsum", node.array("self"), dimension=_dimension(node, "dim"))


def _linear(node: AtenNode) -> Layers:
    yield layer(node, "linear", node.array("input"), node.array("weight"), node.maybe("bias"))


def _product(first: str, second: str) -> Callable[[AtenNode], Layers]:
    def read(node: AtenNode) -> Layers:
        yield layer(node, "matmul", node.array(first), node.array(second))

    return read


def _embedding(node: AtenNode) -> Layers:
    yield layer(node, "embedding", node.array("weight"), node.array("indices"))


def _index_select(node: AtenNode) -> Layers:
    yield layer(
        node, "index", node.array("self"), node.array("index"), dimension=_dimension(node, "dim")
    )


def _index_copy(node: AtenNode) -> Layers:
    yield layer(
        node, "index_put", node.array("self"), node.array("source"), node.array("index"),
        dimension=_dimension(node, "dim"),
    )  # fmt: skip


READERS: dict[str, Callable[[AtenNode], Layers]] = {
    **{f"{name}.default": _unary(name) for name in _UNARY},
    **{f"{name}.{kind}": _binary(own) for name, own in _BINARY.items() for kind in ("default", "Tensor", "Scalar")},
    **dict.fromkeys(("add.Tensor", "add.Scalar"), _with_alpha("add")),
    **dict.fromkeys(("sub.Tensor", "sub.Scalar"), _with_alpha("sub")),
    **dict.fromkeys(("pow.Tensor_Scalar", "pow.Tensor_Tensor", "pow.Scalar"), _pow),
    **{name: _unary("reshape") for name in _RESHAPES},
    **dict.fromkeys(("split.Tensor", "split_with_sizes.default", "chunk.default"), _split),
    **dict.fromkeys(("transpose.int", "t.default"), _transpose),
    **dict.fromkeys(("conv2d.default", "conv2d.padding", "convolution.default"), _conv2d),
    **dict.fromkeys(("max_pool2d.default", "max_pool2d_with_indices.default"), _max_pool),
    **dict.fromkeys(("adaptive_avg_pool2d.default", "_adaptive_avg_pool2d.default"), _adaptive_pool),
    **dict.fromkeys(("softmax.int", "_softmax.default"), _softmax),
    **dict.fromkeys(("batch_norm.default", "_native_batch_norm_legit_no_training.default"), _batch_norm),
    **dict.fromkeys(("layer_norm.default", "native_layer_norm.default"), _layer_norm),
    **{name: _reduction("mean") for name in ("mean.dim", "mean.default")},
    **{name: _reduction("sum") for name in ("sum.dim_IntList", "sum.default")},
    "amax.default": _reduction("amax"),
    "hardtanh.default": _clamp("min_val", "max_val", 1.0),
    "clamp.default": _clamp("min", "max", None),
    "relu6.default": lambda node: iter([layer(node, "clamp", node.array("self"), low=0.0, high=6.0)]),
    "bitwise_not.default": _unary("logical_not"),
    "gelu.default": _gelu,
    "leaky_relu.default": _leaky_relu,
    "where.self": _where,
    "linear.default": _linear,
    "matmul.default": _product("self", "other"),
    "mm.default": _product("self", "mat2"),
    "bmm.default": _product("self", "mat2"),
    "addmm.default": _addmm,
    "avg_pool2d.default": _average_pool,
    "rms_norm.default": _rms_norm,
    "scaled_dot_product_attention.default": _attention,
    "permute.default": _permute,
    "numpy_T.default": _matrix_transpose,
    "expand.default": _unary("expand"),
    "repeat.default": _unary("repeat"),
    "slice.Tensor": _slice,
    "select.int": _select,
    "cat.default": _concat,
    "embedding.default": _embedding,
    "index_select.default": _index_select,
    "index.Tensor": _index,
    "index_put.default": _index_put,
    "index_copy.default": _index_copy,
    "arange.start_step": _arange,
    "arange.default": _arange,
    "arange.start": _arange,
    "full.default": _filled(None),
    "full_like.default": _filled(None),
    "scalar_tensor.default": _filled(None),
    "zeros.default": _filled(0.0),
    "ones.default": _filled(1.0),
    "cumsum.default": _cumsum,
}  # fmt: skip
