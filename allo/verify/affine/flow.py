"""Decides where the value comes from that a read sees: which write was the last one, or what the array held before.

Value-based dataflow in the sense of P. Feautrier, "Dataflow analysis of array and scalar references" (IJPP 1991). What
isl computes is not trusted: `_check` shows that each source found is a write of that element before the read with no
other write in between, by tests of emptiness alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl

from ...ir.access import is_get, is_store, stored
from ...poly.linear import Row, variable
from ...poly.model import Access, Buffer
from ...poly.systems import basic_map
from .effort import Effort
from .graph import Graph
from .nodes import Gap, Kind, Node
from .slices import slice_origins

_IN, _OUT = isl.dim_type.in_, isl.dim_type.out
_END = "End"


@dataclass(frozen=True, slots=True)
class Origin:
    """`map` takes iterations of a read to the iterations (or element) of `node` whose value they see."""

    node: Node
    map: isl.Map
    write: str = ""  # the id of the write, empty for what the array held before


class Flows:
    """The origins of the reads of one program, computed when first asked for."""

    def __init__(self, graph: Graph, effort: Effort | None = None) -> None:
        self.graph = graph
        self.effort = effort or Effort()
        self.depth = graph.model.depth
        self.found: dict[Node, tuple[Origin, ...]] = {}
        self.numbered: dict[str, isl.Map] = {}  # of puts and gets: the numbers of their tokens
        self._maps: dict[str, isl.Map] = {}
        self._times: dict[str, isl.Map] = {}

    def origins(self, node: Node) -> tuple[Origin, ...]:
        """Where the values of a read come from: the maps are functions and their domains a partition."""
        found = self.found.get(node)
        if found is None:
            self.effort.check(node.source)
            found = self.found[node] = self._bits(node) if node.width else self._find(node)
        return found

    def _bits(self, node: Node) -> tuple[Origin, ...]:
        base = node.base
        of_base = self.origins(base) if base is not None and base.kind is Kind.READ else ()
        found = slice_origins(self.graph, node, [(origin.node, origin.map) for origin in of_base])
        return tuple(Origin(one, relation) for one, relation in found)

    def enter(self, get: Access, origins: tuple[Origin, ...]) -> None:
        """What a get from a stream takes, which another file has found."""
        self.found[self.graph.node(get.op.results[0])] = origins

    def _find(self, node: Node) -> tuple[Origin, ...]:
        graph = self.graph
        if node.access is None:
            buffer = graph.outputs[node.output].buffer
            assert buffer is not None
            elements, time = self._end(node.output, buffer)
        else:
            access = node.access
            buffer = access.buffer
            if buffer.origin == "carried" or is_get(access.op):
                raise Gap(f"'{buffer.name}' is not an array", access.source)
            if not access.exact:
                raise Gap(f"{access.text} {access.reason}", access.source)
            elements, time = self.elements(access), self.time(access)
        writes = [w for w in graph.accesses.get(buffer.label, ()) if w.is_write]
        for write in writes:
            if not write.exact:
                raise Gap(f"{write.text} {write.reason}", write.source)
            if not is_store(write.op):
                raise Gap(f"'{buffer.name}' is written by `{write.op.name}`", write.source)
        if not writes:
            return (Origin(graph.initial(buffer), plain(elements)),)
        self.effort.check(node.source or writes[-1].source)
        given = [(w.id, self.elements(w), self.time(w)) for w in writes]
        flows, rest = _last_writes(elements, time, given)
        wrong = self._wrong(elements, time, flows, rest, writes)
        if wrong:
            flows, rest = _not_overwritten(elements, time, given)
            wrong = self._wrong(elements, time, flows, rest, writes)
        if wrong:
            raise Gap(f"isl finds no right dataflow: {wrong}", buffer.source if node.access is None else node.source)
        found = [
            Origin(graph.node(stored(write.op)), plain(flows[write.id]), write.id)
            for write in writes
            if write.id in flows
        ]
        if not rest.is_empty():
            initial = graph.initial(buffer)
            if initial.kind is Kind.INPUT or not rest.is_empty():
                found.append(Origin(initial, plain(rest)))
        return tuple(found)

    # -- maps with the id of the access as name ----------------------------------------------------------

    def elements(self, access: Access) -> isl.Map:
        """{ access[iteration] -> element }, the loops around the allocation of the array first."""
        known = self._maps.get(access.id)
        if known is None:
            scope = tuple(loop.variable for loop in access.buffer.scope)
            forms = (*(variable(v) for v in scope), *access.subscripts)
            outputs = tuple(-1 - k for k in range(len(forms)))
            rows = [Row(variable(out) - form, True) for out, form in zip(outputs, forms, strict=True)]
            known = self._named(access, outputs, [*rows, *access.rows])
            known = known.intersect_domain(self.graph.domain(access).set_tuple_name(access.id))
            self._maps[access.id] = known
        return known

    def time(self, access: Access) -> isl.Map:
        """{ access[iteration] -> when it runs }: textual positions and loops in turn."""
        known = self._times.get(access.id)
        if known is None:
            outputs = tuple(-1 - k for k in range(2 * self.depth + 1))
            rows = []
            for k in range(self.depth + 1):
                position = access.path[k] if k < len(access.path) else 0
                rows.append(Row(variable(outputs[2 * k]).plus(-position), True))
            for k in range(self.depth):
                at = variable(outputs[2 * k + 1])
                rows.append(Row(at - variable(access.loops[k].variable) if k < len(access.loops) else at, True))
            known = self._times[access.id] = self._named(access, outputs, rows)
        return known

    def _named(self, access: Access, outputs: tuple[int, ...], rows: Sequence[Row]) -> isl.Map:
        inputs = access.variables
        space = self.graph.map_space(len(inputs), len(outputs)).set_tuple_name(_IN, access.id)
        return isl.Map.from_basic_map(basic_map(self.graph.parameters, inputs, outputs, rows, space))

    def _end(self, number: int, buffer: Buffer) -> tuple[isl.Map, isl.Map]:
        """A read of the whole array after everything else."""
        rank = len(buffer.shape)
        elements = self.graph.elements(number).set_tuple_name(_IN, _END)
        last = 1 + max((access.path[0] for access in self.graph.model.accesses), default=0)
        time = isl.Map.universe(self.graph.map_space(rank, 2 * self.depth + 1).set_tuple_name(_IN, _END))
        for k in range(2 * self.depth + 1):
            time = time.fix_val(_OUT, k, last if k == 0 else 0)
        return elements, time

    def _wrong(
        self, elements: isl.Map, time: isl.Map, flows: dict[str, isl.Map], rest: isl.Map, writes: Sequence[Access]
    ) -> str:
        """What is wrong with flows, whatever computed them; empty if nothing is."""
        covered = rest.domain()
        for write in writes:
            self.effort.check(write.source)
            when = self.time(write)
            earlier = _earlier(elements, time, self.elements(write), when)
            if write.id in flows:
                covered = covered.union(flows[write.id].domain())
                if not flows[write.id].is_subset(earlier):
                    return f"{write.text} is not earlier"
            if not earlier.intersect_domain(rest.domain()).is_empty():
                return f"{write.text} has written what is said to be unwritten"
            for other in writes:
                if other.id not in flows:
                    continue
                between = flows[other.id].reverse().apply_range(earlier)
                if not between.intersect(self.time(other).lex_lt_map(when)).is_empty():
                    return f"{write.text} overwrites {other.text}"
        complete = elements.domain().is_subset(covered) and rest.is_subset(elements)
        return "" if complete else "a read without a source"


type _Write = tuple[str, isl.Map, isl.Map]


def _last_writes(
    elements: isl.Map, time: isl.Map, writes: Sequence[_Write]
) -> tuple[dict[str, isl.Map], isl.Map]:
    """For each write the map from the reads that see it; and the elements of those that see none."""
    sources = isl.UnionMap.from_map(writes[0][1])
    schedule = isl.UnionMap.from_map(time.intersect_domain(elements.domain()))
    for k, (_, maps, when) in enumerate(writes):
        if k:
            sources = sources.union(isl.UnionMap.from_map(maps))
        schedule = schedule.union(isl.UnionMap.from_map(when.intersect_domain(maps.domain())))
    access = isl.UnionAccessInfo.from_sink(isl.UnionMap.from_map(elements))
    flow = access.set_must_source(sources).set_schedule_map(schedule).compute_flow()
    found: dict[str, isl.Map] = {}
    must = flow.get_must_dependence()
    for k in range(must.n_map()):
        one = must.get_map_list().get_at(k)
        found[one.get_tuple_name(_IN)] = one.reverse().coalesce()
    rest = flow.get_must_no_source()
    if rest.is_empty():
        return found, isl.Map.empty(elements.get_space())
    return found, rest.get_map_list().get_at(0).coalesce()


def _not_overwritten(
    elements: isl.Map, time: isl.Map, writes: Sequence[_Write]
) -> tuple[dict[str, isl.Map], isl.Map]:
    """The same by set differences alone: earlier writes without those after which another one is earlier."""
    earlier = {name: _earlier(elements, time, maps, when) for name, maps, when in writes}
    rest = elements
    found: dict[str, isl.Map] = {}
    for name, _, when in writes:
        flow = earlier[name]
        for other, _, later in writes:
            overwritten = earlier[other].apply_range(later.lex_gt_map(when))
            flow = flow.subtract(overwritten)
        rest = rest.subtract(rest.intersect_domain(earlier[name].domain()))
        if not flow.is_empty():
            found[name] = flow.coalesce()
    return found, rest.coalesce()


def _earlier(elements: isl.Map, time: isl.Map, maps: isl.Map, when: isl.Map) -> isl.Map:
    """{ read -> write of the same element before it }"""
    return elements.apply_range(maps.reverse()).intersect(time.lex_gt_map(when))


def plain(relation: isl.Map) -> isl.Map:
    """Without the names of accesses."""
    for side in (_IN, _OUT):
        if relation.has_tuple_id(side):
            relation = relation.reset_tuple_id(side)
    return relation
