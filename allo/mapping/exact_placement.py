"""Exact placement of few cores by constraint programming: how many streams need a DMA engine at least."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import ToolError
from ..target import Tile
from .place import Placement


@dataclass(frozen=True, slots=True)
class PlacementGap:
    """Streams between cores that share no memory: as placed, and at least; `proved` if that is certain."""

    found: int
    least: int
    proved: bool

    def __str__(self) -> str:
        how = "at least" if self.proved else "known to be possible"
        return f"{self.found} streams are moved by DMA engines of cores, {self.least} {how}"


def placement_gap(placement: Placement, tiles: tuple[Tile, ...], seconds: float = 10.0) -> PlacementGap:
    """How far a placement on `tiles` is from the best one. Raises ToolError without ortools (`allo[exact]`)."""
    try:
        from ortools.sat.python import cp_model
    except ImportError as error:
        raise ToolError(
            "exact placements need the constraint solver of ortools, which is not installed",
            hint="pip install 'allo[exact]'",
        ) from error
    mapping, found = placement.mapping, placement.distant()
    home = {node.name: core.name for core in mapping.cores for node in core.nodes}
    model = cp_model.CpModel()
    on = {(c.name, t): model.new_bool_var(f"{c.name} {t}") for c in mapping.cores for t in tiles}
    for core in mapping.cores:
        model.add_exactly_one(on[core.name, tile] for tile in tiles)
    for tile in tiles:
        model.add_at_most_one(on[core.name, tile] for core in mapping.cores)
    apart, shared = [], placement.array.shared_memory
    for number, stream in enumerate(mapping.graph.streams):
        source, sink = home[stream.producer], home[stream.consumer]
        if source == sink:
            continue
        far = model.new_bool_var(f"far {number}")
        for tile in tiles:
            near = [on[sink, other] for other in tiles if shared(tile, other) is not None]
            model.add(sum(near) + far >= on[source, tile])
        apart.append(far)
    for (name, tile), variable in on.items():
        model.add_hint(variable, placement.tile(name) == tile)
    model.minimize(sum(apart))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 0
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return PlacementGap(found, found, False)
    return PlacementGap(found, round(solver.objective_value), status == cp_model.OPTIMAL)
