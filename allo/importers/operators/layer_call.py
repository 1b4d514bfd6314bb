"""One layer on typed values: its operands, and what the families of operators ask of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ...frontend.library.call import OperatorArgument, OperatorCall, OperatorConstant
from ...frontend.library.elementwise import moved
from ...frontend.library.structured import OperatorNest, along
from ...frontend.read.source import Position
from ...frontend.typing.builder import ValueBuilder
from ...frontend.typing.convert import constant
from ...frontend.typing.nodes import Const, Declare, Expr, Stmt, Symbol, SymbolKind
from ...frontend.typing.operations import binary
from ...frontend.typing.view import View, whole
from ...ir.types import AlloType, Float, TensorType, index
from ..graph import Array, Layer, Operand

type Value = View | Expr


def sum_element(element: AlloType) -> AlloType:
    """The type in which elements are added up: 32 bits for floats of 16, which lose what is small beside a sum."""
    return Float(32) if isinstance(element, Float) and element.width == 16 else element


@dataclass(frozen=True, slots=True)
class LayerOperator:
    """What a layer computes: on NumPy arrays and numbers, and on typed values.

    An operator without `build` only stands where all of its operands are known. One that `moves` copies nothing where
    it is read; `pointwise` ones need one element of each operand for an element of the result.
    """

    evaluate: Callable[[Layer, list[Any]], Array]
    build: Callable[[LayerCall], Value] | None
    moves: bool = False
    pointwise: bool = False


@dataclass(frozen=True, slots=True)
class LayerCall:
    """A layer with its operands as typed values, to be written behind the statements of `builder`."""

    layer: Layer
    at: Position
    builder: ValueBuilder
    values: Mapping[str, Value]
    stored_values: dict[str, View]  # arrays that were made of values that no operation reads where they are

    @property
    def type(self) -> TensorType:
        """The type of the result."""
        return self.layer.type

    @property
    def element(self) -> AlloType:
        """The element type of the result."""
        return self.layer.type.element

    @property
    def sum_element(self) -> AlloType:
        """The type that sums are added in: 32 bits for floats of 16, which lose what is small beside a sum."""
        return sum_element(self.element)

    def value(self, position: int) -> Value:
        """An operand: a view, or a number."""
        return self._value(self.layer.inputs[position])

    def _value(self, operand: Operand) -> Value:
        if isinstance(operand, str):
            return self.values[operand]
        return constant(operand, self.at)

    def view(self, position: int) -> View:
        """An operand as an array, a number as one without dimensions."""
        value = self.value(position)
        if isinstance(value, View):
            return value
        return View(TensorType(value.type, ()), self.at, lambda _: value, None, ())

    def stored(self, position: int) -> View:
        """An operand that a sum can read where it is; else it becomes an array of its own, once for all layers.

        All of its dimensions have to be some of the array, from which the operation takes the extents of its loops.
        """
        name, view = str(self.layer.inputs[position]), self.view(position)
        shape = view.type.shape
        probe = OperatorNest(self.at, "", [("", extent) for extent in shape], reductions=1)
        if view.compute is None and probe.read(view, along(*range(len(shape)))) is not None:
            subscripts = probe.inputs[-1].subscripts
            if {loop for _, terms in subscripts for loop, _ in terms} == set(range(len(shape))):
                return view
        if name not in self.stored_values:
            self.stored_values[name] = self.array(name, view)
        return self.stored_values[name]

    def array(self, name: str, view: View, element: AlloType | None = None) -> View:
        """A new array with the elements of `view`, filled in front of the layer."""
        if view.compute is None:
            call = OperatorCall(self.builder, name, self.at, {}, {}, lambda _: name)
            view = moved(call, view)
        symbol = self.builder.materialise(view, name, element or view.type.element)
        assert symbol is not None
        return whole(symbol, self.at)

    def new_array(self, name: str, kind: TensorType) -> Symbol:
        """A new array without elements."""
        symbol = Symbol(name, SymbolKind.TENSOR, kind, self.at)
        self.builder.do_first([Declare(self.at, symbol, None)])
        return symbol

    def do(self, *statements: Stmt) -> None:
        """Do these in front of what reads the result."""
        self.builder.do_first(statements)

    def operator_call(
        self, part: str = "", constants: Mapping[str, Any] | None = None, **arguments: Value
    ) -> OperatorCall:
        """The call of an operator of the library by this layer, whose loops are named after the layer."""
        name = f"{self.layer.name}_{part}" if part else self.layer.name
        known = {n: OperatorConstant(v, self.at) for n, v in (constants or {}).items()}
        given = {n: OperatorArgument(v, self.at, lambda n=n: n) for n, v in arguments.items()}  # type: ignore[misc]
        return OperatorCall(self.builder, name, self.at, given, known, lambda _: name)

    def nest(self, shape: tuple[int, ...], part: str = "", reductions: int = 0) -> OperatorNest:
        """Loops named after the layer."""
        name = f"{self.layer.name}_{part}" if part else self.layer.name
        return OperatorNest(self.at, name, [(f"i{d}", extent) for d, extent in enumerate(shape)], reductions)

    def index(self, value: int) -> Expr:
        """A subscript."""
        return Const(index, self.at, value)


def arithmetic(op: str, lhs: Expr, rhs: Expr | int) -> Expr:
    """Arithmetic on subscripts."""
    result = binary(op, lhs, constant(rhs, lhs.at) if isinstance(rhs, int) else rhs, lhs.at)
    assert result is not None
    return result
