"""The operators that work element by element, with broadcasting: arithmetic, elementary functions, relu, gelu."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ...ir.types import Float, Index, TensorType
from ..typing.convert import constant, convert
from ..typing.nodes import Binary, Const, Expr, MathCall, Select, Shared, Stmt, Store, Symbol, Var
from ..typing.operations import absolute as absolute_value
from ..typing.operations import compare
from ..typing.view import View
from .call import OperatorCall, lazy
from .structured import OperatorNest, Subscript, Subscripts, along, loops

type Combine = Callable[[list[Expr]], Expr | None]
ARITHMETIC = {"add": "+", "sub": "-", "mul": "*", "div": "/"}


def elementwise(
    call: OperatorCall, operation: str, combine: Combine, operands: Sequence[Expr | View]
) -> Expr | View | None:
    """`combine` on all elements: read where they are used, or computed by one operation where they are assigned."""
    result = call.builder.elementwise(call.at, operands, combine)
    if not isinstance(result, View) or not result.type.is_static:
        return result
    view = result
    return lazy(view, lambda target: _statement(call, operation, combine, operands, view, target))


def _statement(
    call: OperatorCall,
    operation: str,
    combine: Combine,
    operands: Sequence[Expr | View],
    view: View,
    target: Symbol,
) -> Stmt:
    assert isinstance(target.type, TensorType)
    name, shape = call.number(call.name), view.type.shape
    nest = OperatorNest(call.at, name, [(f"i{d}", extent) for d, extent in enumerate(shape)])
    values = [_operand(nest, operand, shape) for operand in operands]
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        value = convert(view.read(nest.variables), target.type.element)
        return loops(nest, _store(nest, target, value))
    combined = combine(known)
    assert combined is not None
    elements = {element.symbol for element in nest.inputs}
    direct = all(isinstance(value, Var) and value.symbol in elements for value in known)
    return nest.statement(target, convert(combined, target.type.element), operation if direct else "generic")


def _store(nest: OperatorNest, target: Symbol, value: Expr) -> Store:
    return Store(nest.at, target, nest.variables, value)


def _operand(nest: OperatorNest, operand: Expr | View, shape: tuple[int, ...]) -> Expr | None:
    """An operand in the body of the operation: an element, or an expression over elements."""
    if isinstance(operand, Expr):
        return nest.scalar(operand)
    subscripts = broadcast_subscripts(operand.type.shape, shape)
    element = nest.read(operand, subscripts)
    if element is not None:
        return element
    zero = Const(Index(), nest.at, 0)
    variables = nest.variables[len(shape) - len(operand.type.shape) :]
    own = tuple(v if terms else zero for v, (_, terms) in zip(variables, subscripts, strict=True))
    inlined = nest.inlined(operand.read(own))
    return None if inlined is None else Shared(inlined.type, inlined.at, inlined)


def broadcast_subscripts(own: tuple[int, ...], shape: tuple[int, ...]) -> Subscripts:
    """Where an operand of shape `own` is read for an element of `shape`."""
    result: list[Subscript] = []
    for d, extent in enumerate(own, start=len(shape) - len(own)):
        result.append((0, ()) if extent == 1 and shape[d] != 1 else along(d)[0])
    return tuple(result)


def arithmetic(call: OperatorCall) -> Expr | View | None:
    """add, sub, mul, div."""
    op = ARITHMETIC[call.name]
    operands = [call.arguments["A"].value, call.arguments["B"].value]
    return elementwise(call, call.name, lambda pair: call.combine(op, pair[0], pair[1]), operands)


def absolute(call: OperatorCall) -> Expr | View | None:
    """abs."""

    def combine(values: list[Expr]) -> Expr | None:
        result = absolute_value(values[0], call.at, call.builder.context.rules)
        if result is None:
            call.error(f"abs() is not defined for {values[0].type!r}")
        return result

    return elementwise(call, "abs", combine, [call.arguments["A"].value])


def relu(call: OperatorCall) -> Expr | View | None:
    """max(x, 0)."""
    operands = [call.arguments["A"].value]
    return elementwise(call, "generic", lambda v: call.combine("max", v[0], constant(0, call.at)), operands)


def gelu(call: OperatorCall) -> Expr | View | None:
    """x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3)))."""
    operand = call.arguments["A"].value
    if isinstance(operand, View) and (call.array("A") is None or call.floats("A", operand) is None):
        return None

    def combine(values: list[Expr]) -> Expr | None:
        kind = values[0].type if isinstance(values[0].type, Float) else Float(32)
        x = convert(values[0], kind)

        def number(value: float) -> Expr:
            return Const(kind, call.at, value)

        def times(*factors: Expr) -> Expr:
            result = factors[0]
            for factor in factors[1:]:
                result = Binary(kind, call.at, "*", result, factor)
            return result

        cubic = Binary(kind, call.at, "+", x, times(number(0.044715), x, x, x))
        tangent = MathCall(kind, call.at, "math.tanh", (times(number(0.7978845608028654), cubic),))
        return times(number(0.5), x, Binary(kind, call.at, "+", number(1.0), tangent))

    return elementwise(call, "generic", combine, [operand])


def elementary(call: OperatorCall, function: str, written: str) -> Expr | View | None:
    """exp, log, ... power: scalars convert to floats, arrays have to hold them."""
    operands = [argument.value for argument in call.arguments.values()]
    for parameter, operand in zip(call.arguments, operands, strict=True):
        if isinstance(operand, View) and (call.array(parameter) is None or call.floats(parameter, operand) is None):
            return None
    operation = "powf" if function == "math.powf" else function.removeprefix("math.")
    builder = call.builder
    return elementwise(call, operation, lambda v: builder.elementary(call.at, function, v, written), operands)


def moved(call: OperatorCall, view: View, operation: str = "generic") -> View:
    """A view that is read where it is used, and where it is assigned computed by one operation if one can."""

    def compute(target: Symbol) -> Stmt:
        assert isinstance(target.type, TensorType)
        nest = OperatorNest(
            call.at, call.number(call.name), [(f"i{d}", extent) for d, extent in enumerate(view.type.shape)]
        )
        element = nest.read(view, along(*range(len(nest.loops))))
        if element is None:
            return loops(nest, _store(nest, target, convert(view.read(nest.variables), target.type.element)))
        return nest.statement(target, convert(element, target.type.element), operation)

    return lazy(view, compute)


def lower_triangle(call: OperatorCall) -> View | None:
    """tril: 0 above the diagonal of the last two dimensions."""
    view = call.array("A")
    if view is None:
        return None
    if len(view.type.shape) < 2:
        call.error(f"tril() needs an array of at least two dimensions, got {view.type!r}")
        return None
    element = view.type.element

    def chosen(value: Expr, row: Expr, column: Expr) -> Expr | None:
        below = compare("<=", column, row, call.at)
        assert below is not None
        zero = convert(constant(0, call.at), element)
        if isinstance(below, Const):
            return value if below.value else zero
        return Select(element, call.at, below, value, zero)

    def read(indices: tuple[Expr, ...]) -> Expr:
        result = chosen(view.read(indices), indices[-2], indices[-1])
        assert result is not None
        return result

    def compute(target: Symbol) -> Stmt:
        assert isinstance(target.type, TensorType)
        nest = OperatorNest(
            call.at, call.number(call.name), [(f"i{d}", extent) for d, extent in enumerate(view.type.shape)]
        )
        value = nest.read(view, along(*range(len(nest.loops))))
        if value is None:
            return loops(nest, _store(nest, target, convert(read(nest.variables), target.type.element)))
        result = chosen(value, nest.variables[-2], nest.variables[-1])
        assert result is not None
        return nest.statement(target, convert(result, target.type.element))

    return replace(View(view.type, call.at, read, None, view.sources), compute=compute)
