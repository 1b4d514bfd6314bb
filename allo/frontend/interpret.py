"""Runs a kernel as ordinary Python, with declared arrays and widths: the reference of what it means."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable
from types import FunctionType
from typing import Any

from ..errors import KernelError
from ..ir.recursion import reads_programs
from ..ir.types import AlloType, Placed, Qualified, Struct, TensorType
from .library.operators import matmul
from .source import KernelSource, belongs_to_a_library, read_kernel


@reads_programs
def interpret(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """`kernel` as a Python function on NumPy arrays, with its declarations carried out.

    `x: int8 = e` wraps to 8 bits, `B: float32[M, N] = 0` makes an array, kernels that it calls are interpreted too.
    Slow (plain Python) and meant as a reference for small sizes, with these limits: arithmetic on elements of integer
    arrays is that of NumPy and wraps at the width of the array, elements of odd widths are not wrapped, and arguments
    and results are not converted. Raises KernelError if the source cannot be read, TypeError for a kernel with structs.
    """
    return _interpreted(kernel, {})


def _interpreted(kernel: Callable[..., Any], known: dict[int, Callable[..., Any]]) -> Callable[..., Any]:
    """As `interpret`; `known` holds the kernels of this program, so that each has one state."""
    source = read_kernel(kernel)
    _refuse_structs(source)
    tree = _Declarations().visit(ast.parse(ast.unparse(source.tree)).body[0])
    tree.decorator_list = []
    for argument in (*tree.args.posonlyargs, *tree.args.args):
        argument.annotation = None
    tree.returns = None
    module = ast.fix_missing_locations(ast.Module([tree], []))
    names = {name: _callee(value, kernel, known) for name, value in source.names.items()}
    variables = _Variables()
    names["__allo_declare"], names["__allo_assign"] = variables.declare, variables.assign
    names["__allo_matmul"] = matmul
    exec(compile(module, source.file, "exec"), names)
    result: Callable[..., Any] = names[source.name]
    return result


def _refuse_structs(source: KernelSource) -> None:
    """Raises TypeError if the kernel names a struct type: Python would share structs that kernels copy."""
    nodes = list(ast.walk(source.tree))
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 200:
            with contextlib.suppress(SyntaxError):  # a docstring, rather than an annotation
                nodes += ast.walk(ast.parse(node.value.strip(), mode="eval"))
        name = node.id if isinstance(node, ast.Name) else ""
        value = source.names.get(name)
        if isinstance(value, Struct) or (isinstance(value, TensorType) and isinstance(value.element, Struct)):
            raise TypeError(
                f"'{source.name}' uses the struct type '{name}', which does not run as plain Python; "
                "compile it: allo.customize(kernel).build()"
            )


def _callee(value: Any, kernel: Callable[..., Any], known: dict[int, Callable[..., Any]]) -> Any:
    """Kernels called by name are interpreted when they are called; everything else stays."""
    if not isinstance(value, FunctionType) or value is kernel or not value.__annotations__:
        return value
    if belongs_to_a_library(value) or value.__module__ == "builtins":
        return value

    def call(*arguments: Any, **named: Any) -> Any:
        if id(value) not in known:
            try:
                known[id(value)] = _interpreted(value, known)
            except KernelError:
                known[id(value)] = value
        return known[id(value)](*arguments, **named)

    return call


class _Declarations(ast.NodeTransformer):
    """Turns `x: T = e` into `x = __allo_declare("x", T, e)`, and assignments to x likewise."""

    def __init__(self) -> None:
        self._declared: dict[str, ast.expr] = {}

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.op, ast.MatMult):
            return ast.Call(ast.Name("__allo_matmul", ast.Load()), [node.left, node.right], [])
        return node

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "range":
            node.keywords = []  # the name of the loop
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        if node.value is not None:  # not the annotation: `T @ Stateful` is no matrix product
            node.value = self.visit(node.value)
        assert isinstance(node.target, ast.Name)
        self._declared[node.target.id] = node.annotation
        value = node.value or ast.Constant(None)
        return ast.Assign([node.target], self._call("declare", node.target.id, value), lineno=node.lineno)

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        self.generic_visit(node)
        target = node.targets[0]
        if isinstance(target, ast.Name) and target.id in self._declared:
            node.value = self._call("assign", target.id, node.value)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt | list[ast.stmt]:
        self.generic_visit(node)
        if not isinstance(node.target, ast.Name) or node.target.id not in self._declared:
            return node
        value = self._call("assign", node.target.id, ast.Name(node.target.id, ast.Load()))
        return [node, ast.Assign([node.target], value, lineno=node.lineno)]

    def _call(self, function: str, name: str, value: ast.expr) -> ast.Call:
        annotation = self._declared[name]
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            annotation = ast.parse(annotation.value, mode="eval").body
        return ast.Call(ast.Name(f"__allo_{function}", ast.Load()), [ast.Constant(name), annotation, value], [])


class _Variables:
    """What the declared variables of one kernel hold, and those that keep their value between calls."""

    def __init__(self) -> None:
        self._states: dict[str, Any] = {}

    def declare(self, name: str, declared: Any, value: Any) -> Any:
        """`value` as a new variable holds it."""
        declared = declared.type if isinstance(declared, Placed) else declared
        if not isinstance(declared, Qualified):
            return _held(declared, value)
        if declared.qualifier != "Stateful":
            return _held(declared.type, value)
        if name not in self._states:
            self._states[name] = _held(declared.type, 0 if value is None else value)
        return self._states[name]

    def assign(self, name: str, declared: Any, value: Any) -> Any:
        """`value` as a variable holds it after an assignment to its name."""
        if not isinstance(declared, Qualified) or name not in self._states:
            return declared(value) if isinstance(declared, AlloType) else value
        if isinstance(declared.type, TensorType):
            self._states[name][...] = value
        else:
            self._states[name] = declared.type(value)
        return self._states[name]


def _held(declared: Any, value: Any) -> Any:
    """`value` as a variable of type `declared` holds it."""
    if isinstance(declared, TensorType):
        return declared(0 if value is None else value)
    return value if value is None or not isinstance(declared, AlloType) else declared(value)
