"""Assignment of stages to dies by integer linear programming: the fewest wires between dies, then the evenest filling.

Source: StreamTensor, section 5.3; Guo et al., AutoBridge (FPGA 2021).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np

from ..customize.fifo.dies import RESOURCES, DieGraph, DiePlan
from ..errors import ScheduleError

SECONDS = 60.0  # for each of the two programs


@dataclass(slots=True)
class _Program:
    """Variables with their costs and bounds, and rows `low <= sum of coefficients * variables <= high`."""

    costs: list[float] = field(default_factory=list)
    tops: list[float] = field(default_factory=list)
    integral: list[bool] = field(default_factory=list)
    rows: list[tuple[dict[int, float], float, float]] = field(default_factory=list)

    def variable(self, top: float, *, integral: bool) -> int:
        self.costs.append(0.0)
        self.tops.append(top)
        self.integral.append(integral)
        return len(self.costs) - 1

    def at_most(self, terms: Mapping[int, float], high: float) -> None:
        self.rows.append((dict(terms), -np.inf, high))

    def solved(self, seconds: float) -> tuple[np.ndarray[Any, Any] | None, bool, bool]:
        """The values of the variables, if any were found, whether they are the best, and whether there are none."""
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import coo_array

        places = [(row, column, x) for row, (terms, _, _) in enumerate(self.rows) for column, x in terms.items()]
        row, column, values = zip(*places, strict=True)
        matrix = coo_array((values, (row, column)), shape=(len(self.rows), len(self.costs)))
        lows, highs = ([one[k] for one in self.rows] for k in (1, 2))
        found = milp(
            self.costs, integrality=self.integral, bounds=Bounds(0, self.tops),
            constraints=LinearConstraint(matrix.tocsr(), lows, highs),
            options={"time_limit": seconds, "mip_rel_gap": 0},
        )  # fmt: skip
        return found.x, found.status == 0, found.status == 2


class _Assignment:
    """The program of a graph: `on[s, d]`, whether a stage is on a die, and `cut[k, b]`, whether a link passes between
    die `b` and the next."""

    def __init__(self, graph: DieGraph, fixed: Mapping[str, str]) -> None:
        self.graph = graph
        self.program = _Program()
        self.names = [stage.name for stage in graph.stages]
        self.dies = range(len(graph.dies))
        new = self.program.variable
        self.on = {key: new(1, integral=True) for key in product(range(len(self.names)), self.dies)}
        self.cut = {key: new(1, integral=False) for key in product(range(len(graph.links)), self.dies[:-1])}
        for s, name in enumerate(self.names):
            self.program.rows.append(({self.on[s, d]: 1.0 for d in self.dies}, 1, 1))
            for d in self.dies if name in fixed else ():
                if graph.dies[d].name != fixed[name]:
                    self.program.tops[self.on[s, d]] = 0
        for (k, b), cut in self.cut.items():
            ends = [self.names.index(name) for name in (graph.links[k].source, graph.links[k].sink)]
            for one, other in (ends, ends[::-1]):  # beyond the boundary is one end, and the other is not
                terms = {self.on[one, d]: 1.0 for d in self.dies[b + 1 :]}
                terms |= {self.on[other, d]: -1.0 for d in self.dies[b + 1 :]}
                self.program.at_most({**terms, cut: -1.0}, 0)

    def limit_room(self) -> None:
        """No die holds more than there is room for."""
        for d, key in product(self.dies, RESOURCES):
            self.program.at_most(self._needs(d, key), self.graph.dies[d].room[key])

    def limit_wires(self) -> None:
        """No more wires between two dies than there are."""
        for b in self.dies[:-1] if self.graph.wires else ():
            self.program.at_most(self._crossing(b), self.graph.wires)

    def limit_bits(self, most: int) -> None:
        """So many wires between dies at most."""
        self.program.at_most(self._bits(), most + 0.5)

    def cost_bits(self) -> None:
        """Seek the fewest wires between dies."""
        for variable, bits in self._bits().items():
            self.program.costs[variable] = bits

    def cost_share(self) -> None:
        """Seek the least part of a resource of a die that is taken."""
        share = self.program.variable(np.inf, integral=False)
        self.program.costs[share] = 1
        for d, key in product(self.dies, RESOURCES):
            there = self.graph.dies[d].there[key]
            if there:
                scaled = {v: need / there for v, need in self._needs(d, key).items()}
                self.program.at_most({**scaled, share: -1.0}, 0)
            else:
                self.program.at_most(self._needs(d, key), 0)

    def cost_wires(self) -> None:
        """Seek the fewest wires between the two dies that have most between them."""
        most = self.program.variable(np.inf, integral=False)
        self.program.costs[most] = 1
        for b in self.dies[:-1]:
            self.program.at_most({**self._crossing(b), most: -1.0}, 0)

    def solved(self, seconds: float) -> tuple[dict[str, str] | None, bool, bool]:
        """The die of each stage, whether it is the best assignment, and whether there is none."""
        values, is_best, is_none = self.program.solved(seconds)
        if values is None:
            return None, False, is_none
        found = {}
        for s, name in enumerate(self.names):
            found[name] = self.graph.dies[max(self.dies, key=lambda d: values[self.on[s, d]])].name
        return found, is_best, False

    def _needs(self, die: int, key: str) -> dict[int, float]:
        return {self.on[s, die]: float(stage.needs[key]) for s, stage in enumerate(self.graph.stages)}

    def _crossing(self, boundary: int) -> dict[int, float]:
        return {self.cut[k, boundary]: float(link.bits) for k, link in enumerate(self.graph.links)}

    def _bits(self) -> dict[int, float]:
        return {cut: float(self.graph.links[k].bits) for (k, _), cut in self.cut.items()}


def assigned(graph: DieGraph, fixed: Mapping[str, str], seconds: float = SECONDS) -> DiePlan:
    """The die of each stage, those of `fixed` as given: the fewest wires between dies, each counted once for each pair
    of neighbours that it lies between; of those assignments one whose fullest die is as empty as may be.

    Both are exact, if they are found within `seconds` each; `how` of the plan says whether. Raises ScheduleError if
    nothing fits, with the die and the resource that binds, and how much would be needed.
    """
    first = _Assignment(graph, fixed)
    first.limit_room()
    first.limit_wires()
    first.cost_bits()
    places, is_best, is_none = first.solved(seconds)
    if places is None:
        raise _obstacle(graph, fixed, seconds) if is_none else _too_late(seconds)
    bits = sum(graph.crossing(places))
    second = _Assignment(graph, fixed)
    second.limit_room()
    second.limit_wires()
    second.limit_bits(bits)
    second.cost_share()
    even, is_even, _ = second.solved(seconds)
    how = "of the fewest wires" if is_best else f"the best found in {seconds:g} s"
    plan = DiePlan(graph, places, how)
    if even is None:
        return plan
    evener = replace(plan, places=even, how=how if is_even else f"{how}, evenness not proved")
    return evener if evener.fullest[2] <= plan.fullest[2] else plan


def _too_late(seconds: float) -> ScheduleError:
    return ScheduleError(
        f"no places of all stages were found in {seconds:g} s", hint='place some by hand: fixed={"stage": "SLR0"}'
    )


def _obstacle(graph: DieGraph, fixed: Mapping[str, str], seconds: float) -> ScheduleError:
    """Why no assignment fits: a stage that no die holds, all together, one die, or the wires."""
    for stage, key in product(graph.stages, RESOURCES):
        allowed = [die for die in graph.dies if fixed.get(stage.name, die.name) == die.name]
        most = max(allowed, key=lambda die: die.room[key])
        if stage.needs[key] > most.room[key]:
            return ScheduleError(
                f"stage '{stage.name}' takes {stage.needs[key]:,} {key}, and {most.name} of {graph.target} has room "
                f"for {most.room_text(key)}",
                hint="make two stages of it, or let it take less: fewer copies of its loops, other memories",
            )
    for key in RESOURCES:
        needed, room = sum(stage.needs[key] for stage in graph.stages), sum(die.room[key] for die in graph.dies)
        if needed > room:
            rooms = ", ".join(f"{die.room[key]:,}" for die in graph.dies)
            return ScheduleError(
                f"the stages take {needed:,} {key} together, and the dies of {graph.target} have room for {room:,}: "
                f"{rooms}, {100 * graph.dies[0].fill:g} % of each",
                hint="let stages take less, or give a larger fill=",
            )
    tightest = _Assignment(graph, fixed)
    tightest.cost_share()
    places, _, _ = tightest.solved(seconds)
    if places is None:
        return _too_late(seconds)
    name, key, share = DiePlan(graph, places, "").fullest
    die = next(die for die in graph.dies if die.name == name)
    taken = graph.taken(places, name)[key]
    if taken > die.room[key]:
        return ScheduleError(
            f"stages cannot be dealt to the dies of {graph.target}: at best {name} has to hold {taken:,} {key}, "
            f"and has room for {die.room_text(key)}",
            hint=(f"give fill={np.ceil(100 * share) / 100:g}, or " if share <= 1 else "") + "make large stages smaller",
        )
    narrowest = _Assignment(graph, fixed)
    narrowest.limit_room()
    narrowest.cost_wires()
    places, _, _ = narrowest.solved(seconds)
    if places is None:
        return _too_late(seconds)
    crossing = graph.crossing(places)
    number = int(np.argmax(crossing))
    ends = f"{graph.dies[number].name} and {graph.dies[number + 1].name}"
    return ScheduleError(
        f"stages cannot be dealt to the dies of {graph.target}: at best {crossing[number]:,} wires lie between {ends}, "
        f"and there are {graph.wires:,}",
        hint="let fewer elements a cycle pass between stages, or give a larger fill=",
    )

