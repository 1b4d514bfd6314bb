"""Advice for loops that give arrays their first values: several elements a cycle."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from ...ir.walk import statements
from ...layout import NONE
from ...timing.problem.ports import accesses_of
from ...timing.problem.region import LoopBody, RegionBuilder
from ...timing.vendor_rules import is_asked_for
from .ports import fewest_banks, partitions
from .question import Proposal, Question, pasted

_MOST_COPIES = 8  # each two of them take a bank of block RAM


def fill_faster(asked: Question) -> Proposal | None:
    """`unroll`, with `partition` of what is filled, where a pipeline stores the same value in an iteration a cycle."""
    last = asked.region.time[-1]
    if asked.done.interval > 1 or last.trip is None or last.factor > 1 or not _fills(asked.region):
        return None
    factor = max((f for f in range(2, _MOST_COPIES + 1) if last.trip % f == 0), default=1)
    if factor == 1 or asked.node.trips is None:
        return None
    time = tuple(replace(loop, stride=loop.stride // factor) for loop in asked.region.time[:-1])
    time = (*time, replace(last, trip=last.trip // factor, factor=factor))
    region = RegionBuilder(asked.tree.around, time).build(statements(asked.chain[-1].body))
    steps = _divided(asked, region)
    if steps is None:
        return None
    name = asked.names[-1]
    own = [f's.unroll("{name}", factor={factor})']
    if not is_asked_for(asked.chain[-1].op):
        own.append(f's.pipeline("{name}")')
    latency = max(Fraction(0), asked.node.trips / factor - 1) + asked.done.schedule.depth + asked.node.control
    return Proposal(pasted([*own, *steps]), latency, small=True)


def _fills(region: LoopBody) -> bool:
    """Whether a body only stores what iterations do not change, into arrays, whatever the iteration."""
    stores = [node for node in region.nodes if node.kind == "write"]
    if not stores or any(node.kind == "call" or node.guards for node in region.nodes):
        return False
    if any(node.memory is None or node.memory.kind.name == "FIFO" or node.in_register for node in stores):
        return False
    return not any(any(form is None or any(form.time) for form in n.forms) for n in region.nodes if n.kind == "read")


def _divided(asked: Question, region: LoopBody) -> list[str] | None:
    """The partitions with which all copies store in one cycle; None if dimensions that have none do not suffice."""
    steps: list[str] = []
    for label in dict.fromkeys(node.label for node in region.nodes if node.kind == "write"):
        nodes = [node for node in region.nodes if node.label == label]
        memory = nodes[0].memory
        accesses = accesses_of(region, nodes)
        pressure = accesses.pressure() if accesses is not None else None
        if memory is None or pressure is None or pressure.interval == 1:
            continue
        found = fewest_banks(region, memory, nodes, 1, asked.tree.around.target.limits.banks)
        if found is None or found[0] > 1 or any(o not in (NONE, n) for o, n in zip(memory.dims, found[1], strict=True)):
            return None
        steps += partitions(f"{asked.tree.name}:{memory.name}", memory, found[1])
    return steps
