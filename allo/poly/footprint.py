"""Footprint of an iteration of a loop in a buffer, and whether it is written before it is read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import islpy as isl
from mlir import ir

from .linear import PRIME, Linear, Piece, Row, variable
from .model import Access, Model, ModelBuffer, ModelLoop
from .pairs import common_loops
from .systems import minimum, set_of

_ELEMENT = 2 * PRIME  # the variable of dimension d of an element is _ELEMENT + d


@dataclass(frozen=True, slots=True)
class AffineForm:
    """`constant + sum(coefficient * name)` over names of loops and parameters."""

    constant: int
    terms: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        names = [name for name, _ in self.terms]
        form = Linear(self.constant, tuple((k, c) for k, (_, c) in enumerate(self.terms)))
        return form.text(lambda number: names[number])


@dataclass(frozen=True, slots=True)
class Extent:
    """One dimension of a box, `lower <= e < lower + size`; None with a reason if there is no such box."""

    lower: AffineForm | None
    size: int | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Footprint:
    """The box of `buffer` that holds all that one iteration of `loop` touches.

    `covers`: each iteration surely writes every element that is in the box and in the buffer;
    `escapes`: per dimension, whether the box may leave the buffer below and above; `exposed`: an element may
    be read that the same iteration has not surely written before; `exact`: nothing is over-approximated.
    """

    buffer: ModelBuffer
    loop: ModelLoop
    extents: tuple[Extent, ...]
    read: bool
    written: bool
    covers: bool
    escapes: tuple[tuple[bool, bool], ...]
    exposed: bool
    exact: bool

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The sizes of the box; None if a dimension has none."""
        sizes = [extent.size for extent in self.extents if extent.size is not None]
        return tuple(sizes) if len(sizes) == len(self.extents) else None


def footprint(model: Model, buffer_value: ir.Value, loop_op: ir.Operation | ir.OpView) -> Footprint | None:
    """The footprint of a buffer in one iteration of a loop; None if the loop does not touch it."""
    loop, buffer = model.loop(loop_op), model.buffer(buffer_value)
    accesses = [] if buffer is None else _accesses(model, buffer, loop)
    if buffer is None or not accesses:
        return None
    outer = accesses[0].loops[: loop.depth + 1]
    boxes = [_extent(model, accesses, outer, dimension) for dimension in range(len(buffer.shape))]
    forms = [form for form, _ in boxes]
    extents = tuple(extent for _, extent in boxes)
    sizes = [extent.size for extent in extents]
    covers = False
    escapes = ((True, True),) * len(sizes)
    if all(form is not None for form in forms) and all(size is not None for size in sizes):
        box = _Box([f for f in forms if f is not None], [s for s in sizes if s is not None])
        covers = _covers(model, accesses, outer, box)
        escapes = _escapes(model, buffer, outer, box)
    return Footprint(
        buffer,
        loop,
        extents,
        read=any(not access.is_write for access in accesses),
        written=any(access.is_write for access in accesses),
        covers=covers,
        escapes=escapes,
        exposed=reads_before_writes(model, buffer, loop),
        exact=all(access.exact for access in accesses),
    )


def reads_before_writes(model: Model, buffer: ModelBuffer, loop: ModelLoop) -> bool:
    """May an iteration of the loop read an element that it has not surely written before?"""
    accesses = _accesses(model, buffer, loop)
    reads = [access for access in accesses if not access.is_write]
    writes = [access for access in accesses if access.is_write and access.exact]
    return any(_exposed(model, read, writes, loop) for read in reads)


def _accesses(model: Model, buffer: ModelBuffer, loop: ModelLoop) -> list[Access]:
    return [access for access in model.inside(loop) if access.buffer.label == buffer.label]


def _element_rows(subscripts: Iterable[Linear]) -> list[Row]:
    return [Row(variable(_ELEMENT + d) - form, True) for d, form in enumerate(subscripts)]


def _variables(loops: Iterable[ModelLoop]) -> tuple[int, ...]:
    return tuple(loop.variable for loop in loops)


def _exposed(model: Model, read: Access, writes: Sequence[Access], loop: ModelLoop) -> bool:
    """Is some read not preceded by a write of its element in the same iteration of the loop?"""
    parameters = tuple(model.parameter_variables)
    shared = model.parameter_variables
    dims = (*read.variables, *(_ELEMENT + d for d in range(len(read.subscripts))))
    rows = [*_element_rows(read.subscripts), *read.rows]
    exposed = set_of(parameters, dims, [[*rows, *piece] for piece in read.pieces])
    for write in writes:
        before = _before(write, read, loop)
        if not before:
            continue
        written = [
            *_element_rows(form.primed(shared) for form in write.subscripts),
            *(row.primed(shared) for row in write.rows),
        ]
        pieces = [
            [*written, *(row.primed(shared) for row in piece), *order]
            for piece in write.pieces
            for order in before
        ]
        exposed = exposed.subtract(set_of(parameters, dims, pieces))
    return not exposed.is_empty()


def _before(write: Access, read: Access, loop: ModelLoop) -> list[list[Row]]:
    """The ways in which the (primed) write runs before the read in one iteration of the loop."""
    common = common_loops(write, read)
    scope = {inner.variable for inner in read.buffer.scope}
    rows: list[Row] = []
    ways: list[list[Row]] = []
    for inner in common:
        difference = variable(inner.variable) - variable(inner.variable + PRIME)
        if inner.depth > loop.depth and inner.variable not in scope:
            ways.append([*rows, Row(difference.plus(-1))])
        rows.append(Row(difference, True))
    if write.path[len(common)] < read.path[len(common)]:
        ways.append(rows)
    return ways


@dataclass(frozen=True, slots=True)
class _Box:
    lower: list[Linear]
    sizes: list[int]

    def rows(self) -> list[Row]:
        result: list[Row] = []
        for d, (lower, size) in enumerate(zip(self.lower, self.sizes, strict=True)):
            inside = variable(_ELEMENT + d) - lower
            result += [Row(inside), Row(inside.scaled(-1).plus(size - 1))]
        return result


def _covers(model: Model, accesses: Sequence[Access], outer: Sequence[ModelLoop], box: _Box) -> bool:
    parameters = tuple(model.parameter_variables)
    dims = (*_variables(outer), *(_ELEMENT + d for d in range(len(box.sizes))))
    shape = accesses[0].buffer.shape
    inside = box.rows()
    for d, extent in enumerate(shape):
        inside.append(Row(variable(_ELEMENT + d)))
        if extent is not None:
            inside.append(Row(variable(_ELEMENT + d).scaled(-1).plus(extent - 1)))
    wanted = set_of(parameters, dims, [[*piece, *inside] for piece in outer[-1].pieces])
    written = set_of(
        parameters,
        dims,
        [
            [*piece, *access.rows, *_element_rows(access.subscripts)]
            for access in accesses
            if access.is_write and access.exact
            for piece in access.pieces
        ],
    )
    return bool(wanted.is_subset(written))


def _escapes(
    model: Model, buffer: ModelBuffer, outer: Sequence[ModelLoop], box: _Box
) -> tuple[tuple[bool, bool], ...]:
    parameters = tuple(model.parameter_variables)
    dims = _variables(outer)

    def happens(escape: Linear) -> bool:
        pieces: list[Piece] = [(*piece, Row(escape)) for piece in outer[-1].pieces]
        return not set_of(parameters, dims, pieces).is_empty()

    return tuple(
        (
            happens(lower.scaled(-1).plus(-1)),
            extent is None or happens(lower.plus(size - 1 - extent)),
        )
        for lower, size, extent in zip(box.lower, box.sizes, buffer.shape, strict=True)
    )


def _extent(
    model: Model, accesses: Sequence[Access], outer: Sequence[ModelLoop], dimension: int
) -> tuple[Linear | None, Extent]:
    """The tightest box of one dimension whose lower bound is affine in the loops around."""
    parameters = tuple(parameter.variable for parameter in model.parameters)
    element = _ELEMENT + dimension
    numbers = (*parameters, *_variables(outer))
    systems = [
        [*piece, *access.rows, Row(variable(element) - access.subscripts[dimension], True)]
        for access in accesses
        for piece in access.pieces
    ]
    touched = set_of((), (*numbers, element), systems)
    as_function = set_of(numbers, (element,), systems)
    best: tuple[int, Linear] | None = None
    slopes = [access.subscripts[dimension] for access in accesses]
    for candidate in _candidates(as_function, touched, numbers, slopes):
        below = variable(element) - candidate
        largest = minimum(touched, below.scaled(-1), (*numbers, element))
        if largest is not None and (best is None or 1 - largest < best[0]):
            best = (1 - largest, candidate)
    if best is None:
        return None, Extent(None, None, _why(accesses))
    names = {p.variable: p.name for p in model.parameters} | {loop.variable: loop.name for loop in outer}
    form = AffineForm(best[1].constant, tuple((names[v], c) for v, c in best[1].terms))
    return best[1], Extent(form, best[0])


def tightest(systems: Sequence[Sequence[Row]], value: Linear, numbers: Sequence[int]) -> Linear | None:
    """The best lower bound of `value` in the systems that is affine in `numbers`; None if it has none."""
    rows = [[*system, Row(variable(_ELEMENT) - value, True)] for system in systems]
    touched = set_of((), (*numbers, _ELEMENT), rows)
    best: tuple[int, Linear] | None = None
    for candidate in _candidates(set_of(numbers, (_ELEMENT,), rows), touched, numbers, []):
        largest = minimum(touched, candidate - variable(_ELEMENT), (*numbers, _ELEMENT))
        if largest is not None and (best is None or -largest < best[0]):
            best = (-largest, candidate)
        if best is None:
            best = (1 << 62, candidate)
    return None if best is None else best[1]


def _why(accesses: Sequence[Access]) -> str:
    for access in accesses:
        if not access.exact:
            return access.reason
    return "the number of elements is not bounded by a constant"


def _candidates(
    as_function: isl.Set, touched: isl.Set, numbers: Sequence[int], subscripts: Sequence[Linear]
) -> list[Linear]:
    """Lower bounds with integer coefficients: a constant, and pieces of the exact one moved until valid.

    Where the exact one has divisions (of loops with a step) the subscripts tell how it may grow.
    """
    pieces: list[Linear] = []
    dropped: list[isl.Aff] = []
    with suppress(isl.Error):  # not bounded below
        as_function.dim_min(0).foreach_piece(lambda _, aff: _collect(aff, numbers, pieces, dropped))
    if dropped:
        pieces += [Linear(0, tuple(t for t in form.terms if t[0] in numbers)) for form in subscripts]
    result: list[Linear] = []
    columns = (*numbers, -1)
    for slope in dict.fromkeys(Linear(0, form.terms) for form in (*pieces, Linear(0))):
        lowest = minimum(touched, variable(-1) - slope, columns)
        if lowest is not None and (moved := slope.plus(lowest)) not in result:
            result.append(moved)
    return result


def _collect(aff: isl.Aff, numbers: Sequence[int], into: list[Linear], dropped: list[isl.Aff]) -> None:
    """Keep an affine function of the parameters if it has integer coefficients and no divisions."""
    if aff.dim(isl.dim_type.div) or not aff.get_denominator_val().is_one():
        dropped.append(aff)
        return
    terms = []
    for k, number in enumerate(numbers):
        coefficient = aff.get_coefficient_val(isl.dim_type.param, k).to_python()
        if coefficient:
            terms.append((number, coefficient))
    terms.sort()
    into.append(Linear(aff.get_constant_val().to_python(), tuple(terms)))

