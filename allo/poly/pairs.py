"""Pairs of accesses that may touch the same element, and the integer systems that say when they do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from .linear import PRIME, Linear, Row, variable
from .model import Access, ModelLoop, ModelParameter
from .systems import feasible, lexicographic_minimum

# For each loop variable: the second iteration is later (1), the same (0) or earlier (-1).
type Signs = Mapping[int, int]


class Dependence(StrEnum):
    FLOW = "flow"
    ANTI = "anti"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class Pair:
    """The element of `source` in one iteration is that of `sink` in another one.

    `distances` are the differences (sink - source) of common loops that the subscripts fix.
    """

    source: Access
    sink: Access
    common: tuple[ModelLoop, ...]
    distances: Mapping[int, int]

    @property
    def dependence(self) -> Dependence:
        if not self.source.is_write:
            return Dependence.ANTI
        return Dependence.OUTPUT if self.sink.is_write else Dependence.FLOW

    @property
    def exact(self) -> bool:
        return self.source.exact and self.sink.exact

    @property
    def textually_before(self) -> bool:
        depth = len(self.common)
        return self.source.path[depth] < self.sink.path[depth]

    def allows(self, signs: Signs) -> bool:
        """Can the signs hold, as far as the fixed distances tell?"""
        distances = self.distances
        for number, sign in signs.items():
            distance = distances.get(number)
            if distance is not None and (distance > 0) - (distance < 0) != sign:
                return False
        return True

    def systems(self, signs: Signs) -> Iterator[list[Row]]:
        """The disjuncts of: both run, they touch the same element, and the signs hold.

        Variables of the sink are primed.
        """
        source, sink = self.source, self.sink
        shared = frozenset(parameter.variable for parameter in source.parameters)
        rows: list[Row] = [*source.rows, *(row.primed(shared) for row in sink.rows)]
        for left, right in zip(source.subscripts, sink.subscripts, strict=True):
            rows.append(Row(left - right.primed(shared), True))
        for loop in source.buffer.scope:
            rows.append(_sign_row(loop.variable, 0))
        rows.extend(_sign_row(number, sign) for number, sign in signs.items())
        for first in source.pieces:
            for second in sink.pieces:
                yield [*rows, *first, *(row.primed(shared) for row in second)]

    def possible(self, signs: Signs) -> bool:
        return self.allows(signs) and any(feasible(rows) for rows in self.systems(signs))

    def sample(
        self, alternatives: Iterable[Signs], further: Sequence[Sequence[Row]] = ((),)
    ) -> Sample | None:
        """The first pair of iterations, in lexicographic order of (parameters, source, sink).

        One of the alternatives and one of the `further` systems hold.
        """
        source, sink = self.source, self.sink
        used = _parameters(source, sink)
        dims = (
            *(parameter.variable for parameter in used),
            *source.variables,
            *(v + PRIME for v in sink.variables),
        )
        best: tuple[int, ...] | None = None
        natural = [Row(variable(parameter.variable)) for parameter in used]  # sizes are rarely negative
        for extra in (natural, []) if natural else ([],):
            for signs in alternatives:
                if not self.allows(signs):
                    continue
                for rows in self.systems(signs):
                    for more in further:
                        point = lexicographic_minimum(dims, [*rows, *extra, *more])
                        if point is not None and (best is None or point < best):
                            best = point
            if best is not None:
                break
        if best is None:
            return None
        first, second = len(used), len(used) + len(source.loops)
        return Sample(
            tuple((p.name, value) for p, value in zip(used, best, strict=False)),
            tuple(zip(source.loop_names, best[first:second], strict=True)),
            tuple(zip(sink.loop_names, best[second:], strict=True)),
        )


@dataclass(frozen=True, slots=True)
class Sample:
    """One iteration of the source and one of the sink, by loop name, for some values of the parameters."""

    parameters: tuple[tuple[str, int], ...]
    source: tuple[tuple[str, int], ...]
    sink: tuple[tuple[str, int], ...]


def _sign_row(number: int, sign: int) -> Row:
    difference = Linear(0, ((number, -1), (number + PRIME, 1)))
    if sign == 0:
        return Row(difference, True)
    return Row(difference.scaled(sign).plus(-1))


def _parameters(*accesses: Access) -> tuple[ModelParameter, ...]:
    used = {
        v
        for access in accesses
        for form in (
            *access.subscripts,
            *(row.form for row in access.rows),
            *(row.form for piece in access.pieces for row in piece),
        )
        for v, _ in form.terms
    }
    return tuple(parameter for parameter in accesses[0].parameters if parameter.variable in used)


def pairs(accesses: Sequence[Access]) -> Iterator[Pair]:
    """All ordered pairs with a write that may conflict: flow, then anti, then output, in textual order."""
    groups: dict[str, list[Access]] = {}
    for access in accesses:
        groups.setdefault(access.buffer.label, []).append(access)
    found: dict[Dependence, list[Pair]] = {kind: [] for kind in Dependence}
    for group in groups.values():
        if not any(access.is_write for access in group):
            continue
        for source in group:
            for sink in group:
                if not (source.is_write or sink.is_write):
                    continue
                pair = pair_of(source, sink)
                if pair is not None:
                    found[pair.dependence].append(pair)
    for kind in Dependence:
        yield from found[kind]


def pair_of(source: Access, sink: Access) -> Pair | None:
    """None if the subscripts can never be equal."""
    common = common_loops(source, sink)
    spans = {loop.variable: loop.span for loop in common}
    distances = {loop.variable: 0 for loop in source.buffer.scope}
    for left, right in zip(source.subscripts, sink.subscripts, strict=True):
        if left.terms != right.terms:
            continue
        moving = [(v, c) for v, c in left.terms if not _is_parameter(v, source)]
        if not all(number in spans for number, _ in moving):
            continue
        fixed = _distances(moving, left.constant - right.constant, spans)
        if fixed is None or any(distances.setdefault(v, distance) != distance for v, distance in fixed):
            return None
    return Pair(source, sink, common, distances)


def _distances(
    terms: list[tuple[int, int]], total: int, spans: Mapping[int, int | None]
) -> list[tuple[int, int]] | None:
    """The distances of variables, none above its span, that the sum of the terms fixes; None if it cannot be `total`.

    Terms such as `4 * i.outer + i.inner`, with 0 <= i.inner < 4, are digits: the greatest is told first.
    """
    fixed: list[tuple[int, int]] = []
    digits = sorted(terms, key=lambda term: -abs(term[1]))
    for place, (number, coefficient) in enumerate(digits):
        rest = 0
        for smaller, factor in digits[place + 1 :]:
            span = spans[smaller]
            if span is None:
                return fixed
            rest += span * abs(factor)
        size = abs(coefficient)
        first, last = -((rest - total) // size), (total + rest) // size  # of the distance, where the factor is positive
        if first > last:
            return None
        if first < last:
            return fixed
        fixed.append((number, first if coefficient > 0 else -first))
        total -= first * size
    return None if total else fixed


def _is_parameter(number: int, access: Access) -> bool:
    return any(parameter.variable == number for parameter in access.parameters)


def common_loops(first: Access, second: Access) -> tuple[ModelLoop, ...]:
    count = 0
    for left, right in zip(first.loops, second.loops, strict=False):
        if left.variable != right.variable:
            break
        count += 1
    return first.loops[:count]


def execution_orders(pair: Pair, loops: Sequence[ModelLoop]) -> list[Signs]:
    """The ways in which the source runs before the sink, the loops outside of `loops` being the same.

    `loops` are the innermost ones of the common loops.
    """
    fixed: dict[int, int] = {loop.variable: 0 for loop in pair.common[: len(pair.common) - len(loops)]}
    alternatives: list[Signs] = []
    for loop in loops:
        alternatives.append(fixed | {loop.variable: 1})
        fixed = fixed | {loop.variable: 0}
    if pair.textually_before:
        alternatives.append(fixed)
    return [signs for signs in alternatives if pair.allows(signs)]
