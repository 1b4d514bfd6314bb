"""Layers that compute each element on its own, with broadcasting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...frontend.library.elementwise import elementwise
from ...frontend.typing.convert import convert
from ...frontend.typing.nodes import Const, Expr
from ...frontend.typing.operations import common_type
from ...frontend.typing.tables import DEFAULT
from ...ir.arrays import array_element_type, form_dtype
from ...ir.types import AlloType, Bool, Float, Int
from ..graph import Array, Layer
from .formulas import COMPARISONS, FORMULAS, LOGIC, ArrayNumbers, Formula, TypedNumber, TypedNumbers, once
from .layer_call import LayerCall, LayerOperator, Value

_NAMED = {"add": "add", "sub": "sub", "mul": "mul", "div": "div", "exp": "exp", "log": "log", "sqrt": "sqrt",
          "tanh": "tanh", "pow": "powf"}  # fmt: skip


def _typed(call: LayerCall, formula: Formula, prepare: Callable[[LayerCall, list[Expr]], list[Expr]]) -> Value:
    """The formula on the elements of all operands, in the element type of the result."""

    def combine(elements: list[Expr]) -> Expr:
        operands = [TypedNumber(once(operand)) for operand in prepare(call, elements)]
        numbers = TypedNumbers(call.element, call.at)
        result: Expr = formula(numbers, *operands, **call.layer.options).expr
        return convert(result, call.element)

    values = [call.value(position) for position in range(len(call.layer.inputs))]
    named = "generic" if call.layer.options else _NAMED.get(call.layer.operator, "generic")
    result = elementwise(call.operator_call(), named, combine, values)
    assert result is not None
    return result


def _arithmetic(call: LayerCall, elements: list[Expr]) -> list[Expr]:
    return [convert(element, call.element) for element in elements]


def _choice(call: LayerCall, elements: list[Expr]) -> list[Expr]:
    return [convert(elements[0], Bool()), *_arithmetic(call, elements[1:])]


def _truth_values(call: LayerCall, elements: list[Expr]) -> list[Expr]:
    return [convert(element, Bool()) for element in elements]


def _common(call: LayerCall, elements: list[Expr]) -> list[Expr]:
    """Both operands of a comparison in a type that holds them."""
    kinds = [
        None if isinstance(operand, int | float) else element.type
        for operand, element in zip(call.layer.inputs, elements, strict=True)
    ]
    common = _compared(kinds, call.layer.inputs)
    return [convert(element, common) for element in elements]


def _compared(kinds: Sequence[AlloType | None], operands: Sequence[Any]) -> AlloType:
    """The type in which operands are compared: a number is one of the type of the array that it is compared with, or a
    float, as in PyTorch."""
    first, second = kinds
    if first is not None and second is not None:
        at = (1, 0, 0)
        return first if first == second else common_type(Const(first, at, 0), Const(second, at, 0), DEFAULT) or Int(64)
    number = operands[0] if first is None else operands[1]
    kind = second if first is None else first
    assert kind is not None
    if isinstance(number, float) and not isinstance(kind, Float):
        return Float(32)
    return Int(64) if isinstance(kind, Bool) and not isinstance(number, bool) else kind


def _powers(call: LayerCall) -> Value:
    """Powers by small whole numbers are products."""
    exponent = call.layer.inputs[1]
    formulas: dict[Any, Formula] = {
        2: lambda m, x, _: x * x,
        3: lambda m, x, _: x * x * x,
        0.5: lambda m, x, _: m.function("sqrt", x),
        -0.5: lambda m, x, _: 1.0 / m.function("sqrt", x),
    }
    formula = FORMULAS["pow"] if isinstance(exponent, str) else formulas.get(exponent, FORMULAS["pow"])
    return _typed(call, formula, _arithmetic)


def _evaluated(formula: Formula, prepared: str) -> Callable[[Layer, list[Any]], Array]:
    def evaluate(layer: Layer, operands: list[Any]) -> Array:
        dtype = form_dtype(layer.type.element)
        if prepared == "arithmetic":
            operands = [np.asarray(operand).astype(dtype) for operand in operands]
        elif prepared == "choice":
            operands = [operands[0], *(np.asarray(operand).astype(dtype) for operand in operands[1:])]
        elif prepared == "common":
            kinds = [array_element_type(o) if isinstance(o, np.ndarray) else None for o in operands]
            common = form_dtype(_compared(kinds, operands))
            operands = [np.asarray(operand).astype(common) for operand in operands]
        elif prepared == "truth":
            operands = [np.asarray(operand).astype(np.bool_) for operand in operands]
        with np.errstate(all="ignore"):
            result = np.asarray(formula(ArrayNumbers(), *operands, **layer.options))
        return np.broadcast_to(result.astype(dtype), layer.type.shape)

    return evaluate


def _operator(name: str, formula: Formula) -> LayerOperator:
    if name == "pow":
        return LayerOperator(_evaluated(formula, "arithmetic"), _powers, pointwise=True)
    prepare, prepared = (_choice, "choice") if name == "where" else (_arithmetic, "arithmetic")
    return LayerOperator(
        _evaluated(formula, prepared), lambda call: _typed(call, formula, prepare), pointwise=True
    )


def _comparison(formula: Formula) -> LayerOperator:
    return LayerOperator(
        _evaluated(formula, "common"), lambda call: _typed(call, formula, _common), pointwise=True
    )


def _logical(formula: Formula) -> LayerOperator:
    return LayerOperator(
        _evaluated(formula, "truth"), lambda call: _typed(call, formula, _truth_values), pointwise=True
    )


POINTWISE: dict[str, LayerOperator] = {
    **{name: _operator(name, formula) for name, formula in FORMULAS.items()},
    **{name: _comparison(formula) for name, formula in COMPARISONS.items()},
    **{name: _logical(formula) for name, formula in LOGIC.items()},
}
