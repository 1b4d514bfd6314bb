"""Checker of collectives: what the positions of a task along an axis of its grid make of their values together."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....errors import counted, nearest
from ....ir.types import (
    MAX_BITS,
    AlloType,
    Bool,
    ChannelType,
    Fixed,
    Float,
    Index,
    Int,
    Struct,
    TensorType,
    UFixed,
    UInt,
    index,
    int32,
    shape_text,
)
from ... import regions
from ...read.source import Position
from ...typing.builder import ValueBuilder
from ...typing.convert import NotExpressible, convert
from ...typing.nodes import Binary, CallEffects, CombinedValue, Const, Declare, Expr, Symbol, SymbolKind
from ...typing.scope import Scope, static_value
from ...typing.view import View, whole
from ..checker import CheckedExpressions, Value
from .chains import LocalValues, PositionChain, Result, all_gathered, allreduced, reduce_scattered
from .demands import LayoutChecker

OPERATORS = ("+", "*", "max", "min", "&", "|", "^")
_COLLECTIVES = (regions.allreduce, regions.reduce_scatter, regions.all_gather, regions.gather)
_EFFECTS = CallEffects(frozenset(), True)
_DEPTH = 2  # of the streams between neighbours, which pass one element after the other


def is_collective(callee: Any) -> bool:
    """Whether a function is a collective of the positions of a task, or `gather`, which gives a value too."""
    return any(callee is collective for collective in _COLLECTIVES)


@dataclass(frozen=True, slots=True)
class _Request:
    """A collective with what it is asked for."""

    node: ast.Call
    kind: str
    name: str
    at: Position
    values: LocalValues
    type: AlloType  # of the values
    op: str
    axes: tuple[int, ...]
    dim: int


class CollectiveChecker:
    """Turns collectives into puts and gets of neighbours; a method returns None after an error was reported."""

    def __init__(
        self, scope: Scope, expressions: CheckedExpressions, builder: ValueBuilder, layouts: LayoutChecker
    ) -> None:
        self.scope = scope
        self.expressions = expressions
        self.builder = builder
        self.layouts = layouts
        self._aims: tuple[ast.expr, AlloType] | None = None
        self._count = 0

    def aim(self, node: ast.expr | None, target: Symbol | AlloType | TensorType | None) -> None:
        """Take note of what the value of `node` is assigned to, so that integers are added in its type."""
        kind = target.type if isinstance(target, Symbol) else target
        element = kind.element if isinstance(kind, TensorType) else kind
        self._aims = None if node is None or element is None else (node, element)

    def call(self, node: ast.Call, callee: Callable[..., Any]) -> Expr | Symbol | None:
        """What a collective gives to each position, computed in front of the statement."""
        request = self._request(node, callee)
        if request is None:
            return None
        if not self.builder.in_front(request.at, f"`{ast.unparse(node)}`", self.builder.seen, _EFFECTS):
            return None
        axes = [axis for axis in request.axes if self.scope.grid[axis] > 1]
        values = request.values
        if not axes:
            return self._kept(request, values)
        result: Result | None = None
        for axis in axes:
            result = self._along(request, axis, values)
            values = LocalValues(values.extents, result.read)
        assert result is not None
        return result.symbol if values.extents else result.read(())

    # -- what is asked for ------------------------------------------------------------------------------------------

    def _request(self, node: ast.Call, callee: Callable[..., Any]) -> _Request | None:
        name = callee.__name__
        given = self._bound(node, callee)
        if given is None or not self._is_in_task(node, name):
            return None
        op = self._operator(node, name, given.get("op"))
        dim = self._number(given.get("dim"), name, "dim", 0)
        value = self.expressions.any(given["x"])
        if op is None or dim is None or value is None:
            return None
        shape = value.type.shape if isinstance(value, Symbol | View) and isinstance(value.type, TensorType) else ()
        if name != "allreduce" and not 0 <= dim < len(shape):
            what = f"has {counted(len(shape), 'dimension')}" if shape else "is a number"
            does, text = "joins" if name == "all_gather" else "cuts", ast.unparse(given["x"])
            self.scope.error(node, f"{name}() {does} dimension {dim}, but `{text}` {what}")
            return None
        axes = self._axes(node, name, given, op, dim)
        if axes is None or not all(self._is_run_by_all(node, name, axis) for axis in axes):
            return None
        if name == "reduce_scatter" and shape[dim] % self.scope.grid[axes[0]]:
            parts = self.scope.grid[axes[0]]
            message = f"dimension {dim} of {shape_text(shape)} does not divide into {parts} equal parts, one a position"
            self.scope.error(node, f"reduce_scatter(): {message}", f"pad it to a multiple of {parts}")
            return None
        element = self._element(node, name, value, op)
        if element is None:
            return None
        self._count += 1
        at = self.scope.source.position(node)
        return _Request(node, name, f"{name}_{self._count - 1}", at, self._values(value, at), element, op, axes, dim)

    def _bound(self, node: ast.Call, callee: Callable[..., Any]) -> dict[str, ast.expr] | None:
        """The arguments by parameter."""
        name, parameters = callee.__name__, list(inspect.signature(callee).parameters)
        listed = ", ".join(parameters)
        found = dict(zip(parameters, node.args, strict=False))
        twice = next((keyword for keyword in node.keywords if keyword.arg in found), None)
        wrong = next((keyword for keyword in node.keywords if keyword.arg not in parameters), None)
        if wrong is not None:
            hint = nearest(str(wrong.arg), parameters) or f"its arguments are {listed}"
            self.scope.error(wrong, f"{name}() has no argument '{wrong.arg}'", hint)
        elif twice is not None:
            self.scope.error(twice, f"{name}() gets its argument '{twice.arg}' twice")
        elif len(node.args) > len(parameters):
            most, got = counted(len(parameters), "argument"), len(node.args)
            self.scope.error(node, f"{name}() takes at most {most} ({listed}), got {got}")
        elif "x" not in found and all(keyword.arg != "x" for keyword in node.keywords):
            self.scope.error(node, f"{name}() needs its argument 'x'", f"write {name}({listed})")
        else:
            return found | {str(keyword.arg): keyword.value for keyword in node.keywords}
        return None

    def _is_in_task(self, node: ast.Call, name: str) -> bool:
        """Whether all positions of a task may come to a collective, as far as loops and branches tell."""
        if not self.scope.positions:
            text = f"`{ast.unparse(node.func)}` combines values of the positions of a task, and this is none"
            self.scope.error(node, text, "call it in a function with `@df.kernel(mapping=[...])`")
            return False
        if self.scope.choices:
            text = f"{name}() stands in a loop or branch that positions may run another number of times"
            self.scope.error(node, text, "move it out, or branch with `meta_if` on the position")
            return False
        return True

    def _is_run_by_all(self, node: ast.Call, name: str, axis: int) -> bool:
        """Whether all positions along an axis, or none of them, are in the branch."""
        here = self.scope.here
        if here is None or (here == here.any(axis, keepdims=True)).all():
            return True
        part = np.argwhere(here.any(axis, keepdims=True) & ~here)[0]
        inside = part.copy()
        inside[axis] = int(np.argmax(np.moveaxis(here, axis, -1)[tuple(np.delete(part, axis))]))
        text = (
            f"{name}() combines values along axis {axis}, but is run by position {inside.tolist()} and not by "
            f"position {part.tolist()}"
        )
        self.scope.error(node, text, "let all positions along the axis run it, if need be with a neutral value")
        return False

    def _operator(self, node: ast.Call, name: str, place: ast.expr | None) -> str | None:
        if place is None:
            return "+"
        op = self._constant(place, name, "op")
        if op is None:
            return None
        if op in OPERATORS:
            return str(op)
        hint = nearest(str(op), OPERATORS) or f"the operators are {', '.join(OPERATORS)}"
        self.scope.error(place, f"{name}() does not know the operator {op!r}", hint)
        return None

    def _constant(self, place: ast.expr, name: str, parameter: str) -> Any:
        """The value of a compile-time constant; None after an error."""
        try:
            return static_value(self.scope, place)
        except NameError as error:
            self.scope.report_unknown_in(place, error.args[0])
        except ValueError as error:
            self.scope.error(place, f"{name}() needs a compile-time constant as '{parameter}': {error}")
        return None

    def _number(self, place: ast.expr | None, name: str, parameter: str, default: int) -> int | None:
        value = default if place is None else self._constant(place, name, parameter)
        if value is not None and type(value) is not int:
            assert place is not None
            self.scope.error(place, f"{name}() needs an integer as '{parameter}', got {value!r}")
            return None
        return value

    def _axes(
        self, node: ast.Call, name: str, given: dict[str, ast.expr], op: str, dim: int
    ) -> tuple[int, ...] | None:
        """The axes of the grid, counted from the first: as given, or as the layout of the value says."""
        place, rank = given.get("axis"), len(self.scope.grid)
        if place is None or (isinstance(place, ast.Constant) and place.value is None):
            return self.layouts.axes(node, name, given["x"], op, dim)
        value = self._constant(place, name, "axis")
        if value is None:
            return None
        listed = tuple(value) if isinstance(value, list | tuple) and name == "allreduce" else (value,)
        if not all(type(axis) is int for axis in listed) or not listed:
            many = " or several" if name == "allreduce" else ""
            self.scope.error(place, f"{name}() needs the number of an axis of the grid{many} as 'axis', got {value!r}")
            return None
        outside = [axis for axis in listed if not -rank <= axis < rank]
        if outside:
            grid = f"the grid {list(self.scope.grid)} has {rank} axes"
            self.scope.error(place, f"{name}() along axis {outside[0]}, but {grid}", f"give one below {rank}")
            return None
        axes = tuple(sorted(axis % rank for axis in listed))
        if len(set(axes)) < len(axes):
            self.scope.error(place, f"{name}() along an axis twice: {value!r}")
            return None
        return axes if self.layouts.agrees(node, name, given["x"], op, dim, axes) else None

    def _element(self, node: ast.Call, name: str, value: Value, op: str) -> AlloType | None:
        """The type of the values that positions combine."""
        kind = value.type
        element = kind.element if isinstance(kind, TensorType) else kind
        assert element is not None
        if isinstance(kind, TensorType) and not kind.is_static:
            text = f"{name}() needs an extent that is known when the kernel is compiled, got {shape_text(kind.shape)}"
            self.scope.error(node, text, "slice it: `A[0:8]`")
            return None
        if isinstance(element, Index) or (isinstance(value, Const) and isinstance(element, Int | UInt)):
            element = int32
        if name == "all_gather":
            return element
        if isinstance(element, Struct) or (op in "&|^" and isinstance(element, Float | Fixed | UFixed)):
            self.scope.error(node, f"{name}() cannot combine values of type {element!r} by '{op}'")
            return None
        return UInt(1) if isinstance(element, Bool) else element

    def _values(self, value: Value, at: Position) -> LocalValues:
        """What the positions combine, in a variable if computing it is work."""
        if isinstance(value, Expr):
            known = value if isinstance(value, Const) else self.builder.variable(value)
            return LocalValues((), lambda _: known)
        view = whole(value, at) if isinstance(value, Symbol) else value
        if view.place is None or view.compute is not None:
            copy = self.builder.materialise(view, "partial", view.type.element)
            assert copy is not None
            view = whole(copy, at)
        self.builder.has_read()
        return LocalValues(view.type.shape, view.read)

    # -- how it is done ---------------------------------------------------------------------------------------------

    def _along(self, request: _Request, axis: int, values: LocalValues) -> Result:
        """A collective along one axis, in front of the current statement: the variable of its result."""
        count = self.scope.grid[axis]
        total = request.type if request.kind == "all_gather" else self._total(request, count)
        chain = self._chain(request, axis, total)
        extents = list(values.extents)

        def combine(before: Expr, own: Expr) -> Expr:
            first, second = convert(before, total), convert(own, total)
            if isinstance(total, Int | UInt | Float) or request.op in ("max", "min"):
                return Binary(total, request.at, request.op, first, second)
            exact = self.builder.combine(request.at, request.op, first, second)
            assert exact is not None
            return convert(exact, total)

        if request.kind == "allreduce":
            result = self._variable(f"{chain.name}_result", total, extents, request.at)
            self.builder.do_first(allreduced(chain, values, result, combine))
        elif request.kind == "reduce_scatter":
            whole_sum = self._variable(f"{chain.name}_total", total, extents, request.at)
            extents[request.dim] //= count
            result = self._variable(f"{chain.name}_result", total, extents, request.at)
            self.builder.do_first(reduce_scattered(chain, values, request.dim, whole_sum, result, combine))
        else:
            extents[request.dim] *= count
            result = self._variable(f"{chain.name}_result", total, extents, request.at)
            self.builder.do_first(all_gathered(chain, values, request.dim, result))
        sample = values.read(tuple(Const(index, request.at, 0) for _ in values.extents))
        agrees = request.kind != "reduce_scatter"
        self.scope.agreements.append(CombinedValue(result.symbol, sample, axis, agrees))
        return result

    def _variable(self, name: str, element: AlloType, extents: Sequence[int], at: Position) -> Result:
        kind = TensorType(element, tuple(extents)) if extents else element
        symbol = Symbol(name, SymbolKind.TENSOR if extents else SymbolKind.SCALAR, kind, at)
        symbol.assigned = True
        zero = None if extents else convert(Const(int32, at, 0), element)
        self.builder.do_first([Declare(at, symbol, zero)])
        return Result(symbol, at)

    def _chain(self, request: _Request, axis: int, element: AlloType) -> PositionChain:
        """The streams between neighbours, which the region makes."""
        grid = self.scope.grid
        extents = tuple(extent - 1 if k == axis else extent for k, extent in enumerate(grid))
        several = len(request.axes) > 1
        name = f"{request.name}_axis_{axis}" if several else request.name
        carried = ChannelType(element, _DEPTH, shape=extents)
        ends = []
        for way in ("up", "down"):
            symbol = Symbol(f"{self.scope.source.name}_{name}_{way}", SymbolKind.STREAM, None, request.at)
            symbol.stream = carried
            self.scope.links.append(symbol)
            ends.append(symbol)
        nest = self.builder.nest_name
        return PositionChain(name, self.scope.positions, grid, axis, ends[0], ends[1], element, request.at, nest)

    def _total(self, request: _Request, count: int) -> AlloType:
        """The type that holds what `count` values give; of integers the narrower one that it is assigned to."""
        element, op = request.type, request.op
        if op not in "+*" or isinstance(element, Float):
            return element
        aimed = self._aimed(request)
        exact: AlloType = element
        if isinstance(element, Int | UInt | Fixed | UFixed) and not self.scope.rules.wraps:
            wider = element.width + (count - 1).bit_length() if op == "+" else element.width * count
            if wider > MAX_BITS and not (isinstance(element, Int | UInt) and isinstance(aimed, Int | UInt)):
                text = f"{count} values of type {element!r} combined by '{op}' need more than {MAX_BITS} bits"
                raise NotExpressible(text, request.at, "convert them to a narrower type first")
            width = min(wider, MAX_BITS)
            if isinstance(element, Int | UInt):
                exact = type(element)(width)
            else:
                exact = type(element)(width, element.fracs * (1 if op == "+" else count))
        narrow = isinstance(aimed, Int | UInt) and isinstance(exact, Int | UInt) and aimed.width <= exact.width
        return aimed if aimed is not None and narrow else exact

    def _aimed(self, request: _Request) -> AlloType | None:
        """The type that the result is assigned to as it is."""
        return self._aims[1] if self._aims is not None and self._aims[0] is request.node else None

    def _kept(self, request: _Request, values: LocalValues) -> Expr | Symbol:
        """The value itself, of the only position along the axes."""
        if not values.extents:
            return convert(values.read(()), request.type)
        symbol = self._variable(f"{request.name}_result", request.type, values.extents, request.at)
        body = self.builder.fill(
            symbol.symbol,
            View(TensorType(request.type, values.extents), request.at, values.read, None, ()),
            "copy",
            request.at,
        )
        self.builder.do_first([body])
        return symbol.symbol
