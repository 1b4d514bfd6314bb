"""Mappings of a region by the cycles of a call on the timed model: the search, with vector kernels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....errors import TargetError
from ....ir.module import Module
from ....ir.walk import entry_block, statements
from ....mapping import Mapping as NodeMapping
from ....mapping import MappingSearch, VirtualGraph, plan_of, searched, sequence_of
from ....target import ProcessorArray
from ..check import check_plan
from .array_run import given_cycles, timed_run
from .core_cycles import CoreCycles, Kernels


def fastest_mappings(
    graph: VirtualGraph, array: ProcessorArray, bodies: Module, top: str, cycles: Any = None
) -> MappingSearch:
    """Mappings of a graph on an array; `cycles` are those of functions of C++. Raises TargetError without these."""
    given = given_cycles(cycles)
    costs = CoreCycles(array, Kernels.VECTOR, given)
    work: dict[str, int] = {}
    for node in graph.nodes:
        entry = entry_block(bodies.function(node.function))
        assert entry is not None
        work.setdefault(node.function, sum(costs.of(op, {}) for op in statements(entry)))
    return searched(
        graph, array.cores, {node.name: work[node.function] for node in graph.nodes},
        lambda mapping: _cycles(mapping, array, bodies, top, given),
    )  # fmt: skip


def _cycles(
    mapping: NodeMapping, array: ProcessorArray, bodies: Module, top: str, given: Mapping[str, int]
) -> int | None:
    """The cycles of a call; None if the mapping does not fit."""
    try:
        plan = plan_of(mapping, array)
        sequence = sequence_of(plan)
        check_plan(plan, sequence)
    except TargetError:
        return None
    return timed_run(plan, sequence, bodies, top, kernels=Kernels.VECTOR, cycles=given).cycles
