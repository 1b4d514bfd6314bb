"""Exact fusion of kernels by constraint programming: how many bytes can stay on the chip at most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..customize.fifo.fusion import FusionPlan
from ..errors import ToolError

MOST_KERNELS = 40


@dataclass(frozen=True, slots=True)
class FusionGap:
    """Bytes of arrays that stream to their readers: as planned, and at most; `proved` if that is certain."""

    found: int
    most: int
    best: FusionPlan
    proved: bool

    def __str__(self) -> str:
        how = "at most" if self.proved else "known to be possible"
        return f"{self.found:,} bytes stream, {self.most:,} {how}"


def fusion_gap(plan: FusionPlan, seconds: float = 10.0) -> FusionGap:
    """How far a plan is from the best one under its budget: groups whose converters fit, which depend on earlier ones.

    Raises ToolError without ortools (`allo[exact]`), ValueError for more than 40 kernels.
    """
    graph = plan.graph
    if len(graph.kernels) > MOST_KERNELS:
        raise ValueError(f"{len(graph.kernels)} kernels are too many for the exact search, which takes {MOST_KERNELS}")
    try:
        from ortools.sat.python import cp_model
    except ImportError as error:
        raise ToolError(
            "exact fusion needs the constraint solver of ortools, which is not installed",
            hint="pip install 'allo[exact]'",
        ) from error
    model = cp_model.CpModel()
    numbers = range(len(graph.kernels))
    inside = {(k, n): model.new_bool_var(f"{k} {n}") for k in graph.kernels for n in numbers}
    group = {k: sum(n * inside[k, n] for n in numbers) for k in graph.kernels}
    for k in graph.kernels:
        model.add_exactly_one(inside[k, n] for n in numbers)
    streams = []
    costs: dict[int, list[Any]] = {n: [] for n in numbers}
    for link in graph.links:
        model.add(group[link.producer] + (link.cost is None) <= group[link.consumer])
        if link.cost is None:
            continue
        both = [model.new_bool_var(f"{link.array} {link.consumer} {n}") for n in numbers]
        for n, is_here in enumerate(both):
            ends = inside[link.producer, n], inside[link.consumer, n]
            model.add_bool_and(ends).only_enforce_if(is_here)
            model.add_bool_or([is_here, *(end.negated() for end in ends)])
            costs[n].append(link.cost * is_here)
        streams.append(link.size * sum(both))
    for n in numbers:
        if plan.budget is not None:
            model.add(sum(costs[n]) <= plan.budget)
    for (k, n), variable in inside.items():
        model.add_hint(variable, plan.group[k] == n)
    model.maximize(sum(streams))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 0
    status = solver.solve(model)
    found = sum(link.size for link in plan.streamed)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return FusionGap(found, found, plan, proved=False)
    chosen = {k: next(n for n in numbers if solver.value(inside[k, n])) for k in graph.kernels}
    order = {n: place for place, n in enumerate(sorted(set(chosen.values())))}
    best = FusionPlan(graph, {k: order[n] for k, n in chosen.items()}, plan.budget)
    return FusionGap(found, sum(link.size for link in best.streamed), best, status == cp_model.OPTIMAL)
