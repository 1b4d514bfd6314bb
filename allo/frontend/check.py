"""Checks statements: a kernel's syntax tree becomes a typed one; all its mistakes are collected."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from ..ir.types import AlloType, Index, TensorType, index, int32
from . import dsl
from .annotations import read_annotation
from .arrays import array_element_type
from .check_expr import BINARY_OPERATORS, ExpressionChecker
from .convert import constant, convert
from .nodes import (
    AssignScalar,
    Call,
    Const,
    Copy,
    Declare,
    Expr,
    Fill,
    For,
    Function,
    If,
    Kind,
    Load,
    Return,
    Stmt,
    Store,
    Symbol,
    Var,
    While,
)
from .scope import Scope, static_value
from .typing_rules import as_integer

_UNSUPPORTED = {
    "Break": ("`break`", "put the condition into a `while`, or guard the rest of the body with `if`"),
    "Continue": ("`continue`", "guard the rest of the body with `if`"),
    "With": ("`with`", "only kernels without `with` are supported here"),
    "Try": ("`try`", "hardware has no exceptions; test the condition with `if`"),
    "Raise": ("`raise`", "hardware has no exceptions"),
    "Assert": ("`assert`", "check the results in Python after the call"),
    "Import": ("`import`", "import outside of the kernel"),
    "ImportFrom": ("`import`", "import outside of the kernel"),
    "ClassDef": ("`class`", "define kernels with `def`"),
    "FunctionDef": ("a nested `def`", "define the kernel outside and call it"),
    "AsyncFunctionDef": ("`async def`", "define kernels with `def`"),
    "Global": ("`global`", "pass the array as an argument"),
    "Nonlocal": ("`nonlocal`", "pass the array as an argument"),
    "Delete": ("`del`", "a variable ends with its block"),
    "Match": ("`match`", "use `if` and `elif`"),
    "AsyncFor": ("`async for`", "use `for`"),
    "AsyncWith": ("`async with`", "kernels are not asynchronous"),
}


class StatementChecker:
    """Turns the body of one kernel into typed statements."""

    def __init__(self, scope: Scope, function: Function) -> None:
        self.scope = scope
        self.function = function
        self.expressions = ExpressionChecker(scope)
        self._nests = 0
        self._depth = 0

    def body(self, nodes: list[ast.stmt]) -> tuple[Stmt, ...]:
        """The statements of one block; those with errors are left out."""
        result: list[Stmt] = []
        for node in nodes:
            result.extend(self._statement(node))
        return tuple(result)

    def block(self, nodes: list[ast.stmt]) -> tuple[Stmt, ...]:
        """The statements of a block with a scope of its own."""
        self.scope.enter()
        result = self.body(nodes)
        self.scope.leave()
        return result

    def _statement(self, node: ast.stmt) -> tuple[Stmt, ...]:
        match node:
            case ast.AnnAssign():
                return self._annotated(node)
            case ast.Assign():
                return self._assign(node)
            case ast.AugAssign():
                return self._augmented(node)
            case ast.For():
                return self._for(node)
            case ast.While():
                return self._while(node)
            case ast.If():
                return self._if(node)
            case ast.Return():
                return self._return(node)
            case ast.Expr():
                return self._expression(node)
            case ast.Pass():
                return ()
        construct, hint = _UNSUPPORTED.get(type(node).__name__, (f"`{type(node).__name__}`", None))
        self.scope.error(node, f"a kernel cannot contain {construct}", hint)
        return ()

    # -- declarations and assignments ------------------------------------------------------------

    def _annotated(self, node: ast.AnnAssign) -> tuple[Stmt, ...]:
        declared = read_annotation(self.scope, node.annotation)
        if not isinstance(node.target, ast.Name):
            self.scope.error(node, "only a plain name can be declared", "drop the annotation to assign an element")
            return ()
        at = self.scope.source.position(node)
        name = node.target.id
        if isinstance(declared, TensorType):
            init = self._tensor_init(node.value, declared, name)
            symbol = self._declare(name, declared, at)
            return self._initialised(at, symbol, init)
        value = None if node.value is None else self.expressions.scalar(node.value)
        symbol = self._declare(name, declared, at)
        if declared is None or (node.value is not None and value is None):
            return ()
        return (Declare(at, symbol, None if value is None else convert(value, declared)),)

    def _declare(self, name: str, declared: AlloType | TensorType | None, at: Any) -> Symbol:
        kind = Kind.INVALID
        if declared is not None:
            kind = Kind.TENSOR if isinstance(declared, TensorType) else Kind.SCALAR
        return self.scope.declare(name, kind, declared, at)

    def _initialised(self, at: Any, symbol: Symbol, init: Stmt | Expr | Symbol | None) -> tuple[Stmt, ...]:
        """The declaration of a tensor with what it starts with."""
        if isinstance(init, Call):
            return (Call(at, init.call, (symbol,), (True,)),)
        if isinstance(init, Stmt):
            return ()
        return (Declare(at, symbol, init),)

    def _tensor_init(self, node: ast.expr | None, declared: TensorType, name: str) -> Stmt | Expr | Symbol | None:
        """The initial value of a tensor: a scalar for every element, an array, or a call's result."""
        if node is None:
            return None
        if isinstance(node, ast.List):
            return self._list_constant(node, declared, name)
        if isinstance(node, ast.Call) and (call := self._tensor_call(node)) is not None:
            if call.call.callee.results == (declared,):
                return call
            results = ", ".join(map(repr, call.call.callee.results))
            self.scope.error(node, f"the call gives ({results}), but '{name}' is declared {declared!r}")
            return call
        value = self.expressions.any(node)
        if isinstance(value, Symbol):
            assert isinstance(value.type, TensorType)
            if value.type.shape != declared.shape:
                self.scope.error(node, f"'{value.name}' has shape {value.type.shape}, but '{name}' has {declared.shape}")
                return None
            return value
        return None if value is None else convert(value, declared.element)

    def _tensor_call(self, node: ast.Call) -> Call | None:
        """A call of a kernel that gives one tensor, or None if it is another kind of call."""
        callee = self.expressions.callee(node)
        if callee is None or not callable(callee) or isinstance(callee, AlloType | type):
            return None
        if getattr(callee, "__module__", "") == "builtins" or callee in dsl.ELEMENTARY:
            return None
        call = self.expressions.kernel_call(node, callee)
        if call is None:
            return None
        return Call(self.scope.source.position(node), call, (), ())

    def _list_constant(self, node: ast.List, declared: TensorType, name: str) -> Symbol | None:
        try:
            array = np.array(static_value(self.scope, node))
        except (ValueError, NameError) as error:
            self.scope.error(node, f"the list is not made of compile-time constants: {error}")
            return None
        if array.shape != declared.shape or array_element_type(array) is None:
            self.scope.error(node, f"the list has shape {array.shape}, but '{name}' has {declared.shape}")
            return None
        element = array_element_type(array)
        assert element is not None
        return self.scope.constant_tensor(name, array, element, self.scope.source.position(node))

    def _assign(self, node: ast.Assign) -> tuple[Stmt, ...]:
        if len(node.targets) != 1:
            self.scope.error(node, "chained assignment is not supported", "write one assignment a line")
            return ()
        target = node.targets[0]
        if isinstance(target, ast.Tuple):
            return self._assign_tuple(node, target)
        if isinstance(target, ast.Name):
            return self._assign_name(node, target)
        if isinstance(target, ast.Subscript):
            value = self.expressions.scalar(node.value)
            place = self._element(target)
            if value is None or place is None:
                return ()
            return (self._store(self.scope.source.position(node), place, value),)
        self.scope.error(target, f"`{ast.unparse(target)}` cannot be assigned")
        return ()

    def _element(self, target: ast.Subscript) -> Load | None:
        place = self.expressions.scalar(target)
        if place is None:
            return None
        assert isinstance(place, Load)
        if place.tensor.constant is not None:
            self.scope.error(target, f"'{place.tensor.name}' is a constant array and cannot be assigned")
            return None
        return place

    def _store(self, at: Any, place: Load, value: Expr) -> Store:
        return Store(at, place.tensor, place.indices, convert(value, place.type))

    def _assign_name(self, node: ast.Assign, target: ast.Name) -> tuple[Stmt, ...]:
        at = self.scope.source.position(node)
        symbol = self.scope.local(target.id)
        if isinstance(node.value, ast.Call) and (call := self._tensor_call(node.value)) is not None:
            return self._assign_results(node, call, [target])
        value = self.expressions.any(node.value)
        if value is None:
            if symbol is None:
                self.scope.declare(target.id, Kind.INVALID, None, at)
            return ()
        if symbol is None:
            return self._infer(at, target.id, value)
        return self._assign_symbol(node, symbol, value)

    def _infer(self, at: Any, name: str, value: Expr | Symbol) -> tuple[Stmt, ...]:
        """A variable without annotation has the type of its first value."""
        if isinstance(value, Symbol):
            return (Declare(at, self._declare(name, value.type, at), value),)
        inferred = value.type
        if isinstance(value, Const):
            inferred = int32 if as_integer(value.type) and not isinstance(value.value, bool) else value.type
        elif isinstance(inferred, Index):
            inferred = int32
        return (Declare(at, self._declare(name, inferred, at), convert(value, inferred)),)

    def _assign_symbol(self, node: ast.AST, symbol: Symbol, value: Expr | Symbol) -> tuple[Stmt, ...]:
        at = self.scope.source.position(node)
        match symbol.kind:
            case Kind.INVALID:
                return ()
            case Kind.LOOP:
                self.scope.error(node, f"the loop variable '{symbol.name}' cannot be assigned", "use another variable")
                return ()
            case Kind.TENSOR:
                return self._assign_tensor(node, symbol, value)
        if isinstance(value, Symbol):
            self.scope.error(node, f"the tensor '{value.name}' cannot be assigned to the scalar '{symbol.name}'")
            return ()
        symbol.assigned = True
        assert isinstance(symbol.type, AlloType)
        return (AssignScalar(at, symbol, convert(value, symbol.type)),)

    def _assign_tensor(self, node: ast.AST, symbol: Symbol, value: Expr | Symbol) -> tuple[Stmt, ...]:
        at = self.scope.source.position(node)
        assert isinstance(symbol.type, TensorType)
        if symbol.constant is not None:
            self.scope.error(node, f"'{symbol.name}' is a constant array and cannot be assigned")
            return ()
        if isinstance(value, Expr):
            return (Fill(at, symbol, convert(value, symbol.type.element)),)
        assert isinstance(value.type, TensorType)
        if value.type.shape != symbol.type.shape:
            self.scope.error(node, f"'{value.name}' has shape {value.type.shape}, but '{symbol.name}' has {symbol.type.shape}")
            return ()
        return (Copy(at, symbol, value),)

    def _assign_tuple(self, node: ast.Assign, target: ast.Tuple) -> tuple[Stmt, ...]:
        names = [t for t in target.elts if isinstance(t, ast.Name)]
        if len(names) != len(target.elts):
            self.scope.error(target, "the results of a call can only be given to plain names")
            return ()
        if isinstance(node.value, ast.Call) and (call := self._tensor_call(node.value)) is not None:
            return self._assign_results(node, call, names)
        if isinstance(node.value, ast.Tuple) and len(node.value.elts) == len(names):
            self.scope.error(node, "several values in one assignment are not supported", "write one assignment a line")
            return ()
        self.scope.error(node, f"{len(names)} names need a call that gives {len(names)} results")
        return ()

    def _assign_results(self, node: ast.Assign, call: Call, names: list[ast.Name]) -> tuple[Stmt, ...]:
        results = call.call.callee.results
        at = self.scope.source.position(node)
        if len(results) != len(names):
            self.scope.error(
                node, f"'{call.call.callee.name}' gives {len(results)} results, but {len(names)} names are assigned"
            )
            return ()
        targets, declares = [], []
        for name, result in zip(names, results, strict=True):
            symbol = self.scope.local(name.id)
            declares.append(symbol is None)
            if symbol is None:
                symbol = self._declare(name.id, result, at)
            elif symbol.kind is Kind.LOOP or symbol.type != result:
                self.scope.error(name, f"'{name.id}' is {symbol.type!r}, but the call gives {result!r}")
                return ()
            symbol.assigned = True
            targets.append(symbol)
        return (Call(at, call.call, tuple(targets), tuple(declares)),)

    def _augmented(self, node: ast.AugAssign) -> tuple[Stmt, ...]:
        op = BINARY_OPERATORS.get(type(node.op))
        place = self.expressions.any(node.target)
        value = self.expressions.scalar(node.value)
        if place is None or value is None:
            return ()
        if op is None or isinstance(place, Symbol):
            self.scope.error(node, "this augmented assignment is not supported", "write `x = x op y` on elements")
            return ()
        result = self.expressions.combine(node, op, place, value)
        if result is None:
            return ()
        if isinstance(place, Load):
            if place.tensor.constant is not None:
                self.scope.error(node, f"'{place.tensor.name}' is a constant array and cannot be assigned")
                return ()
            return (self._store(self.scope.source.position(node), place, result),)
        if isinstance(place, Var):
            return self._assign_symbol(node, place.symbol, result)
        self.scope.error(node, f"`{ast.unparse(node.target)}` is a compile-time constant and cannot be assigned")
        return ()

    # -- control flow ----------------------------------------------------------------------------

    def _for(self, node: ast.For) -> tuple[Stmt, ...]:
        if node.orelse:
            self.scope.error(node.orelse[0], "a loop cannot have an `else`", "put the statements behind the loop")
        ranges, name = self._iteration(node)
        names = [node.target] if isinstance(node.target, ast.Name) else getattr(node.target, "elts", [])
        at = self.scope.source.position(node)
        nest = name
        if self._depth == 0 and names and all(isinstance(n, ast.Name) for n in names):
            nest = name or f"S_{'_'.join(n.id for n in names)}_{self._nests}"
            self._nests += 1
        if ranges is not None and (
            len(names) != len(ranges) or not all(isinstance(n, ast.Name) for n in names)
        ):
            self.scope.error(
                node.target, f"{len(ranges)} loop variables are needed, got `{ast.unparse(node.target)}`"
            )
            ranges = None
        self.scope.enter()
        self._depth += 1
        kind = Kind.INVALID if ranges is None else Kind.LOOP
        symbols = [
            self.scope.declare(n.id, kind, index, self.scope.source.position(n)) for n in names if isinstance(n, ast.Name)
        ]
        body = self.body(node.body)
        self._depth -= 1
        self.scope.leave()
        if ranges is None:
            return ()
        for position in reversed(range(len(ranges))):
            lower, upper, step = ranges[position]
            loop = For(at, symbols[position], lower, upper, step, nest if position == 0 else None, body)
            body = (loop,)
        return body

    def _iteration(self, node: ast.For) -> tuple[list[tuple[Expr, Expr, Expr]] | None, str | None]:
        """The ranges that a `for` runs over, and the name given to the nest."""
        if not isinstance(node.iter, ast.Call):
            self.scope.error(
                node.iter, f"a kernel cannot iterate over `{ast.unparse(node.iter)}`", "use range() or allo.grid()"
            )
            return None, None
        callee = self.expressions.callee(node.iter)
        if callee not in (range, dsl.grid, dsl.reduction):
            if callee is not None:
                self.scope.error(
                    node.iter, f"a kernel cannot iterate over `{ast.unparse(node.iter)}`", "use range() or allo.grid()"
                )
            return None, None
        name = self._nest_name(node.iter)
        if not node.iter.args or (callee is range and len(node.iter.args) > 3):
            self.scope.error(node.iter, f"{ast.unparse(node.iter.func)}() got {len(node.iter.args)} arguments")
            return None, name
        values = self.expressions.operands(*node.iter.args)
        if values is None:
            return None, name
        for value, place in zip(values, node.iter.args, strict=True):
            if as_integer(value.type) is None:
                self.scope.error(place, f"a loop bound must be an integer, got {value.type!r}", "convert it with int()")
                return None, name
        at = self.scope.source.position(node.iter)
        zero, one = constant(0, at), constant(1, at)
        if callee is not range:
            return [(zero, value, one) for value in values], name
        if len(values) == 1:
            return [(zero, values[0], one)], name
        step = values[2] if len(values) == 3 else one
        if not isinstance(step, Const):
            self.scope.error(node.iter.args[2], "the step of range() must be a compile-time constant")
            return None, name
        if step.value == 0:
            self.scope.error(node.iter.args[2], "the step of range() must not be 0")
            return None, name
        return [(values[0], values[1], step)], name

    def _nest_name(self, node: ast.Call) -> str | None:
        for keyword in node.keywords:
            if keyword.arg == "name" and isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, str):
                return keyword.value.value
            self.scope.error(keyword.value, f"`{ast.unparse(node.func)}` takes only name=\"...\" by keyword")
        return None

    def _while(self, node: ast.While) -> tuple[Stmt, ...]:
        if node.orelse:
            self.scope.error(node.orelse[0], "a loop cannot have an `else`", "put the statements behind the loop")
        condition = self.expressions.condition(node.test)
        self._depth += 1
        body = self.block(node.body)
        self._depth -= 1
        return () if condition is None else (While(self.scope.source.position(node), condition, body),)

    def _if(self, node: ast.If) -> tuple[Stmt, ...]:
        condition = self.expressions.condition(node.test)
        if isinstance(condition, Const):
            return self.block(node.body if condition.value else node.orelse)
        body, orelse = self.block(node.body), self.block(node.orelse)
        return () if condition is None else (If(self.scope.source.position(node), condition, body, orelse),)

    def _return(self, node: ast.Return) -> tuple[Stmt, ...]:
        if node is not self.scope.source.tree.body[-1]:
            self.scope.error(node, "`return` must be the last statement of a kernel", "assign to a variable and return it")
            return ()
        nodes = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value] if node.value else []
        if len(nodes) == 1 and isinstance(nodes[0], ast.Constant) and nodes[0].value is None:
            nodes = []
        expected = self.function.results
        if len(nodes) != len(expected):
            self.scope.error(
                node, f"'{self.function.name}' is declared to give {len(expected)} results, but returns {len(nodes)}",
                "declare the result: def f(...) -> T:",
            )
            return ()
        values: list[Expr | Symbol] = []
        for place, result in zip(nodes, expected, strict=True):
            value = self.expressions.any(place)
            if value is None:
                return ()
            if isinstance(result, TensorType) != isinstance(value, Symbol) or (
                isinstance(value, Symbol) and value.type != result
            ):
                self.scope.error(place, f"the result must be {result!r}, got {value.type!r}")
                return ()
            values.append(value if isinstance(value, Symbol) else convert(value, result))  # type: ignore[arg-type]
        return (Return(self.scope.source.position(node), tuple(values)),)

    def _expression(self, node: ast.Expr) -> tuple[Stmt, ...]:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return ()
        if isinstance(node.value, ast.Call) and (call := self._tensor_call(node.value)) is not None:
            return (Call(self.scope.source.position(node), call.call, (), ()),)
        if not isinstance(node.value, ast.Call):
            self.scope.error(node, f"the statement `{ast.unparse(node)}` has no effect", "assign its value")
        elif (callee := self.expressions.callee(node.value)) is not None and not hasattr(callee, "__code__"):
            self.scope.error(node, f"`{ast.unparse(node.value.func)}` cannot be called in a kernel")
        return ()


