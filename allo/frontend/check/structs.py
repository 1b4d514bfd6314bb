"""Checker of structs: access to fields on both sides of an assignment, and values made of all fields."""

from __future__ import annotations

import ast
from dataclasses import replace

from ...errors import nearest
from ...ir.types import AlloType, Struct, TensorType
from ..typing.builder import ValueBuilder
from ..typing.convert import NotExpressible, convert
from ..typing.fields import Place, field_of, names_of, root_of
from ..typing.held_values import CONVERT, not_held
from ..typing.nodes import Construct, Expr, Field, Load, SetField, Symbol, SymbolKind, Var
from ..typing.scope import Scope
from ..typing.view import View
from .checker import CheckedExpressions


class StructChecker:
    """Turns attributes, dicts and calls of struct types into typed expressions; None after an error was reported."""

    def __init__(self, scope: Scope, expressions: CheckedExpressions, builder: ValueBuilder) -> None:
        self.scope = scope
        self.expressions = expressions
        self.builder = builder

    def as_field(self, node: ast.expr) -> ast.expr:
        """`p["x"]` of a value of the kernel as `p.x`; anything else as it is."""
        if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Constant):
            return node
        root: ast.expr = node
        while isinstance(root, ast.Subscript | ast.Attribute):
            root = root.value
        symbol = self.scope.local(root.id) if isinstance(root, ast.Name) else None
        of_python = isinstance(root, ast.Name) and (symbol is None or symbol.kind is SymbolKind.STATIC)
        if of_python or not isinstance(node.slice.value, str):
            return node
        return ast.copy_location(ast.Attribute(node.value, node.slice.value, node.ctx), node)

    def is_of_value(self, node: ast.Attribute) -> bool:
        """Whether `node` is an attribute of a value of the kernel, rather than of a Python module or object."""
        inner: ast.expr = node.value
        while isinstance(inner, ast.Attribute):
            inner = inner.value
        if not isinstance(inner, ast.Name):
            return True
        symbol = self.scope.local(inner.id)
        return symbol is not None and symbol.kind is not SymbolKind.STATIC

    def attribute(self, node: ast.Attribute, base: Expr) -> Expr | None:
        """`p.x`, `ps[i].inner.y`, of the value that stands before the dot."""
        if not isinstance(base.type, Struct):
            self.scope.error(node, f"a scalar of type {base.type!r} has no attribute `{node.attr}`")
            return None
        field = self._field(node, base.type, node.attr)
        if field is None:
            return None
        return field_of(base, node.attr, self.scope.source.position(node))

    def _field(self, node: ast.AST, struct: Struct, name: str) -> AlloType | None:
        found = struct.field(name)
        if found is None:
            names = [given for given, _ in struct.fields]
            hint = nearest(name, names) or f"its fields are {names_of(struct)}"
            self.scope.error(node, f"{struct!r} has no field '{name}'", hint)
        return found

    # -- new values ------------------------------------------------------------------------------

    def value(self, node: ast.expr, declared: AlloType) -> Expr | None:
        """`node` as a value of type `declared`; a dict gives the fields of a struct."""
        if not isinstance(node, ast.Dict) or not isinstance(declared, Struct):
            return self.expressions.scalar(node)
        fields: list[tuple[str, ast.expr]] = []
        for key, inner in zip(node.keys, node.values, strict=True):
            if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
                text = "**" if key is None else ast.unparse(key)
                self.scope.error(key or inner, f"`{text}` is not the name of a field", f"write {_example(declared)}")
                return None
            fields.append((key.value, inner))
        return self._construct(node, declared, fields)

    def assigned(self, node: ast.Assign) -> Expr | Symbol | View | None:
        """What an assignment gives its only target."""
        is_struct = isinstance(node.value, ast.Dict)
        return self.expressions.any(node.value, self.type_of(node.targets[0]) if is_struct else None)

    def type_of(self, target: ast.expr) -> AlloType | None:
        """The type of a variable, of elements of an array, and of their fields."""
        match self.as_field(target):
            case ast.Name(id=name):
                symbol = self.scope.local(name)
                kind = None if symbol is None else symbol.type
                return kind.element if isinstance(kind, TensorType) else kind
            case ast.Subscript(value=array):
                return self.type_of(array)
            case ast.Attribute(value=inner, attr=name):
                outer = self.type_of(inner)
                return outer.field(name) if isinstance(outer, Struct) else None
        return None

    def call(self, node: ast.Call, struct: Struct) -> Expr | None:
        """`P(x=1, w=0.5)`, `P({"x": 1, "w": 0.5})`, and `P(q)` of a value of the type."""
        if len(node.args) == 1 and not node.keywords:
            value = self.value(node.args[0], struct)
            return None if value is None else convert(value, struct)
        if node.args or any(keyword.arg is None for keyword in node.keywords):
            example = ", ".join(f"{name}=..." for name, _ in struct.fields)
            hint = f"write `{ast.unparse(node.func)}({example})`"
            self.scope.error(node, "the fields of a struct are given by name", hint)
            return None
        return self._construct(node, struct, [(str(keyword.arg), keyword.value) for keyword in node.keywords])

    def _construct(self, node: ast.AST, struct: Struct, fields: list[tuple[str, ast.expr]]) -> Expr | None:
        """A value from all fields, evaluated in the order in which they are written."""
        values: dict[str, Expr] = {}
        failed = False
        for name, inner in fields:
            field = self._field(inner, struct, name)
            value = None if field is None else self.value(inner, field)
            if field is None or value is None:
                failed = True
            else:
                values[name] = convert(value, field)
        missing = [name for name, _ in struct.fields if name not in [given for given, _ in fields]]
        if missing and not failed:
            listed = ", ".join(f"'{name}'" for name in missing)
            self.scope.error(node, f"{struct!r} needs a value for {listed}", f"give all fields: {_example(struct)}")
        if missing or failed:
            return None
        at = self.scope.source.position(node)
        return Construct(struct, at, tuple(values[name] for name, _ in struct.fields))

    # -- assignments -----------------------------------------------------------------------------

    def place(self, target: ast.Attribute) -> Field | None:
        """The field of a variable that stands on the left side of an assignment."""
        place = self.expressions.any(target)
        if place is None:
            return None
        found = root_of(place) if isinstance(place, Field) else None
        if found is None:
            self.scope.error(target, f"`{ast.unparse(target)}` is not part of a variable and cannot be assigned")
            return None
        root, path = found
        if isinstance(root, Load):  # what a subscript calls is called once
            once = self.builder.once
            root = replace(root, indices=tuple(once(index, root.tensor) for index in root.indices))
        place = root
        for name in path:
            place = field_of(place, name, self.scope.source.position(target))
        assert isinstance(place, Field)
        return place

    def check_copy(self, node: ast.AST, source: Symbol | View | Expr, target: TensorType) -> None:
        """Raises NotExpressible if the elements of an array do not convert to those of `target`, or would change."""
        if not isinstance(source.type, TensorType):
            return
        at = self.scope.source.position(node)
        convert(Expr(source.type.element, at), target.element)
        if isinstance(source, Symbol) and source.constant is not None and source.type.element != target.element:
            told = not_held(source.constant, target.element, source.name)
            if told is not None:
                raise NotExpressible(told, at, CONVERT)

    def changed(self, place: Place, value: Expr) -> tuple[Var | Load, Expr]:
        """The variable or element to assign, and its value in which `place` is `value`."""
        found = root_of(place)
        assert found is not None
        root, path = found
        value = convert(value, place.type)
        return (root, SetField(root.type, value.at, root, path, value)) if path else (root, value)


def _example(struct: Struct) -> str:
    return "{" + ", ".join(f"'{name}': ..." for name, _ in struct.fields) + "}"

