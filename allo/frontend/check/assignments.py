"""Checker of declarations and assignments, of scalars, elements, whole arrays, and the results of calls."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from ...ir.memory import Memory
from ...ir.types import AlloType, ChannelType, Index, TensorType, int32
from ..typing.constants import given_constant
from ..typing.convert import convert
from ..typing.fields import Place
from ..typing.nodes import (
    AssignScalar,
    Call,
    Const,
    Copy,
    Declare,
    Expr,
    Fill,
    Load,
    Stmt,
    Store,
    Symbol,
    SymbolKind,
    Var,
)
from ..typing.rules import as_integer
from ..typing.scope import Scope
from ..typing.view import View, whole
from .annotations import split_memory, split_qualifier
from .declared_values import declare_qualified, list_constant
from .expressions import BINARY_OPERATORS, ExpressionChecker
from .lists import ListChecker, is_computed
from .literals import stored
from .mesh.layouts import is_all
from .positions import asks_for, declare_constant
from .results import ResultChecker
from .streams import declare_stream, read_declared, root_name


class AssignmentChecker:
    """Turns declarations and assignments into typed statements; none after an error was reported."""

    def __init__(self, scope: Scope, expressions: ExpressionChecker) -> None:
        self.scope = scope
        self.expressions = expressions
        self.results = ResultChecker(scope, expressions, self.assign)
        self.lists = ListChecker(scope, expressions)

    def annotated(self, node: ast.AnnAssign) -> tuple[Stmt, ...]:
        qualifier, annotation = split_qualifier(self.scope, node.annotation)
        memory, annotation = split_memory(self.scope, annotation)
        declared = read_declared(self.scope, annotation)
        if isinstance(declared, ChannelType):
            return declare_stream(self.scope, node, declared)
        if not isinstance(node.target, ast.Name):
            self.scope.error(
                node, "only a plain name can be declared", "drop the annotation to assign an element"
            )
            return ()
        at = self.scope.source.position(node)
        name = node.target.id
        self.expressions.collectives.aim(node.value, declared)
        if qualifier == "ConstExpr" and isinstance(declared, AlloType) and asks_for(self.scope, node.value):
            return declare_constant(self.scope, node, name, declared)
        if qualifier is not None:
            declare_qualified(self.scope, node, qualifier, name, declared)
            self._keep(node, self.scope.local(name), memory)
            return ()
        if isinstance(declared, TensorType) and is_computed(self.scope, node.value):
            return self._listed(node, name, declared, memory)
        if isinstance(declared, TensorType):
            if node.value is not None and self.expressions.streams.block(node.value) == declared:
                symbol = self._declare(name, declared, at)
                self._keep(node, symbol, memory)
                return self.expressions.streams.block_into(node.value, symbol)
            init = self._tensor_init(node.value, declared, name)
            symbol = self._declare(name, declared, at)
            if isinstance(init, Call) and memory is not None:
                message = f"'{name}' is the result of a call, and is kept where the callee keeps it"
                self.scope.error(node, message, "give the array of the callee a memory")
            self._keep(node, symbol, memory)
            return self._initialised(at, symbol, init)
        value = None
        if node.value is not None:
            structs = self.expressions.structs
            value = self.expressions.scalar(node.value) if declared is None else structs.value(node.value, declared)
        symbol = self._declare(name, declared, at)
        self._keep(node, symbol, memory)
        if declared is None or (node.value is not None and value is None):
            return ()
        return (Declare(at, symbol, None if value is None else stored(self.scope, value, declared)),)

    def _listed(self, node: ast.AnnAssign, name: str, declared: TensorType, memory: Memory | None) -> tuple[Stmt, ...]:
        """`x: T[2] = [a, 2]`."""
        assert isinstance(node.value, ast.List)
        listed = self.lists.elements(node.value, declared.shape, name)
        at = self.scope.source.position(node)
        symbol = self._declare(name, None if listed is None else declared, at)
        self._keep(node, symbol, memory)
        return () if listed is None else (Declare(at, symbol, None), *self.lists.stores(node, symbol, listed))

    def _assign_list(self, node: ast.Assign, name: str, value: ast.List, symbol: Symbol | None) -> tuple[Stmt, ...]:
        """`x = [a, 2]`."""
        known = symbol.type if symbol is not None else None
        listed = self.lists.elements(value, known.shape if isinstance(known, TensorType) else None, name)
        declared = known if symbol is not None or listed is None else self.lists.type_of(value, listed)
        at = self.scope.source.position(node)
        if symbol is not None:
            return () if listed is None else self.lists.stores(node, symbol, listed)
        symbol = self._declare(name, declared, at)
        if listed is None or declared is None:
            return ()
        return (Declare(at, symbol, None), *self.lists.stores(node, symbol, listed))

    def _keep(self, node: ast.AnnAssign, symbol: Symbol | None, memory: Memory | None) -> None:
        """Note the memory that a declaration asks for."""
        if memory is None or symbol is None or symbol.kind is SymbolKind.INVALID:
            return
        if symbol.kind is not SymbolKind.TENSOR:
            what = "a scalar" if symbol.kind is SymbolKind.SCALAR else "computed when the kernel is compiled"
            self.scope.error(node, f"'{symbol.name}' is {what} and has no memory to choose")
        symbol.memory = memory

    def _declare(self, name: str, declared: AlloType | TensorType | None, at: Any) -> Symbol:
        kind = SymbolKind.INVALID
        if declared is not None:
            kind = SymbolKind.TENSOR if isinstance(declared, TensorType) else SymbolKind.SCALAR
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
            return (Declare(at, symbol, None), self.expressions.builder.fill(symbol, init, "init", at))
        return (Declare(at, symbol, init),)

    def _tensor_init(
        self, node: ast.expr | None, declared: TensorType, name: str
    ) -> Stmt | Expr | Symbol | View | None:
        """The initial value of a tensor: a scalar for every element, an array, or a call's result."""
        if node is None:
            return None
        if (given := given_constant(self.scope, node, declared, name)) is not None:
            return given
        if isinstance(node, ast.List) or self.expressions.is_list(node):
            return list_constant(self.scope, node, declared, name)
        builder = self.expressions.builder
        seen = builder.seen
        value: Expr | Symbol | View | None
        if isinstance(node, ast.Call) and (call := self.results.call(node)) is not None:
            if call.call.callee.results == (declared,):
                return call
            value = self.expressions.calls.result(node, call.call, seen)
        elif isinstance(node, ast.Dict):
            value = self.expressions.structs.value(node, declared.element)
        else:
            value = self.expressions.any(node)
        if isinstance(value, Expr):
            value = builder.called_once(convert(value, declared.element), seen)
        if isinstance(value, Symbol) and value.type is not None and not value.type.is_static:  # type: ignore[union-attr]
            value = whole(value, self.scope.source.position(node))
        if isinstance(value, Symbol) and value.type is not None and value.type.shape == declared.shape:  # type: ignore[union-attr]
            self.expressions.structs.check_copy(node, value, declared)
            return value
        if isinstance(value, Symbol | View):
            return self.expressions.tensors.fitting(node, value, declared.shape, name)
        return value

    def assign(self, node: ast.Assign) -> tuple[Stmt, ...]:
        assert len(node.targets) == 1, "chains are taken apart before (`chained.py`)"
        target = self.expressions.structs.as_field(node.targets[0])
        self.expressions.collectives.aim(node.value, self.scope.local(root_name(target) or ""))
        if isinstance(target, ast.Tuple):
            return self.results.to_tuple(node, target)
        if isinstance(target, ast.Name):
            return self._assign_name(node, target)
        if isinstance(target, ast.Subscript):
            word = self.expressions.bits.word(target)
            if word is not None:
                written = self.expressions.bits.written(target, word, self.expressions.scalar(node.value))
                return () if written is None else self._assign_word(node, word, written)
            value = self.expressions.structs.assigned(node)
            place = self._place(target)
            if value is None or place is None:
                return ()
            if isinstance(place, View):
                if is_all(target):
                    value = self.expressions.layouts.stored(node, place.sources[0][0], node.value, value)
                return () if value is None else self.expressions.tensors.assign(node, place, value)
            if not isinstance(value, Expr):
                self.expressions.scalar(node.value)  # reports that a tensor stands for a scalar
                return ()
            return (self._store(self.scope.source.position(node), place, value),)
        if isinstance(target, ast.Attribute) and self.expressions.structs.is_of_value(target):
            given = self.expressions.structs.assigned(node)
            field = self.expressions.structs.place(target)
            if given is None or field is None:
                return ()
            if not isinstance(given, Expr):
                self.expressions.scalar(node.value)  # reports that a tensor stands for a scalar
                return ()
            return self._assign_word(node, field, given)
        self.scope.error(target, f"`{ast.unparse(target)}` cannot be assigned")
        return ()

    def _assign_word(self, node: ast.AST, word: Place, value: Expr) -> tuple[Stmt, ...]:
        """Store an integer some bits of which were replaced, or a struct in which a field was."""
        word, value = self.expressions.structs.changed(word, value)
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
        return Store(at, place.tensor, place.indices, stored(self.scope, value, place.type))

    def _assign_name(self, node: ast.Assign, target: ast.Name) -> tuple[Stmt, ...]:
        at = self.scope.source.position(node)
        symbol = self.scope.local(target.id)
        if isinstance(node.value, ast.List) and (symbol is None or symbol.kind is SymbolKind.TENSOR):
            return self._assign_list(node, target.id, node.value, symbol)
        seen = self.expressions.builder.seen
        value: Expr | Symbol | View | None
        if symbol is None and (block := self.expressions.streams.block(node.value)) is not None:
            return self.expressions.streams.block_into(node.value, self._declare(target.id, block, at))
        if isinstance(node.value, ast.Call) and (call := self.results.call(node.value)) is not None:
            results = call.call.callee.results
            if len(results) != 1 or symbol is None or symbol.type == results[0]:
                return self.results.given(node, call, [target])
            value = self.expressions.calls.result(node.value, call.call, seen)
        else:
            value = self.expressions.structs.assigned(node)
        if value is None:
            if symbol is None:
                self.scope.declare(target.id, SymbolKind.INVALID, None, at)
            return ()
        if symbol is None:
            return self.infer(at, target.id, value)
        if (value := self.expressions.layouts.stored(node, symbol, node.value, value)) is None:
            return ()
        return self._assign_symbol(node, symbol, value)

    def infer(self, at: Any, name: str, value: Expr | Symbol | View) -> tuple[Stmt, ...]:
        """A variable without annotation has the type of its first value."""
        if isinstance(value, Symbol | View) and value.type is not None and not value.type.is_static:  # type: ignore[union-attr]
            message = f"'{name}' cannot be declared: its type {value.type!r} has an extent known at run time only"
            self.scope.error_at(at, message, f"declare it with all extents, `{name}: {value.type.element!r}[64]`")  # type: ignore[union-attr]
            self.scope.declare(name, SymbolKind.INVALID, None, at)
            return ()
        if isinstance(value, Symbol):
            return (Declare(at, self._declare(name, value.type, at), value),)
        if isinstance(value, View):
            symbol = self._declare(name, value.type, at)
            return (Declare(at, symbol, None), self.expressions.builder.fill(symbol, value, "init", at))
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
            case SymbolKind.INVALID:
                return ()
            case SymbolKind.LOOP:
                self.scope.error(
                    node, f"the loop variable '{symbol.name}' cannot be assigned", "use another variable"
                )
                return ()
            case SymbolKind.STATIC:
                self.scope.error(node, f"'{symbol.name}' is a compile-time constant and cannot be assigned")
                return ()
            case SymbolKind.TENSOR:
                return self._assign_tensor(node, symbol, value)
        if not isinstance(value, Expr):
            what = f"the tensor '{value.name}'" if isinstance(value, Symbol) else f"a tensor {value.type!r}"
            self.scope.error(node, f"{what} cannot be assigned to the scalar '{symbol.name}'")
            return ()
        symbol.assigned = True
        assert isinstance(symbol.type, AlloType)
        return (AssignScalar(at, symbol, stored(self.scope, value, symbol.type)),)

    def _assign_tensor(
        self, node: ast.AST, symbol: Symbol, value: Expr | Symbol | View
    ) -> tuple[Stmt, ...]:
        at = self.scope.source.position(node)
        assert isinstance(symbol.type, TensorType)
        if isinstance(value, Expr):
            once = self.expressions.builder.once(value, symbol)
            if not symbol.type.is_static:
                return self.expressions.tensors.assign(node, whole(symbol, at), once)
            return (Fill(at, symbol, convert(once, symbol.type.element)),)
        same = isinstance(value, Symbol) and value.type is not None and value.type.shape == symbol.type.shape  # type: ignore[union-attr]
        if same and symbol.type.is_static:
            self.expressions.structs.check_copy(node, value, symbol.type)
            return (Copy(at, symbol, value),)  # type: ignore[arg-type]
        return self.expressions.tensors.assign(node, whole(symbol, at), value)

    def augmented(self, node: ast.AugAssign) -> tuple[Stmt, ...]:
        op = BINARY_OPERATORS.get(type(node.op))
        target = self.expressions.structs.as_field(node.target)
        if isinstance(target, ast.Subscript) and op is not None:
            word = self.expressions.bits.word(target)
            if word is not None:
                return self._augmented_bits(node, target, word, op)
        if isinstance(target, ast.Attribute) and op is not None and self.expressions.structs.is_of_value(target):
            return self._augmented_field(node, target, op)
        builder = self.expressions.builder
        place = self._place(target) if isinstance(target, ast.Subscript) else self.expressions.any(target)
        old: Expr | Symbol | View | None = place
        if isinstance(place, Load):
            indices = tuple(builder.once(index, place.tensor) for index in place.indices)
            place = replace(place, indices=indices)
            old, value = builder.read_first(place, lambda: self.expressions.any(node.value))
        else:
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
                value = builder.once(value, view.sources[0][0])
            result = builder.elementwise(
                at, [view, value], lambda pair: self.expressions.combine(node, op, pair[0], pair[1])
            )
            return () if not isinstance(result, View) else self.expressions.tensors.assign(node, view, result, view)
        if not isinstance(value, Expr):
            self.expressions.scalar(node.value)  # reports that a tensor stands for a scalar
            return ()
        assert isinstance(old, Expr)
        combined = self.expressions.combine(node, op, old, value)
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

    def _augmented_field(self, node: ast.AugAssign, target: ast.Attribute, op: str) -> tuple[Stmt, ...]:
        """`p.x += 1`."""
        place, value = self.expressions.structs.place(target), self.expressions.scalar(node.value)
        combined = None if place is None or value is None else self.expressions.combine(node, op, place, value)
        return () if place is None or combined is None else self._assign_word(node, place, combined)

    def _augmented_bits(
        self, node: ast.AugAssign, target: ast.Subscript, word: Place, op: str
    ) -> tuple[Stmt, ...]:
        """`x[3] ^= 1`."""
        values = self.expressions.operands(target, node.value)
        combined = None if values is None else self.expressions.combine(node, op, values[0], values[1])
        written = self.expressions.bits.written(target, word, combined)
        return () if written is None else self._assign_word(node, word, written)
