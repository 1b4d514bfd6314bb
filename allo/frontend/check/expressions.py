"""Checker of expressions: Python syntax trees become typed ones, or errors with their place."""

from __future__ import annotations

import ast
import builtins
import contextlib
from fractions import Fraction
from typing import Any

import numpy as np

from ...ir.arrays import array_element_type
from ...ir.types import AlloType, Float, Struct, TensorType, index
from ...ir.types import bool as bool_type
from ..typing.builder import ValueBuilder
from ..typing.convert import NotExpressible, constant, fixed_constant, power
from ..typing.fields import field_hint
from ..typing.nodes import Const, Expr, Not, Symbol, SymbolKind, Var
from ..typing.operations import negated, truth
from ..typing.rules import as_integer
from ..typing.scope import Scope, static_value
from ..typing.view import View
from ..typing.writes import shared
from .bits import BitChecker
from .calls import CallChecker
from .choices import ChoiceChecker
from .mesh.collectives import CollectiveChecker
from .mesh.demands import LayoutChecker
from .mesh.gathers import GatherChecker
from .operators import OperatorChecker
from .positions import asks_for, value_of_position
from .slices import SliceChecker
from .streams import StreamChecker
from .structs import StructChecker
from .tensors import TensorChecker

BINARY_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
}
_MAX_POWER = 64
_UNSUPPORTED = {
    "List": ("a list in an expression", "declare an array: `x: int32[3] = [1, 2, 3]`"),
    "ListComp": ("a list comprehension", "write the loop"),
    "SetComp": ("a set comprehension", "write the loop"),
    "DictComp": ("a dictionary comprehension", "write the loop"),
    "GeneratorExp": ("a generator expression", "write the loop"),
    "Set": ("a set", "declare an array: `x: int32[3] = [1, 2, 3]`"),
    "Dict": ("a dictionary here", "use one variable for each value, or call a struct type: `P(x=1, y=2)`"),
    "Tuple": ("a tuple in an expression", "use one variable for each value"),
    "Starred": ("a starred expression", "write out every value"),
    "Lambda": ("a `lambda`", "define a kernel with `def` and call it"),
    "Slice": ("a slice", "write the loop over the elements"),
    "JoinedStr": ("a string", "kernels have no strings"),
    "NamedExpr": ("an assignment in an expression", "assign in a statement of its own"),
    "Yield": ("`yield`", "kernels give their results with `return`"),
    "YieldFrom": ("`yield`", "kernels give their results with `return`"),
    "Await": ("`await`", "kernels are not asynchronous"),
}


class ExpressionChecker:
    """Turns `ast.expr` into `Expr`; a method returns None after an error was reported."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.builder = ValueBuilder(scope)
        self.structs = StructChecker(scope, self, self.builder)
        self.layouts = LayoutChecker(scope)
        slices = SliceChecker(scope, self)
        self.bits = BitChecker(scope, self, self.structs, slices)
        self.tensors = TensorChecker(scope, self, self.builder, slices, self.bits, self.structs, self.layouts)
        self.choices = ChoiceChecker(scope, self, self.builder)
        self.operators = OperatorChecker(scope, self, self.builder, self.layouts)
        self.streams = StreamChecker(scope, self, self.builder)
        self.collectives = CollectiveChecker(scope, self, self.builder, self.layouts)
        self.gathers = GatherChecker(scope, self, self.builder)
        self.calls = CallChecker(
            scope, self, self.tensors, self.operators, self.streams, self.collectives, self.gathers
        )

    def scalar(self, node: ast.expr) -> Expr | None:
        """`node` as a scalar value."""
        result = self.any(node)
        if isinstance(result, Symbol | View):
            what = f"the tensor '{result.name}'" if isinstance(result, Symbol) else f"a tensor {result.type!r}"
            self.scope.error(node, f"{what} stands where a scalar is needed", "give all subscripts")
            return None
        return result

    def any(self, node: ast.expr, declared: AlloType | TensorType | None = None) -> Expr | Symbol | View | None:
        """`node` as a scalar value or as a whole tensor; for a place of a struct type, a dict is one."""
        try:
            if isinstance(node, ast.Dict) and isinstance(declared, Struct):
                return self.structs.value(node, declared)
            return self._checked(node)
        except NotExpressible as error:
            self.scope.error(node, str(error), error.hint)
            return None

    def _checked(self, node: ast.expr) -> Expr | Symbol | View | None:
        node = self.structs.as_field(node)
        match node:
            case ast.Constant():
                return self._constant(node)
            case ast.Name():
                return self._name(node)
            case ast.BinOp():
                return self._binary(node)
            case ast.UnaryOp():
                return self._unary(node)
            case ast.BoolOp():
                return self.choices.logic(node)
            case ast.Compare():
                return self.choices.compare(node)
            case ast.IfExp():
                return self.choices.select(node)
            case ast.Subscript():
                static = isinstance(node.ctx, ast.Load) and self._is_of_python(node.value)
                return self._static(node) if static else self.tensors.subscript(node)
            case ast.Call():
                return self.calls.value(node)
            case ast.Attribute():
                return self._attribute(node)
        self._unsupported(node)
        return None

    def condition(self, node: ast.expr) -> Expr | None:
        """`node` as a truth value."""
        value = self.choices.condition(node) if isinstance(node, ast.BoolOp) else self.scalar(node)
        return None if value is None else truth(value)

    def _unsupported(self, node: ast.expr) -> None:
        what, hint = _UNSUPPORTED.get(type(node).__name__, (f"a `{type(node).__name__}` expression", None))
        self.scope.error(node, f"a kernel cannot contain {what}: {ast.unparse(node)}", hint)

    def _constant(self, node: ast.Constant) -> Expr | None:
        if isinstance(node.value, int | float | bool):
            return constant(node.value, self.scope.source.position(node))
        self.scope.error(
            node, f"a kernel cannot use the constant {node.value!r}", "use integers, floats, True or False"
        )
        return None

    def _name(self, node: ast.Name) -> Expr | Symbol | None:
        symbol = self.scope.local(node.id)
        if symbol is not None:
            if symbol.kind is SymbolKind.INVALID:
                return None
            if symbol.kind is SymbolKind.STATIC:
                return self._free_value(node, node.id, symbol.constant)
            if symbol.kind is SymbolKind.TENSOR:
                return symbol
            if symbol.kind is SymbolKind.STREAM:
                text = f"the stream '{symbol.name}' stands where a value is needed"
                self.scope.error(node, text, f"take one out of it: `{symbol.name}.get()`")
                return None
            assert isinstance(symbol.type, AlloType)
            return Var(symbol.type, self.scope.source.position(node), symbol)
        try:
            value = self.scope.free(node.id)
        except KeyError:
            self.scope.report_unknown(node)
            return None
        return self._free_value(node, node.id, value)

    def _free_value(self, node: ast.expr, name: str, value: Any) -> Expr | Symbol | None:
        """A Python value of the surrounding program as a constant of the kernel."""
        at = self.scope.source.position(node)
        if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
            value = value.item()
        if isinstance(value, int | float | builtins.bool):
            return constant(value, at)
        if isinstance(value, Fraction) and (exact := fixed_constant(value, at)) is not None:
            return exact
        if isinstance(value, np.ndarray):
            element = array_element_type(value)
            if element is not None and value.size:
                return self.scope.constant_tensor(name, value, element, at)
            self.scope.error(
                node,
                f"the array '{name}' of dtype {value.dtype}, shape {value.shape} cannot be a constant",
                "use an array of numbers, with at least one element",
            )
            return None
        self.scope.error(
            node,
            f"'{name}' is a Python {type(value).__name__}, which a kernel cannot use as a value",
            "kernels may use numbers and NumPy arrays of the surrounding program",
        )
        return None

    def is_list(self, node: ast.expr) -> builtins.bool:
        """Whether `node` is a list of the surrounding program."""
        return isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and self._is_of_python(node, list)

    def _is_of_python(
        self, node: ast.expr, kinds: type | tuple[type, ...] = (list, tuple, dict)
    ) -> builtins.bool:
        """Whether `node` is a list, tuple or dictionary of the surrounding program."""
        root = node
        while isinstance(root, ast.Subscript | ast.Attribute):
            root = root.value
        symbol = self.scope.local(root.id) if isinstance(root, ast.Name) else None
        if not isinstance(root, ast.Name) or (symbol is not None and symbol.kind is not SymbolKind.STATIC):
            return False
        try:
            return isinstance(static_value(self.scope, node), kinds)
        except (NameError, ValueError):
            return False

    def _attribute(self, node: ast.Attribute) -> Expr | Symbol | View | None:
        if not self.structs.is_of_value(node):
            return self._static(node)
        base = self.any(node.value)
        if isinstance(base, Expr):
            return self.structs.attribute(node, base)
        return None if base is None else self.tensors.attribute(node, base)

    def _static(self, node: ast.expr) -> Expr | Symbol | None:
        """An expression over values of the surrounding program, as a constant of the kernel."""
        try:
            if asks_for(self.scope, node):
                return value_of_position(self.scope, node)
            value = static_value(self.scope, node)
        except NameError as error:
            self.scope.report_unknown_in(node, error.args[0])
            return None
        except ValueError as error:
            self.scope.error(node, f"`{ast.unparse(node)}` is not a compile-time constant: {error}")
            return None
        return self._free_value(node, ast.unparse(node), value)

    def operands(self, *nodes: ast.expr) -> list[Expr] | None:
        """All `nodes` as scalars, each checked even if another one is wrong."""
        values = [self.scalar(node) for node in nodes]
        return None if any(value is None for value in values) else [v for v in values if v is not None]

    def combine(self, node: ast.AST, op: str, lhs: Expr, rhs: Expr) -> Expr | None:
        """`lhs op rhs`, or an error at `node`."""
        return self.builder.combine(self.scope.source.position(node), op, lhs, rhs)

    def _binary(self, node: ast.BinOp) -> Expr | View | None:
        if isinstance(node.op, ast.Pow):
            return self._power(node)
        op = BINARY_OPERATORS.get(type(node.op))
        if op is None:
            return self.operators.matmul(node)
        return self.tensors.on_elements(
            node, [node.left, node.right], lambda pair: self.combine(node, op, pair[0], pair[1])
        )

    def _power(self, node: ast.BinOp) -> Expr | None:
        values = self.operands(node.left, node.right)
        if values is None:
            return None
        base, exponent = values
        if isinstance(base, Const) and isinstance(exponent, Const):
            return power(base, exponent, self.scope.source.position(node))
        small = isinstance(exponent, Const) and exponent.value in range(_MAX_POWER + 1)
        if not small or isinstance(exponent.type, Float):
            if isinstance(base.type, Float) or isinstance(exponent.type, Float):
                return self.builder.elementary(self.scope.source.position(node), "math.powf", [base, exponent], "**")
            if asks_for(self.scope, node):
                with contextlib.suppress(NameError, ValueError):  # of variables, too
                    return value_of_position(self.scope, node)
            self.scope.error(
                node,
                f"the exponent of `**` on integers must be a constant from 0 to {_MAX_POWER}",
                "write the loop, or convert the base to a float type",
            )
            return None
        assert isinstance(exponent, Const) and isinstance(exponent.value, int)
        base = shared(base)
        result: Expr | None = constant(1, self.scope.source.position(node))
        for _ in range(exponent.value):
            assert result is not None
            result = base if isinstance(result, Const) else self.combine(node, "*", result, base)
            if result is None:
                return None
        return result

    def _unary(self, node: ast.UnaryOp) -> Expr | View | None:
        if isinstance(node.op, ast.Not):
            operand = self.condition(node.operand)
            return None if operand is None else self._signed(node, operand)
        return self.tensors.on_elements(node, [node.operand], lambda values: self._signed(node, values[0]))

    def _signed(self, node: ast.UnaryOp, operand: Expr) -> Expr | None:
        at = self.scope.source.position(node)
        match node.op:
            case ast.Not():
                condition = truth(operand)
                if isinstance(condition, Const):
                    return Const(bool_type, at, not condition.value)
                return Not(bool_type, at, condition)
            case ast.USub():
                result = negated(operand, at, self.scope.rules)
                return self.combine(node, "-", constant(0, at), operand) if result is None else result
            case ast.Invert():
                if isinstance(operand, Const) and isinstance(operand.value, int):
                    return constant(~int(operand.value), at)
                return self.combine(node, "^", operand, constant(-1, at))
            case _:
                return operand

    def checked_index(self, node: ast.expr, value: Expr, name: str, dimension: int, extent: int) -> Expr | None:
        if as_integer(value.type) is None or value.type == bool_type:
            self.scope.error(
                node,
                f"a subscript must be an integer, got {value.type!r}",
                field_hint(value.type) or "convert it with int()",
            )
            return None
        if isinstance(value, Const) and isinstance(value.value, int):
            if not -extent <= value.value < extent:
                self.scope.error(
                    node,
                    f"subscript {value.value} is outside dimension {dimension} of '{name}', "
                    f"which has {extent} elements",
                )
                return None
            return Const(index, value.at, value.value % extent)
        return value
