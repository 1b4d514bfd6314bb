"""Runs a kernel as ordinary Python, with declared arrays and widths: the reference of what it means."""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import FunctionType
from typing import Any

from ..errors import KernelError
from ..ir.types import AlloType, TensorType
from .source import read_kernel


def interpret(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """`kernel` as a Python function on NumPy arrays, with its declarations carried out.

    `x: int8 = e` wraps to 8 bits, `B: float32[M, N] = 0` makes an array, kernels that it calls are interpreted too.
    Slow (plain Python) and meant as a reference for small sizes, with these limits: arithmetic on elements of integer
    arrays is that of NumPy and wraps at the width of the array, elements of odd widths are not wrapped, and arguments
    and results are not converted. Raises KernelError if the source cannot be read.
    """
    source = read_kernel(kernel)
    tree = _Declarations().visit(ast.parse(ast.unparse(source.tree)).body[0])
    tree.decorator_list = []
    for argument in (*tree.args.posonlyargs, *tree.args.args):
        argument.annotation = None
    tree.returns = None
    module = ast.fix_missing_locations(ast.Module([tree], []))
    names = {name: _callee(value, kernel) for name, value in source.names.items()}
    names["__allo_declare"] = _declare
    exec(compile(module, source.file, "exec"), names)
    result: Callable[..., Any] = names[source.name]
    return result


def _callee(value: Any, kernel: Callable[..., Any]) -> Any:
    """Kernels called by name are interpreted when they are called; everything else stays."""
    if not isinstance(value, FunctionType) or value is kernel or not value.__annotations__:
        return value
    if (value.__module__ or "").split(".")[0] in ("allo", "numpy", "builtins"):
        return value

    def call(*arguments: Any) -> Any:
        try:
            return interpret(value)(*arguments)
        except KernelError:
            return value(*arguments)

    return call


class _Declarations(ast.NodeTransformer):
    """Turns `x: T = e` into `x = __allo_declare(T, e)`, and assignments to x likewise."""

    def __init__(self) -> None:
        self._scalars: dict[str, ast.expr] = {}

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        self.generic_visit(node)
        assert isinstance(node.target, ast.Name)
        if not isinstance(node.annotation, ast.Subscript):
            self._scalars[node.target.id] = node.annotation
        value = node.value or ast.Constant(None)
        return ast.Assign([node.target], _declared(node.annotation, value), lineno=node.lineno)

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        self.generic_visit(node)
        target = node.targets[0]
        if isinstance(target, ast.Name) and target.id in self._scalars:
            node.value = _declared(self._scalars[target.id], node.value)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        self.generic_visit(node)
        if isinstance(node.target, ast.Name) and node.target.id in self._scalars:
            read = ast.Name(node.target.id, ast.Load())
            value = ast.BinOp(read, node.op, node.value)
            declared = _declared(self._scalars[node.target.id], value)
            return ast.Assign([node.target], declared, lineno=node.lineno)
        return node


def _declared(annotation: ast.expr, value: ast.expr) -> ast.Call:
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        annotation = ast.parse(annotation.value, mode="eval").body
    return ast.Call(ast.Name("__allo_declare", ast.Load()), [annotation, value], [])


def _declare(declared: Any, value: Any) -> Any:
    """`value` as a variable of type `declared` holds it."""
    if isinstance(declared, TensorType):
        return declared(0 if value is None else value)
    return value if value is None or not isinstance(declared, AlloType) else declared(value)
