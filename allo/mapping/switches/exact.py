"""Exact ways of streams by constraint programming, or a proof that there are none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...target import Tile
from .flow import FlowSite, Link, StreamFlow, Tree, moved, tree_of

_EFFORT = 4.0  # of the solver's own units of time, so that its answer does not depend on the machine
_MOST = 20_000  # variables


class Unproved(Exception):
    """Why it is not known whether there are ways."""


def exact(
    flows: Sequence[StreamFlow], ports: Mapping[Link, int], sites: Sequence[FlowSite] = ()
) -> tuple[list[Tree], list[Tile]] | None:
    """A tree of links for each stream that keep to `ports`, and a tile for each site; None if there are none.

    Raises `Unproved`.
    """
    try:
        from ortools.sat.python import cp_model
    except ImportError:
        raise Unproved("a proof needs the constraint solver of ortools: pip install 'allo[exact]'") from None
    if len(ports) * sum(1 + len(flow.sinks) for flow in flows) > _MOST:
        raise Unproved("there are too many streams for a proof")
    model = cp_model.CpModel()
    used = [{link: model.new_bool_var("") for link in ports} for _ in flows]
    at = [{tile: model.new_bool_var("") for tile in site.tiles} for site in sites]
    _seated(model, sites, at)
    begins = {name: own for site, own in zip(sites, at, strict=True) for name in site.begins}
    ends = {name: own for site, own in zip(sites, at, strict=True) for name in site.ends}
    for flow, own in zip(flows, used, strict=True):
        begin: Mapping[Tile, Any] = begins.get(flow.name, {flow.source: 1})
        sinks = [ends[flow.name]] if flow.name in ends else [{sink: 1} for sink in flow.sinks]
        for sink in sinks:
            _one_way(model, begin, sink, own, len(sinks) == 1)
    for link, count in ports.items():
        model.add(sum(own[link] for own in used) <= count)
    solver = cp_model.CpSolver()
    solver.parameters.max_deterministic_time = _EFFORT
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 0
    status = solver.solve(model)
    if status == cp_model.INFEASIBLE:
        return None
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        raise Unproved("the constraint solver has found neither ways nor a proof in its time")
    tiles = [next(tile for tile, variable in own.items() if solver.value(variable)) for own in at]
    trees = [
        tree_of(flow.source, flow.sinks, [link for link, variable in own.items() if solver.value(variable)])
        for flow, own in zip(moved(flows, sites, tiles), used, strict=True)
    ]
    return trees, tiles


def _seated(model: Any, sites: Sequence[FlowSite], at: Sequence[Mapping[Tile, Any]]) -> None:
    """Each site at one of its tiles, and no more at a tile than it has room for."""
    needs: dict[tuple[Tile, str], list[Any]] = {}
    limits: dict[tuple[Tile, str], int] = {}
    for site, own in zip(sites, at, strict=True):
        model.add_exactly_one(own.values())
        for tile, variable in own.items():
            for name, need in site.needs.items():
                needs.setdefault((tile, name), []).append(need * variable)
                limits[tile, name] = site.limits[name]
    for place, taken in needs.items():
        model.add(sum(taken) <= limits[place])


def _one_way(
    model: Any, begin: Mapping[Tile, Any], end: Mapping[Tile, Any], used: Mapping[Link, Any], alone: bool
) -> None:
    """A way from where a stream begins to one of its ends, over links that it uses: all, if it has no other end."""
    own = used if alone else {link: model.new_bool_var("") for link in used}
    if own is not used:
        for link, variable in own.items():
            model.add_implication(variable, used[link])
    for tile in sorted({tile for tile, _ in used}):
        out = sum(variable for link, variable in own.items() if link[0] == tile)
        into = sum(variable for link, variable in own.items() if link[0].toward(link[1]) == tile)
        model.add(out - into == begin.get(tile, 0) - end.get(tile, 0))
