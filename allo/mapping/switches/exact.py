"""Exact ways of streams by constraint programming, or a proof that there are none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .flow import Link, StreamFlow, Tree, tree_of

_EFFORT = 4.0  # of the solver's own units of time, so that its answer does not depend on the machine
_MOST = 20_000  # variables


class Unproved(Exception):
    """Why it is not known whether there are ways."""


def exact(flows: Sequence[StreamFlow], ports: Mapping[Link, int]) -> list[Tree] | None:
    """A tree of links for each stream that keep to `ports`; None if there are none. Raises `Unproved`."""
    try:
        from ortools.sat.python import cp_model
    except ImportError:
        raise Unproved("a proof needs the constraint solver of ortools: pip install 'allo[exact]'") from None
    if len(ports) * sum(1 + len(flow.sinks) for flow in flows) > _MOST:
        raise Unproved("there are too many streams for a proof")
    model = cp_model.CpModel()
    used = [{link: model.new_bool_var("") for link in ports} for _ in flows]
    for flow, own in zip(flows, used, strict=True):
        for sink in flow.sinks:
            _one_way(model, flow, sink, own)
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
    return [
        tree_of(flow.source, flow.sinks, [link for link, variable in own.items() if solver.value(variable)])
        for flow, own in zip(flows, used, strict=True)
    ]


def _one_way(model: Any, flow: StreamFlow, sink: Any, used: Mapping[Link, Any]) -> None:
    """A way from the source of a stream to one of its ends, over links that it uses."""
    own = {link: model.new_bool_var("") for link in used} if len(flow.sinks) > 1 else used
    if own is not used:
        for link, variable in own.items():
            model.add_implication(variable, used[link])
    tiles = {tile for tile, _ in used}
    for tile in sorted(tiles):
        out = sum(variable for link, variable in own.items() if link[0] == tile)
        into = sum(variable for link, variable in own.items() if link[0].toward(link[1]) == tile)
        model.add(out - into == (tile == flow.source) - (tile == sink))
