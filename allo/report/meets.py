"""Arrays for which different partitions were asked: which layouts meet, and what that costs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlir import ir

from ..customize.partition import asked_banks, is_partition, partitions_asked
from ..customize.step.record import Step
from ..ir.array_graph import ArrayGraph, ArrayNode
from ..ir.partitions import divisions_of
from ..layout import NONE, Banks, PartitionLayout

if TYPE_CHECKING:
    from ..customize import Schedule


@dataclass(frozen=True, slots=True)
class LayoutRequest:
    """A `partition` step: the buffer it names, the layout it asks for and the banks that this alone would take."""

    buffer: str
    layout: str
    banks: int
    at: str


@dataclass(frozen=True, slots=True)
class LayoutMeet:
    """Arrays that calls join, whose layout serves several requests with more banks than any of them asks for."""

    arrays: tuple[str, ...]
    layout: str
    banks: int
    requests: tuple[LayoutRequest, ...]

    def __str__(self) -> str:
        asked = " and ".join(f"{r.layout} of {r.buffer} ({r.banks} banks, {r.at})" for r in self.requests)
        return f"{', '.join(self.arrays)}: {asked} meet in {self.layout}, {self.banks} banks"


def layout_meets(schedule: Schedule) -> tuple[LayoutMeet, ...]:
    """The groups of joined arrays of `schedule` whose layout is none of those asked for, in the order of the text."""
    steps = schedule.steps
    if not any(map(is_partition, steps)):
        return ()
    graph = ArrayGraph(schedule.ir)
    found: list[LayoutMeet] = []
    seen: set[int] = set()
    for number in range(len(graph.nodes)):
        if number in seen:
            continue
        members = graph.same(number)
        seen.update(members)
        nodes = [graph.nodes[member] for member in sorted(members)]
        meet = _meet(nodes, steps) if len(nodes) > 1 else None
        if meet is not None:
            found.append(meet)
    return tuple(found)


def _meet(nodes: list[ArrayNode], steps: Iterable[Step]) -> LayoutMeet | None:
    names = [f"{node.function}:{node.name}" if node.function else node.name for node in nodes]
    memref = nodes[0].type
    if not isinstance(memref, ir.MemRefType) or not memref.has_static_shape:
        return None
    shape = tuple(memref.shape)
    asked: dict[str, tuple[Step, dict[int, Banks]]] = {}
    for step in partitions_asked(steps, {(node.function, node.name) for node in nodes}):
        name = str(dict(step.arguments)["buffer"])
        before = asked[name][1] if name in asked else {}
        asked[name] = (step, {**before, **asked_banks(step, shape)})
    result = PartitionLayout(shape, Banks.read(divisions_of(memref)))
    requests = []
    for name, (step, banks) in asked.items():
        layout = PartitionLayout.of(shape, tuple(banks.get(d, NONE) for d in range(len(shape))))
        place = f"line {step.at.line}" if step.at is not None else "no line"
        requests.append(LayoutRequest(name, str(layout), layout.banks, place))
    if len(requests) < 2 or any(request.layout == str(result) for request in requests):
        return None
    return LayoutMeet(tuple(dict.fromkeys(names)), str(result), result.banks, tuple(requests))
