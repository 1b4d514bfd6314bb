"""Plans: placement, FIFOs and routes of a mapped program that fit an array, the first of those that are tried."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import product

from ..errors import TargetError
from ..target import ProcessorArray, TileKind
from .banks import CoreMemory, memories_of
from .buffers import CallBuffer, buffers_of
from .capacity import PORTS, CapacityReport, bank_uses, capacity_of
from .fifos import Ahead, Merging, ObjectFifos, fifos_of
from .orders import RefusedOrder, ordered
from .place import Placement, place
from .routes import Route, at_sites, flows_of, routed, sites_of
from .steps import Mapping
from .switches import Routing, StreamFlow, routing_of

_SHOWN = 6

type _Known = dict[tuple[tuple[StreamFlow, ...], tuple[int, ...]], Routing]  # by streams and sizes of hubs


@dataclass(frozen=True, slots=True)
class ArrayPlan:
    """Where a mapped program runs, and how its data move."""

    array: ProcessorArray
    placement: Placement
    fifos: ObjectFifos
    routes: tuple[Route, ...]
    capacity: CapacityReport
    refused: tuple[RefusedOrder, ...] = ()  # orders of objects that DMA engines cannot make
    routing: Routing = field(default_factory=Routing)
    memories: tuple[CoreMemory, ...] = ()  # of the cores, in their order

    @property
    def buffers(self) -> tuple[CallBuffer, ...]:
        """The buffers that a call passes."""
        return buffers_of(self.mapping.graph.arguments, self.array.buffers)

    def memory(self, core: str) -> CoreMemory:
        """The addresses and banks of the buffers of a core."""
        return next(own for own in self.memories if own.core == core)

    @property
    def mapping(self) -> Mapping:
        """Which nodes share a core."""
        return self.placement.mapping


def plan_of(mapping: Mapping, array: ProcessorArray, *, joined: bool = True, roomy: bool = False) -> ArrayPlan:
    """The first plan that fits: a FIFO for each stream before joined ones, objects that move while cores work before
    others that do not, FIFOs of parameters of their own before merged ones, many routes before few. Streams are not
    joined without `joined`; FIFOs that are `roomy` make no core wait that streams of the depths given would not.

    Raises TargetError with what there is too little of, and for whom, if none does.
    """
    placement = place(mapping, array)
    plans: list[ArrayPlan] = []
    known: _Known = {}
    for are_joined in (False, True) if joined else (False,):
        for plan in _plans(placement, array, joined=are_joined, roomy=roomy):
            if not plan.capacity.exceeded:
                plan = _with_ports(plan, known)
            if not plan.capacity.exceeded:
                return _with_memories(plan)
            plans.append(plan)
    raise _misfit(min(plans, key=lambda plan: (len(plan.capacity.exceeded), plan.capacity.excess)))


def _with_ports(plan: ArrayPlan, known: _Known) -> ArrayPlan:
    """A plan that fits but for stream switches, with the ways of its streams, and those of other plans.

    Routes are in the columns in which they are planned, or, if there are no ways then, in others with ways.
    """
    flows = tuple(flows_of(plan.fifos, plan.routes, plan.placement))
    key = flows, tuple(need for route in plan.routes for need in route.hub_needs.values())
    if key not in known:
        known[key] = routing_of(flows, plan.array, tuple(sites_of(plan.routes, plan.array)))
    routing = known[key]
    routes, capacity = at_sites(plan.routes, routing.sites), plan.capacity
    if routing.sites:
        capacity = capacity_of(plan.placement, plan.fifos, routes, plan.array)
    return replace(plan, routes=routes, routing=routing, capacity=capacity.with_ports(routing, plan.array))


def _with_memories(plan: ArrayPlan) -> ArrayPlan:
    """A plan that fits, with the addresses of all buffers of its cores."""
    memories = memories_of(plan.placement, plan.fifos, plan.array)
    uses = (*plan.capacity.uses, *bank_uses(memories))
    return replace(plan, memories=memories, capacity=replace(plan.capacity, uses=uses))


def _misfit(plan: ArrayPlan) -> TargetError:
    """What there is too little of, and for whom."""
    exceeded = plan.capacity.exceeded
    lines = [f"    {use}" for use in exceeded[:_SHOWN]]
    more = len(exceeded) - _SHOWN
    lines += [f"    and {more} more"] if more > 0 else []
    lines += [f"    {remark}" for remark in plan.capacity.remarks]
    ways = "make parts of arrays smaller, or let cores run several tasks (mapping_primitives)"
    if all(use.resource == PORTS for use in exceeded):
        ways = "let cores run several tasks (mapping_primitives), so that fewer streams go from tile to tile"
    return TargetError(
        "\n".join([f"the program does not fit '{plan.array.name}'; there is too little of", *lines]), hint=ways
    )


def apart(plan: ArrayPlan) -> ArrayPlan:
    """The placement of a plan with a FIFO for each stream, whether it fits or not."""
    return next(_plans(plan.placement, plan.array, joined=False, roomy=False))


def _plans(placement: Placement, array: ProcessorArray, *, joined: bool, roomy: bool) -> Iterator[ArrayPlan]:
    """The plans that are tried, none if streams should be joined and none can be."""
    for ahead, merging in product(Ahead, Merging):
        fifos = fifos_of(placement, merging, ahead, joined=joined, roomy=roomy)
        if joined and all(len(fifo.names) == 1 for fifo in fifos.streams):
            return
        shim = array.tiles[TileKind.SHIM].dma
        for channels in (array.columns * min(shim.inputs, shim.outputs), array.columns):
            routes = routed(fifos, placement, array, channels)
            own, walked, refused = ordered(fifos, routes, placement.mapping.graph, array)
            yield ArrayPlan(array, placement, own, walked, capacity_of(placement, own, walked, array), refused)
