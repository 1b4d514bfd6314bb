"""Compile-time conditions on the position of a task: the positions that each branch of a chain is for."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import reduce
from itertools import product
from typing import Any

import numpy as np

from ...ir.arrays import array_element_type, numpy_dtype
from ...ir.types import AlloType, index, int32, int64
from ...ir.types import bool as bool_type
from ..read.source import Position
from ..typing.convert import constant, convert
from ..typing.nodes import (
    AssignScalar,
    Binary,
    Block,
    Call,
    Compare,
    Const,
    Copy,
    Declare,
    Expr,
    Fill,
    If,
    Load,
    Logic,
    Stmt,
    Symbol,
    SymbolKind,
    Var,
)
from ..typing.scope import Mask, Scope, static_value

type Box = tuple[tuple[int, int], ...]  # of each coordinate the first and the last

_MOST_BOXES = 4  # copies of a branch; more are one branch under a condition that is tested at run time


def asks_for(scope: Scope, node: ast.expr | None) -> bool:
    """Whether an expression depends on the position of the task."""
    return node is not None and any(
        isinstance(child, ast.Name) and scope.local(child.id) in scope.positions for child in ast.walk(node)
    )


def values_at(scope: Scope, node: ast.expr) -> np.ndarray[Any, Any]:
    """The value of a compile-time expression at each position of the grid.

    Raises ValueError with the reason if it is not one, and NameError with a name that has no value.
    """
    return np.broadcast_to(_values_along(scope, node), scope.grid)


def holds_at(scope: Scope, node: ast.expr) -> Mask:
    """Where a compile-time condition holds; raises as `values_at` does."""
    return np.broadcast_to(_holds_along(scope, node), scope.grid)


def _holds_along(scope: Scope, node: ast.expr) -> Mask:
    """Each part of a condition along the axes that it asks for, so that the others need not be gone through."""
    if isinstance(node, ast.BoolOp):
        combine = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
        try:
            return reduce(combine, (_holds_along(scope, part) for part in node.values))
        except ValueError:  # a part may be none where those before it decide
            pass
    return np.asarray(np.vectorize(bool, otypes=[np.bool_])(_values_along(scope, node)))


def _values_along(scope: Scope, node: ast.expr) -> np.ndarray[Any, Any]:
    """The values along the axes of the grid that an expression asks for, one along each other axis."""
    names = {name: symbol for name in _names(node) if (symbol := scope.local(name)) in scope.positions}
    scope.enter()
    try:
        for name, symbol in names.items():
            assert symbol is not None
            scope.define(name, 0, symbol.at)
        static_value(scope, node)  # says why it is none, if it is none
        code = compile(ast.Expression(node), scope.source.file, "eval")
        known = scope.static_names()
        axes = zip(scope.positions, scope.grid, strict=True)
        asked = [extent if symbol in names.values() else 1 for symbol, extent in axes]
        found = np.empty(asked, object)
        unasked = tuple(dimension for dimension, extent in enumerate(asked) if extent == 1)
        here = np.ones(asked, np.bool_) if scope.here is None else scope.here.any(axis=unasked, keepdims=True)
        for place in sorted(product(*map(range, asked)), key=lambda place: not here[place]):
            for name, symbol in names.items():
                known[name] = place[scope.positions.index(symbol)]
            try:
                found[place] = eval(code, known)
            except Exception as error:
                if here[place]:
                    raise ValueError(f"{type(error).__name__} at position {list(place)}: {error}") from None
                found[place] = found[tuple(np.argwhere(here)[0])]  # any value: no such position comes here
        return found
    finally:
        scope.drop()


def _names(node: ast.expr) -> set[str]:
    return {child.id for child in ast.walk(node) if isinstance(child, ast.Name)}


def boxes_of(mask: Mask) -> list[Box]:
    """Boxes without a common position that are all positions of a mask, found greedily from the first one on."""
    left = mask.copy()
    found: list[Box] = []
    while left.any():
        start = tuple(int(k) for k in np.argwhere(left)[0])
        box = [(k, k) for k in start]
        for dimension in reversed(range(len(box))):
            while box[dimension][1] + 1 < left.shape[dimension]:
                wider = [*box]
                wider[dimension] = (box[dimension][0], box[dimension][1] + 1)
                if not left[_slices(wider)].all():
                    break
                box = wider
        left[_slices(box)] = False
        found.append(tuple(box))
        if len(found) > _MOST_BOXES:
            break
    return found


def _slices(box: Sequence[tuple[int, int]]) -> tuple[slice, ...]:
    return tuple(slice(first, last + 1) for first, last in box)


def within(box: Box, positions: tuple[Symbol, ...], grid: tuple[int, ...], at: Position) -> Expr | None:
    """The condition that the position is in a box; None if all positions are."""
    parts: list[Expr] = []
    for (first, last), symbol, extent in zip(box, positions, grid, strict=True):
        place = Var(index, at, symbol)
        if first == last and extent > 1:
            parts.append(Compare(bool_type, at, "==", place, Const(index, at, first)))
            continue
        if first > 0:
            parts.append(Compare(bool_type, at, ">=", place, Const(index, at, first)))
        if last < extent - 1:
            parts.append(Compare(bool_type, at, "<=", place, Const(index, at, last)))
    if not parts:
        return None
    result = parts[0]
    for part in parts[1:]:
        result = Logic(bool_type, at, "and", result, part)
    return result


def declare_constant(scope: Scope, node: ast.AnnAssign, name: str, declared: AlloType) -> tuple[Stmt, ...]:
    """`x: ConstExpr[T] = f(i, j)`, computed when the kernel is compiled, for each position of the task."""
    assert node.value is not None
    at = scope.source.position(node)
    try:
        values = values_at(scope, node.value)
        numbers = np.vectorize(lambda value: _converted(value, declared, at), otypes=[object])(values)
    except NameError as error:
        scope.report_unknown_in(node.value, error.args[0])
        scope.declare(name, SymbolKind.INVALID, None, at)
        return ()
    except (ValueError, TypeError) as error:
        message = f"'{name}' is ConstExpr and needs a compile-time constant, but for the position: {error}"
        scope.error(node.value, message)
        scope.declare(name, SymbolKind.INVALID, None, at)
        return ()
    first = numbers[(0,) * numbers.ndim]
    if all(value == first for value in numbers.flat):
        scope.define(name, first, at)
        return ()
    form = _affine(numbers, scope.positions, at)
    if form is not None:
        symbol = scope.declare(name, SymbolKind.ARGUMENT, index, at)
        return (Declare(at, symbol, form),)
    symbol = scope.declare(name, SymbolKind.SCALAR, declared, at)
    return (Declare(at, symbol, _looked_up(scope, name, numbers, declared, at)),)


def value_of_position(scope: Scope, node: ast.expr) -> Expr:
    """A number computed of the position when the kernel is compiled, such as `LIST[i]`; raises as `values_at`."""
    at = scope.source.position(node)
    values = values_at(scope, node)
    found = [value.item() if isinstance(value, np.generic) else value for value in values.flat]
    for value in found:
        if not isinstance(value, int | float):
            raise ValueError(f"it is a Python {type(value).__name__} at some position")
    if all(value == found[0] for value in found):
        return constant(found[0], at)
    if any(isinstance(value, float) for value in found):
        declared = constant(float(max(map(abs, found))), at).type
        found = [float(value) for value in found]
    else:
        declared = int32 if all(-(2**31) <= value < 2**31 for value in found) else int64
        found = [int(value) for value in found]
    assert isinstance(declared, AlloType)
    numbers = np.array(found, object).reshape(values.shape)
    name = next((n.id for n in ast.walk(node) if isinstance(n, ast.Name) and scope.local(n.id) is None), "position")
    return _affine(numbers, scope.positions, at) or _looked_up(scope, name, numbers, declared, at)


def _looked_up(
    scope: Scope, name: str, numbers: np.ndarray[Any, Any], declared: AlloType, at: Position
) -> Expr:
    """The number of a position in a table of all."""
    whole = all(isinstance(value, int) for value in numbers.flat)
    array = np.array(numbers.tolist(), numpy_dtype(declared) or (np.int64 if whole else np.float64))
    element = array_element_type(array)
    assert element is not None
    table = scope.constant_tensor(f"{name}_values", array, element, at)
    places = tuple(Var(index, at, position) for position in scope.positions)
    return convert(Load(element, at, table, places), declared)


def _converted(value: Any, declared: AlloType, at: Position) -> Any:
    """A number as the declared type holds it."""
    number = value.item() if isinstance(value, np.generic) else value
    if not isinstance(number, int | float):
        raise TypeError(f"it is a Python {type(number).__name__} at some position")
    found = convert(constant(number, at), declared)
    assert isinstance(found, Const)
    return found.value


def _affine(numbers: np.ndarray[Any, Any], positions: tuple[Symbol, ...], at: Position) -> Expr | None:
    """The affine expression of the position that takes these integer values; None if there is none."""
    if not all(isinstance(value, int) for value in numbers.flat):
        return None
    origin = numbers[(0,) * numbers.ndim]
    form: Expr = Const(index, at, origin)
    total = np.full(numbers.shape, origin, object)
    for dimension, (symbol, extent) in enumerate(zip(positions, numbers.shape, strict=True)):
        step = numbers[tuple(int(k == dimension) for k in range(numbers.ndim))] - origin if extent > 1 else 0
        places = np.arange(extent).reshape([-1 if k == dimension else 1 for k in range(numbers.ndim)])
        total = total + step * places
        if step:
            part = Binary(index, at, "*", Var(index, at, symbol), Const(index, at, step))
            form = Binary(index, at, "+", form, part)
    return form if (total == numbers).all() else None


_ARITHMETIC = (
    ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Set, ast.Tuple, ast.List,
    ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context,
)  # fmt: skip


def _is_arithmetic(node: ast.expr) -> bool:
    """Whether a condition can be computed by a kernel."""
    return all(isinstance(n, _ARITHMETIC) and not isinstance(n, ast.Pow | ast.MatMult) for n in ast.walk(node))


class _SpelledOut(ast.NodeTransformer):
    """`x in {a, b}` as comparisons, which can be tested at run time."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        if len(node.ops) != 1 or not isinstance(node.ops[0], ast.In | ast.NotIn):
            return node
        members = [ast.Constant(value) for value in static_value(self.scope, node.comparators[0])]
        equal: list[ast.expr] = [ast.Compare(node.left, [ast.Eq()], [member]) for member in members]
        any_of: ast.expr = ast.BoolOp(ast.Or(), equal) if len(equal) > 1 else (equal or [ast.Constant(False)])[0]
        result = ast.UnaryOp(ast.Not(), any_of) if isinstance(node.ops[0], ast.NotIn) else any_of
        return ast.fix_missing_locations(ast.copy_location(result, node))


def _assigned(statement: Stmt, shared: Mapping[str, Symbol]) -> Stmt:
    """A statement of a branch; declarations of what is `shared` with others only give it a value."""
    match statement:
        case Declare(at, symbol, init) if shared.get(symbol.name) is symbol:
            if init is None:
                return Block(at, ())
            if isinstance(init, Symbol):
                return Copy(at, symbol, init)
            return (AssignScalar if symbol.kind is SymbolKind.SCALAR else Fill)(at, symbol, init)
        case Call(targets=targets, declares=declares):
            own = [shared.get(symbol.name) is not symbol for symbol in targets]
            return replace(statement, declares=tuple(d and o for d, o in zip(declares, own, strict=True)))
        case Block(at, body):
            return Block(at, tuple(_assigned(inner, shared) for inner in body))
    return statement


class PositionChecker:
    """Branches of `meta_if` whose conditions ask for the position of the task."""

    def __init__(
        self,
        scope: Scope,
        body: Callable[[list[ast.stmt]], tuple[Stmt, ...]],
        tested: Callable[[ast.expr], Expr | None],
    ) -> None:
        self.scope = scope
        self.body = body
        self.tested = tested

    def branches(
        self, chain: Sequence[tuple[ast.expr | None, ast.With]], rest: Sequence[ast.stmt]
    ) -> tuple[Stmt, ...]:
        """The statements of a chain: each branch at the positions for which it is, and not at all if there are none.

        What a branch declares and the `rest` of the block uses stays in scope: one variable for all branches.
        """
        left: Mask = np.ones(self.scope.grid, np.bool_)
        later = {child.id for node in rest for child in ast.walk(node) if isinstance(child, ast.Name)}
        shared: dict[str, Symbol] = {}
        declaring: dict[str, Mask] = {}
        result: list[Stmt] = []
        for number, (condition, node) in enumerate(chain):
            if condition is None:
                mask = left
            else:
                values = self._values(condition)
                if values is None:
                    return ()
                mask = left & values
                left = left & ~values
            if not mask.any():
                continue
            around = self.scope.enter_branch(shared, mask)
            body = self.body(node.body)
            for name, symbol in self.scope.leave_branch(around).items():
                if name in later and symbol.kind in (SymbolKind.SCALAR, SymbolKind.TENSOR):
                    declaring[name] = mask | declaring.get(name, False)
                    self._demand_one_type(shared.setdefault(name, symbol), symbol)
            body = tuple(_assigned(statement, shared) for statement in body)
            if not body:
                continue
            at = self.scope.source.position(node)
            boxes = boxes_of(mask)
            if len(boxes) > _MOST_BOXES:
                tested = self._tested([c for c, _ in chain[:number] if c is not None], condition, mask, at)
                result += body if tested is None else [If(at, tested, body, ())]
                continue
            for box in boxes:
                inside = within(box, self.scope.positions, self.scope.grid, at)
                result += body if inside is None else [If(at, inside, body, ())]
        for name, symbol in shared.items():
            self.scope.alias(name, symbol)
            if not declaring[name].all():
                self.scope.partial[symbol] = declaring[name]
        return (*(Declare(symbol.at, symbol, None) for symbol in shared.values()), *result)

    def _demand_one_type(self, first: Symbol, second: Symbol) -> None:
        """Branches declare one variable."""
        if first is not second:
            self.scope.error_at(
                second.at,
                f"'{second.name}' is {second.type} in this branch and {first.type} in the one of line {first.at[0]}, "
                "and is used behind them",
                "declare it before the branches, or with one type in all",
            )

    def _values(self, condition: ast.expr) -> Mask | None:
        """Where a condition holds; None after an error."""
        try:
            return holds_at(self.scope, condition)
        except NameError as error:
            self.scope.report_unknown_in(condition, error.args[0])
        except (ValueError, TypeError) as error:
            message = f"the condition of a branch must be a compile-time constant, but for the position: {error}"
            self.scope.error(condition, message, "use the plain `if` at run time")
        return None

    def _tested(
        self, before: list[ast.expr], condition: ast.expr | None, mask: Mask, at: Position
    ) -> Expr | None:
        """That a branch is taken, as something that each position finds out: no branch before it is.

        Conditions that are more than arithmetic on the position are looked up.
        """
        if not all(_is_arithmetic(c) for c in (*before, condition) if c is not None):
            return _looked_up(self.scope, "taken", mask.astype(int).astype(object), bool_type, at)
        spelled = _SpelledOut(self.scope)
        tests: list[ast.expr] = [ast.UnaryOp(ast.Not(), spelled.visit(deepcopy(c))) for c in before]
        tests += [] if condition is None else [spelled.visit(deepcopy(condition))]
        whole = ast.BoolOp(ast.And(), tests) if len(tests) > 1 else tests[0]
        anchor = condition if condition is not None else before[0]
        found = self.tested(ast.fix_missing_locations(ast.copy_location(whole, anchor)))
        return Const(bool_type, at, False) if found is None else found
