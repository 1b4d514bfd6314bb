"""Checks declarations and assignments, of scalars, elements, whole arrays, and the results of calls."""

from __future__ import annotations

import ast
from types import FunctionType
from typing import Any

import numpy as np

from ..errors import counted
from ..ir.arrays import array_element_type, numpy_dtype
from ..ir.types import AlloType, Index, TensorType, int32
from .annotations import read_annotation, split_qualifier
from .check_call import is_function_of_values
from .check_expr import BINARY_OPERATORS, ExpressionChecker
from .convert import constant, convert
from .nodes import AssignScalar, Call, Const, Copy, Declare, Expr, Fill, Kind, Load, Stmt, Store, Symbol, Var
from .scope import Scope, static_value
from .templates import NestedKernel, TemplateInstance
from .typing_rules import as_integer
from .view import View, whole


class AssignmentChecker:
    """Turns declarations and assignments into typed statements; none after an error was reported."""

    def __init__(self, scope: Scope, expressions: ExpressionChecker) -> None:
        self.scope = scope
        self.expressions = expressions

    def annotated(self, node: ast.AnnAssign) -> tuple[Stmt, ...]:
        qualifier, annotation = split_qualifier(self.scope, node.annotation)
        declared = read_annotation(self.scope, annotation)
        if not isinstance(node.target, ast.Name):
            self.scope.error(
                node, "only a plain name can be declared", "drop the annotation to assign an element"
            )
            return ()
        at = self.scope.source.position(node)
        name = node.target.id
        if qualifier is not None:
            self._qualified(node, qualifier, name, declared)
            return ()
        if isinstance(declared, TensorType):
            init = self._tensor_init(node.value, declared, name)
            symbol = self._declare(name, declared, at)
            return self._initialised(at, symbol, init)
        value = None if node.value is None else self.expressions.scalar(node.value)
        symbol = self._declare(name, declared, at)
        if declared is None or (node.value is not None and value is None):
            return ()
        return (Declare(at, symbol, None if value is None else convert(value, declared)),)

    def _qualified(
        self, node: ast.AnnAssign, qualifier: str, name: str, declared: AlloType | TensorType | None
    ) -> None:
        """`ConstExpr[T]` is computed now; `Stateful[T]` starts with a compile-time constant."""
        at = self.scope.source.position(node)
        value: Any = None
        try:
            value = None if node.value is None else static_value(self.scope, node.value)
        except NameError as error:
            self.scope.error(node, f"name '{error.args[0]}' is not defined")
            declared = None
        except ValueError as error:
            self.scope.error(node, f"'{name}' is {qualifier} and needs a compile-time constant: {error}")
            declared = None
        if qualifier == "ConstExpr":
            self._define(node, name, declared, value)
            return
        symbol = self._declare(name, declared, at)
        element = declared.element if isinstance(declared, TensorType) else declared
        dtype = None if element is None else numpy_dtype(element)
        if declared is None:
            return
        if dtype is None:
            hint = "use a float type, or an integer type of at most 64 bits"
            self.scope.error(node, f"'{name}' is {qualifier}, which {element!r} cannot be yet", hint)
            symbol.kind = Kind.INVALID
            return
        shape = declared.shape if isinstance(declared, TensorType) else ()
        try:
            first = np.asarray(0 if value is None else value)
            if first.ndim and first.shape != shape:
                self.scope.error(node, f"'{name}' is {declared!r}, but starts with an array of shape {first.shape}")
                return
            symbol.state = np.array(np.broadcast_to(first, shape), dtype=dtype)
        except (TypeError, ValueError, OverflowError):
            self.scope.error(node, f"'{name}' is {declared!r} and cannot start with {value!r}")

    def _define(self, node: ast.AnnAssign, name: str, declared: AlloType | TensorType | None, value: Any) -> None:
        at = self.scope.source.position(node)
        if value is None or declared is None:
            if declared is not None:
                self.scope.error(node, f"'{name}' is ConstExpr and needs a value")
            self.scope.declare(name, Kind.INVALID, None, at)
        elif isinstance(declared, TensorType) or not isinstance(value, int | float):
            self.scope.define(name, value, at)
        else:
            converted = convert(constant(value, at), declared)
            assert isinstance(converted, Const)
            self.scope.define(name, converted.value, at)

    def _declare(self, name: str, declared: AlloType | TensorType | None, at: Any) -> Symbol:
        kind = Kind.INVALID
        if declared is not None:
            kind = Kind.TENSOR if isinstance(declared, TensorType) else Kind.SCALAR
        return self.scope.declare(name, kind, declared, at)

    def _initialised(
        self, at: Any, symbol: Symbol, init: Stmt | Expr | Symbol | View | None
    ) -> tuple[Stmt, ...]:
        """The declaration of a tensor with what it starts with."""
        if isinstance(init, Call):
            return (Call(at, init.call, (symbol,), (True,)),)
        if isinstance(init, Stmt):
            return ()
        if isinstance(init, View):
            return (Declare(at, symbol, None), self.expressions.tensors.fill(symbol, init, "init", at))
        return (Declare(at, symbol, init),)

    def _tensor_init(
        self, node: ast.expr | None, declared: TensorType, name: str
    ) -> Stmt | Expr | Symbol | View | None:
        """The initial value of a tensor: a scalar for every element, an array, or a call's result."""
        if node is None:
            return None
        if isinstance(node, ast.List):
            return self._list_constant(node, declared, name)
        if isinstance(node, ast.Call) and (call := self.tensor_call(node)) is not None:
            if call.call.callee.results == (declared,):
                return call
            results = ", ".join(map(repr, call.call.callee.results))
            self.scope.error(node, f"the call gives ({results}), but '{name}' is declared {declared!r}")
            return call
        value = self.expressions.any(node)
        if isinstance(value, Symbol) and value.type is not None and value.type.shape == declared.shape:  # type: ignore[union-attr]
            return value
        if isinstance(value, Symbol | View):
            view = self.expressions.tensors.fitting(node, value, declared.shape, name)
            return None if view is None else view
        return None if value is None else convert(value, declared.element)

    def tensor_call(self, node: ast.Call) -> Call | None:
        """A call of a kernel that gives one tensor, or None if it is another kind of call."""
        if isinstance(node.func, ast.Attribute) and self.expressions.tensors.is_method(node.func):
            return None
        callee = self.expressions.calls.callee(node)
        kinds = FunctionType | NestedKernel | TemplateInstance
        if not isinstance(callee, kinds) or is_function_of_values(callee):
            return None
        call = self.expressions.calls.kernel_call(node, callee)
        if call is None:
            return None
        return Call(self.scope.source.position(node), call, (), ())

    def _list_constant(self, node: ast.List, declared: TensorType, name: str) -> Symbol | None:
        try:
            values = static_value(self.scope, node)
        except ValueError as error:
            self.scope.error(node, f"the list is not made of compile-time constants: {error}")
            return None
        except NameError as error:
            self.scope.report_unknown_in(node, error.args[0])
            return None
        try:
            array = np.array(values)
        except ValueError:
            self.scope.error(node, "the rows of the list have different lengths")
            return None
        if array.shape != declared.shape:
            self.scope.error(node, f"the list has shape {array.shape}, but '{name}' has {declared.shape}")
            return None
        element = array_element_type(array)
        if element is None:
            self.scope.error(node, "the list holds something else than numbers of at most 64 bits")
            return None
        return self.scope.constant_tensor(name, array, element, self.scope.source.position(node))

    def assign(self, node: ast.Assign) -> tuple[Stmt, ...]:
        if len(node.targets) != 1:
            self.scope.error(node, "chained assignment is not supported", "write one assignment a line")
            return ()
        target = node.targets[0]
        if isinstance(target, ast.Tuple):
            return self._assign_tuple(node, target)
        if isinstance(target, ast.Name):
            return self._assign_name(node, target)
        if isinstance(target, ast.Subscript):
            word = self.expressions.bits.word(target)
            if word is not None:
                written = self.expressions.bits.written(target, word, self.expressions.scalar(node.value))
                return () if written is None else self._assign_word(node, word, written)
            value = self.expressions.any(node.value)
            place = self._place(target)
            if value is None or place is None:
                return ()
            if isinstance(place, View):
                return self.expressions.tensors.assign(node, place, value)
            if not isinstance(value, Expr):
                self.expressions.scalar(node.value)  # reports that a tensor stands for a scalar
                return ()
            return (self._store(self.scope.source.position(node), place, value),)
        self.scope.error(target, f"`{ast.unparse(target)}` cannot be assigned")
        return ()

    def _assign_word(self, node: ast.AST, word: Var | Load, value: Expr) -> tuple[Stmt, ...]:
        """Store an integer some bits of which were replaced."""
        if isinstance(word, Var):
            return self._assign_symbol(node, word.symbol, value)
        if word.tensor.constant is not None:
            self.scope.error(node, f"'{word.tensor.name}' is a constant array and cannot be assigned")
            return ()
        return (self._store(self.scope.source.position(node), word, value),)

    def _place(self, target: ast.Subscript) -> Load | View | None:
        """What a subscript on the left side stands for: an element or a part of an array."""
        place = self.expressions.any(target)
        if place is None:
            return None
        if isinstance(place, View) and place.place is not None:
            symbol = place.sources[0][0]
        elif isinstance(place, Load):
            symbol = place.tensor
        else:
            self.scope.error(target, f"`{ast.unparse(target)}` is not part of a variable and cannot be assigned")
            return None
        if symbol.constant is not None:
            self.scope.error(target, f"'{symbol.name}' is a constant array and cannot be assigned")
            return None
        return place

    def _store(self, at: Any, place: Load, value: Expr) -> Store:
        converted = self.expressions.tensors.copied_back(convert(value, place.type))
        return Store(at, place.tensor, place.indices, converted)

    def _assign_name(self, node: ast.Assign, target: ast.Name) -> tuple[Stmt, ...]:
        at = self.scope.source.position(node)
        symbol = self.scope.local(target.id)
        if isinstance(node.value, ast.Call) and (call := self.tensor_call(node.value)) is not None:
            return self._assign_results(node, call, [target])
        value = self.expressions.any(node.value)
        if value is None:
            if symbol is None:
                self.scope.declare(target.id, Kind.INVALID, None, at)
            return ()
        if symbol is None:
            return self._infer(at, target.id, value)
        return self._assign_symbol(node, symbol, value)

    def _infer(self, at: Any, name: str, value: Expr | Symbol | View) -> tuple[Stmt, ...]:
        """A variable without annotation has the type of its first value."""
        if isinstance(value, Symbol):
            return (Declare(at, self._declare(name, value.type, at), value),)
        if isinstance(value, View):
            symbol = self._declare(name, value.type, at)
            return (Declare(at, symbol, None), self.expressions.tensors.fill(symbol, value, "init", at))
        inferred = value.type
        if isinstance(value, Const):
            inferred = int32 if as_integer(value.type) and not isinstance(value.value, bool) else value.type
        elif isinstance(inferred, Index):
            inferred = int32
        return (Declare(at, self._declare(name, inferred, at), convert(value, inferred)),)

    def _assign_symbol(
        self, node: ast.AST, symbol: Symbol, value: Expr | Symbol | View
    ) -> tuple[Stmt, ...]:
        at = self.scope.source.position(node)
        match symbol.kind:
            case Kind.INVALID:
                return ()
            case Kind.LOOP:
                self.scope.error(
                    node, f"the loop variable '{symbol.name}' cannot be assigned", "use another variable"
                )
                return ()
            case Kind.STATIC:
                self.scope.error(node, f"'{symbol.name}' is a compile-time constant and cannot be assigned")
                return ()
            case Kind.TENSOR:
                return self._assign_tensor(node, symbol, value)
        if not isinstance(value, Expr):
            what = f"the tensor '{value.name}'" if isinstance(value, Symbol) else f"a tensor {value.type!r}"
            self.scope.error(node, f"{what} cannot be assigned to the scalar '{symbol.name}'")
            return ()
        symbol.assigned = True
        assert isinstance(symbol.type, AlloType)
        return (AssignScalar(at, symbol, convert(value, symbol.type)),)

    def _assign_tensor(
        self, node: ast.AST, symbol: Symbol, value: Expr | Symbol | View
    ) -> tuple[Stmt, ...]:
        at = self.scope.source.position(node)
        assert isinstance(symbol.type, TensorType)
        if isinstance(value, Expr):
            once = self.expressions.tensors.once(value, symbol)
            return (Fill(at, symbol, convert(once, symbol.type.element)),)
        if isinstance(value, Symbol) and value.type is not None and value.type.shape == symbol.type.shape:  # type: ignore[union-attr]
            return (Copy(at, symbol, value),)
        return self.expressions.tensors.assign(node, whole(symbol, at), value)

    def _assign_tuple(self, node: ast.Assign, target: ast.Tuple) -> tuple[Stmt, ...]:
        names = [t for t in target.elts if isinstance(t, ast.Name)]
        if len(names) != len(target.elts):
            self.scope.error(target, "the results of a call can only be given to plain names")
            return ()
        if isinstance(node.value, ast.Call) and (call := self.tensor_call(node.value)) is not None:
            return self._assign_results(node, call, names)
        if isinstance(node.value, ast.Tuple) and len(node.value.elts) == len(names):
            self.scope.error(
                node, "several values in one assignment are not supported", "write one assignment a line"
            )
            return ()
        self.scope.error(
            node, f"{len(names)} names need the call of a kernel that gives {counted(len(names), 'result')}"
        )
        return ()

    def _assign_results(self, node: ast.Assign, call: Call, names: list[ast.Name]) -> tuple[Stmt, ...]:
        results = call.call.callee.results
        at = self.scope.source.position(node)
        if len(results) != len(names):
            self.scope.error(
                node,
                f"'{call.call.callee.name}' gives {counted(len(results), 'result')}, "
                f"but {counted(len(names), 'name')} stand on the left",
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

    def augmented(self, node: ast.AugAssign) -> tuple[Stmt, ...]:
        op = BINARY_OPERATORS.get(type(node.op))
        target = node.target
        if isinstance(target, ast.Subscript) and op is not None:
            word = self.expressions.bits.word(target)
            if word is not None:
                return self._augmented_bits(node, target, word, op)
        place = self._place(target) if isinstance(target, ast.Subscript) else self.expressions.any(target)
        value = self.expressions.any(node.value)
        if place is None or value is None:
            return ()
        if op is None:
            self.scope.error(node, f"`{ast.unparse(node)}` is not supported", "write `x = x op y`")
            return ()
        at = self.scope.source.position(node)
        if isinstance(place, Symbol | View):
            view = whole(place, at) if isinstance(place, Symbol) else place
            if isinstance(value, Expr):
                value = self.expressions.tensors.once(value, view.sources[0][0])
            result = self.expressions.tensors.combine(
                node, [view, value], lambda pair: self.expressions.combine(node, op, pair[0], pair[1])
            )
            return () if not isinstance(result, View) else self.expressions.tensors.assign(node, view, result, view)
        if not isinstance(value, Expr):
            self.expressions.scalar(node.value)  # reports that a tensor stands for a scalar
            return ()
        if isinstance(place, Load):
            once = self.expressions.tensors.once
            place = Load(place.type, place.at, place.tensor, tuple(once(i, place.tensor) for i in place.indices))
        combined = self.expressions.combine(node, op, place, value)
        if combined is None:
            return ()
        if isinstance(place, Load):
            return (self._store(at, place, combined),)
        if isinstance(place, Var):
            return self._assign_symbol(node, place.symbol, combined)
        self.scope.error(
            node, f"`{ast.unparse(node.target)}` is a compile-time constant and cannot be assigned"
        )
        return ()

    def _augmented_bits(
        self, node: ast.AugAssign, target: ast.Subscript, word: Var | Load, op: str
    ) -> tuple[Stmt, ...]:
        """`x[3] ^= 1`."""
        values = self.expressions.operands(target, node.value)
        combined = None if values is None else self.expressions.combine(node, op, values[0], values[1])
        written = self.expressions.bits.written(target, word, combined)
        return () if written is None else self._assign_word(node, word, written)
