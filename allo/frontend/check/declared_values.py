"""Values of declarations that are computed when the kernel is compiled: ConstExpr, Stateful, lists."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ...ir.arrays import array_element_type, numpy_dtype
from ...ir.types import AlloType, TensorType
from ..typing.constants import typed_array
from ..typing.convert import constant, convert
from ..typing.held_values import CONVERT, not_held
from ..typing.nodes import CheckedFunction, Const, Declare, For, If, Stmt, Symbol, SymbolKind, While
from ..typing.scope import Scope, static_value
from ..typing.writes import changed_by, parts

_NOT_CHANGED = "drop ConstExpr: an array that starts as a list or a NumPy array and is never changed is a constant too"


def declare_qualified(
    scope: Scope, node: ast.AnnAssign, qualifier: str, name: str, declared: AlloType | TensorType | None
) -> None:
    """`ConstExpr[T]` is computed now; `Stateful[T]` starts with a compile-time constant."""
    value: Any = None
    try:
        value = None if node.value is None else static_value(scope, node.value)
    except NameError as error:
        assert node.value is not None
        scope.report_unknown_in(node.value, error.args[0])
        declared = None
    except ValueError as error:
        scope.error(node, f"'{name}' is {qualifier} and needs a compile-time constant: {error}")
        declared = None
    at = scope.source.position(node)
    if declared is None:
        scope.declare(name, SymbolKind.INVALID, None, at)
    elif qualifier == "ConstExpr":
        converted = _compile_time(scope, node, name, declared, value)
        if converted is None:
            scope.declare(name, SymbolKind.INVALID, None, at)
        else:
            scope.define(name, converted, at)
    else:
        kind = SymbolKind.TENSOR if isinstance(declared, TensorType) else SymbolKind.SCALAR
        symbol = scope.declare(name, kind, declared, at)
        scope.is_alone = False
        symbol.state = _array(scope, node, qualifier, name, declared, 0 if value is None else value)
        if symbol.state is None:
            symbol.kind = SymbolKind.INVALID


def _compile_time(scope: Scope, node: ast.AnnAssign, name: str, declared: AlloType | TensorType, value: Any) -> Any:
    """The Python value of a ConstExpr; None after an error."""
    if value is None:
        scope.error(node, f"'{name}' is ConstExpr and needs a value")
        return None
    if isinstance(declared, TensorType):
        return _array(scope, node, "ConstExpr", name, declared, value)
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        value = value.item()
    if not isinstance(value, int | float):
        message = f"'{name}' is ConstExpr[{declared!r}] and cannot be {value!r}, a Python {type(value).__name__}"
        scope.error(node, message, "give it a number" if isinstance(value, str) else "declare the shape: `T[M, N]`")
        return None
    converted = convert(constant(value, scope.source.position(node)), declared)
    assert isinstance(converted, Const)
    return converted.value


def _array(
    scope: Scope, node: ast.AnnAssign, qualifier: str, name: str, declared: AlloType | TensorType, value: Any
) -> np.ndarray[Any, Any] | None:
    """`value` as an array of the declared type; None after an error."""
    element = declared.element if isinstance(declared, TensorType) else declared
    shape = declared.shape if isinstance(declared, TensorType) else ()
    dtype = numpy_dtype(element)
    if dtype is None and qualifier != "Stateful":
        scope.error(node, f"'{name}' is ConstExpr, which an array of {element!r} cannot be", _NOT_CHANGED)
        return None
    try:
        first = np.asarray(value) if dtype is not None else typed_array(element, value, name)
        if first.ndim and first.shape != shape:
            verb = "starts with" if qualifier == "Stateful" else "is given"
            scope.error(node, f"'{name}' is {declared!r}, but {verb} an array of shape {first.shape}")
            return None
        if dtype is not None and (told := not_held(first, element, name)) is not None:
            scope.error(node, told, CONVERT)
            return None
        return np.array(np.broadcast_to(first, shape), dtype=dtype or first.dtype)
    except (TypeError, ValueError, OverflowError) as error:
        if dtype is None:
            scope.error(node, str(error))
            return None
        verb = "start with" if qualifier == "Stateful" else "be"
        scope.error(node, f"'{name}' is {declared!r} and cannot {verb} {value!r}")
        return None


def list_constant(scope: Scope, node: ast.expr, declared: TensorType, name: str) -> Symbol | None:
    """The constant array of a list of numbers, written here or outside, with elements of the declared type."""
    try:
        values = static_value(scope, node)
    except NameError as error:
        scope.report_unknown_in(node, error.args[0])
        return None
    try:
        array = np.array(values)
    except ValueError:
        scope.error(node, "the rows of the list have different lengths")
        return None
    if array.shape != declared.shape:
        scope.error(node, f"the list has shape {array.shape}, but '{name}' has {declared.shape}")
        return None
    if array_element_type(array) is None:
        scope.error(node, "the list holds something else than numbers of at most 64 bits")
        return None
    exact = np.array(values, dtype=object)
    if (told := not_held(exact, declared.element, name)) is not None:
        scope.error(node, told, CONVERT)
        return None
    array = _converted(array, exact, declared.element, scope, node)
    element = array_element_type(array)
    assert element is not None
    return scope.constant_tensor(name, array, element, scope.source.position(node))


def _converted(
    array: np.ndarray[Any, Any], exact: np.ndarray[Any, Any], element: AlloType, scope: Scope, node: ast.expr
) -> np.ndarray[Any, Any]:
    """`array` with elements that an assignment converted to `element`, if NumPy has exactly that type.

    `exact` holds the numbers as Python has them: NumPy makes floats of large integers.
    """
    dtype = numpy_dtype(element)
    if dtype is None or array_element_type(np.empty(0, dtype)) != element:
        return array
    at = scope.source.position(node)
    numbers = [value.item() if isinstance(value, np.generic) else value for value in exact.ravel().tolist()]
    flat = [convert(constant(value, at), element) for value in numbers]
    return np.array([value.value for value in flat if isinstance(value, Const)], dtype).reshape(array.shape)


def constants_in_place(function: CheckedFunction) -> tuple[Stmt, ...]:
    """The body in which a variable that starts as a constant array and is never changed is that array."""
    candidates = {
        part.symbol: part.init
        for part in _declarations(function.body)
        if isinstance(part.init, Symbol) and part.init.constant is not None and part.init.type == part.symbol.type
    }
    if not candidates:
        return function.body
    for part in parts(function.body):
        for changed in changed_by(part):
            candidates.pop(changed, None)
    for symbol, source in candidates.items():
        symbol.constant = source.constant
    return _without(function.body, set(candidates))


def _declarations(body: tuple[Stmt, ...]) -> Iterator[Declare]:
    for statement in body:
        match statement:
            case Declare():
                yield statement
            case For() | While():
                yield from _declarations(statement.body)
            case If():
                yield from _declarations(statement.body)
                yield from _declarations(statement.orelse)


def _without(body: tuple[Stmt, ...], symbols: set[Symbol]) -> tuple[Stmt, ...]:
    """`body` without the declarations of `symbols`."""
    kept = []
    for statement in body:
        match statement:
            case Declare(symbol=symbol) if symbol in symbols:
                continue
            case For() | While():
                statement = replace(statement, body=_without(statement.body, symbols))
            case If():
                inner, orelse = _without(statement.body, symbols), _without(statement.orelse, symbols)
                statement = replace(statement, body=inner, orelse=orelse)
        kept.append(statement)
    return tuple(kept)
