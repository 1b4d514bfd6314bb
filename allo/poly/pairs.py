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
    numbers = {loop.variable for loop in common}
    distances = {loop.variable: 0 for loop in source.buffer.scope}
    for left, right in zip(source.subscripts, sink.subscripts, strict=True):
        if left.terms != right.terms:
            continue
        difference = left.constant - right.constant
        moving = [(v, c) for v, c in left.terms if not _is_parameter(v, source)]
        if not moving:
            if difference:
                return None
        elif len(moving) == 1 and moving[0][0] in numbers:
            number, coefficient = moving[0]
            distance, remainder = divmod(difference, coefficient)
            if remainder or distances.setdefault(number, distance) != distance:
                return None
    return Pair(source, sink, common, distances)


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
