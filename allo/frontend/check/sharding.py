"""Sharded arguments of tasks: parts of arrays of the region, by the position of the task (Dato, section 3.4)."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from ...errors import Note
from ...ir.types import AlloType, TensorType, index
from ...layout.sharding import Layout, Shard
from ..read.source import Position
from ..typing.builder import ValueBuilder
from ..typing.convert import convert
from ..typing.nodes import (
    Binary,
    CheckedFunction,
    Const,
    Declare,
    Expr,
    For,
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
from .mesh.uniform import overwrites, varying
from .positions import within


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
    return Sharded(symbol, part, tuple(offsets), layout.on(scope.grid))


def with_parts(
    function: CheckedFunction, shards: Sequence[Sharded], builder: ValueBuilder, scope: Scope
) -> tuple[Stmt, ...]:
    """The body of a task that works on parts: it uses the elements of the whole array where it uses single ones only.

    A part that is used as a whole, in a call or an operation on arrays, is a copy that the task brings in, unless it
    overwrites it first, and out again if it changes it. Of positions that have the same part, and write the same to
    it, the first one writes.
    """
    body = function.body
    before: list[Stmt] = []
    after: list[Stmt] = []
    found = varying(body, scope.positions, {s.part: s.axes for s in shards}, scope.agreements) if shards else {}
    for shard in shards:
        part = shard.part
        changes = any(part in changed_by(p) for p in parts(body))
        copies = {axis for axis, extent in enumerate(scope.grid) if extent > 1 and axis not in shard.axes}
        writer = _first_of(scope, copies) if changes and not copies & found[part] else None
        reads = any(isinstance(p, Load) and p.tensor is part for p in parts(body))
        if _is_used_by_elements(body, part) and not (reads and writer is not None):
            guarded = body if writer is None else tuple(_only(statement, part, writer) for statement in body)
            body = tuple(_moved(statement, shard) for statement in guarded)
            continue
        before.append(Declare(part.at, part, None))
        if not _overwrites_first(body, part):
            before.append(_copied(shard, builder, into=True))
        if changes:
            out = _copied(shard, builder, into=False)
            after.append(out if writer is None else If(part.at, writer, (out,), ()))
    return (*before, *body, *after)


def _first_of(scope: Scope, copies: set[int]) -> Expr | None:
    """The condition that a position is the first one of those that have the same part; None if each has its own."""
    box = tuple((0, 0 if axis in copies else extent - 1) for axis, extent in enumerate(scope.grid))
    return within(box, scope.positions, scope.grid, scope.source.position(scope.source.tree))


def _only(tree: Any, part: Symbol, writer: Expr) -> Any:
    """A typed tree in which only one position stores into a part: loops that do nothing else are its as a whole."""
    if isinstance(tree, tuple):
        return tuple(_only(inner, part, writer) for inner in tree)
    if not isinstance(tree, Stmt):
        return tree
    if isinstance(tree, Store):
        return If(tree.at, writer, (tree,), ()) if tree.tensor is part else tree
    if isinstance(tree, For) and overwrites(tree, part):
        return If(tree.at, writer, (tree,), ())
    changed = {
        field.name: _only(value, part, writer)
        for field in fields(tree)
        if isinstance(value := getattr(tree, field.name), tuple) and field.name != "at"
    }
    return replace(tree, **changed)


def _overwrites_first(body: tuple[Stmt, ...], part: Symbol) -> bool:
    """Whether the first statement that mentions a part gives a value to all of its elements."""
    first = next((statement for statement in body if part in symbols_in(statement)), None)
    return first is not None and overwrites(first, part)


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


def _is_used_by_elements(body: tuple[Stmt, ...], part: Symbol) -> bool:
    """Whether a symbol stands in loads and stores of single elements only."""
    single = sum(isinstance(p, Load | Store) and p.tensor is part for p in parts(body))
    return single == sum(symbol is part for symbol in _mentioned(body))


def _mentioned(tree: Any) -> Iterator[Symbol]:
    """The symbols in a typed tree, as often as they stand there; not those of the kernels that it calls."""
    if isinstance(tree, Symbol):
        yield tree
    elif isinstance(tree, tuple):
        for part in tree:
            yield from _mentioned(part)
    elif is_dataclass(tree) and not isinstance(tree, CheckedFunction | AlloType | TensorType):
        for field in fields(tree):
            yield from _mentioned(getattr(tree, field.name))


def symbols_in(tree: Any) -> set[Symbol]:
    """All symbols that a typed tree mentions, not those of the kernels that it calls."""
    return set(_mentioned(tree))


def _moved(tree: Any, shard: Sharded) -> Any:
    """A typed tree in which accesses to a part are accesses to the whole array."""
    if isinstance(tree, tuple):
        return tuple(_moved(part, shard) for part in tree)
    if not isinstance(tree, Stmt | Expr):
        return tree
    changed = {
        field.name: _moved(value, shard)
        for field in fields(tree)
        if isinstance(value := getattr(tree, field.name), tuple | Stmt | Expr) and field.name != "at"
    }
    made = replace(tree, **changed)
    if isinstance(made, Load | Store) and made.tensor is shard.part:
        return replace(made, tensor=shard.whole, indices=_shifted(made.indices, shard, made.at))
    return made
