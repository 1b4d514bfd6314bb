"""Origins of the reads of a program: the nodes whose values they see, by value-based flow (`poly/flow.py`)."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from ...ir.access import is_store, sees_element, stored
from ...poly.flow import Instances, NoFlow, at_end, flow_of, instances
from ...poly.model import Access
from ...poly.relations import plain
from .effort import Effort
from .graph import ComputationGraph
from .nodes import Gap, Kind, ValueNode
from .slices import slice_origins


@dataclass(frozen=True, slots=True)
class Origin:
    """`map` takes iterations of a read to the iterations (or element) of `node` whose value they see."""

    node: ValueNode
    map: isl.Map
    write: str = ""  # the id of the write, empty for what the array held before


class Flows:
    """The origins of the reads of one program, computed when first asked for."""

    def __init__(self, graph: ComputationGraph, effort: Effort | None = None) -> None:
        self.graph = graph
        self.effort = effort or Effort()
        self.found: dict[ValueNode, tuple[Origin, ...]] = {}

    def origins(self, node: ValueNode) -> tuple[Origin, ...]:
        """Where the values of a read come from: the maps are functions and their domains a partition."""
        found = self.found.get(node)
        if found is None:
            self.effort.check(node.source)
            found = self.found[node] = self._bits(node) if node.width else self._find(node)
        return found

    def _bits(self, node: ValueNode) -> tuple[Origin, ...]:
        base = node.base
        of_base = self.origins(base) if base is not None and base.kind is Kind.READ else ()
        found = slice_origins(self.graph, node, [(origin.node, origin.map) for origin in of_base])
        return tuple(Origin(one, relation) for one, relation in found)

    def enter(self, get: Access, origins: tuple[Origin, ...]) -> None:
        """What a get from a stream takes, or a peek sees, which another file has found."""
        self.found[self.graph.node(get.op.results[0])] = origins

    def _find(self, node: ValueNode) -> tuple[Origin, ...]:
        graph = self.graph
        access = node.access
        buffer = graph.outputs[node.output].buffer if access is None else access.buffer
        assert buffer is not None
        if access is not None:
            if buffer.origin == "carried" or sees_element(access.op):
                raise Gap(f"'{buffer.name}' is not an array", access.source)
            if not access.exact:
                raise Gap(f"{access.text} {access.reason}", access.source)
        read = self._end(node.output) if access is None else instances(graph.relations, access)
        writes = [w for w in graph.accesses.get(buffer.label, ()) if w.is_write]
        for write in writes:
            if not write.exact:
                raise Gap(f"{write.text} {write.reason}", write.source)
            if not is_store(write.op):
                raise Gap(f"'{buffer.name}' is written by `{write.op.name}`", write.source)
        if writes:
            self.effort.check(node.source or writes[-1].source)
        try:
            flow = flow_of(read, [instances(graph.relations, write) for write in writes], self.effort.check)
        except NoFlow as error:
            raise Gap(str(error), buffer.source if access is None else node.source) from error
        found = [
            Origin(graph.node(stored(write.op)), plain(flow.sources[write.id]), write.id)
            for write in writes
            if write.id in flow.sources
        ]
        if not writes or not flow.rest.is_empty():
            found.append(Origin(graph.initial(buffer), plain(flow.rest)))
        return tuple(found)

    def _end(self, number: int) -> Instances:
        """A read of the whole array after everything else."""
        relations = self.graph.relations
        last = 1 + max((access.path[0] for access in self.graph.model.accesses), default=0)
        return at_end(relations, self.graph.elements(number), 2 * relations.depth + 1, last)
