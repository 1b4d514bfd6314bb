"""Collectives as statements: the positions along one axis of a grid, linked by streams into a chain.

Values go up the chain, from the first position to the last, and down again. Either way is without circles, so that no
depth of a FIFO lets them wait for ever, and each position does all of the way up before the way down.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ....ir.types import AlloType, TensorType, index
from ....ir.types import bool as bool_type
from ...read.source import Position
from ...typing.convert import convert
from ...typing.nodes import (
    AssignScalar,
    Binary,
    Block,
    Compare,
    Const,
    Declare,
    Expr,
    For,
    If,
    Load,
    Stmt,
    Store,
    StreamGet,
    StreamPut,
    Symbol,
    SymbolKind,
    Var,
)
from ...typing.view import loops_over
from ...typing.writes import inlined

type Indices = tuple[Expr, ...]
type Combine = Callable[[Expr, Expr], Expr]  # of what the positions before have made, and the value of this one


@dataclass(frozen=True, slots=True)
class LocalValues:
    """What each position has: elements of these extents; () of a number."""

    extents: tuple[int, ...]
    read: Callable[[Indices], Expr]


@dataclass(frozen=True, slots=True)
class Result:
    """The variable that gets what a collective gives."""

    symbol: Symbol
    at: Position

    @property
    def element(self) -> AlloType:
        """The type of its values."""
        kind = self.symbol.type
        assert kind is not None
        return kind.element if isinstance(kind, TensorType) else kind

    def read(self, indices: Indices) -> Expr:
        """One of its values."""
        if self.symbol.kind is SymbolKind.SCALAR:
            return Var(self.element, self.at, self.symbol)
        return Load(self.element, self.at, self.symbol, indices)

    def store(self, indices: Indices, value: Expr) -> Stmt:
        """The assignment of one of its values."""
        if self.symbol.kind is SymbolKind.SCALAR:
            return AssignScalar(self.at, self.symbol, convert(value, self.element))
        return Store(self.at, self.symbol, indices, convert(value, self.element))


@dataclass(frozen=True, slots=True)
class PositionChain:
    """The positions along `axis` of the grid of a task, with the streams to the next one and to the one before.

    `element` is the type of what the streams carry, `nest` names a nest of loops, if it may have a name.
    """

    name: str
    positions: tuple[Symbol, ...]
    grid: tuple[int, ...]
    axis: int
    up: Symbol
    down: Symbol
    element: AlloType
    at: Position
    nest: Callable[[str], str | None]

    @property
    def length(self) -> int:
        return self.grid[self.axis]

    @property
    def place(self) -> Expr:
        """Where in the chain a position is."""
        return Var(index, self.at, self.positions[self.axis])

    # -- what one position does -----------------------------------------------------------------------------------

    def loops(self, way: str, extents: Sequence[int], body: Callable[[Indices], tuple[Stmt, ...]]) -> tuple[Stmt, ...]:
        """`body` for all elements."""
        if not extents:
            return body(())
        name = f"{self.name}_{way}"
        bounds = [Const(index, self.at, extent) for extent in extents]
        return (loops_over(bounds, name, self.nest(name), self.at, lambda at: Block(self.at, body(at))),)

    def parts(
        self, way: str, lower: int, upper: int, body: Callable[[Expr], tuple[Stmt, ...]], side: str | None = None
    ) -> Stmt:
        """`body` for the numbers of some positions, perhaps only those on one `side` of the own one, "<" or ">".

        All positions have the same bounds, so that the cost is known without them.
        """
        name = f"{self.name}_{way}"
        symbol = Symbol(f"{name}_from", SymbolKind.LOOP, index, self.at)
        number = Var(index, self.at, symbol)
        inner = body(number)
        if side is not None:
            inner = (If(self.at, Compare(bool_type, self.at, side, number, self.place), inner, ()),)
        first, end, step = (Const(index, self.at, k) for k in (lower, upper, 1))
        return For(self.at, symbol, first, end, step, self.nest(name), inner)

    def received(self, stream: Symbol, then: Callable[[Expr], tuple[Stmt, ...]]) -> tuple[Stmt, ...]:
        """What is done with the next value from a neighbour."""
        link = self._link(back=stream is self.up)
        got = Symbol(f"{stream.name}_value", SymbolKind.SCALAR, self.element, self.at)
        value = Var(self.element, self.at, got)
        return inlined([Declare(self.at, got, StreamGet(self.element, self.at, stream, link))], then(value))

    def sent(self, stream: Symbol, value: Expr) -> Stmt:
        """A value put into the stream to a neighbour."""
        return StreamPut(self.at, stream, self._link(back=stream is self.down), convert(value, self.element))

    def _link(self, back: bool) -> Indices:
        """The link to the position before, or to the next one."""
        places: list[Expr] = [Var(index, self.at, symbol) for symbol in self.positions]
        if back:
            places[self.axis] = added(self.place, -1)
        return tuple(places)

    # -- who does it ----------------------------------------------------------------------------------------------

    def branches(
        self, first: tuple[Stmt, ...], middle: tuple[Stmt, ...], last: tuple[Stmt, ...]
    ) -> tuple[Stmt, ...]:
        """What the first position, the last one, and those between them do."""
        others = last if self.length == 2 else (If(self.at, self._is_at(self.length - 1), last, middle),)
        return (If(self.at, self._is_at(0), first, others),)

    def _is_at(self, place: int) -> Expr:
        return Compare(bool_type, self.at, "==", self.place, Const(index, self.at, place))


def allreduced(chain: PositionChain, values: LocalValues, result: Result, combine: Combine) -> tuple[Stmt, ...]:
    """All positions get ((v0 op v1) op v2) op ..., which is complete at the last one, and comes down from there."""
    extents = values.extents
    down_first = chain.loops(
        "first_down", extents, lambda at: chain.received(chain.down, lambda v: (result.store(at, v),))
    )
    down_middle = chain.loops(
        "middle_down",
        extents,
        lambda at: chain.received(chain.down, lambda v: (result.store(at, v), chain.sent(chain.down, v))),
    )
    down_last = chain.loops("last_down", extents, lambda at: (chain.sent(chain.down, result.read(at)),))
    first, middle, last = _up(chain, values, result, combine)
    return chain.branches((*first, *down_first), (*middle, *down_middle), (*last, *down_last))


def reduce_scattered(
    chain: PositionChain, values: LocalValues, dimension: int, total: Result, result: Result, combine: Combine
) -> tuple[Stmt, ...]:
    """Position p gets part p of what `allreduced` would give; `total` is a whole array for the last position."""
    extents = tuple(e // chain.length if d == dimension else e for d, e in enumerate(values.extents))
    end = Const(index, chain.at, chain.length - 1)

    def kept(way: str) -> tuple[Stmt, ...]:
        return chain.loops(way, extents, lambda at: chain.received(chain.down, lambda v: (result.store(at, v),)))

    def of_total(part: Expr, at: Indices) -> Expr:
        return total.read(_moved(at, dimension, part, extents[dimension]))

    def handed_on(_: Expr) -> tuple[Stmt, ...]:
        return chain.loops(
            "middle_down",
            extents,
            lambda _: chain.received(chain.down, lambda v: (chain.sent(chain.down, v),)),
        )

    def sent(part: Expr) -> tuple[Stmt, ...]:
        return chain.loops("last_down", extents, lambda at: (chain.sent(chain.down, of_total(part, at)),))

    first, middle, last = _up(chain, values, total, combine)
    own = chain.loops("last_part", extents, lambda at: (result.store(at, of_total(end, at)),))
    return chain.branches(
        (*first, *kept("first_part")),
        (*middle, chain.parts("middle_down", 0, chain.length - 2, handed_on, "<"), *kept("middle_part")),
        (*last, chain.parts("last_down", 0, chain.length - 1, sent), *own),
    )


def _up(
    chain: PositionChain, values: LocalValues, total: Result, combine: Combine
) -> tuple[tuple[Stmt, ...], tuple[Stmt, ...], tuple[Stmt, ...]]:
    """Partial results from the first position to the last, where they are complete in `total`."""
    first = chain.loops("first_up", values.extents, lambda at: (chain.sent(chain.up, values.read(at)),))
    middle = chain.loops(
        "middle_up",
        values.extents,
        lambda at: chain.received(chain.up, lambda v: (chain.sent(chain.up, combine(v, values.read(at))),)),
    )
    last = chain.loops(
        "last_up",
        values.extents,
        lambda at: chain.received(chain.up, lambda v: (total.store(at, combine(v, values.read(at))),)),
    )
    return first, middle, last


def all_gathered(chain: PositionChain, values: LocalValues, dimension: int, result: Result) -> tuple[Stmt, ...]:
    """All positions get the values of all of them, side by side in `dimension`."""
    count = chain.length

    def place(part: Expr, at: Indices) -> Indices:
        return _moved(at, dimension, part, values.extents[dimension])

    def own(way: str, *streams: Symbol, kept: bool = True) -> tuple[Stmt, ...]:
        def body(at: Indices) -> tuple[Stmt, ...]:
            stored = (result.store(place(chain.place, at), values.read(at)),) if kept else ()
            return (*stored, *(chain.sent(stream, values.read(at)) for stream in streams))

        return chain.loops(way, values.extents, body)

    def others(way: str, source: Symbol, lower: int, upper: int, side: str | None = None) -> Stmt:
        def body(part: Expr) -> tuple[Stmt, ...]:
            def each(at: Indices) -> tuple[Stmt, ...]:
                def then(value: Expr) -> tuple[Stmt, ...]:
                    stored = result.store(place(part, at), value)
                    return (stored,) if side is None else (stored, chain.sent(source, value))

                return chain.received(source, then)

            return chain.loops(way, values.extents, each)

        return chain.parts(way, lower, upper, body, side)

    first = (*own("first_own_up", chain.up), others("first_down", chain.down, 1, count))
    middle = (
        others("middle_up", chain.up, 0, count - 2, "<"),
        *own("middle_own_up", chain.up),
        *own("middle_own_down", chain.down, kept=False),
        others("middle_down", chain.down, 2, count, ">"),
    )
    last = (others("last_up", chain.up, 0, count - 1), *own("last_own", chain.down))
    return chain.branches(first, middle, last)


def added(value: Expr, offset: int) -> Expr:
    """A place and a number."""
    op, number = ("+", offset) if offset >= 0 else ("-", -offset)
    return Binary(index, value.at, op, value, Const(index, value.at, number))


def _moved(indices: Indices, dimension: int, part: Expr, extent: int) -> Indices:
    """The place in a whole array of an element of one of its parts."""
    place = indices[dimension]
    start = Binary(index, part.at, "*", part, Const(index, part.at, extent))
    moved = Binary(index, part.at, "+", start, place)
    return (*indices[:dimension], moved, *indices[dimension + 1 :])
