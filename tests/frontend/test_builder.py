"""Operators called with typed values, as importers call them: nothing is read from the text of a kernel."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from allo.backend.cpu import LLVMModule
from allo.frontend.emit.module import emit_module
from allo.frontend.library import operators
from allo.frontend.library.call import OperatorArgument, OperatorConstant
from allo.frontend.library.operations import Operations
from allo.frontend.read.source import KernelSource
from allo.frontend.typing.builder import ValueBuilder
from allo.frontend.typing.nodes import CheckedFunction, Declare, Expr, Return, Symbol, SymbolKind
from allo.frontend.typing.tables import DEFAULT
from allo.frontend.typing.view import View, whole
from allo.ir.types import TensorType, float32, int8

AT = (7, 0, 0)
TREE = ast.parse("def graph(): pass").body[0]
assert isinstance(TREE, ast.FunctionDef)


class Graph:
    """A graph of operators on arrays that becomes a kernel."""

    def __init__(self) -> None:
        self.rules, self.depth = DEFAULT, 0
        self.errors: list[str] = []
        self.inputs: list[Symbol] = []
        self.builder = ValueBuilder(self)
        self.operations = Operations(self.builder)

    def error_at(self, at: tuple[int, int, int], message: str, hint: str | None = None) -> None:
        self.errors.append(f"{at[0]}: {message}")

    def input(self, name: str, type: TensorType) -> View:
        self.inputs.append(Symbol(name, SymbolKind.TENSOR, type, AT))
        return whole(self.inputs[-1], AT)

    def call(self, operator: Callable[..., Any], constants: dict[str, Any] | None = None, **given: Any) -> Any:
        named = {n: OperatorArgument(value, AT, lambda n=n: n) for n, value in given.items()}
        known = {n: OperatorConstant(value, AT) for n, value in (constants or {}).items()}
        return self.operations.call(operator, AT, named, known)

    def built(self, result: Expr | View) -> LLVMModule:
        assert isinstance(result, View)
        out = Symbol("out", SymbolKind.TENSOR, result.type, AT)
        filled = self.builder.fill(out, result, "init", AT)
        before, after = self.builder.take_pending()
        body = (*before, Declare(AT, out, None), filled, *after, Return(AT, (out,)))
        source = KernelSource(None, TREE, "graph.onnx", 0, {}, 0)
        function = CheckedFunction("graph", source, tuple(self.inputs), (result.type,), body)
        return LLVMModule(emit_module([function], function))


def test_a_layer_of_a_network() -> None:
    graph = Graph()
    x, w = graph.input("x", TensorType(float32, (4, 8))), graph.input("w", TensorType(float32, (3, 8)))
    b = graph.input("b", TensorType(float32, (3,)))
    hidden = graph.call(operators.relu, A=graph.call(operators.linear, X=x, W=w, b=b))
    result = graph.call(operators.transpose, {"axes": (1, 0)}, A=graph.call(operators.softmax, A=hidden))
    random = np.random.default_rng(0)
    X, W, B = (random.normal(size=shape).astype(np.float32) for shape in ((4, 8), (3, 8), (3,)))
    expected = operators.softmax(operators.relu(X @ W.T + B)).T
    np.testing.assert_allclose(graph.built(result)(X, W, B), expected, rtol=1e-5)
    assert not graph.errors


def test_types_and_shapes_broadcast_as_in_kernels() -> None:
    graph = Graph()
    a, b = graph.input("a", TensorType(int8, (4, 1))), graph.input("b", TensorType(int8, (3,)))
    result = graph.call(operators.add, A=a, B=b)
    assert repr(result.type) == "int9[4, 3]"
    A, B = np.full((4, 1), 127, np.int8), np.array([1, 2, -3], np.int8)
    np.testing.assert_array_equal(graph.built(result)(A, B), A.astype(np.int16) + B)


def test_mistakes_are_reported_where_they_were_given() -> None:
    graph = Graph()
    a, b = graph.input("a", TensorType(float32, (4, 8))), graph.input("b", TensorType(float32, (7, 2)))
    assert graph.call(operators.matmul, A=a, B=b) is None
    message = "matmul() sums over dimension 1 of (4, 8) and dimension 0 of (7, 2), which have 8 and 7 elements"
    assert graph.errors == [f"7: {message}"]
