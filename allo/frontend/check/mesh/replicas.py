"""Arrays of which several positions of a task have the same part: which position writes it, where all write alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from ....ir.types import AlloType, TensorType
from ...typing.nodes import (
    CheckedFunction,
    Declare,
    Expr,
    For,
    If,
    Load,
    Stmt,
    Store,
    Symbol,
    SymbolKind,
)
from ...typing.scope import Scope
from ...typing.writes import effects_in, effects_on, parts
from ..positions import within
from .uniform import Axes, overwrites


@dataclass(frozen=True, slots=True)
class Replicas:
    """A task whose positions may have the same parts: what it changes, and along which axes its values may differ."""

    scope: Scope
    body: tuple[Stmt, ...]
    changed: set[Symbol]
    found: Mapping[Symbol, Axes]

    def are_one(self, array: Symbol) -> bool:
        """Whether some positions write the same to an array without a layout, so that one of them may do it.

        Others write places of their own, or different values, of which checks of the region tell whether they race.
        """
        static = isinstance(array.type, TensorType) and array.type.is_static
        return static and self.writer(array, frozenset()) is not None

    def writer(self, part: Symbol, axes: Axes) -> Expr | None:
        """The condition that a position is the first of those that write the same to a part that is cut along `axes`.

        None if there are no such positions, or if only some of those that have the part write the same to it, and to
        all of it at once.
        """
        copies = self._copies(axes)
        alike = copies - self.found.get(part, frozenset())
        if part not in self.changed or not alike:
            return None
        by_elements = used_by_elements(self.body, part) and not read_elsewhere(self.body, part)
        return self._first_of(alike) if alike == copies or by_elements else None

    def one_position(self, used: Sequence[tuple[Symbol, Axes]]) -> Expr | None:
        """The condition that a position is the one that does all, where the others would bring in what it changes.

        Only if all that the task does is to write the same to parts that the same positions have; `used` are the
        parts, and the axes along which they are cut.
        """
        written = {part: axes for part, axes in used if part in self.changed}
        own = {part.symbol for part in parts(self.body) if isinstance(part, Declare)}
        others = [s for s in self.changed - own if s.kind is SymbolKind.TENSOR and s not in written]
        if others or effects_on((), self.body).state or len(set(written.values())) != 1:
            return None
        (axes,) = set(written.values())
        copies = self._copies(axes)
        if not copies or any(copies & self.found.get(part, frozenset()) for part in written):
            return None
        updated = any(
            not overwrites_first(self.body, part)
            and (not used_by_elements(self.body, part) or read_elsewhere(self.body, part))
            for part in written
        )
        return self._first_of(copies) if updated else None

    def _copies(self, axes: Axes) -> Axes:
        """The axes along which positions have the same of a part that is cut along `axes`."""
        return frozenset(axis for axis, extent in enumerate(self.scope.grid) if extent > 1) - axes

    def _first_of(self, axes: Axes) -> Expr | None:
        """The condition that a position is the first one along each of `axes`."""
        scope = self.scope
        box = tuple((0, 0 if axis in axes else extent - 1) for axis, extent in enumerate(scope.grid))
        return within(box, scope.positions, scope.grid, scope.source.position(scope.source.tree))


def stored_if(tree: Any, part: Symbol, writer: Expr) -> Any:
    """A typed tree in which only one position stores into a part: loops that do nothing else are its as a whole."""
    if isinstance(tree, tuple):
        return tuple(stored_if(inner, part, writer) for inner in tree)
    if not isinstance(tree, Stmt):
        return tree
    if isinstance(tree, Store):
        return If(tree.at, writer, (tree,), ()) if tree.tensor is part else tree
    if isinstance(tree, For) and overwrites(tree, part):
        return If(tree.at, writer, (tree,), ())
    changed = {
        field.name: stored_if(value, part, writer)
        for field in fields(tree)
        if isinstance(value := getattr(tree, field.name), tuple) and field.name != "at"
    }
    return replace(tree, **changed)


def overwrites_first(body: tuple[Stmt, ...], part: Symbol) -> bool:
    """Whether the first statement that mentions a part gives a value to all of its elements."""
    first = next((statement for statement in body if part in _mentioned(statement)), None)
    return first is not None and overwrites(first, part)


def used_by_elements(body: tuple[Stmt, ...], part: Symbol) -> bool:
    """Whether a symbol stands only in loads, and in stores that do nothing else, of single elements."""
    accesses = [p for p in parts(body) if isinstance(p, Load | Store) and p.tensor is part]
    pure = all(not effects_in(p.value).written for p in accesses if isinstance(p, Store))
    return pure and len(accesses) == sum(symbol is part for symbol in _mentioned(body))


def read_elsewhere(body: tuple[Stmt, ...], part: Symbol) -> bool:
    """Whether elements of a part are read for more than what is stored in it."""

    def loads(tree: Any) -> int:
        return sum(isinstance(p, Load) and p.tensor is part for p in parts(tree))

    stores = [p for p in parts(body) if isinstance(p, Store) and p.tensor is part]
    return loads(body) > sum(loads((store.indices, store.value)) for store in stores)


def symbols_in(tree: Any) -> set[Symbol]:
    """All symbols that a typed tree mentions, not those of the kernels that it calls."""
    return set(_mentioned(tree))


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
