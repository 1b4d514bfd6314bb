"""Views: arrays computed element by element where they are used, so that slices and broadcasts copy nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ...ir.types import DYNAMIC, TensorType
from ...ir.types import index as index_type
from ..read.source import Position
from .convert import constant
from .nodes import Const, Declare, Expr, For, Load, Stmt, Store, Symbol, SymbolKind, Var
from .operations import binary
from .writes import arrays_read

type Indices = tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class View:
    """An array whose element at `indices` is `read(indices)`.

    `place` gives the element of a variable that it stands for, if the view can be assigned; `sources` are the arrays
    it reads, each with whether it reads them at the same indices. `run_time` holds the extents that are not known
    when the kernel is compiled, by dimension. `compute` fills an array of the same shape, where an operation on whole
    arrays does so better than loops over `read`.
    """

    type: TensorType
    at: Position
    read: Callable[[Indices], Expr]
    place: Callable[[Indices], Load] | None
    sources: tuple[tuple[Symbol, bool], ...]
    run_time: tuple[Expr | None, ...] = ()
    compute: Callable[[Symbol], Stmt] | None = None

    @property
    def extents(self) -> tuple[Expr, ...]:
        """The number of elements in each dimension."""
        known = self.run_time or (None,) * len(self.type.shape)
        return tuple(
            Const(index_type, self.at, extent) if value is None else value
            for extent, value in zip(self.type.shape, known, strict=True)
        )


@dataclass(frozen=True, slots=True)
class Slice:
    """`start + step * i` for `i` below `length`, or below `extent` if that is known at run time only."""

    start: Expr
    step: int
    length: int
    extent: Expr | None = None


def whole(symbol: Symbol, at: Position) -> View:
    """All of an array."""
    assert isinstance(symbol.type, TensorType)
    element = symbol.type.element

    def place(indices: Indices) -> Load:
        return Load(element, at, symbol, indices)

    run_time = tuple(None if extent is None else Var(index_type, at, extent) for extent in symbol.extents)
    return View(symbol.type, at, place, place, ((symbol, True),), run_time)


def is_whole(view: View) -> bool:
    """Whether a view that can be assigned is all of its variable, in the same order."""
    indices = tuple(Var(index_type, view.at, Symbol("", SymbolKind.LOOP, index_type, view.at)) for _ in view.type.shape)
    place = view.place
    return place is not None and view.type == view.sources[0][0].type and place(indices).indices == indices


def select(base: View, selectors: Sequence[Expr | Slice], at: Position) -> View:
    """The part of `base` that subscripts select: an expression drops its dimension, a slice keeps it."""
    if all(isinstance(s, Slice) and _is_full(s, extent) for s, extent in zip(selectors, base.type.shape, strict=True)):
        return base

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
        tuple(s.extent for s in selectors if isinstance(s, Slice)),
    )


def _is_full(part: Slice, extent: int) -> bool:
    return isinstance(part.start, Const) and part.start.value == 0 and part.step == 1 and part.length == extent


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
        tuple(base.run_time[d] for d in order) if base.run_time else (),
    )


def broadcast_shape(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...] | None:
    """The shape of an operation on arrays of these shapes, by the rule of NumPy; None if they do not fit.

    An extent that is known at run time only fits another one, which is then taken to be the same, and 1.
    """
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
    views = [operand for operand in operands if isinstance(operand, View)]
    return View(TensorType(probe.type, shape), at, read, None, tuple(sources), common_extents(shape, views, at))


def common_extents(shape: tuple[int, ...], views: Sequence[View], at: Position) -> tuple[Expr | None, ...]:
    """The run-time extents of an operation of `shape` on `views`: what all of them have, so that none is left."""
    common: list[Expr | None] = [None] * len(shape)
    for view in views:
        for position, extent in enumerate(reversed(view.run_time), start=1):
            so_far = common[-position]
            if extent is not None and shape[-position] == DYNAMIC and _differ(extent, so_far):
                common[-position] = extent if so_far is None else binary("min", so_far, extent, at)
    return tuple(common) if any(extent is not None for extent in common) else ()


def _differ(extent: Expr, other: Expr | None) -> bool:
    return not (isinstance(extent, Var) and isinstance(other, Var) and extent.symbol is other.symbol)


def covered(target: View, value: Expr | View) -> tuple[Expr, ...]:
    """The extents over which `value` is assigned to `target`."""
    views = [target, *([value] if isinstance(value, View) else [])]
    run_time = common_extents(target.type.shape, views, target.at)
    return replace(target, run_time=run_time).extents


def loops_over(
    extents: Sequence[Expr], name: str, nest: str | None, at: Position, body: Callable[[Indices], Stmt]
) -> Stmt:
    """`body` for every index of an array of these extents; the loops are named after `name`."""
    symbols = [Symbol(f"{name}_{dimension}", SymbolKind.LOOP, index_type, at) for dimension in range(len(extents))]
    statement = body(tuple(Var(index_type, at, symbol) for symbol in symbols))
    for dimension in reversed(range(len(extents))):
        bounds = (Const(index_type, at, 0), extents[dimension], Const(index_type, at, 1))
        label = nest if dimension == 0 else None
        statement = For(at, symbols[dimension], *bounds, label, (statement,))
    return statement


def store(place: Load, value: Expr, at: Position) -> Store:
    """An assignment to one element."""
    return Store(at, place.tensor, place.indices, value)


def declare(symbol: Symbol, at: Position) -> Declare:
    """An array without initial value."""
    return Declare(at, symbol, None)
