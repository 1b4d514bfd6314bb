"""Views: arrays computed element by element where they are used, so that slices and broadcasts copy nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..ir.types import TensorType
from ..ir.types import index as index_type
from .convert import binary, constant
from .nodes import Const, Declare, Expr, For, Kind, Load, Stmt, Store, Symbol, Var
from .source import Position
from .writes import arrays_read

type Indices = tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class View:
    """An array whose element at `indices` is `read(indices)`.

    `place` gives the element of a variable that it stands for, if the view can be assigned; `sources` are the arrays
    it reads, each with whether it reads them at the same indices.
    """

    type: TensorType
    at: Position
    read: Callable[[Indices], Expr]
    place: Callable[[Indices], Load] | None
    sources: tuple[tuple[Symbol, bool], ...]


@dataclass(frozen=True, slots=True)
class Slice:
    """`start + step * i` for `i` below `length`."""

    start: Expr
    step: int
    length: int


def whole(symbol: Symbol, at: Position) -> View:
    """All of an array."""
    assert isinstance(symbol.type, TensorType)
    element = symbol.type.element

    def place(indices: Indices) -> Load:
        return Load(element, at, symbol, indices)

    return View(symbol.type, at, place, place, ((symbol, True),))


def select(base: View, selectors: Sequence[Expr | Slice], at: Position) -> View:
    """The part of `base` that subscripts select: an expression drops its dimension, a slice keeps it."""

    def indices_of(indices: Indices) -> Indices:
        remaining = iter(indices)
        return tuple(_position(s, next(remaining), at) if isinstance(s, Slice) else s for s in selectors)

    shape = tuple(s.length for s in selectors if isinstance(s, Slice))
    place = base.place
    return View(
        TensorType(base.type.element, shape),
        at,
        lambda indices: base.read(indices_of(indices)),
        None if place is None else lambda indices: place(indices_of(indices)),
        (
            *((symbol, False) for symbol, _ in base.sources),
            *((symbol, False) for s in selectors for symbol in arrays_read(s.start if isinstance(s, Slice) else s)),
        ),
    )


def _position(part: Slice, position: Expr, at: Position) -> Expr:
    """The index in the base of element `position` of a slice."""
    scaled = position if part.step == 1 else binary("*", position, constant(part.step, at), at)
    assert scaled is not None
    if isinstance(part.start, Const) and part.start.value == 0:
        return scaled
    moved = binary("+", part.start, scaled, at)
    assert moved is not None
    return moved


def transposed(base: View, order: Sequence[int], at: Position) -> View:
    """Dimension `d` of the result is dimension `order[d]` of `base`."""

    def indices_of(indices: Indices) -> Indices:
        return tuple(indices[order.index(d)] for d in range(len(order)))

    place = base.place
    return View(
        TensorType(base.type.element, tuple(base.type.shape[d] for d in order)),
        at,
        lambda indices: base.read(indices_of(indices)),
        None if place is None else lambda indices: place(indices_of(indices)),
        tuple((symbol, False) for symbol, _ in base.sources),
    )


def broadcast_shape(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...] | None:
    """The shape of an operation on arrays of these shapes, by the rule of NumPy; None if they do not fit."""
    rank = max(len(shape) for shape in shapes)
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    result = []
    for extents in zip(*padded, strict=True):
        wide = {extent for extent in extents if extent != 1}
        if len(wide) > 1:
            return None
        result.append(wide.pop() if wide else 1)
    return tuple(result)


def read_broadcast(operand: Expr | View, indices: Indices) -> Expr:
    """The element of an operand that belongs to element `indices` of the result."""
    if isinstance(operand, Expr):
        return operand
    shape = operand.type.shape
    own = indices[len(indices) - len(shape) :]
    zero = Const(index_type, operand.at, 0)
    return operand.read(tuple(zero if extent == 1 else i for extent, i in zip(shape, own, strict=True)))


def elementwise(
    operands: Sequence[Expr | View], combine: Callable[[list[Expr]], Expr | None], at: Position
) -> View | tuple[tuple[int, ...], ...] | None:
    """`combine` on the elements of all operands; the shapes if they do not fit, None if `combine` has no result."""
    shapes = tuple(operand.type.shape for operand in operands if isinstance(operand, View))
    shape = broadcast_shape(shapes)
    if shape is None:
        return shapes
    probe = combine([read_broadcast(o, tuple(Const(index_type, at, 0) for _ in shape)) for o in operands])
    if probe is None:
        return None

    def read(indices: Indices) -> Expr:
        result = combine([read_broadcast(operand, indices) for operand in operands])
        assert result is not None
        return result

    sources = [
        (symbol, same and operand.type.shape == shape)
        for operand in operands
        if isinstance(operand, View)
        for symbol, same in operand.sources
    ]
    sources += [(symbol, False) for operand in operands if isinstance(operand, Expr) for symbol in arrays_read(operand)]
    return View(TensorType(probe.type, shape), at, read, None, tuple(sources))


def loops_over(
    shape: tuple[int, ...], name: str, nest: str | None, at: Position, body: Callable[[Indices], Stmt]
) -> Stmt:
    """`body` for every index of an array of `shape`; the loops are named after `name`."""
    symbols = [Symbol(f"{name}_{dimension}", Kind.LOOP, index_type, at) for dimension in range(len(shape))]
    statement = body(tuple(Var(index_type, at, symbol) for symbol in symbols))
    for dimension in reversed(range(len(shape))):
        bounds = (Const(index_type, at, 0), Const(index_type, at, shape[dimension]), Const(index_type, at, 1))
        label = nest if dimension == 0 else None
        statement = For(at, symbols[dimension], *bounds, label, (statement,))
    return statement


def store(place: Load, value: Expr, at: Position) -> Store:
    """An assignment to one element."""
    return Store(at, place.tensor, place.indices, value)


def declare(symbol: Symbol, at: Position) -> Declare:
    """An array without initial value."""
    return Declare(at, symbol, None)
