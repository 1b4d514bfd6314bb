"""Pipelines as a tool schedules them: with operators of fewer registers where a recurrence is short."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mlir import ir

from ..target import Fpga, Operator, ShortRecurrences
from .pipeline import ScheduledRegion, bounded, scheduled
from .problem.operators import float_operator
from .problem.region import LoopBody, RegionNode

AUTOMATIC = "allo.x_automatic"  # marks a pipeline that a tool makes unasked


def is_asked_for(loop: ir.Operation) -> bool:
    """Whether a user has marked a loop as a pipeline."""
    return "allo.pipeline" in loop.attributes and AUTOMATIC not in loop.attributes


def scheduled_by_tool(
    build: Callable[[], LoopBody], target: Fpga, requested: int | None, *, asked: bool, reassociate: bool
) -> ScheduledRegion:
    """The schedule of a region by the rules of a profile; `asked`: a user wants the interval that is requested."""
    done = scheduled(build(), target.budget, requested, reassociate=reassociate)
    rule = target.rules.short_recurrences
    if rule is None or requested is None or not asked:
        return done
    return _hastened(done, build, rule, target, requested, reassociate=reassociate)


def bounded_by_tool(
    build: Callable[[], LoopBody], target: Fpga, requested: int | None, *, reassociate: bool, ports: bool
) -> ScheduledRegion:
    """Lower bounds of the interval and the depth of a region, whichever operators the rules of a profile take."""
    region, rule = build(), target.rules.short_recurrences
    if rule is not None:
        nodes = enumerate(region.nodes)
        _with(region, {n: short for n, node in nodes if (short := _short(node, rule, target)) is not None})
    return bounded(region, target.budget, requested, reassociate=reassociate, ports=ports)


def _hastened(
    done: ScheduledRegion,
    build: Callable[[], LoopBody],
    rule: ShortRecurrences,
    target: Fpga,
    requested: int,
    *,
    reassociate: bool,
) -> ScheduledRegion:
    """The schedule with short operators in recurrences that bind, if the interval then is what the rule asks for."""
    replaced: dict[int, Operator] = {}
    found = done
    while found.recurrence is not None and found.recurrence.interval > requested:
        nodes = found.graph.region.nodes
        more = {
            node: short
            for edge in found.recurrence.edges
            if (node := edge.source) not in replaced and (short := _short(nodes[node], rule, target)) is not None
        }
        if not more:
            break
        replaced |= more
        found = scheduled(_with(build(), replaced), target.budget, requested, reassociate=reassociate)
    better = found.interval < min(done.interval, rule.below)
    return found if better else done


def _short(node: RegionNode, rule: ShortRecurrences, target: Fpga) -> Operator | None:
    """The operator with fewer registers for a node, if there is one at the clock."""
    kind = float_operator(node.op) if node.kind == "compute" else None
    rows = [row for row in rule.operators if (row.kind, row.type) == kind and row.up_to >= target.frequency]
    best = min(rows, key=lambda row: row.operator.latency, default=None)
    return best.operator if best is not None and best.operator.latency < node.latency else None


def _with(region: LoopBody, replaced: Mapping[int, Operator]) -> LoopBody:
    for index, operator in replaced.items():
        node = region.nodes[index]
        node.operator, node.latency, node.delay = operator, operator.latency, operator.delay
    return region
