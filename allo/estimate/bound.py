"""Lower bound of the cycles of a design, from its recurrences and iterations alone, and the banks that reach it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..ir.linalg import with_loops
from ..ir.recursion import reads_programs
from ..timing.control.build import TreeOptions
from ..timing.control.tree import FunctionTree, Pipeline, nodes
from ..timing.control.trees import Trees
from ..timing.leveling import unit_limits
from ..timing.schedule import StaticSchedule, rebound
from .advice.ports import relieve
from .advice.question import Question
from .estimate import device_of
from .rules import as_the_tool_reads

if TYPE_CHECKING:
    from ..customize import Schedule


_LONGER = 2  # times the least interval of what waits for itself: ports and operators may add to it


@dataclass(frozen=True, slots=True)
class PipelineBound:
    """A pipeline at its innermost loop: the `interval` that recurrences allow, the `dsp` of an iteration a cycle."""

    function: str
    nest: str
    name: str
    interval: int
    dsp: int


@dataclass(frozen=True, slots=True)
class Bound:
    """`cycles` that `allo.estimate` reaches or exceeds, whatever banks the arrays get; None where a run-time value
    decides. `banks` are steps with which ports do not keep pipelines from what recurrences allow them; `dsp` are what
    the largest pipeline takes at that interval, if all its units are busy, and one in a nest of several loops at an
    iteration a cycle: where it waits for itself, another order of these loops needs fewer lanes for as much."""

    cycles: int | None
    banks: tuple[str, ...]
    dsp: int
    pipelines: tuple[PipelineBound, ...] = ()


@reads_programs
def bound(design: Schedule, options: Mapping[str, Any], *, ports: bool = False) -> Bound:
    """The bound of `allo.estimate(design, **options)`; with `ports`, while arrays that have banks keep these.

    Units, ports and transfers are free, and arrays answer at once: what is left are iterations and what they wait for.
    It costs a small part of an estimate, above all where sums wait for themselves, or too few banks for many reads.
    """
    device = device_of(options)
    module = as_the_tool_reads(with_loops(design.ir), device.rules)
    tree = TreeOptions(
        device,
        options.get("auto_pipeline", False),
        dict(options.get("trips") or {}),
        unsafe_math=options.get("unsafe_math", False),
        bounds=True,
        bounded_by_ports=ports,
    )
    trees = Trees(module, tree)
    latency = trees.span(module.top).latency
    steps: dict[str, None] = {}
    most = 0
    found: list[PipelineBound] = []
    for spans in trees.spans.values():
        pipelines = [node for node in nodes(spans.tree.root) if isinstance(node, Pipeline)]
        steps |= dict.fromkeys(_banks(spans.tree, pipelines, tree.auto_pipeline))
        most = max([most, *map(_dsp, pipelines)])
        found += [_bound_of(spans.tree.name, node) for node in pipelines]
    return Bound(None if latency is None else math.floor(latency), tuple(steps), most, tuple(found))


def dsp_of(schedule: StaticSchedule, interval: int = 1) -> int:
    """The DSPs of the units with which a schedule can start as often, one in each cycle by default."""
    return sum(operator.dsp * count for operator, count in unit_limits(schedule.problem, interval).items())


def _dsp(node: Pipeline) -> int:
    interval = node.region.interval
    return dsp_of(node.region.schedule, interval if interval == 1 else _LONGER * interval)


def _bound_of(function: str, node: Pipeline) -> PipelineBound:
    view = node.loops[-1]
    return PipelineBound(function, view.nest, view.name, node.region.interval, dsp_of(node.region.schedule))


def _banks(tree: FunctionTree, pipelines: Sequence[Pipeline], auto_pipeline: bool) -> list[str]:
    """The partitions that would let each pipeline start as often as its recurrences do."""
    found = []
    for node in pipelines:
        done = node.region
        demands = [pressure.interval for array in done.accesses if (pressure := array.pressure()) is not None]
        if max(demands, default=1) <= done.interval:
            continue
        bound_by_ports = replace(done, schedule=rebound(done.schedule, max(demands)))
        names = tuple(tree.loop_name(view) for view in node.loops[-1].chain)
        asked = Question(tree, replace(node, region=bound_by_ports), names, auto_pipeline)
        proposal = relieve(asked, done.interval)
        steps = proposal.step.split("; ") if proposal is not None else []
        found += [step for step in steps if step.startswith("s.partition(")]
    return found
