"""Accesses as relations of isl with common parameters: the elements that they touch, and when they run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import islpy as isl

from .linear import Linear, Row, variable
from .model import Access
from .systems import basic_map, basic_set, set_of

_IN, _OUT = isl.dim_type.in_, isl.dim_type.out


class Relations:
    """`parameters` are the variables that are the same in all instances, with their names; loops among them are
    held fixed. Times have room for `depth` loops."""

    def __init__(self, parameters: Mapping[int, str], depth: int) -> None:
        self.parameters = tuple(parameters)
        self.depth = depth
        self._names = tuple(parameters.values())
        self._elements: dict[str, isl.Map] = {}
        self._times: dict[str, isl.Map] = {}

    def set_space(self, depth: int) -> isl.Space:
        return self._named(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, len(self._names), depth))

    def map_space(self, inputs: int, outputs: int) -> isl.Space:
        return self._named(isl.Space.alloc(isl.DEFAULT_CONTEXT, len(self._names), inputs, outputs))

    def _named(self, space: isl.Space) -> isl.Space:
        for k, name in enumerate(self._names):
            space = space.set_dim_name(isl.dim_type.param, k, name)
        return space

    def counted(self, access: Access) -> tuple[int, ...]:
        """The variables that number the instances of an access."""
        return tuple(number for number in access.variables if number not in self.parameters)

    def universe(self, depth: int) -> isl.Set:
        return isl.Set.universe(self.set_space(depth))

    def identity(self, depth: int) -> isl.Map:
        return isl.Map.identity(self.map_space(depth, depth))

    def points(self, columns: Sequence[int], pieces: Iterable[Iterable[Row]]) -> isl.Set:
        """The values of the columns for which all rows of a piece hold."""
        return set_of(self.parameters, columns, pieces, self.set_space(len(columns)))

    def system(self, columns: Sequence[int], rows: Iterable[Row]) -> isl.BasicSet:
        return basic_set(self.parameters, columns, rows, self.set_space(len(columns)))

    def relation(self, inputs: Sequence[int], outputs: Sequence[int], rows: Iterable[Row]) -> isl.Map:
        space = self.map_space(len(inputs), len(outputs))
        return isl.Map.from_basic_map(basic_map(self.parameters, inputs, outputs, rows, space))

    def domain(self, access: Access) -> isl.Set:
        """The iterations of an access."""
        return self.points(self.counted(access), access.pieces)

    def elements(self, access: Access) -> isl.Map:
        """{ access[iteration] -> element }, the loops around the allocation of the array first."""
        known = self._elements.get(access.id)
        if known is None:
            scope = [variable(loop.variable) for loop in access.buffer.scope]
            known = self._map(access, (*scope, *access.subscripts), access.rows)
            known = known.intersect_domain(self.domain(access).set_tuple_name(access.id))
            self._elements[access.id] = known
        return known

    def time(self, access: Access) -> isl.Map:
        """{ access[iteration] -> when it runs }: textual positions and loops in turn."""
        known = self._times.get(access.id)
        if known is None:
            known = self._times[access.id] = self.ordered(access, written_order(access), 2 * self.depth + 1)
        return known

    def ordered(self, access: Access, forms: Sequence[Linear], length: int) -> isl.Map:
        """{ access[iteration] -> forms }, with zeros behind them up to the length."""
        return self._map(access, (*forms, *[Linear(0)] * (length - len(forms))))

    def _map(self, access: Access, forms: Sequence[Linear], rows: Iterable[Row] = ()) -> isl.Map:
        outputs = tuple(-1 - k for k in range(len(forms)))
        equal = [Row(variable(out) - form, True) for out, form in zip(outputs, forms, strict=True)]
        return self.relation(self.counted(access), outputs, [*equal, *rows]).set_tuple_name(_IN, access.id)


def written_order(access: Access, start: int = 0) -> tuple[Linear, ...]:
    """When an access runs, below the first `start` loops: its textual positions and the loops around it in turn."""
    found = [Linear(access.path[start])]
    for loop, position in zip(access.loops[start:], access.path[start + 1 :], strict=True):
        found += [variable(loop.variable), Linear(position)]
    return tuple(found)


def plain(relation: isl.Map) -> isl.Map:
    """Without the names of accesses."""
    for side in (_IN, _OUT):
        if relation.has_tuple_id(side):
            relation = relation.reset_tuple_id(side)
    return relation
