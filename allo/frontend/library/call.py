"""One call of a library operator: its arguments, and what the families of operators ask of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...ir.types import AlloType, Float, Struct, TensorType, shape_text
from ..read.source import Position
from ..typing.builder import ValueBuilder
from ..typing.nodes import Expr, Load, Stmt, Symbol, SymbolKind, Var
from ..typing.view import View, whole
from .structured import OperatorNest, Subscripts, along

STATIC = frozenset({"axis", "axes", "shape", "dtype", "eps", "stride", "padding"})


@dataclass(frozen=True, slots=True)
class OperatorArgument:
    """A number or an array, where it is given, and how errors call it."""

    value: Expr | View
    at: Position
    text: Callable[[], str]


@dataclass(frozen=True, slots=True)
class OperatorConstant:
    """A Python value of an argument that is known when the kernel is compiled, and where it is given."""

    value: Any
    at: Position


@dataclass(frozen=True, slots=True)
class OperatorCall:
    """The call `name(...)` at a place: arguments by parameter, numbers and arrays beside compile-time constants."""

    builder: ValueBuilder
    name: str
    at: Position
    arguments: Mapping[str, OperatorArgument]
    constants: Mapping[str, OperatorConstant]
    number: Callable[[str], str]  # gives the name of a nest

    def error(self, message: str, hint: str | None = None, parameter: str = "") -> None:
        """Report a mistake of the call, or of one of its arguments."""
        place = self.arguments.get(parameter) or self.constants.get(parameter)
        self.builder.context.error_at(self.at if place is None else place.at, message, hint)

    def array(self, parameter: str, rank: int | None = None, dims: str = "") -> View | None:
        """An argument as an array of numbers, perhaps of a given rank; None after an error."""
        value = self.arguments[parameter].value
        text = self.arguments[parameter].text
        if isinstance(value, Expr):
            self.error(f"{self.name}() needs an array as '{parameter}', but `{text()}` is a scalar", None, parameter)
            return None
        shape = value.type.shape
        if isinstance(value.type.element, Struct):
            message = f"{self.name}() needs numbers, but `{text()}` is an array of {value.type.element!r}"
            self.error(message, "give it the array of one field", parameter)
            return None
        if not value.type.is_static:
            self.error(
                f"{self.name}() needs shapes that are known when the kernel is compiled, but `{text()}` has the shape "
                f"{shape_text(shape)}",
                "slice it: `A[0:8]`, or declare the argument with constant extents",
                parameter,
            )
            return None
        if rank is not None and len(shape) != rank:
            self.error(
                f"{self.name}() needs '{parameter}' of shape {dims}, but `{text()}` has the shape {shape_text(shape)}",
                None,
                parameter,
            )
            return None
        return value

    def floats(self, parameter: str, view: View) -> Float | None:
        """The element type of an array that has to hold floats; None after an error."""
        element = view.type.element
        if isinstance(element, Float):
            return element
        text, wanted = self.arguments[parameter].text(), ", ".join(map(str, view.type.shape))
        self.error(
            f"{self.name}() needs floats, but `{text}` is an array of {element!r}",
            f"convert it first: `x: float32[{wanted}] = {text}`",
            parameter,
        )
        return None

    def combine(self, op: str, lhs: Expr, rhs: Expr) -> Expr | None:
        """`lhs op rhs` by the typing rules."""
        return self.builder.combine(self.at, op, lhs, rhs)

    def computed(self, result: TensorType, views: Sequence[View], compute: Callable[[Symbol], Stmt]) -> View:
        """The result of an operation on whole arrays: written to where it is assigned, or to an array of its own."""
        made: list[Symbol] = []
        at, name = self.at, f"{self.name}_out"

        def read(indices: tuple[Expr, ...]) -> Expr:
            if not made:
                symbol = self.builder.materialise(view, name, result.element)
                assert symbol is not None
                made.append(symbol)
            return Load(result.element, at, made[0], indices)

        sources = tuple((symbol, False) for operand in views for symbol, _ in operand.sources)
        view = View(result, at, read, None, sources, (), compute)
        return view

    def stored(self, view: View, name: str = "in") -> View:
        """`view`, copied to an array of its own unless an operation that accumulates can read it where it is."""
        shape = view.type.shape
        probe = OperatorNest(self.at, "", [("", extent) for extent in shape], reductions=1)
        if probe.read(view, along(*range(len(shape)))) is not None:
            return view
        copy = self.builder.materialise(view, f"{self.name}_{name}", view.type.element)
        assert copy is not None
        return whole(copy, self.at)

    def element(self, nest: OperatorNest, view: View, subscripts: Subscripts) -> Expr:
        """An element of a stored array."""
        element = nest.read(view, subscripts)
        assert element is not None
        return element


def placeholder(element: AlloType, at: Position) -> Expr:
    """Some value of a type, to ask the typing rules."""
    return Var(element, at, Symbol("", SymbolKind.SCALAR, element, at))


def lazy(view: View, compute: Callable[[Symbol], Stmt]) -> View:
    """A view that can also be computed as a whole."""
    return replace(view, compute=compute)
