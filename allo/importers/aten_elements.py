"""Operators of PyTorch on elements and along dimensions as layers: arithmetic, activations, sums and extremes."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..ir.types import AlloType, Bool, Float, Int, TensorType, UInt
from .aten_moves import Layers, layer
from .composed import log_sum_exp
from .exported import AtenNode, NotImported
from .graph import Operand
from .node_layers import NodeLayers

_UNARY = {
    "relu", "silu", "sigmoid", "tanh", "exp", "log", "sqrt", "rsqrt", "reciprocal", "neg", "abs", "sin", "cos", "erf",
    "hardswish", "hardsigmoid", "square", "tan", "sinh", "cosh", "exp2", "log2", "log10", "log1p",
    "expm1", "floor", "ceil", "trunc", "round", "sign",
}  # fmt: skip
_BINARY = {
    "mul": "mul", "div": "div", "maximum": "maximum", "minimum": "minimum", "eq": "eq", "ne": "ne", "lt": "lt",
    "le": "le", "gt": "gt", "ge": "ge",
    "bitwise_and": "logical_and", "bitwise_or": "logical_or", "hypot": "hypot", "fmod": "fmod",
    "remainder": "remainder",
}  # fmt: skip


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


def _clamp_to_arrays(node: AtenNode) -> Layers:
    low, high = node.maybe("min"), node.maybe("max")
    layers, source, kind = NodeLayers(node), node.array("self"), node.type_of(node.outputs[0])
    if low is not None:
        source = layers.add("above" if high else "", "maximum", (source, low), kind)
    if high is not None:
        layers.add("", "minimum", (source, high), kind)
    yield from layers.made


def _gelu(node: AtenNode) -> Layers:
    yield layer(node, "gelu", node.array("self"), approximate=node.arguments.get("approximate", "none"))


def _elu(node: AtenNode) -> Layers:
    """ELU, and what PyTorch makes of CELU and SELU: `scale * alpha * (exp(x * input_scale) - 1)` below 0."""
    alpha, scale, inside = node.float("alpha", 1), node.float("scale", 1), node.float("input_scale", 1)
    if inside == 1 and scale == 1:
        yield layer(node, "elu", node.array("self"), alpha=alpha)
    elif inside == 1:
        yield layer(node, "selu", node.array("self"), alpha=alpha, gamma=scale)
    elif scale == 1 and math.isclose(inside * alpha, 1):
        yield layer(node, "celu", node.array("self"), alpha=alpha)
    else:
        raise NotImported("it scales its operand (input_scale)")


def _pow(node: AtenNode) -> Layers:
    layers, kind, exponent = NodeLayers(node), node.type_of(node.outputs[0]), node.operand("exponent")
    if not isinstance(kind.element, Float) and exponent in (2, 3):
        given = node.array("self")
        square = layers.each("" if exponent == 2 else "square", "mul", given, given)
        if exponent == 3:
            layers.each("", "mul", square, given)
        yield from layers.made
        return
    layers.add("", "pow", _as_floats(layers, kind.element, "self", "exponent"), kind)
    yield from layers.made


def _leaky_relu(node: AtenNode) -> Layers:
    yield layer(node, "leaky_relu", node.array("self"), slope=node.float("negative_slope", 0.01))


def _unary(operator: str) -> Callable[[AtenNode], Layers]:
    def read(node: AtenNode) -> Layers:
        if node.int("decimals", 0):
            raise NotImported("it keeps decimals")
        source = node.array("input" if "input" in node.arguments else "self")
        layers, own, kind = NodeLayers(node), node.type_of(source), node.type_of(node.outputs[0])
        if isinstance(kind.element, Float) and not isinstance(own.element, Float):
            source = layers.add("float", "convert", (source,), TensorType(kind.element, own.shape))
        is_whole = isinstance(own.element, Int | UInt)
        layers.add("", "reshape" if is_whole and operator in _WHOLE else operator, (source,), kind)
        yield from layers.made

    return read


_WHOLE = ("floor", "ceil", "trunc", "round")  # leave integers as they are


def _binary(operator: str) -> Callable[[AtenNode], Layers]:
    def read(node: AtenNode) -> Layers:
        if operator == "mul" and isinstance(node.type_of(node.outputs[0]).element, Bool):
            yield layer(node, "logical_and", node.operand("self"), node.operand("other"))
            return
        if operator == "div":
            yield from _floats(node, "div")
            return
        yield layer(node, operator, node.operand("self"), node.operand("other"))

    return read


def _floats(node: AtenNode, operator: str) -> Layers:
    """Arithmetic on floats, which integers become before it."""
    layers, kind = NodeLayers(node), node.type_of(node.outputs[0])
    layers.add("", operator, _as_floats(layers, kind.element), kind)
    yield from layers.made


def _as_floats(layers: NodeLayers[AtenNode], element: AlloType, *names: str) -> tuple[Operand, ...]:
    """The operands of a node, of which those that are not floats are converted."""
    given = list[Operand]()
    for number, name in enumerate(names or ("self", "other")):
        operand = layers.node.operand(name)
        if isinstance(operand, str) and not isinstance(layers.type_of(operand).element, Float):
            kind = TensorType(element, layers.type_of(operand).shape)
            operand = layers.add(f"float{number}", "convert", (operand,), kind)
        given.append(operand)
    return tuple(given)


def _rounded_quotient(node: AtenNode) -> Layers:
    mode = "floor" if node.target.startswith("aten.floor_divide") else node.arguments.get("rounding_mode")
    if mode is None:
        yield from _floats(node, "div")
        return
    kind, layers = node.type_of(node.outputs[0]), NodeLayers(node)
    is_float = isinstance(kind.element, Float)
    given = _as_floats(layers, kind.element) if is_float else (node.operand("self"), node.operand("other"))
    if mode == "trunc" and is_float:
        layers.add("", "trunc", (layers.add("quotient", "div", given, kind),), kind)
    elif mode == "floor":
        layers.add("", "floor_quotient" if is_float else "floor_div", given, kind)
    else:
        layers.add("", "trunc_div", given, kind)
    yield from layers.made


def _truth_values(layers: NodeLayers[AtenNode], suffix: str, operand: Operand) -> Operand:
    """Whether elements are other than 0."""
    if not isinstance(operand, str):
        return operand != 0
    kind = layers.type_of(operand)
    return operand if isinstance(kind.element, Bool) else layers.compared(suffix, "ne", operand, 0, kind.shape)


def _logical(operator: str) -> Callable[[AtenNode], Layers]:
    """Logic of what is 0 and what is not."""

    def read(node: AtenNode) -> Layers:
        layers, names = NodeLayers(node), [name for name in ("self", "other") if name in node.arguments]
        given = [_truth_values(layers, f"truth{number}", node.operand(name)) for number, name in enumerate(names)]
        layers.add("", operator, tuple(given), node.type_of(node.outputs[0]))
        yield from layers.made

    return read


def _exclusive_or(node: AtenNode) -> Layers:
    if not isinstance(node.type_of(node.outputs[0]).element, Bool):
        raise NotImported("it works on the bits of integers")
    yield layer(node, "ne", node.operand("self"), node.operand("other"))


def _is_nan(node: AtenNode) -> Layers:
    yield layer(node, "ne", node.array("self"), node.array("self"))


def _is_infinite(node: AtenNode) -> Layers:
    layers = NodeLayers(node)
    size = layers.each("size", "abs", node.array("self"))
    layers.compared("", "eq", size, math.inf, node.type_of(node.outputs[0]).shape)
    yield from layers.made


def _where(node: AtenNode) -> Layers:
    yield layer(node, "where", node.array("condition"), node.operand("self"), node.operand("other"))


# -- along dimensions ------------------------------------------------------------------------------


def _dimensions(node: AtenNode) -> tuple[int, ...]:
    rank = len(node.type_of(node.array("self")).shape)
    return tuple(sorted(d % rank for d in node.ints("dim", ()) or range(rank)))


def _reduction(operator: str) -> Callable[[AtenNode], Layers]:
    def read(node: AtenNode) -> Layers:
        layers, source, kind = NodeLayers(node), node.array("self"), node.type_of(node.outputs[0])
        own = node.type_of(source)
        if operator == "sum" and own.element != kind.element:  # whole numbers are added up in 64 bits
            source = layers.add("wide", "convert", (source,), TensorType(kind.element, own.shape))
        layers.add("", operator, (source,), kind, dimensions=_dimensions(node))
        yield from layers.made

    return read


def _mirrored(layers: NodeLayers[AtenNode], suffix: str, source: str) -> str:
    """Elements whose order is the other way round; negative ones that are least have no opposite."""
    if isinstance(layers.type_of(source).element, Float):
        return layers.each(suffix, "neg", source)
    return layers.add(suffix, "sub", (-1, source), layers.type_of(source))


def _extreme(layers: NodeLayers[AtenNode], source: str, dimensions: tuple[int, ...], least: bool) -> str:
    """The largest or least elements, with one place left in each dimension."""
    if not least:
        return layers.along("extreme", "amax", source, dimensions)
    return _mirrored(layers, "least", layers.along("largest", "amax", _mirrored(layers, "mirror", source), dimensions))


def _extremes(least: bool) -> Callable[[AtenNode], Layers]:
    """Extreme elements, and where there is a second result, their places: the first ones."""

    def read(node: AtenNode) -> Layers:
        layers, source, dimensions = NodeLayers(node), node.array("self"), _dimensions(node)
        found = _extreme(layers, source, dimensions, least)
        layers.shaped("", found, node.type_of(node.outputs[0]).shape)
        if len(node.outputs) > 1:
            places = _places(layers, source, found, dimensions[0])
            kind = node.type_of(node.outputs[1])
            layers.named(node.outputs[1], "reshape", (places,), kind)
        yield from layers.made

    return read


def _arg_extremes(least: bool) -> Callable[[AtenNode], Layers]:
    def read(node: AtenNode) -> Layers:
        layers, source, result = NodeLayers(node), node.array("self"), node.type_of(node.outputs[0])
        dimension = node.arguments.get("dim")
        if dimension is None:
            source = layers.shaped("flat", source, (math.prod(layers.type_of(source).shape),))
        axis = (dimension or 0) % len(layers.type_of(source).shape)
        found = _extreme(layers, source, (axis,), least)
        layers.shaped("", _places(layers, source, found, axis), result.shape)
        yield from layers.made

    return read


def _places(layers: NodeLayers[AtenNode], source: str, extreme: str, axis: int) -> str:
    """The first places along a dimension of elements that are the extreme ones."""
    kind = layers.type_of(source)
    extent, shape = kind.shape[axis], (kind.shape[axis], *(1,) * (len(kind.shape) - axis - 1))
    narrow = Int(32)
    is_extreme = layers.compared("is_extreme", "eq", source, extreme, kind.shape)
    # The last place has the number 0, so that the largest number is that of the first place.
    numbers = layers.known("numbers", np.arange(extent - 1, -1, -1, dtype=np.int32).reshape(shape))
    candidates = layers.add("candidates", "where", (is_extreme, numbers, 0), TensorType(narrow, kind.shape))
    first = layers.along("first", "amax", candidates, (axis,))
    places = layers.add("place", "sub", (extent - 1, first), layers.type_of(first))
    return layers.add("places", "convert", (places,), TensorType(Int(64), layers.type_of(first).shape))


def _any(node: AtenNode) -> Layers:
    layers, source = NodeLayers(node), node.array("self")
    kind = node.type_of(source)
    is_set, result = _truth_values(layers, "is_set", source), node.type_of(node.outputs[0])
    numbers = layers.add("numbers", "where", (is_set, 1, 0), TensorType(Int(8), kind.shape))
    largest = layers.along("largest", "amax", numbers, _dimensions(node))
    some = layers.compared("some", "ne", largest, 0, layers.type_of(largest).shape)
    if not isinstance(result.element, Bool):  # bytes of 0 and 1 for bytes
        some = layers.add("bytes", "convert", (some,), TensorType(result.element, layers.type_of(some).shape))
    layers.shaped("", some, result.shape)
    yield from layers.made


def _variance(node: AtenNode) -> Layers:
    """Means of squared distances from the mean, divided by `count - correction`."""
    layers, source, dimensions = NodeLayers(node), node.array("self"), _dimensions(node)
    kind = node.type_of(source)
    count = math.prod(kind.shape[d] for d in dimensions) - node.float("correction", 1)
    if count <= 0:
        raise NotImported("it divides by no elements (correction)")
    mean = layers.along("mean", "mean", source, dimensions)
    squares = layers.each("squares", "square", layers.each("apart", "sub", source, mean))
    total = layers.along("total", "sum", squares, dimensions)
    variance = layers.each("variance", "mul", total, 1 / count)
    layers.shaped("", variance, node.type_of(node.outputs[0]).shape)
    if len(node.outputs) > 1:
        layers.named(node.outputs[1], "reshape", (mean,), node.type_of(node.outputs[1]))
    yield from layers.made


def _log_softmax(node: AtenNode) -> Layers:
    layers, source = NodeLayers(node), node.array("self")
    log_sum_exp(layers, source, (node.int("dim") % len(node.type_of(source).shape),), is_softmax=True)
    yield from layers.made


ELEMENTS: dict[str, Callable[[AtenNode], Layers]] = {
    **{f"{name}.default": _unary(name) for name in _UNARY},
    "round.decimals": _unary("round"),
    **{f"{name}.{kind}": _binary(own) for name, own in _BINARY.items() for kind in ("default", "Tensor", "Scalar")},
    "remainder.Scalar_Tensor": _binary("remainder"),
    **dict.fromkeys(("add.Tensor", "add.Scalar"), _with_alpha("add")),
    **dict.fromkeys(("sub.Tensor", "sub.Scalar"), _with_alpha("sub")),
    **dict.fromkeys(("pow.Tensor_Scalar", "pow.Tensor_Tensor", "pow.Scalar"), _pow),
    **dict.fromkeys(
        ("div.Tensor_mode", "div.Scalar_mode", "floor_divide.default", "floor_divide.Scalar"), _rounded_quotient
    ),
    **dict.fromkeys(
        ("bitwise_xor.Tensor", "bitwise_xor.Scalar"), _exclusive_or
    ),
    "logical_not.default": _logical("logical_not"),
    "logical_and.default": _logical("logical_and"),
    "logical_or.default": _logical("logical_or"),
    "logical_xor.default": _logical("ne"),
    "isnan.default": _is_nan,
    "isinf.default": _is_infinite,
    "elu.default": _elu,
    "hardtanh.default": _clamp("min_val", "max_val", 1.0),
    "clamp.default": _clamp("min", "max", None),
    "clamp.Tensor": _clamp_to_arrays,
    "relu6.default": lambda node: iter([layer(node, "clamp", node.array("self"), low=0.0, high=6.0)]),
    "bitwise_not.default": _unary("logical_not"),
    "gelu.default": _gelu,
    "leaky_relu.default": _leaky_relu,
    "where.self": _where,
    **{name: _reduction("mean") for name in ("mean.dim", "mean.default")},
    **{name: _reduction("sum") for name in ("sum.dim_IntList", "sum.default")},
    **dict.fromkeys(("amax.default", "max.default"), _reduction("amax")),
    "max.dim": _extremes(least=False),
    **dict.fromkeys(("amin.default", "min.default", "min.dim"), _extremes(least=True)),
    "argmax.default": _arg_extremes(least=False),
    "argmin.default": _arg_extremes(least=True),
    **dict.fromkeys(("any.default", "any.dim", "any.dims"), _any),
    **dict.fromkeys(("var.correction", "var_mean.correction"), _variance),
    "_log_softmax.default": _log_softmax,
}  # fmt: skip
