"""One call of a library operator: its arguments bound to parameters, and what the families of operators ask of them."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ...errors import counted, nearest
from ...ir.types import AlloType, Float, Struct, TensorType, shape_text
from ..nodes import Expr, Kind, Load, Stmt, Symbol, Var
from ..scope import Scope, static_value
from ..source import Position
from ..view import View, whole
from .structured import Nest, Subscripts, along

if TYPE_CHECKING:
    from ..around import Seen
    from ..check_expr import ExpressionChecker

STATIC = frozenset({"axis", "axes", "shape", "dtype", "eps", "stride", "padding"})


@dataclass(slots=True)
class OperatorCall:
    """The call `name(...)` at `node`: operands that are checked, and Python values of the other arguments."""

    expressions: ExpressionChecker
    node: ast.expr
    name: str
    operands: dict[str, Expr | View]
    static: dict[str, Any]
    nodes: dict[str, ast.expr]
    number: Callable[[str], str]  # gives the name of a nest

    @property
    def scope(self) -> Scope:
        return self.expressions.scope

    @property
    def at(self) -> Position:
        """The place of the call."""
        return self.scope.source.position(self.node)

    def error(self, message: str, hint: str | None = None, parameter: str = "") -> None:
        """Report a mistake of the call, or of one of its arguments."""
        self.scope.error(self.nodes.get(parameter, self.node), message, hint)

    def array(self, parameter: str, rank: int | None = None, dims: str = "") -> View | None:
        """An argument as an array of numbers, perhaps of a given rank; None after an error."""
        value = self.operands[parameter]
        text = ast.unparse(self.nodes[parameter])
        if isinstance(value, Expr):
            self.error(f"{self.name}() needs an array as '{parameter}', but `{text}` is a scalar", None, parameter)
            return None
        shape = value.type.shape
        if isinstance(value.type.element, Struct):
            message = f"{self.name}() needs numbers, but `{text}` is an array of {value.type.element!r}"
            self.error(message, "give it the array of one field", parameter)
            return None
        if not value.type.is_static:
            self.error(
                f"{self.name}() needs shapes that are known when the kernel is compiled, but `{text}` has the shape "
                f"{shape_text(shape)}",
                "slice it: `A[0:8]`, or declare the argument with constant extents",
                parameter,
            )
            return None
        if rank is not None and len(shape) != rank:
            self.error(
                f"{self.name}() needs '{parameter}' of shape {dims}, but `{text}` has the shape {shape_text(shape)}",
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
        text, wanted = ast.unparse(self.nodes[parameter]), ", ".join(map(str, view.type.shape))
        self.error(
            f"{self.name}() needs floats, but `{text}` is an array of {element!r}",
            f"convert it first: `x: float32[{wanted}] = {text}`",
            parameter,
        )
        return None

    def combine(self, op: str, lhs: Expr, rhs: Expr) -> Expr | None:
        """`lhs op rhs` by the typing rules."""
        return self.expressions.combine(self.node, op, lhs, rhs)

    def computed(self, result: TensorType, views: Sequence[View], compute: Callable[[Symbol], Stmt]) -> View:
        """The result of an operation on whole arrays: written to where it is assigned, or to an array of its own."""
        made: list[Symbol] = []
        tensors = self.expressions.tensors
        at, name = self.at, f"{self.name}_out"

        def read(indices: tuple[Expr, ...]) -> Expr:
            if not made:
                symbol = tensors.materialise(view, name, result.element)
                assert symbol is not None
                made.append(symbol)
            return Load(result.element, at, made[0], indices)

        sources = tuple((symbol, False) for operand in views for symbol, _ in operand.sources)
        view = View(result, at, read, None, sources, (), compute)
        return view

    def stored(self, view: View, name: str = "in") -> View:
        """`view`, copied to an array of its own unless an operation that accumulates can read it where it is."""
        shape = view.type.shape
        probe = Nest(self.at, "", [("", extent) for extent in shape], reductions=1)
        if probe.read(view, along(*range(len(shape)))) is not None:
            return view
        copy = self.expressions.tensors.materialise(view, f"{self.name}_{name}", view.type.element)
        assert copy is not None
        return whole(copy, self.at)

    def element(self, nest: Nest, view: View, subscripts: Subscripts) -> Expr:
        """An element of a stored array."""
        element = nest.read(view, subscripts)
        assert element is not None
        return element


def placeholder(element: AlloType, at: Position) -> Expr:
    """Some value of a type, to ask the typing rules."""
    return Var(element, at, Symbol("", Kind.SCALAR, element, at))


class Binder:
    """Binds the arguments of calls of operators to the parameters of their Python functions."""

    def __init__(self, expressions: ExpressionChecker) -> None:
        self.expressions = expressions
        self.scope = expressions.scope

    def bound(self, node: ast.Call, callee: Callable[..., Any]) -> dict[str, ast.expr] | None:
        """The arguments by parameter; None after an error."""
        name = callee.__name__
        parameters = inspect.signature(callee).parameters
        listed = ", ".join(parameters)
        if len(node.args) > len(parameters):
            most, given = counted(len(parameters), "argument"), counted(len(node.args), "argument")
            self.scope.error(node, f"{name}() takes at most {most} ({listed}), got {given}")
            return None
        found = dict(zip(parameters, node.args, strict=False))
        for keyword in node.keywords:
            if keyword.arg not in parameters:
                hint = nearest(str(keyword.arg), parameters) or f"its arguments are {listed}"
                self.scope.error(keyword, f"{name}() has no argument '{keyword.arg}'", hint)
                return None
            if keyword.arg in found:
                self.scope.error(keyword, f"{name}() gets its argument '{keyword.arg}' twice")
                return None
            found[str(keyword.arg)] = keyword.value
        for parameter in parameters.values():
            if parameter.default is parameter.empty and parameter.name not in found:
                self.scope.error(node, f"{name}() needs its argument '{parameter.name}'", f"write {name}({listed})")
                return None
        return found

    def operands(self, found: dict[str, ast.expr]) -> dict[str, Expr | View] | None:
        """The arguments that are numbers and arrays; kernels called in them are called once."""
        tensors = self.expressions.tensors
        result: dict[str, Expr | View] = {}
        failed = False
        for parameter, place in found.items():
            if parameter in STATIC:
                continue
            seen: Seen = tensors.seen
            value = self.expressions.any(place)
            checked = tensors.called_once(value, seen) if isinstance(value, Expr) else value
            if checked is None:
                failed = True
            elif isinstance(checked, Symbol):
                result[parameter] = whole(checked, self.scope.source.position(place))
            else:
                result[parameter] = checked
        return None if failed else result

    def static(self, name: str, callee: Callable[..., Any], found: dict[str, ast.expr]) -> dict[str, Any] | None:
        """The arguments that are compile-time constants, with the defaults."""
        parameters = inspect.signature(callee).parameters
        result: dict[str, Any] = {n: p.default for n, p in parameters.items() if n in STATIC and n not in found}
        for parameter, place in found.items():
            if parameter not in STATIC:
                continue
            try:
                result[parameter] = static_value(self.scope, place)
            except NameError as error:
                self.scope.report_unknown_in(place, error.args[0])
                return None
            except ValueError as error:
                self.scope.error(place, f"{name}() needs a compile-time constant as '{parameter}': {error}")
                return None
        return result


def lazy(view: View, compute: Callable[[Symbol], Stmt]) -> View:
    """A view that can also be computed as a whole."""
    return replace(view, compute=compute)
