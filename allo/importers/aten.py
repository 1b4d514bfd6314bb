"""Operators of PyTorch as layers: a function for each that is read, by the name that exported programs have for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import Any

from ..ir.types import Float, TensorType
from .aten_moves import MOVES, layer
from .composed import group_norm, softmax_along, windows_rounded_up, with_own_divisors
from .exported import AtenNode, NotImported
from .graph import Layer

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
    yield from _in_batch(
        node, "conv2d", node.array("input"), node.array("weight"), node.maybe("bias"),
        stride=stride, padding=padding, dilation=dilation, groups=node.int("groups", 1),
    )  # fmt: skip


def _in_batch(node: AtenNode, operator: str, image: str, *others: str | None, **options: Any) -> Layers:
    """The layer of a batch of images; one image is a batch of one."""
    kind, own = node.type_of(image), node.type_of(node.outputs[0])
    if len(kind.shape) != 3:
        yield layer(node, operator, image, *others, **options)
        return
    batch, result = f"{node.outputs[0]}_image", f"{node.outputs[0]}_batch"
    given = tuple(name for name in others if name is not None)
    yield Layer(batch, "reshape", (image,), {}, TensorType(kind.element, (1, *kind.shape)), node.origin)
    yield Layer(result, operator, (batch, *given), options, TensorType(own.element, (1, *own.shape)), node.origin)
    yield layer(node, "reshape", result)


def _pair(values: tuple[int, ...]) -> tuple[int, int]:
    if len(values) == 1:
        return values[0], values[0]
    if len(values) != 2:
        raise NotImported("its windows have other than two dimensions")
    return values[0], values[1]


def _pool_options(node: AtenNode) -> dict[str, Any]:
    window = _pair(node.ints("kernel_size"))
    stride, padding = _pair(node.ints("stride", ()) or window), _pair(node.ints("padding", (0, 0)))
    return {"window": window, "stride": stride, "padding": padding}


def _max_pool(node: AtenNode) -> Layers:
    options = {**_pool_options(node), "dilation": _pair(node.ints("dilation", (1, 1)))}
    if node.arguments.get("ceil_mode"):
        options = windows_rounded_up(node.type_of(node.array("self")).shape[-2:], options)
    yield from _in_batch(node, "max_pool2d", node.array("self"), **options)


def _average_pool(node: AtenNode) -> Layers:
    options, divisor = _pool_options(node), node.int("divisor_override", 0)
    image, kind = node.array("self"), node.type_of(node.array("self"))
    if node.arguments.get("ceil_mode"):
        options = windows_rounded_up(kind.shape[-2:], options)
    counts_padding = options["padding"] == (0, 0) or node.arguments.get("count_include_pad") is not False
    differ = not divisor and (not counts_padding or any(options.get("behind", ())))
    for made in _in_batch(node, "avg_pool2d", image, **options, divisor=divisor or prod(options["window"])):
        if differ and made.operator == "avg_pool2d":
            yield from with_own_divisors(made, kind, count_padding=counts_padding)
        else:
            yield made


def _adaptive_pool(node: AtenNode) -> Layers:
    size, wanted = node.type_of(node.array("self")).shape[-2:], node.type_of(node.outputs[0]).shape[-2:]
    if any(extent % output for extent, output in zip(size, wanted, strict=True)):
        raise NotImported("its windows differ in size: the outputs do not divide the image")
    window = size[0] // wanted[0], size[1] // wanted[1]
    yield from _in_batch(
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


def _group_norm(node: AtenNode) -> Layers:
    scales = node.maybe("weight"), node.maybe("bias")
    yield from _groups_normed(node, scales, node.int("num_groups"))


def _instance_norm(node: AtenNode) -> Layers:
    if not node.arguments.get("use_input_stats"):
        yield from _batch_norm(node)
        return
    channels, scales = node.type_of(node.array("input")).shape[1], (node.maybe("weight"), node.maybe("bias"))
    yield from _groups_normed(node, scales, channels)


def _groups_normed(node: AtenNode, scales: tuple[str | None, str | None], groups: int) -> Layers:
    name, eps = node.outputs[0], node.float("eps", 1e-5)
    yield from group_norm(name, node.array("input"), scales, groups, eps, node.type_of(name), node.origin)


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


def _linear(node: AtenNode) -> Layers:
    yield layer(node, "linear", node.array("input"), node.array("weight"), node.maybe("bias"))


def _product(first: str, second: str) -> Callable[[AtenNode], Layers]:
    def read(node: AtenNode) -> Layers:
        yield layer(node, "matmul", node.array(first), node.array(second))

    return read


READERS: dict[str, Callable[[AtenNode], Layers]] = {
    **MOVES,
    **{f"{name}.default": _unary(name) for name in _UNARY},
    **{f"{name}.{kind}": _binary(own) for name, own in _BINARY.items() for kind in ("default", "Tensor", "Scalar")},
    **dict.fromkeys(("add.Tensor", "add.Scalar"), _with_alpha("add")),
    **dict.fromkeys(("sub.Tensor", "sub.Scalar"), _with_alpha("sub")),
    **dict.fromkeys(("pow.Tensor_Scalar", "pow.Tensor_Tensor", "pow.Scalar"), _pow),
    **dict.fromkeys(("conv2d.default", "conv2d.padding", "convolution.default"), _conv2d),
    **dict.fromkeys(("max_pool2d.default", "max_pool2d_with_indices.default"), _max_pool),
    **dict.fromkeys(("adaptive_avg_pool2d.default", "_adaptive_avg_pool2d.default"), _adaptive_pool),
    **dict.fromkeys(("softmax.int", "_softmax.default"), _softmax),
    **dict.fromkeys(("batch_norm.default", "_native_batch_norm_legit_no_training.default"), _batch_norm),
    **dict.fromkeys(("layer_norm.default", "native_layer_norm.default"), _layer_norm),
    "group_norm.default": _group_norm,
    "instance_norm.default": _instance_norm,
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
}  # fmt: skip
