"""Advice to keep what a loop updates in a copy on the chip, where that is faster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod

from mlir import ir

from ...ir.access import accessed, base_of
from ...ir.walk import statements
from ...timing.pipeline import scheduled
from ...timing.problem.memory import ArrayMemory, Ports
from ...timing.problem.region import RegionBuilder, RegionNode
from .question import Proposal, Question


def keep_on_chip(asked: Question, label: str) -> Proposal | None:
    """`buffer_at` for the array with this label, in the loop where that makes the nest fastest; None if in none.

    An element that stays the same in the loops inside, or a row of elements along one of them, is read before these
    loops and written behind them (Allo paper, section 3.1 and Fig. 2).
    """
    nodes = [node for node in asked.region.nodes if node.label == label]
    called = any(access.buffer.label == label for n in asked.region.nodes if n.kind == "call" for access in n.touched)
    if called or asked.node.latency is None or any(node.forms != nodes[0].forms for node in nodes):
        return None
    if any(form is None or form.copies for form in nodes[0].forms) or not _is_updated(nodes):
        return None
    best: tuple[Fraction, str] | None = None
    for axis in range(len(asked.region.time) - 1):
        found = _in_loop(asked, nodes, axis)
        if found is not None and (best is None or found[0] < best[0]):
            best = found
    return Proposal(best[1], best[0]) if best is not None and best[0] < asked.node.latency else None


def _is_updated(nodes: Sequence[RegionNode]) -> bool:
    """Whether the array is read and then written in any case, so that a copy is filled and written back."""
    first = min(nodes, key=lambda node: node.position)
    return first.kind == "read" and any(node.kind == "write" and not node.guards for node in nodes)


def _in_loop(asked: Question, nodes: Sequence[RegionNode], axis: int) -> tuple[Fraction, str] | None:
    """The cycles of the nest with a copy in each iteration of time loop `axis`, and the steps that make it."""
    inside = asked.region.time[axis + 1 :]
    forms = [form for form in nodes[0].forms if form is not None]
    moving = [n for n, _ in enumerate(inside) if any(form.time[axis + 1 + n] for form in forms)]
    if len(moving) > 1 or any(loop.factor > 1 for loop in asked.region.time):
        return None
    elements = [inside[n].trip for n in moving]
    if None in elements or any(sum(1 for c in form.time[axis + 1 :] if c) > 1 for form in forms):
        return None
    size = prod(trip for trip in elements if trip is not None)
    local = _on_chip(asked, nodes[0], size)
    array = _array(nodes[0])
    old = asked.tree.around.memory_of

    def memory_of(value: ir.Value, name: str) -> ArrayMemory:
        return local if base_of(value) == array else old(value, name)

    builder = RegionBuilder(replace(asked.tree.around, memory_of=memory_of), inside)
    region = builder.build(statements(asked.chain[-1].body))
    target = asked.tree.around.target
    done = scheduled(region, target.budget, asked.requested)
    memory = nodes[0].memory
    assert memory is not None
    control = target.control
    runs = _product(asked.node.runs[axis + 1 :])
    outer = _product(asked.node.runs[: axis + 1])
    if runs is None or outer is None:
        return None
    straight = memory.read + memory.kind.write + local.read + local.kind.write + 2
    copies = straight + (2 * (size - 1 + control.pipelined_loop) if moving else 0)
    each = (runs - 1) * done.interval + done.schedule.depth + control.pipelined_loop
    cycles = outer * (each + copies + control.iteration) + control.loop
    first = len(asked.chain) - len(asked.region.time)
    step = f's.buffer_at("{asked.tree.name}:{memory.name}", "{asked.names[first + axis]}")'
    if moving and not asked.auto_pipeline:
        name = asked.names[first + axis + 1 + moving[0]]
        step += "".join(f'; s.pipeline("{name}_{copy}")' for copy in ("init", "back"))
    return cycles, step


def _array(node: RegionNode) -> ir.Value:
    """The array of an access."""
    return base_of(accessed(node.op))


def _on_chip(asked: Question, node: RegionNode, size: int) -> ArrayMemory:
    """What a local array of `size` elements becomes."""
    target, memory = asked.tree.around.target, node.memory
    assert memory is not None
    if size <= target.registers_up_to:
        kind = target.memories["REGISTER"]
        return replace(memory, kind=kind, ports=Ports(None), read=kind.read)
    kind = target.memories["LUTRAM" if size * memory.width <= target.lutram_up_to else "BRAM"]
    return replace(memory, kind=kind, ports=Ports(kind.ports), read=kind.read)


def _product(runs: Sequence[Fraction | None]) -> Fraction | None:
    found = Fraction(1)
    for value in runs:
        if value is None:
            return None
        found *= value
    return found
