"""Layers between floats and the integers that stand for them, and sums of products of these integers.

Source: Jacob et al. 2018, section 2.1: an integer `q` means `(q - zero) * scale`. Rounding is to the nearest, halves to
even, as PyTorch's `quantized_decomposed` operators and ONNX have it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...frontend.library.elementwise import elementwise
from ...frontend.library.structured import along
from ...frontend.library.sums import Reduction, sums, zero
from ...frontend.typing.convert import convert
from ...frontend.typing.nodes import Const, Expr
from ...frontend.typing.view import View
from ...ir.arrays import form_dtype
from ...ir.types import AlloType, Float
from ..graph import Array, Layer
from .formulas import ArrayNumbers, Numbers, TypedNumber, TypedNumbers, once
from .layer_call import LayerCall, LayerOperator, Value, arithmetic

_FLOAT32 = Float(32)
_HALF_TO_EVEN = {32: 1.5 * 2**23, 64: 1.5 * 2**52}  # added and taken away: what is behind the point is gone


def _quantize(m: Numbers, x: Any, scale: Any, zero_: Any, low: int, high: int, divides: bool, magic: float) -> Any:
    """`clamp(round(x * scale) + zero, low, high)`, or of `x / scale`; bounded first, so that rounding is exact.

    All behind the point is gone in `bounded + magic`, a whole number to which the zero is added exactly.
    """
    scaled = x / scale if divides else x * scale
    bounded = m.minimum(m.maximum(scaled, float(low) - zero_), float(high) - zero_)
    return (bounded + magic) - (magic - zero_)


def _wide(element: AlloType) -> Float:
    """The type in which floats of type `element` become integers."""
    return element if isinstance(element, Float) and element.width > 32 else _FLOAT32


def _build_quantize(call: LayerCall) -> Value:
    options = call.layer.options
    kind = _wide(call.view(0).type.element)

    def combine(elements: list[Expr]) -> Expr:
        numbers = TypedNumbers(kind, call.at)
        zero_: TypedNumber | float
        x, scale, zero_ = (TypedNumber(once(convert(element, kind))) for element in elements)
        if isinstance(elements[2], Const):  # what is made of it is known now
            zero_ = float(elements[2].value)
        bounds = options["low"], options["high"]
        result = _quantize(numbers, x, scale, zero_, *bounds, options["divides"], _HALF_TO_EVEN[kind.width])
        return convert(result.expr, call.element)

    return _elements(call, combine)


def _build_dequantize(call: LayerCall) -> Value:
    kind = _wide(call.element)

    def combine(elements: list[Expr]) -> Expr:
        q, scale, zero_ = (TypedNumber(convert(element, kind)) for element in elements)
        own = q if isinstance(zero_.expr, Const) and not zero_.expr.value else q - zero_
        return convert((own * scale).expr, call.element)

    return _elements(call, combine)


def _elements(call: LayerCall, combine: Any) -> Value:
    """Each element with its scale and zero, those of its group where an array has some for each row."""
    group, values = call.layer.options.get("group"), [call.value(position) for position in range(3)]
    if group:
        values[1:] = [_of_groups(call, value, group) if isinstance(value, View) else value for value in values[1:]]
    result = elementwise(call.operator_call(), "generic", combine, values)
    assert result is not None
    return result


def _of_groups(call: LayerCall, value: View, group: int) -> View:
    def read(indices: tuple[Expr, ...]) -> Expr:
        return value.read((*indices[:-1], arithmetic("//", indices[-1], group)))

    return View(call.type, call.at, read, None, tuple((symbol, False) for symbol, _ in value.sources))


def _given(layer: Layer, operands: list[Any], kind: np.dtype[Any]) -> list[Array]:
    first, *others = (np.asarray(operand).astype(kind) for operand in operands)
    group = layer.options.get("group")
    return [first, *(np.repeat(array, group, -1) if group and array.ndim else array for array in others)]


def _evaluate_quantize(layer: Layer, operands: list[Any]) -> Array:
    options, width = layer.options, max(operands[0].dtype.itemsize * 8, 32)
    given = _given(layer, operands, np.dtype(f"float{width}"))
    magic = given[0].dtype.type(_HALF_TO_EVEN[width])
    with np.errstate(all="ignore"):
        bounds = options["low"], options["high"]
        x, scale, zero_ = given
        result: Array = np.asarray(_quantize(ArrayNumbers(), x, scale, zero_, *bounds, options["divides"], magic))
        return result.astype(form_dtype(layer.type.element))


def _evaluate_dequantize(layer: Layer, operands: list[Any]) -> Array:
    q, scale, zero_ = _given(layer, operands, form_dtype(_wide(layer.type.element)))
    result: Array = (q - zero_) * scale
    return result.astype(form_dtype(layer.type.element))


def _grouped_linear(call: LayerCall) -> View:
    """`x[..., g, :] @ w[:, g, :].T` for each group of columns, whose number is the last dimension of the result."""
    x, w = call.stored(0), call.stored(1)
    *rows, outputs, groups = call.type.shape
    size, rank = w.type.shape[-1], len(rows)
    names = [f"b{d}" for d in range(len(rows) - 1)] + ["i"] * min(len(rows), 1)
    loops = (*zip(names, rows, strict=True), ("j", outputs), ("g", groups), ("k", size))
    factors = ((x, along(*range(rank), rank + 1, rank + 2)), (w, along(rank, rank + 1, rank + 2)))
    operator = call.operator_call()
    return Reduction(loops, 1, factors, call.element, "generic", sums(operator), zero(operator)).result(operator)


def _evaluate_grouped_linear(layer: Layer, operands: list[Any]) -> Array:
    x, w = (np.asarray(operand, np.float64) for operand in operands)
    result: Array = np.einsum("...gk,jgk->...jg", x, w, optimize=True)
    return result


QUANTIZED: dict[str, LayerOperator] = {
    "quantize": LayerOperator(_evaluate_quantize, _build_quantize, pointwise=True),
    "dequantize": LayerOperator(_evaluate_dequantize, _build_dequantize, pointwise=True),
    "grouped_linear": LayerOperator(_evaluate_grouped_linear, _grouped_linear),
}
