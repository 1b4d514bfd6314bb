"""Checker of `gather` and `scatter`: one element of each of several streams, as one array."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ....errors import counted
from ....ir.types import ChannelType, TensorType, index, shape_text
from ... import regions
from ...read.source import Position
from ...typing.builder import ValueBuilder
from ...typing.convert import convert
from ...typing.nodes import (
    Binary,
    CallEffects,
    Const,
    Declare,
    Expr,
    For,
    Stmt,
    StreamGet,
    StreamPut,
    Symbol,
    SymbolKind,
    Var,
)
from ...typing.scope import Scope, static_value
from ...typing.view import loops_over, store, whole
from ..checker import CheckedExpressions

type Indices = tuple[Expr, ...]

_EFFECTS = CallEffects(frozenset(), True)
_FORMS = "write `fifo[:, j]`, or a list such as `[fifo[k, j] for k in range(4)]`"


@dataclass(frozen=True, slots=True)
class _Streams:
    """Elements of an array of streams: each loop with its first value and their number, and the subscripts."""

    stream: Symbol
    loops: tuple[tuple[Symbol, int, int], ...]
    indices: Indices

    @property
    def kind(self) -> ChannelType:
        assert self.stream.stream is not None
        return self.stream.stream


@dataclass(frozen=True, slots=True)
class _Several:
    """Streams in their order, and the dimensions of the whole array along which their elements stand side by side."""

    parts: tuple[_Streams, ...]
    extents: tuple[int, ...]  # of the places of the streams
    dims: tuple[int, ...]  # of blocks

    @property
    def kind(self) -> ChannelType:
        return self.parts[0].kind

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the whole array."""
        if not self.kind.block:
            return self.extents
        shape = list(self.kind.block)
        for dim, extent in zip(self.dims, self.extents, strict=True):
            shape[dim] *= extent
        return tuple(shape)

    def place(self, at: Position, places: Indices, inside: Indices) -> Indices:
        """Where in the whole array an element of the block of a stream stands."""
        if not self.kind.block:
            return places
        result = list(inside)
        for dim, number in zip(self.dims, places, strict=True):
            start = Binary(index, at, "*", number, Const(index, at, self.kind.block[dim]))
            result[dim] = Binary(index, at, "+", start, inside[dim])
        return tuple(result)


class GatherChecker:
    """Turns `gather` and `scatter` into loops over streams; None, or no statement, after an error was reported."""

    def __init__(self, scope: Scope, expressions: CheckedExpressions, builder: ValueBuilder) -> None:
        self.scope = scope
        self.expressions = expressions
        self.builder = builder
        self._count = 0

    def gather(self, node: ast.Call) -> Symbol | None:
        """An array of one element of each stream, taken in front of the statement."""
        given = self._bound(node, ("streams", "axis"))
        several = None if given is None else self._several(node, "gather", given["streams"], given.get("axis"))
        if several is None:
            return None
        at = self.scope.source.position(node)
        if not self.builder.in_front(at, f"`{ast.unparse(node)}`", self.builder.seen, _EFFECTS):
            return None
        name = self._name("gather")
        element = several.kind.element
        symbol = Symbol(f"{name}_out", SymbolKind.TENSOR, TensorType(element, several.shape), at)
        place = whole(symbol, at).place
        assert place is not None

        def get(streams: _Streams, target: Indices) -> Stmt:
            return store(place(target), StreamGet(element, at, streams.stream, streams.indices), at)

        self.builder.do_first([Declare(at, symbol, None), *self._each(name, at, several, get)])
        return symbol

    def scatter(self, node: ast.Call) -> tuple[Stmt, ...]:
        """The parts of an array, put into the streams."""
        given = self._bound(node, ("x", "streams", "axis"))
        value = None if given is None else self.expressions.any(given["x"])
        if given is None or value is None:
            return ()
        several = self._several(node, "scatter", given["streams"], given.get("axis"))
        if several is None:
            return ()
        at = self.scope.source.position(node)
        shape = value.type.shape if isinstance(value.type, TensorType) else ()
        if isinstance(value, Expr) or shape != several.shape:
            what = f"an array of shape {shape_text(shape)}" if shape else "a single value"
            self.scope.error(node, f"scatter() needs an array of shape {shape_text(several.shape)}, got {what}")
            return ()
        view = whole(value, at) if isinstance(value, Symbol) else value
        if view.compute is not None:
            copy = self.builder.materialise(view, "scattered", view.type.element)
            assert copy is not None
            view = whole(copy, at)

        def put(streams: _Streams, source: Indices) -> Stmt:
            number = convert(view.read(source), several.kind.element)
            return StreamPut(at, streams.stream, streams.indices, number)

        return tuple(self._each(self._name("scatter"), at, several, put))

    def _name(self, what: str) -> str:
        self._count += 1
        return f"{what}_{self._count - 1}"

    def _each(
        self, name: str, at: Position, several: _Several, action: Callable[[_Streams, Indices], Stmt]
    ) -> list[Stmt]:
        """What is done to each stream, with each element of its block, given its place in the whole array."""
        found: list[Stmt] = []
        for number, streams in enumerate(several.parts):
            label = name if len(several.parts) == 1 else f"{name}_{number}"
            places: Indices = tuple(
                Binary(index, at, "-", Var(index, at, s), Const(index, at, first)) if first else Var(index, at, s)
                for s, first, _ in streams.loops
            )
            places = places or (Const(index, at, number),)
            block = [Const(index, at, extent) for extent in several.kind.block]

            def element(
                inside: Indices, streams: _Streams = streams, places: Indices = places
            ) -> Stmt:
                return action(streams, several.place(at, places, inside))

            nest = self.builder.nest_name(label)
            inner = loops_over(block, f"{label}_block", None if streams.loops else nest, at, element)
            for depth, (symbol, first, count) in reversed(list(enumerate(streams.loops))):
                bounds = (Const(index, at, first), Const(index, at, first + count), Const(index, at, 1))
                inner = For(at, symbol, *bounds, nest if depth == 0 else None, (inner,))
            found.append(inner)
        return found

    # -- which streams ----------------------------------------------------------------------------------------------

    def _bound(self, node: ast.Call, parameters: tuple[str, ...]) -> dict[str, ast.expr] | None:
        function = regions.gather if len(parameters) == 2 else regions.scatter
        found = dict(zip(parameters, node.args, strict=False))
        keywords = {str(keyword.arg): keyword.value for keyword in node.keywords}
        fits = len(node.args) <= len(parameters) and set(keywords) <= set(parameters) - set(found)
        if not fits or not set(parameters[:-1]) <= set(found | keywords):
            self.scope.error(node, f"{function.__name__}() takes {', '.join(parameters[:-1])}, and perhaps axis")
            return None
        return found | keywords

    def _several(self, node: ast.Call, name: str, place: ast.expr, axis: ast.expr | None) -> _Several | None:
        parts = self._parts(name, place)
        if parts is None:
            return None
        kinds = {(part.kind.element, part.kind.block) for part in parts}
        if len(kinds) > 1:
            self.scope.error(place, f"{name}() of streams that hold different things")
            return None
        several = parts[0].loops and len(parts) == 1
        extents = tuple(count for _, _, count in parts[0].loops) if several else (len(parts),)
        dims = self._dims(node, name, extents, parts[0].kind.block, axis)
        return None if dims is None else _Several(parts, extents, dims)

    def _dims(
        self, node: ast.Call, name: str, extents: tuple[int, ...], block: tuple[int, ...], place: ast.expr | None
    ) -> tuple[int, ...] | None:
        """The dimensions of blocks that are joined."""
        axis = 0 if place is None else self._constant(name, place)
        if axis is None:
            return None
        rank = len(block)
        if not block and axis == 0:
            return ()
        last = axis + len(extents) - 1
        if not block or not 0 <= axis <= last < rank:
            what = f"blocks of shape {shape_text(block)}" if block else "single values"
            given = f"{name}() over {counted(len(extents), 'dimension')} of streams, from dimension {axis} on"
            self.scope.error(node, f"{given}, but the streams hold {what}")
            return None
        return tuple(range(axis, last + 1))

    def _constant(self, name: str, place: ast.expr) -> int | None:
        try:
            value: Any = static_value(self.scope, place)
        except (NameError, ValueError):
            value = None
        if type(value) is int:
            return value
        self.scope.error(place, f"{name}() needs an integer as 'axis'")
        return None

    def _parts(self, name: str, place: ast.expr) -> tuple[_Streams, ...] | None:
        if isinstance(place, ast.ListComp | ast.GeneratorExp):
            found = self._comprehension(name, place)
            return None if found is None else (found,)
        if isinstance(place, ast.List | ast.Tuple) and place.elts:
            listed = [self._streams(name, element, single=True) for element in place.elts]
            return None if None in listed else tuple(part for part in listed if part is not None)
        one = self._streams(name, place)
        if one is not None and not one.loops:
            self.scope.error(place, f"{name}() is for several streams, and `{ast.unparse(place)}` is one", _FORMS)
            return None
        return None if one is None else (one,)

    def _comprehension(self, name: str, node: ast.ListComp | ast.GeneratorExp) -> _Streams | None:
        """`[fifo[k, j] for k in range(4)]`."""
        generator = node.generators[0]
        try:
            values = static_value(self.scope, generator.iter)
        except (NameError, ValueError):
            values = None
        plain = len(node.generators) == 1 and not generator.ifs and isinstance(generator.target, ast.Name)
        if not plain or not isinstance(values, range) or values.step != 1 or not values:
            self.scope.error(node, f"{name}() takes streams for one variable of a constant range", _FORMS)
            return None
        assert isinstance(generator.target, ast.Name)
        at = self.scope.source.position(generator.target)
        self.scope.enter()
        symbol = self.scope.declare(generator.target.id, SymbolKind.LOOP, index, at)
        found = self._streams(name, node.elt, single=True)
        self.scope.leave()
        if found is None:
            return None
        return _Streams(found.stream, ((symbol, values.start, len(values)),), found.indices)

    def _streams(self, name: str, place: ast.expr, single: bool = False) -> _Streams | None:
        """`fifo`, `fifo[:, j]`, or the same with `.get()` behind it."""
        node = place
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
            if name == "scatter":
                text = f"scatter() puts into streams, and `{ast.unparse(node)}` takes out of them"
                self.scope.error(node, text, "leave out `.get()`")
                return None
            node = node.func.value
        root = node.value if isinstance(node, ast.Subscript) else node
        symbol = self.scope.local(root.id) if isinstance(root, ast.Name) else None
        if symbol is None or symbol.stream is None:
            self.scope.error(place, f"{name}() takes streams, and `{ast.unparse(place)}` is none", _FORMS)
            return None
        shape = symbol.stream.shape
        nodes: Sequence[ast.expr] = [ast.Slice() for _ in shape]
        if isinstance(node, ast.Subscript):
            nodes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if len(nodes) != len(shape) or (single and any(isinstance(n, ast.Slice) for n in nodes)):
            what = counted(len(shape), "dimension") if shape else "no dimensions"
            given = "one subscript for each" if single else counted(len(nodes), "subscript") + " given"
            self.scope.error(place, f"the stream '{symbol.name}' has {what}: `{ast.unparse(place)}`, {given}", _FORMS)
            return None
        return self._subscripted(name, symbol, nodes, self.scope.source.position(place))

    def _subscripted(
        self, name: str, stream: Symbol, nodes: Sequence[ast.expr], at: Position
    ) -> _Streams | None:
        assert stream.stream is not None
        loops: list[tuple[Symbol, int, int]] = []
        indices: list[Expr] = []
        for dimension, (node, extent) in enumerate(zip(nodes, stream.stream.shape, strict=True)):
            if isinstance(node, ast.Slice):
                chosen = self._range(name, node, extent)
                if chosen is None:
                    return None
                symbol = Symbol(f"{stream.name}_{dimension}", SymbolKind.LOOP, index, at)
                loops.append((symbol, chosen.start, len(chosen)))
                indices.append(Var(index, at, symbol))
                continue
            value = self.expressions.scalar(node)
            if value is not None:
                value = self.expressions.checked_index(node, value, stream.name, dimension, extent)
            if value is None:
                return None
            indices.append(value)
        return _Streams(stream, tuple(loops), tuple(indices))

    def _range(self, name: str, node: ast.Slice, extent: int) -> range | None:
        try:
            bounds = [None if b is None else static_value(self.scope, b) for b in (node.lower, node.upper, node.step)]
            chosen = range(extent)[slice(*bounds)]
        except (NameError, ValueError, TypeError):
            chosen = range(0)
        if chosen and chosen.step == 1:
            return chosen
        hint = "the bounds are constants, the step is 1, and there is at least one stream"
        self.scope.error(node, f"{name}() cannot take the streams `{ast.unparse(node)}` of {extent}", hint)
        return None
