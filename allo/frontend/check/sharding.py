"""Sharded arguments of tasks: parts of arrays of the region, by the position of the task (Dato, section 3.4)."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from ...errors import Note
from ...ir.argument_parts import DeclaredPart
from ...ir.types import TensorType, index
from ...layout.sharding import Layout, Shard
from ..read.source import Position
from ..typing.builder import ValueBuilder
from ..typing.convert import convert
from ..typing.nodes import (
    Binary,
    CallSite,
    CheckedFunction,
    Const,
    Declare,
    Expr,
    If,
    Load,
    Stmt,
    Store,
    Symbol,
    SymbolKind,
    Var,
)
from ..typing.scope import Scope, static_value
from ..typing.view import loops_over, store, whole
from ..typing.writes import changed_by, parts
from .mesh.replicas import Replicas, overwrites_first, read_elsewhere, stored_if, used_by_elements
from .mesh.uniform import varying


@dataclass(frozen=True, slots=True)
class Sharded:
    """An argument of a task of which each position has a part: the whole array, the part, and where that begins.

    `layout` counts axes of the grid from the first.
    """

    whole: Symbol
    part: Symbol
    offsets: tuple[Expr | None, ...]
    layout: Layout

    @property
    def axes(self) -> frozenset[int]:
        """The axes of the grid along which it is cut."""
        return frozenset(p.axis for p in self.layout.placements if isinstance(p, Shard))


def split_layout(scope: Scope, node: ast.expr) -> tuple[Layout | None, ast.expr]:
    """`T[M, N] @ [S(0), R]`, or with a Layout, as the layout and `T[M, N]`; anything else as it is."""
    inner = node
    if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
        try:
            inner = ast.copy_location(ast.parse(inner.value.strip(), mode="eval").body, node)
        except SyntaxError:
            return None, node
    if not isinstance(inner, ast.BinOp) or not isinstance(inner.op, ast.MatMult):
        return None, node
    try:
        value = static_value(scope, inner.right)
        if isinstance(value, list | tuple):
            value = Layout(value)
    except (NameError, ValueError):
        return None, node
    except TypeError as error:
        scope.error(inner.right, f"`{ast.unparse(inner.right)}` is no layout: {error}", "write `[S(0), R]`")
        return None, inner.left
    return (value, inner.left) if isinstance(value, Layout) else (None, node)


def sharded(scope: Scope, node: ast.arg, symbol: Symbol, layout: Layout) -> Sharded | None:
    """What `symbol`, which was declared as the whole array, is with a layout; None after an error."""
    name = symbol.name
    if not isinstance(symbol.type, TensorType) or not symbol.type.is_static:
        scope.error(node, f"'{name}' is {symbol.type!r}, of which positions cannot have parts", "drop the layout")
        return None
    if not scope.grid:
        scope.error(node, f"'{name}' has a layout, but no task has it as argument", "drop the layout, or write a task")
        return None
    try:
        shape = layout.local_shape(symbol.type.shape, scope.grid)
        placements = layout.on(scope.grid).placements
    except ValueError as error:
        scope.error(node, f"the layout of '{name}' does not fit the mapping {list(scope.grid)}: {error}")
        mapping = scope.source.tree.decorator_list[0]
        note = Note("the mapping is here", scope.source.location(scope.source.position(mapping)))
        scope.diagnostics[-1] = replace(scope.diagnostics[-1], notes=(note,))
        return None
    at = symbol.at
    offsets: list[Expr | None] = []
    for placement, extent in zip(placements, shape, strict=True):
        if isinstance(placement, Shard):
            place = Var(index, at, scope.positions[placement.axis])
            offsets.append(Binary(index, at, "*", place, Const(index, at, extent)))
        else:
            offsets.append(None)
    part = scope.declare(name, SymbolKind.TENSOR, TensorType(symbol.type.element, shape), at)
    part.memory = symbol.memory
    axes = tuple(p.axis if isinstance(p, Shard) else None for p in placements)
    if any(axis is not None for axis in axes):
        symbol.part = DeclaredPart(axes, shape, symbol.type.shape)
    return Sharded(symbol, part, tuple(offsets), layout.on(scope.grid))


def with_parts(
    function: CheckedFunction, shards: Sequence[Sharded], builder: ValueBuilder, scope: Scope
) -> tuple[Stmt, ...]:
    """The body of a task that works on parts: it uses the elements of the whole array where it uses single ones only.

    A part that is used as a whole, in a call or an operation on arrays, is a copy that the task brings in, unless it
    overwrites it first, and out again if it changes it. Of positions that have the same part, and write the same to
    it, the first one writes. An array without a layout is a part of that kind: each position has all of it.
    """
    body = function.body
    changed = {symbol for statement in parts(body) for symbol in changed_by(statement)}
    plain = [p for p in function.params if p in changed and p.kind is SymbolKind.TENSOR and scope.grid]
    if not shards and not plain:
        return body
    found = varying(body, scope.positions, {s.part: s.axes for s in shards}, scope.agreements)
    replicas = Replicas(scope, body, changed, found)
    shards = [*shards, *(_replicated(function, symbol) for symbol in plain if replicas.are_one(symbol))]
    only = replicas.one_position([(s.part, s.axes) for s in shards])
    before: list[Stmt] = []
    after: list[Stmt] = []
    for shard in shards:
        part = shard.part
        writer = None if only is not None else replicas.writer(part, shard.axes)
        if used_by_elements(body, part) and not (writer is not None and read_elsewhere(body, part)):
            guarded = body if writer is None else tuple(stored_if(statement, part, writer) for statement in body)
            body = tuple(_moved(statement, shard) for statement in guarded)
            continue
        before.append(Declare(part.at, part, None))
        if not overwrites_first(body, part):
            before.append(_copied(shard, builder, into=True))
        if part in changed:
            out = _copied(shard, builder, into=False)
            after.append(out if writer is None else If(part.at, writer, (out,), ()))
    made = (*before, *body, *after)
    return made if only is None else (If(scope.source.position(scope.source.tree), only, made, ()),)


def _replicated(function: CheckedFunction, symbol: Symbol) -> Sharded:
    """An argument without a layout as the part that all positions have."""
    assert isinstance(symbol.type, TensorType)
    whole = Symbol(symbol.name, symbol.kind, symbol.type, symbol.at, memory=symbol.memory)
    function.params = tuple(whole if p is symbol else p for p in function.params)
    rank = len(symbol.type.shape)
    return Sharded(whole, symbol, (None,) * rank, Layout.replicated(rank))


def _copied(shard: Sharded, builder: ValueBuilder, *, into: bool) -> Stmt:
    """The loops that copy a part of the whole array into that of the task, or back."""
    at = shard.part.at
    part = whole(shard.part, at)
    place = part.place
    assert place is not None

    def body(indices: tuple[Expr, ...]) -> Stmt:
        outside = Load(part.type.element, at, shard.whole, _shifted(indices, shard, at))
        return store(place(indices), outside, at) if into else store(outside, part.read(indices), at)

    name = f"{'load' if into else 'store'}_{shard.part.name}"
    return loops_over(part.extents, name, builder.nest_name(name), at, body)


def _shifted(indices: Sequence[Expr], shard: Sharded, at: Position) -> tuple[Expr, ...]:
    """Subscripts of a part as subscripts of the whole array."""
    return tuple(
        place if offset is None else Binary(index, at, "+", offset, convert(place, index))
        for place, offset in zip(indices, shard.offsets, strict=True)
    )


def _moved(tree: Any, shard: Sharded) -> Any:
    """A typed tree in which accesses to a part are accesses to the whole array."""
    if isinstance(tree, tuple):
        return tuple(_moved(part, shard) for part in tree)
    if isinstance(tree, CallSite):
        return replace(tree, arguments=_moved(tree.arguments, shard))
    if not isinstance(tree, Stmt | Expr):
        return tree
    changed = {
        field.name: _moved(value, shard)
        for field in fields(tree)
        if isinstance(value := getattr(tree, field.name), tuple | Stmt | Expr | CallSite) and field.name != "at"
    }
    made = replace(tree, **changed)
    if isinstance(made, Load | Store) and made.tensor is shard.part:
        return replace(made, tensor=shard.whole, indices=_shifted(made.indices, shard, made.at))
    return made
