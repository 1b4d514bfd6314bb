"""Kernels of imported models: layers become typed statements of the front end, without text in between."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import numpy as np

from ..errors import ModelError
from ..frontend.program import Checked, MadeKernel
from ..frontend.read.source import KernelSource, Position
from ..frontend.typing.builder import ValueBuilder
from ..frontend.typing.nodes import (
    CheckedFunction,
    Const,
    Copy,
    Expr,
    Return,
    Stmt,
    Store,
    Symbol,
    SymbolKind,
    Var,
)
from ..frontend.typing.rules import TypingRules
from ..frontend.typing.tables import DEFAULT
from ..frontend.typing.view import View, is_whole, whole
from ..ir.arrays import array_element_type, form_dtype
from ..ir.types import AlloType, TensorType, index, shape_text
from .graph import Array, Layer, LayerGraph, LayerOrigin, type_of
from .operators import OPERATORS, LayerCall, put
from .operators.layer_call import Value


class ImportedKernel(MadeKernel):
    """A model as a kernel, for `allo.customize`, `allo.interpret` and all that takes kernels.

    Its arguments are those of the model (tensors, in their order), then the buffers that the model changes, such as
    caches, then the `weights` if they are arguments; its results are those of the model. Called with NumPy arrays, it
    computes what the model does, layer by layer in NumPy: `kernel(x, *kernel.weights.values())`.
    """

    def __init__(self, graph: LayerGraph, *, weights_as_arguments: bool = False) -> None:
        self.graph = graph
        self.__name__ = self.__qualname__ = graph.name
        self.weights: Mapping[str, Array] = {}
        if weights_as_arguments:
            arrays = {name: array for name, array in graph.constants.items() if array.ndim}
            self.weights = {name: array for name, array in arrays.items() if array_element_type(array) is not None}

    @property
    def arguments(self) -> Mapping[str, TensorType]:
        """The types of all arguments by name; a number that the model changes is an array of one element."""
        own = {name: type_of(array) for name, array in self.weights.items()}
        given = {
            name: TensorType(kind.element, kind.shape or ((1,) if name in self.graph.updates else ()))
            for name, kind in self.graph.arguments.items()
        }
        return {**given, **own}

    def element(self, name: str) -> AlloType:
        """The element type of a value of the graph."""
        return self.graph.types()[name].element

    def checked(self, rules: TypingRules = DEFAULT) -> Checked:
        """Its typed tree."""
        function = _Writer(self, rules).function()
        return Checked((function,), function)

    def with_results(self, results: tuple[str, ...]) -> ImportedKernel:
        """The kernel that gives other values of the graph."""
        from dataclasses import replace

        made = ImportedKernel(replace(self.graph, results=results))
        made.weights = self.weights
        return made

    def values(self, *arrays: Any) -> dict[str, Array]:
        """All values of the graph for these arguments, computed by NumPy; TypeError for arguments that do not fit."""
        kinds = self.arguments
        if len(arrays) != len(kinds):
            listed = ", ".join(f"{name}: {kind!r}" for name, kind in kinds.items())
            raise TypeError(f"{self.__name__}() takes {len(kinds)} arguments ({listed}), got {len(arrays)}")
        found: dict[str, Array] = dict(self.graph.constants)
        for (name, kind), given in zip(kinds.items(), arrays, strict=True):
            array = np.asarray(given)
            if array.shape != kind.shape:
                wanted, got = shape_text(kind.shape), shape_text(array.shape)
                raise TypeError(f"argument '{name}' of {self.__name__}() has the shape {wanted}, got {got}")
            own = self.graph.arguments.get(name, kind)
            found[name] = array.astype(form_dtype(kind.element)).reshape(own.shape)
        for layer in self.graph.layers:
            operands = [found[o] if isinstance(o, str) else o for o in layer.inputs]
            with np.errstate(all="ignore"):
                result = np.asarray(OPERATORS[layer.operator].evaluate(layer, operands))
            found[layer.name] = result.astype(form_dtype(layer.type.element), copy=False).reshape(layer.type.shape)
        return found

    def __call__(self, *arrays: Any) -> Any:
        found = self.values(*arrays)
        places = dict(zip(self.arguments, arrays, strict=True))
        for argument, value in self.graph.updates.items():
            np.copyto(places[argument], found[value])
        results = tuple(np.array(found[name]) for name in self.graph.results)
        return results[0] if len(results) == 1 else results

    def __str__(self) -> str:
        return str(self.graph)

    def __repr__(self) -> str:
        return f"<kernel '{self.__name__}' of {len(self.graph.layers)} layers>"


class _Writer:
    """The statements of a model; it is the context in which its values are built."""

    depth = 0  # no loop is around a layer

    def __init__(self, kernel: ImportedKernel, rules: TypingRules) -> None:
        self.kernel = kernel
        self.graph = kernel.graph
        self.rules = rules
        self.builder = ValueBuilder(self)
        self.values: dict[str, Value] = {}
        self.stored: dict[str, View] = {}
        self.parameters: dict[str, Symbol] = {}  # those that are arrays
        self.body: list[Stmt] = []
        self.users = self.graph.users()
        listing = str(self.graph)
        self.file = f"<model {self.graph.name} {sha256(listing.encode()).hexdigest()[:12]}>"
        linecache.cache[self.file] = len(listing), None, listing.splitlines(keepends=True), self.file

    def error_at(self, at: Position, message: str, hint: str | None = None) -> None:
        """Layers are checked when they are read, so that this is one that was not."""
        layer = self.graph.layers[min(max(at[0], 2) - 2, len(self.graph.layers) - 1)]
        raise ModelError(f"the layer '{layer.name}' of {layer.origin}: {message}", at=layer.origin.at, hint=hint)

    def function(self) -> CheckedFunction:
        """The kernel."""
        parameters = tuple(self._parameter(name, kind) for name, kind in self.kernel.arguments.items())
        for name, array in self.graph.constants.items():
            if name not in self.values:
                self.values[name] = self._constant(name, array)
        for number, layer in enumerate(self.graph.layers):
            self._layer(layer, (number + 2, 4, 0))
        last: Position = (len(self.graph.layers) + len(self.graph.updates) + 2, 4, 0)
        results = self._results(last)
        self._update(last)
        self.body.append(Return(last, results))
        tree = ast.parse(f"def {self.graph.name}(): pass").body[0]
        assert isinstance(tree, ast.FunctionDef)
        source = KernelSource(None, tree, self.file, 0, {}, 0)
        types = tuple(_result_type(value) for value in results)
        return CheckedFunction(self.graph.name, source, parameters, types, tuple(self.body))

    def _parameter(self, name: str, kind: TensorType) -> Symbol:
        at: Position = (1, 0, 0)
        if not kind.shape:
            scalar = Symbol(name, SymbolKind.ARGUMENT, kind.element, at)
            self.values[name] = Var(kind.element, at, scalar)
            return scalar
        symbol = Symbol(name, SymbolKind.TENSOR, kind, at)
        view = whole(symbol, at)
        is_number = not self.graph.arguments.get(name, kind).shape
        self.values[name] = view.read((Const(index, at, 0),)) if is_number else view
        self.parameters[name] = symbol
        return symbol

    def _constant(self, name: str, array: Array) -> Value:
        kind, at = type_of(array), (1, 0, 0)
        if not array.ndim:
            return Const(kind.element, at, array.item())
        symbol = Symbol(name, SymbolKind.TENSOR, kind, at)
        symbol.constant = array
        return whole(symbol, at)

    def _layer(self, layer: Layer, at: Position) -> None:
        operator = OPERATORS[layer.operator]
        assert operator.build is not None
        call = LayerCall(layer, at, self.builder, self.values, self.stored)
        if (argument := self._in_place(layer)) is not None:
            symbol = argument.sources[0][0]
            self._take(put(call, call.view(1), call.view(2), symbol, layer.options["dimension"]))
            self.values[layer.name] = argument
            return
        view = operator.build(call)
        if isinstance(view, Expr):
            self.values[layer.name] = self.builder.variable(view, layer.name)
            self._take()
            return
        keeps = operator.moves or (operator.pointwise and self._is_read_in_place(layer))
        self.values[layer.name] = view if keeps else call.array(layer.name, view, layer.type.element)
        self._take()

    def _take(self, *statements: Stmt) -> None:
        before, after = self.builder.take_pending()
        self.body += [*before, *statements, *after]

    def _is_read_in_place(self, layer: Layer) -> bool:
        """Whether the only layer that reads this one computes its elements the same way, so that it needs no array."""
        users = self.users.get(layer.name, [])
        if len(users) != 1 or layer.name in self.graph.kept or users[0].arrays.count(layer.name) > 1:
            return False
        return OPERATORS[users[0].operator].pointwise and users[0].type.shape == layer.type.shape

    def _in_place(self, layer: Layer) -> View | None:
        """The argument that a layer may change in its place, since nothing else reads what it was."""
        base = layer.inputs[0] if layer.operator == "index_put" else None
        if not isinstance(base, str) or self.graph.updates.get(base) != layer.name:
            return None
        value = self.values[base]
        is_alone = len(self.users[base]) == 1 and base not in self.graph.kept
        return value if isinstance(value, View) and is_alone else None

    def _array(self, name: str, at: Position, taken: frozenset[Symbol]) -> Symbol | Expr:
        """A value as an array that no other name has."""
        value = self.values[name]
        if isinstance(value, Expr) or not value.type.shape:
            number = value if isinstance(value, Expr) else value.read(())
            if not self.graph.updates:
                return number
            held = self.builder.variable(number, f"{name}_result")  # as it is before arguments are changed
            self._take()
            return held
        own = value.sources[0][0] if value.compute is None and is_whole(value) else None
        if own is not None and own.constant is None and own not in taken:
            return own
        copy = Layer(f"{name}_result", "reshape", (name,), {}, value.type, LayerOrigin())
        made = LayerCall(copy, at, self.builder, self.values, self.stored).array(copy.name, value)
        self._take()
        return made.sources[0][0]

    def _results(self, at: Position) -> tuple[Symbol | Expr, ...]:
        taken = frozenset(self.parameters.values())
        found: list[Symbol | Expr] = []
        for name in self.graph.results:
            own = self._array(name, at, taken)
            taken |= {own} if isinstance(own, Symbol) else frozenset()
            found.append(own)
        return tuple(found)

    def _update(self, at: Position) -> None:
        """Arguments get the elements that they have behind the call, once all of these are known."""
        copies: list[Stmt] = []
        changed = frozenset(self.parameters[argument] for argument in self.graph.updates)
        for argument, name in self.graph.updates.items():
            target = self.parameters[argument]
            if self.values[name] is self.values[argument]:
                continue
            source = self._array(name, at, changed)
            if isinstance(source, Expr):
                copies.append(Store(at, target, (Const(index, at, 0),), source))
            else:
                copies.append(Copy(at, target, source))
        self._take(*copies)


def _result_type(value: Symbol | Expr) -> AlloType | TensorType:
    kind = value.type
    assert kind is not None
    return kind.element if isinstance(kind, TensorType) and not kind.shape else kind
