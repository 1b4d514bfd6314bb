"""Layers that compute something for every window of an image: convolutions and pools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...frontend.library.structured import OperatorNest, Subscript, along, loops
from ...frontend.library.sums import Reduction, sums, zero
from ...frontend.library.windows import least_value, padded_image
from ...frontend.typing.convert import convert
from ...frontend.typing.nodes import Binary, Block, Const, Expr, Load, Stmt, Store, Symbol
from ...frontend.typing.view import View, whole
from ...ir.types import TensorType
from ..graph import Array, Layer
from .layer_call import LayerCall, LayerOperator, arithmetic
from .reshape import reshaped
from .sums import widened


def _place(output: int, stride: int, inside: int, dilation: int) -> Subscript:
    return 0, ((output, stride), (inside, dilation))


def _bordered(call: LayerCall, border: float) -> View:
    """The image with its padding, and what windows need behind it."""
    padding: tuple[int, int] = call.layer.options["padding"]
    behind: tuple[int, int] = call.layer.options.get("behind", (0, 0))
    if padding == behind == (0, 0):
        return call.stored(0)
    image = call.view(0)
    n, channels, *size = image.type.shape
    size = [extent + 2 * border + more for extent, border, more in zip(size, padding, behind, strict=True)]
    wider = TensorType(image.type.element, (n, channels, *size))
    symbol, statements = padded_image(
        call.operator_call(), call.layer.name, image, wider, padding, border
    )
    call.do(*statements)
    return whole(symbol, call.at)


def _conv2d(call: LayerCall) -> View:
    options, operator = call.layer.options, call.operator_call()
    groups, strides, dilation = options["groups"], options["stride"], options["dilation"]
    image, kernel = _bordered(call, 0), call.stored(1)
    filters, depth, *window = kernel.type.shape
    n, _, *output = call.type.shape
    sizes, named = {"strides": strides, "dilations": dilation}, "generic"
    exact = call.sum_element
    start = zero(operator) if len(call.layer.inputs) == 2 else call.stored(2)
    if groups == 1 or depth == 1:  # all channels for each filter, or one channel for each
        per_group = filters // groups
        channel = along(4)[0] if groups == 1 else along(1)[0]
        if groups > 1 and per_group > 1:
            return _grouped(call, image, kernel)
        loops = [("n", n), ("f", filters), ("oh", output[0]), ("ow", output[1]), ("c", depth)]
        loops += [("kh", window[0]), ("kw", window[1])]
        named = "conv_2d_nchw_fchw" if groups == 1 else named
        places = (along(0)[0], channel, _place(2, strides[0], 5, dilation[0]), _place(3, strides[1], 6, dilation[1]))
        factors = ((image, places), (kernel, along(1, 4, 5, 6)))
        reduction = Reduction(
            tuple(loops), 3, factors, exact, named, sums(operator), start, tuple(sizes.items()), starts_along=1
        )
        return reduction.result(operator)
    return _grouped(call, image, kernel)


def _grouped(call: LayerCall, image: View, kernel: View) -> View:
    """Groups of channels, each with filters of its own: a dimension more, which the result is read without."""
    options, operator = call.layer.options, call.operator_call("groups")
    groups, strides, dilation = options["groups"], options["stride"], options["dilation"]
    filters, depth, *window = kernel.type.shape
    own = filters // groups
    n, _, *output = call.type.shape
    loops = (
        ("n", n), ("g", groups), ("f", own), ("oh", output[0]), ("ow", output[1]), ("c", depth), ("kh", window[0]),
        ("kw", window[1]),
    )  # fmt: skip
    channel: Subscript = 0, ((1, depth), (5, 1))
    places = (along(0)[0], channel, _place(3, strides[0], 6, dilation[0]), _place(4, strides[1], 7, dilation[1]))
    filter_at: Subscript = 0, ((1, own), (2, 1))
    factors = ((image, places), (kernel, (filter_at, *along(5, 6, 7))))
    kind = call.sum_element
    reduction = Reduction(loops, 3, factors, kind, "generic", sums(operator), zero(operator))
    parts = call.array(f"{call.layer.name}_groups", reduction.result(operator))
    bias = call.stored(2) if len(call.layer.inputs) > 2 else None

    def with_bias(value: Expr, place: tuple[Expr, ...]) -> Expr:
        if bias is None:
            return value
        return Binary(kind, call.at, "+", value, convert(bias.read(place[1:2]), kind))

    return reshaped(call, parts, with_bias)


def _windows(image: Array, window: tuple[int, int], stride: Any, dilation: Any = (1, 1)) -> Array:
    """The windows of an image, as its last two dimensions."""
    reach = tuple((size - 1) * step + 1 for size, step in zip(window, dilation, strict=True))
    found = np.lib.stride_tricks.sliding_window_view(image, reach, axis=(-2, -1))
    return found[..., :: stride[0], :: stride[1], :: dilation[0], :: dilation[1]]


def _padded(image: Array, options: Mapping[str, Any], border: float) -> Array:
    sides = zip(options["padding"], options.get("behind", (0, 0)), strict=True)
    around = ((0, 0),) * (image.ndim - 2) + tuple((before, before + more) for before, more in sides)
    return np.pad(image, around, constant_values=border)


def _evaluate_conv2d(layer: Layer, operands: list[Any]) -> Array:
    options, operands = layer.options, widened(layer, operands)
    image, kernel = _padded(operands[0], options, 0), operands[1]
    groups = options["groups"]
    parts = []
    for pixels, filters in zip(np.split(image, groups, 1), np.split(kernel, groups, 0), strict=True):
        windows = _windows(pixels, kernel.shape[2:], options["stride"], options["dilation"])
        parts.append(np.einsum("nchwij,fcij->nfhw", windows, filters, optimize=True))
    result = np.concatenate(parts, 1)
    return result if len(operands) < 3 else result + operands[2][:, None, None]


def _pool(call: LayerCall, operation: str) -> View:
    """The maximum or sum of every window, in plain loops: an operation of MLIR would need an array for its shape."""
    options = call.layer.options
    is_maximum = operation == "max"
    kind = call.element if is_maximum else call.sum_element
    window, strides, dilation = options["window"], options["stride"], options.get("dilation", (1, 1))
    image = _bordered(call, least_value(call.element) if is_maximum else 0)
    *outer, height, width = call.type.shape
    names = ("n", "c")[2 - len(outer) :]
    extents = (*zip(names, outer, strict=True), ("oh", height), ("ow", width), ("kh", window[0]), ("kw", window[1]))
    row = len(outer)
    name = call.layer.name if is_maximum else f"{call.layer.name}_sum"

    def compute(target: Symbol) -> Stmt:
        start = Const(kind, call.at, least_value(call.element) if is_maximum else 0)
        begin = OperatorNest(call.at, f"{name}_init", [(f"{n}_init", e) for n, e in extents[:-2]])
        nest = OperatorNest(call.at, name, extents)
        own, inside = nest.variables[:-2], nest.variables[-2:]
        place = [
            arithmetic("+", arithmetic("*", own[row + d], strides[d]), arithmetic("*", inside[d], dilation[d]))
            for d in range(2)
        ]
        element, old = image.read((*own[:row], *place)), Load(kind, call.at, target, own)
        value = Binary(kind, call.at, "max" if is_maximum else "+", old, convert(element, kind))
        accumulation = loops(nest, Store(call.at, target, own, value))
        return Block(call.at, (begin.statement(target, convert(start, kind), "fill"), accumulation))

    return call.operator_call().computed(TensorType(kind, call.type.shape), [image], compute)


def _evaluate_max_pool(layer: Layer, operands: list[Any]) -> Array:
    options = layer.options
    image = _padded(operands[0], options, least_value(layer.type.element))
    result: Array = _windows(image, options["window"], options["stride"], options["dilation"]).max((-2, -1))
    return result


def _average_pool(call: LayerCall) -> View:
    total = call.array(f"{call.layer.name}_sum", _pool(call, "sum"))
    kind = call.sum_element
    divisor = Const(kind, call.at, call.layer.options["divisor"])

    def read(indices: tuple[Expr, ...]) -> Expr:
        return Binary(kind, call.at, "/", total.read(indices), convert(divisor, kind))

    return View(call.type, call.at, read, None, total.sources)


def _evaluate_average_pool(layer: Layer, operands: list[Any]) -> Array:
    image = _padded(widened(layer, operands)[0], layer.options, 0)
    windows = _windows(image, layer.options["window"], layer.options["stride"])
    result: Array = windows.sum((-2, -1), dtype=image.dtype) / image.dtype.type(layer.options["divisor"])
    return result


WINDOWS: dict[str, LayerOperator] = {
    "conv2d": LayerOperator(_evaluate_conv2d, _conv2d),
    "max_pool2d": LayerOperator(_evaluate_max_pool, lambda call: _pool(call, "max")),
    "avg_pool2d": LayerOperator(_evaluate_average_pool, _average_pool),
}
