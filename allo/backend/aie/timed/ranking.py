"""Mappings of a region by the cycles of a call on the timed model: the search, with vector kernels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....errors import TargetError
from ....ir.module import Module
from ....ir.walk import entry_block, statements
from ....mapping import Mapping as NodeMapping
from ....mapping import MappingSearch, VirtualGraph, plan_of, searched, sequence_of
from ....target import ProcessorArray, TileKind
from ..check import check_plan
from .array_run import given_cycles, replayed
from .core_cycles import CoreCycles, Kernels


def fastest_mappings(
    graph: VirtualGraph, array: ProcessorArray, bodies: Module, cycles: Any = None
) -> MappingSearch:
    """Mappings of a graph on an array; `cycles` are those of functions of C++. Raises TargetError without these."""
    given = given_cycles(cycles)
    costs = CoreCycles.of_bodies(array, Kernels.VECTOR, bodies, given)
    work: dict[str, int] = {}
    for name in {node.function: None for node in graph.nodes}:
        entry = entry_block(bodies.function(name))
        assert entry is not None
        work[name] = sum(costs.of(op, {}) for op in statements(entry))
    engine = array.tiles[TileKind.CORE].dma
    return searched(
        graph, array.cores, {node.name: work[node.function] for node in graph.nodes},
        lambda mapping: _cycles(mapping, array, bodies, given), (engine.outputs, engine.inputs),
    )  # fmt: skip


def _cycles(mapping: NodeMapping, array: ProcessorArray, bodies: Module, given: Mapping[str, int]) -> int | None:
    """The cycles of a call; None if the mapping does not fit, or its cores wait for one another for ever."""
    try:
        plan = plan_of(mapping, array)
        sequence = sequence_of(plan)
        check_plan(plan, sequence)
    except TargetError:
        return None
    _, found = replayed(plan, sequence, bodies, CoreCycles.of_bodies(array, Kernels.VECTOR, bodies, given))
    return None if found.stuck else found.total
