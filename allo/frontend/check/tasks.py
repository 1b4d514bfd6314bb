"""Checker of dataflow regions: their streams, their tasks, and what tasks take from around them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...errors import Note, counted, nearest
from ...ir.names import unique_name
from ...ir.types import AlloType, index
from .. import regions
from ..read.source import KernelSource, Position
from ..typing.convert import constant, convert
from ..typing.nodes import (
    CallSite,
    CheckedFunction,
    Const,
    Declare,
    Expr,
    Stmt,
    Symbol,
    SymbolKind,
    TaskGrid,
    Var,
)
from ..typing.scope import Captured, Scope, static_value
from .mesh.replicas import symbols_in

_MOST_POSITIONS = 1 << 20
_UNNAMED = "p{}"  # a coordinate that a task does not ask for


def is_region(scope: Scope, source: KernelSource) -> bool:
    """Whether a kernel is declared to be a dataflow region."""
    return any(_value(scope, _function(node)) is regions.region for node in source.tree.decorator_list)


def is_task(scope: Scope, node: ast.FunctionDef) -> bool:
    """Whether a nested function is a task."""
    return any(_value(scope, _function(decorator)) is regions.kernel for decorator in node.decorator_list)


def asks_position(scope: Scope, node: ast.expr | None) -> bool:
    """Whether an expression is `get_pid()`."""
    return isinstance(node, ast.Call) and _value(scope, node.func) is regions.get_pid


def _function(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node


def _value(scope: Scope, node: ast.expr) -> Any:
    if not isinstance(node, ast.Name | ast.Attribute):
        return None
    try:
        return static_value(scope, node)
    except (NameError, ValueError):
        return None


@dataclass(frozen=True, slots=True)
class TaskPlace:
    """Where a task stands: its position in a grid, and the names that it has from its region."""

    positions: tuple[Symbol, ...]
    grid: tuple[int, ...]
    captured: Captured

    @classmethod
    def of(cls, source: KernelSource, grid: tuple[int, ...], captured: Captured) -> TaskPlace:
        """The place of a task, whose position has no name yet."""
        at = source.position(source.tree)
        positions = tuple(Symbol(_UNNAMED.format(k), SymbolKind.ARGUMENT, index, at) for k in range(len(grid)))
        return cls(positions, grid, captured)

    def enter(self, scope: Scope) -> None:
        """Let the scope of the task know it."""
        scope.positions, scope.grid = self.positions, self.grid
        for symbol, _ in self.captured:
            scope.alias(symbol.name, symbol)


class TaskChecker:
    """Turns the tasks of one region into functions, and calls of them on their grids."""

    def __init__(self, scope: Scope, function: CheckedFunction) -> None:
        self.scope = scope
        self.function = function
        self.has_own_params = bool(function.params)
        self._constants: dict[Symbol, Const] = {}  # what variables of the region are declared with
        self._given: set[Symbol] = set()  # those of them that tasks use

    # -- tasks --------------------------------------------------------------------------------------

    def task(self, node: ast.FunctionDef) -> tuple[Stmt, ...]:
        """The statement that runs a task at each position of its grid."""
        self.function.is_region = True
        given = self._decorator(node)
        if given is None:
            return ()
        mapping, arguments = given
        if self.scope.depth:
            self.scope.error(node, f"task '{node.name}' is defined in a loop", "give it a larger `mapping`")
            return ()
        at = self.scope.source.position(node)
        self.scope.tasks[node.name] = at
        captured = self._captured()
        source = replace(self.scope.source, function=None, tree=node, names=self.scope.static_names())
        self.scope.is_alone = False
        assert self.scope.compile_task is not None
        callee = self.scope.compile_task(source, mapping, captured)
        if callee is None:
            return ()
        if callee.results:
            message = f"task '{node.name}' returns a value, which nobody takes"
            self.scope.error(node.returns or node, message, "put it into a stream, or write it to an array")
            return ()
        positions = callee.params[: len(mapping)]
        own = len(callee.params) - len(positions)
        if (passed := self._passed(node, arguments, callee, own)) is None:
            return ()
        used = symbols_in(callee.body)
        links = [(inner, self._link(inner)) for inner in callee.links]
        taken = [(inner, outer) for inner, outer in captured if inner in used]
        callee.body = (*self._own_constants(taken), *callee.body)
        taken = [(inner, outer) for inner, outer in taken if not self._is_constant(inner, outer)] + links
        callee.params = (*positions, *callee.params[len(positions) :], *(inner for inner, _ in taken))
        if not self._may_take(node, callee, taken):
            return ()
        place = self._places(positions, mapping, at)
        call = CallSite(callee, (*place, *passed, *(_given(outer, at) for _, outer in taken)))
        made = (Declare(at, outer, None) for _, outer in links)
        return (*made, TaskGrid(at, callee.name, self._loops, mapping, call))

    def _link(self, inner: Symbol) -> Symbol:
        """The stream of the region that a task calls `inner`, for a collective of its positions."""
        assert inner.stream is not None
        name = unique_name(inner.name, {symbol.name for symbol in self.scope.visible()})
        return self.scope.declare_stream(name, inner.stream, inner.at)

    def _places(self, positions: tuple[Symbol, ...], mapping: tuple[int, ...], at: Position) -> tuple[Expr, ...]:
        """The position as the call is given it: a variable of the grid, or 0 where the grid has one place."""
        if all(extent == 1 for extent in mapping):
            self._loops: tuple[Symbol, ...] = ()
            return tuple(convert(constant(0, at), index) for _ in positions)
        self._loops = tuple(Symbol(p.name, SymbolKind.LOOP, index, at) for p in positions)
        return tuple(Var(index, at, loop) for loop in self._loops)

    def _decorator(self, node: ast.FunctionDef) -> tuple[tuple[int, ...], list[ast.expr] | None] | None:
        """The mapping of a task, and what its `args` are."""
        if len(node.decorator_list) != 1 or not isinstance(decorator := node.decorator_list[0], ast.Call):
            self.scope.error(node, f"task '{node.name}' needs one decorator: `@df.kernel(mapping=[1])`")
            return None
        keywords = {keyword.arg: keyword.value for keyword in decorator.keywords}
        unknown = [keyword for keyword in decorator.keywords if keyword.arg not in ("mapping", "args")]
        if unknown or decorator.args:
            name = ast.unparse(decorator.func)
            wrong = unknown[0] if unknown else decorator.args[0]
            hint = nearest(unknown[0].arg or "", ["mapping", "args"]) if unknown else None
            self.scope.error(wrong, f"{name}() takes `mapping` and `args`, by name", hint)
            return None
        mapping = self._mapping(keywords.get("mapping"))
        if mapping is None:
            return None
        listed = keywords.get("args")
        if listed is not None and not isinstance(listed, ast.List | ast.Tuple):
            self.scope.error(listed, "`args` is a list of arguments of the region", "write `args=[A, B]`")
            return None
        return mapping, None if listed is None else listed.elts

    def _mapping(self, node: ast.expr | None) -> tuple[int, ...] | None:
        if node is None:
            return (1,)
        try:
            value = static_value(self.scope, node)
        except NameError as error:
            self.scope.report_unknown_in(node, error.args[0])
            return None
        except ValueError as error:
            self.scope.error(node, f"the mapping of a task must be a compile-time constant: {error}")
            return None
        extents = tuple(value) if isinstance(value, list | tuple) else (value,)
        if not extents or not all(type(extent) is int and extent > 0 for extent in extents):
            self.scope.error(node, f"the mapping of a task is a list of positive integers, got {value!r}")
            return None
        count = 1
        for extent in extents:
            count *= extent
        if count > _MOST_POSITIONS:
            self.scope.error(node, f"the mapping has {count} positions, more than any device has")
            return None
        return extents

    # -- arguments ----------------------------------------------------------------------------------

    def _passed(
        self, node: ast.FunctionDef, listed: list[ast.expr] | None, callee: CheckedFunction, own: int
    ) -> list[Symbol | Expr] | None:
        """What stands for the parameters of a task: `args`, or what has their names."""
        params = callee.params[len(callee.params) - own :]
        if listed is not None and len(listed) != own:
            takes = counted(own, "parameter") if own else "no parameter"
            hint = "list for each parameter what it stands for" if own else "take `args` out, or give it parameters"
            self.scope.error(node, f"task '{node.name}' has {takes}, but `args` lists {len(listed)}", hint)
            return None
        found: list[Symbol | Expr] = []
        for number, parameter in enumerate(params):
            place = listed[number] if listed is not None else None
            outer = self._outer(place, parameter) if place is not None else self._by_name(node, parameter)
            if outer is None:
                return None
            if outer.kind is SymbolKind.INVALID:
                return None
            if (outer.type, outer.stream) != (parameter.type, parameter.stream):
                what = f"'{outer.name}' of the region is {outer.stream or outer.type!r}"
                wanted = parameter.stream or parameter.type
                message = f"parameter '{parameter.name}' of task '{node.name}' is {wanted!r}, but {what}"
                self.scope.error_at(parameter.at, message, "give both the same type")
                return None
            found.append(_given(outer, parameter.at))
        return found

    def _outer(self, place: ast.expr, parameter: Symbol) -> Symbol | None:
        """What an entry of `args` names."""
        symbol = self.scope.local(place.id) if isinstance(place, ast.Name) else None
        if symbol is None or symbol.kind in (SymbolKind.STATIC, SymbolKind.LOOP):
            text = ast.unparse(place)
            message = f"`{text}` in `args` is no argument, array or stream of the region"
            self.scope.error(place, message, "name what parameter " f"'{parameter.name}' stands for")
            return None
        return None if symbol.kind is SymbolKind.INVALID else symbol

    def _by_name(self, node: ast.FunctionDef, parameter: Symbol) -> Symbol | None:
        """The argument of the region that has the name of a parameter; made here if the region lists none."""
        symbol = self.scope.local(parameter.name)
        if symbol is not None and symbol.kind is not SymbolKind.STATIC:
            return symbol
        if self.has_own_params:
            known = [s.name for s in self.function.params]
            hint = nearest(parameter.name, known) or f"say which it is: `args=[{', '.join(known)}]`"
            message = f"the region has no argument '{parameter.name}', which task '{node.name}' takes"
            self.scope.error_at(parameter.at, message, hint)
            return None
        made = self.scope.declare(parameter.name, parameter.kind, parameter.type, parameter.at)
        made.memory, made.stream = parameter.memory, parameter.stream
        self.function.params = (*self.function.params, made)
        return made

    def _captured(self) -> list[tuple[Symbol, Symbol]]:
        """A name of a task for each stream, array and scalar of the region around it."""
        kinds = (SymbolKind.STREAM, SymbolKind.TENSOR, SymbolKind.SCALAR, SymbolKind.ARGUMENT)
        return [
            (Symbol(symbol.name, symbol.kind, symbol.type, symbol.at, stream=symbol.stream), symbol)
            for symbol in self.scope.visible()
            if symbol.kind in kinds and (symbol.kind is not SymbolKind.TENSOR or symbol.constant is None)
        ]

    def note(self, statements: Sequence[Stmt]) -> None:
        """Remember which variables of a function are declared with a constant."""
        for statement in statements:
            if isinstance(statement, Declare) and isinstance(statement.init, Const):
                self._constants[statement.symbol] = statement.init

    def without_constants(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """The body of a region in which no variable is left that only tasks use, each with one of its own."""
        if not self._given:
            return body
        used = symbols_in(tuple(s for s in body if not isinstance(s, Declare)))
        used |= symbols_in(tuple(s.init for s in body if isinstance(s, Declare) and isinstance(s.init, Expr)))
        unused = self._given - used
        return tuple(s for s in body if not (isinstance(s, Declare) and s.symbol in unused))

    def _is_constant(self, inner: Symbol, outer: Symbol) -> bool:
        """Whether a variable of the region has the value of its declaration where the task stands."""
        return outer in self._constants and not outer.assigned and not inner.assigned

    def _own_constants(self, taken: list[tuple[Symbol, Symbol]]) -> Iterator[Declare]:
        """Variables of a task with the values of those of the region around it that are constants."""
        for inner, outer in taken:
            if self._is_constant(inner, outer):
                self._given.add(outer)
                yield Declare(outer.at, inner, self._constants[outer])

    def _may_take(self, node: ast.FunctionDef, callee: CheckedFunction, taken: list[tuple[Symbol, Symbol]]) -> bool:
        """Whether a task changes no variable of the region: it has values of its own."""
        for inner, _ in taken:
            if inner.kind in (SymbolKind.SCALAR, SymbolKind.ARGUMENT) and inner.assigned:
                self._report_assigned(node, inner)
                return False
            if inner.kind is SymbolKind.SCALAR:
                message = f"task '{node.name}' uses '{inner.name}', a variable of the region around it"
                self.scope.error(node, message, "make it an argument of the region, or a compile-time constant")
                return False
        return True

    def _report_assigned(self, node: ast.FunctionDef, scalar: Symbol) -> None:
        """Say that a task assigns a scalar of its region, at the assignment."""
        message = f"task '{node.name}' assigns '{scalar.name}', a scalar of the region around it"
        stores = (n for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
        place = next((n for n in stores if n.id == scalar.name), node)
        source = self.scope.source
        made = Note(f"'{scalar.name}' is a value that all tasks are given here", source.location(scalar.at))
        hint = "use a variable of its own, and pass values between tasks through a stream"
        self.scope.error_at(source.position(place), message, hint, (made,))


def _given(outer: Symbol, at: Position) -> Symbol | Expr:
    """What a region gives a task: an array or stream as it is, a scalar by its value."""
    return Var(outer.type, at, outer) if isinstance(outer.type, AlloType) else outer


def bind_position(scope: Scope, node: ast.Assign) -> tuple[Stmt, ...]:
    """`i, j = get_pid()`."""
    positions = scope.positions
    target = node.targets[0]
    names = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    text = ast.unparse(node.value)
    if not positions:
        scope.error(node, f"`{text}` asks for the position of a task, and this is none")
    elif len(node.targets) > 1 or not all(isinstance(name, ast.Name) for name in names):
        scope.error(node, f"`{text}` gives the position to plain names", "write `i, j = df.get_pid()`")
    elif len(names) != len(positions):
        grid = f"a grid of {counted(len(positions), 'dimension')}"
        scope.error(node, f"the task has {grid}, but {counted(len(names), 'name')} for its position")
    else:
        for number, (name, symbol) in enumerate(zip(names, positions, strict=True)):
            assert isinstance(name, ast.Name)
            if symbol.name == _UNNAMED.format(number):
                symbol.name = name.id
            scope.alias(name.id, symbol)
    return ()
