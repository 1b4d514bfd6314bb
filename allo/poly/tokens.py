"""Tokens of streams: the number of a put (get) among those of its stream, and which get takes which put.

Tokens are numbered where the puts (gets) of each stream run over a box of iterations: the number is then affine. The
numbers are checked (strictly increasing in the order of execution, from 0 to the count without a gap), so that the
way they were found need not be trusted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import mul

import islpy as isl

from .linear import PRIME, Linear, Row, combine, variable
from .model import Access, ModelLoop, Source
from .relations import Relations, plain

_IN, _OUT, _SET = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set


class Unnumbered(Exception):
    """The tokens of a stream are not numbered; carries the reason and the statement."""

    def __init__(self, reason: str, at: Source) -> None:
        super().__init__(reason)
        self.at = at


@dataclass(frozen=True, slots=True)
class _Dimension:
    """A loop that counts tokens: its values are low, low + stride, ..., high."""

    position: int
    number: int
    low: int
    high: int
    stride: int

    @property
    def extent(self) -> int:
        return (self.high - self.low) // self.stride + 1


@dataclass(frozen=True, slots=True)
class _End:
    """A put or a get, the streams it is on, and the loops that count its tokens."""

    access: Access
    channels: isl.Set
    dimensions: tuple[_Dimension, ...]

    @property
    def count(self) -> int:
        return reduce(mul, (d.extent for d in self.dimensions), 1)


@dataclass(frozen=True, slots=True)
class _Number:
    """The number of a token: `offset` and for each loop a factor."""

    end: _End
    offset: int
    factors: tuple[tuple[_Dimension, int], ...]


def token_numbers(relations: Relations, side: Sequence[Access]) -> dict[str, isl.Map]:
    """{ access[iteration] -> [stream, number] } for all puts (gets) of an array of streams; raises Unnumbered."""
    if not side:
        return {}
    ends = [_end(relations, one) for one in sorted(side, key=lambda one: one.path)]
    maps: dict[str, isl.Map] = {}
    for channels in _atoms([end.channels for end in ends]):
        active = [end for end in ends if not end.channels.intersect(channels).is_empty()]
        numbers, count = _count(active, {end.access.id: 0 for end in active})
        for number in numbers:
            found = _number_map(relations, number, channels)
            key = number.end.access.id
            maps[key] = found if key not in maps else maps[key].union(found)
        if count != sum(end.count for end in active):
            raise _unnumbered(side[0])
        _check_numbers(relations, [(n.end.access, maps[n.end.access.id]) for n in numbers], count, channels)
    return maps


def next_numbers(
    relations: Relations, peek: Access, gets: Sequence[Access], numbers: Mapping[str, isl.Map]
) -> isl.Map:
    """{ peek[iteration] -> [stream, number] } of the token that the next get takes; raises Unnumbered if none does."""
    own = relations.elements(peek).add_dims(_OUT, 1)
    found = isl.Map.empty(own.get_space())
    for get in gets:
        later = relations.time(peek).lex_lt_map(relations.time(get))
        found = found.union(later.apply_range(numbers[get.id]).intersect(own))
    if not own.domain().is_subset(found.domain()):
        raise Unnumbered(f"'{peek.buffer.name}' is looked at behind the last get", peek.source)
    return found.lexmin()


def _unnumbered(access: Access) -> Unnumbered:
    return Unnumbered(f"the tokens of '{access.buffer.name}' could not be numbered", access.source)


def same_shape(relations: Relations, put: Access, get: Access) -> isl.Map | None:
    """{ iteration of the get -> iteration of the put } of the same token, where both run over iterations of one shape.

    The shape need not be a box, and nothing else may use the stream. The relation that maps loops to loops is right if
    it is one to one, keeps the order, and puts come first; else None.
    """
    sides = [(one, plain(relations.elements(one)), _counting(relations, one)) for one in (get, put)]
    if len(sides[0][2]) != len(sides[1][2]):
        return None
    pairs = sides[0][1].apply_range(sides[1][1].reverse())
    for one, other in zip(sides[0][2], sides[1][2], strict=True):
        lows = [m.domain().dim_min_val(d) for m, d in ((sides[0][1], one), (sides[1][1], other))]
        if not lows[0].is_int() or not lows[1].is_int():
            return None
        first, second = (variable(loop.variable) for loop in (get.loops[one], _primed(put, other)))
        shift = int(lows[1].to_python()) - int(lows[0].to_python())
        inputs, outputs = get.variables, tuple(_primed(put, d).variable for d in range(len(put.loops)))
        row = Row((second - first).plus(-shift), True)
        pairs = pairs.intersect(relations.relation(inputs, outputs, [row]))
    times = plain(relations.time(get)), plain(relations.time(put))
    complete = pairs.domain().is_equal(sides[0][1].domain()) and pairs.range().is_equal(sides[1][1].domain())
    later = sides[0][1].apply_range(sides[0][1].reverse()).intersect(times[0].lex_lt_map(times[0]))
    crossed = pairs.reverse().apply_range(later).apply_range(pairs).intersect(times[1].lex_ge_map(times[1]))
    early = pairs.intersect(times[0].lex_le_map(times[1]))
    right = complete and pairs.is_bijective() and crossed.is_empty() and early.is_empty()
    return pairs if right else None


def _primed(access: Access, position: int) -> ModelLoop:
    """A loop with another variable, for the second side of a relation."""
    loop = access.loops[position]
    return replace(loop, variable=loop.variable + PRIME)


def _counting(relations: Relations, access: Access) -> list[int]:
    """The loops whose iterations are different tokens of one stream."""
    fibre = plain(relations.elements(access)).reverse()
    return [position for position in range(len(access.loops)) if not _single(fibre, position)]


def _single(fibre: isl.Map, position: int) -> bool:
    """Whether a loop has one value for each stream."""
    return bool(_values_of(fibre, position).is_single_valued())


def _values_of(fibre: isl.Map, position: int) -> isl.Map:
    """{ stream -> values of a loop }"""
    return fibre.project_out(_OUT, position + 1, fibre.dim(_OUT) - position - 1).project_out(_OUT, 0, position)


def _atoms(sets: Sequence[isl.Set]) -> list[isl.Set]:
    """Disjoint sets of streams on each of which the same operations are."""
    atoms: list[isl.Set] = []
    for one in sets:
        rest = one
        split: list[isl.Set] = []
        for atom in atoms:
            inside, outside = atom.intersect(one), atom.subtract(one)
            split += [part for part in (inside, outside) if not part.is_empty()]
            rest = rest.subtract(atom)
        atoms = split + ([] if rest.is_empty() else [rest])
    return atoms


def _end(relations: Relations, access: Access) -> _End:
    """The loops that count the tokens of one stream; raises Unnumbered if they are no box."""
    fibre = plain(relations.elements(access)).reverse()
    dimensions: list[_Dimension] = []
    for position, loop in enumerate(access.loops):
        values_of_loop = _values_of(fibre, position)
        if values_of_loop.is_single_valued():
            continue
        values = values_of_loop.range()
        low, high = values.dim_min_val(0), values.dim_max_val(0)
        if not low.is_int() or not high.is_int():
            raise Unnumbered(f"the extent of loop '{loop.name}' is known at run time only", access.source)
        stride = int(values.get_stride(0).to_python())
        dimensions.append(
            _Dimension(position, loop.variable, int(low.to_python()), int(high.to_python()), stride)
        )
    box = fibre
    for d in dimensions:
        box = box.project_out(_OUT, d.position, 1).insert_dims(_OUT, d.position, 1)
        box = box.lower_bound_val(_OUT, d.position, d.low).upper_bound_val(_OUT, d.position, d.high)
    strides = [_multiples(relations, access, d) for d in dimensions if d.stride > 1]
    for strided in strides:
        box = box.intersect_range(strided)
    if not fibre.is_equal(box):
        name = access.buffer.name
        raise Unnumbered(f"the tokens of '{name}' are not put and taken in a box of iterations", access.source)
    return _End(access, fibre.domain(), tuple(dimensions))


def _multiples(relations: Relations, access: Access, d: _Dimension) -> isl.Set:
    rows = [Row(variable(d.number).plus(-d.low) - variable(-1).scaled(d.stride), True)]
    return relations.relation(access.variables, (), rows).domain()


def _count(ends: Sequence[_End], done: dict[str, int]) -> tuple[list[_Number], int]:
    """Numbers of all tokens of a stream; `done` says how many loops of each operation are counted already.

    Loops that operations share are counted together, what stands side by side one after the other.
    """
    if len(ends) == 1:
        end = ends[0]
        factor, factors = 1, []
        for d in reversed(end.dimensions[done[end.access.id] :]):
            factors.append((d, factor))
            factor *= d.extent
        return [_Number(end, 0, tuple(factors))], factor
    firsts = [end.dimensions[done[end.access.id] : done[end.access.id] + 1] for end in ends]
    if firsts[0] and all(first == firsts[0] for first in firsts):
        inner, count = _count(ends, {name: k + 1 for name, k in done.items()})
        shared = firsts[0][0]
        return [_Number(n.end, n.offset, (*n.factors, (shared, count))) for n in inner], count * shared.extent
    runs: list[list[_End]] = []
    for end, first in zip(ends, firsts, strict=True):
        previous = runs[-1][-1] if runs else None
        if previous is not None and first and first == previous.dimensions[done[previous.access.id] :][:1]:
            runs[-1].append(end)
        else:
            runs.append([end])
    found: list[_Number] = []
    offset = 0
    for run in runs:
        numbers, count = _count(run, {end.access.id: done[end.access.id] for end in run})
        found += [_Number(n.end, n.offset + offset, n.factors) for n in numbers]
        offset += count
    return found, offset


def _number_map(relations: Relations, number: _Number, channels: isl.Set) -> isl.Map:
    """{ access[iteration] -> [stream, number] } on some of the streams."""
    access = number.end.access
    elements = relations.elements(access)
    rank = elements.dim(_OUT)
    rows: list[Row] = []
    terms: list[tuple[int, int]] = []
    for k, (d, factor) in enumerate(number.factors):
        quotient = -10 - k
        rows.append(Row(variable(d.number).plus(-d.low) - variable(quotient).scaled(d.stride), True))
        terms.append((quotient, factor))
    form: Linear = combine(number.offset, terms)
    rows.append(Row(variable(-1) - form, True))
    counted = relations.relation(access.variables, (-1,), rows).set_tuple_name(_IN, access.id)
    chosen = elements.intersect_range(channels)
    both = chosen.flat_range_product(counted)
    assert both.dim(_OUT) == rank + 1
    return both


def _check_numbers(
    relations: Relations, numbered: Sequence[tuple[Access, isl.Map]], count: int, channels: isl.Set
) -> None:
    """Raises Unnumbered unless numbers rise in the order of execution and are all below the count."""
    for access, numbers in numbered:
        restricted = numbers.range()
        last = restricted.dim(_SET) - 1
        chosen = restricted.intersect(channels.add_dims(_SET, 1))
        low, high = chosen.dim_min_val(last), chosen.dim_max_val(last)
        if not (low.is_int() and high.is_int() and int(low.to_python()) >= 0 and int(high.to_python()) < count):
            raise _unnumbered(access)
        for other, also in numbered:
            rising = numbers.apply_range(_not_below(relations, last + 1)).apply_range(also.reverse())
            if not rising.intersect(relations.time(access).lex_lt_map(relations.time(other))).is_empty():
                raise _unnumbered(access)


def _not_below(relations: Relations, dims: int) -> isl.Map:
    """{ [stream, number] -> [stream, number'] : number' <= number }"""
    inputs, outputs = tuple(range(1, dims + 1)), tuple(-k for k in range(1, dims + 1))
    rows = [Row(variable(i) - variable(o), k < dims - 1) for k, (i, o) in enumerate(zip(inputs, outputs, strict=True))]
    return relations.relation(inputs, outputs, rows)
