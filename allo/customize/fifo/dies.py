"""Dies of a chip for the stages of a dataflow region, as `place_stages` returns them: who is where, and what crosses.

Source: StreamTensor, section 5.3 (graph partitioning).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from ...picture import aligned, preformatted

_FEW = 4  # names of stages in a row of a table
RESOURCES = ("DSP", "BRAM18", "URAM", "LUT", "FF")


@dataclass(frozen=True, slots=True)
class StageNeed:
    """A stage: a loop nest by its name, or all calls of a function, and what it takes of each of `RESOURCES`.

    The memory of an array or a FIFO between stages is part of the stage that reads it first.
    """

    name: str
    needs: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class StageWires:
    """What two stages have between them: `bits` wires of a FIFO or of the ports of an array."""

    array: str
    kind: str  # "FIFO" or "array"
    source: str
    sink: str
    bits: int


@dataclass(frozen=True, slots=True)
class DieRoom:
    """A die, and what a design may take of each of `RESOURCES`: the part `fill` of what there is."""

    name: str
    there: Mapping[str, int]
    fill: float

    @property
    def room(self) -> dict[str, int]:
        return {key: int(count * self.fill + 1e-9) for key, count in self.there.items()}

    def room_text(self, key: str) -> str:
        """The room for a resource, and of how much it is a part."""
        return f"{self.room[key]:,}, {100 * self.fill:g} % of {self.there[key]:,}"


@dataclass(frozen=True, slots=True)
class DieGraph:
    """Stages with the wires between them, and the dies, side by side in their order, with at most `wires` wires
    between two of them (0: it is not known how many there are)."""

    function: str
    target: str
    stages: tuple[StageNeed, ...]
    links: tuple[StageWires, ...]
    dies: tuple[DieRoom, ...]
    wires: int

    def crossing(self, places: Mapping[str, str]) -> list[int]:
        """The wires between each die and the next one."""
        number = {die.name: n for n, die in enumerate(self.dies)}
        found = [0] * (len(self.dies) - 1)
        for link in self.links:
            low, high = sorted((number[places[link.source]], number[places[link.sink]]))
            for n in range(low, high):
                found[n] += link.bits
        return found

    def taken(self, places: Mapping[str, str], die: str) -> dict[str, int]:
        """What the stages on a die take together."""
        on = [stage for stage in self.stages if places[stage.name] == die]
        return {key: sum(stage.needs[key] for stage in on) for key in RESOURCES}

    def excess(self, places: Mapping[str, str]) -> str:
        """What does not fit with these places, of the first die or pair of dies with too much; empty if all does."""
        for die in self.dies:
            for key, taken in self.taken(places, die.name).items():
                if taken > die.room[key]:
                    return f"{die.name} would hold {taken:,} {key}, and has room for {die.room_text(key)}"
        for (one, other), bits in zip(pairwise(self.dies), self.crossing(places), strict=True):
            if bits > self.wires > 0:
                return f"{bits:,} wires would lie between {one.name} and {other.name}, and there are {self.wires:,}"
        return ""


@dataclass(frozen=True, slots=True)
class DiePlan:
    """Dies of stages. Resources are *estimated*; `how` says whether places were given, or are the best ones."""

    graph: DieGraph
    places: Mapping[str, str]
    how: str

    @property
    def bits(self) -> int:
        """The wires between dies: those of each FIFO and array times the dies that they pass."""
        return sum(self.graph.crossing(self.places))

    @property
    def crossings(self) -> tuple[StageWires, ...]:
        """What lies between stages on several dies."""
        return tuple(link for link in self.graph.links if self.places[link.source] != self.places[link.sink])

    @property
    def fullest(self) -> tuple[str, str, float]:
        """The die and the resource of which the largest part is taken, and that part of what is there."""
        shares = [
            (taken / die.there[key], die.name, key)
            for die in self.graph.dies
            for key, taken in self.graph.taken(self.places, die.name).items()
            if taken and die.there[key]
        ]
        share, die, key = max(shares, key=lambda one: one[0], default=(0.0, self.graph.dies[0].name, RESOURCES[0]))
        return die, key, share

    def tables(self) -> list[list[tuple[str, ...]]]:
        """What is on each die, what crosses, and the wires between dies: tables with a header each."""
        dies: list[tuple[str, ...]] = [("die", "stages", *RESOURCES)]
        for die in self.graph.dies:
            on = [stage.name for stage in self.graph.stages if self.places[stage.name] == die.name]
            taken = self.graph.taken(self.places, die.name)
            shares = [f"{taken[key]:,}{_percent(taken[key], die.there[key])}" for key in RESOURCES]
            dies.append((die.name, _listed(on), *shares))
        if not self.crossings:
            return [dies]
        cut: list[tuple[str, ...]] = [("crosses", "is", "from", "to", "wires")]
        for link in self.crossings:
            ends = (f"{stage} on {self.places[stage]}" for stage in (link.source, link.sink))
            cut.append((link.array, link.kind, *ends, f"{link.bits:,}"))
        between: list[tuple[str, ...]] = [("between", "wires", "there are")]
        there = f"{self.graph.wires:,}" if self.graph.wires else "not known"
        for (one, other), bits in zip(pairwise(self.graph.dies), self.graph.crossing(self.places), strict=True):
            between.append((f"{one.name} and {other.name}", f"{bits:,}", there))
        return [dies, cut, between]

    @property
    def head(self) -> str:
        """One line on the whole."""
        die, key, share = self.fullest
        where = f"{self.graph.function} on dies of {self.graph.target}"
        return f"{where}, {self.how}: {self.bits:,} between dies; {100 * share:.3g} % of the {key} of {die}, estimated"

    def __str__(self) -> str:
        return "\n".join([self.head, *(line for table in self.tables() for line in ("", *aligned(table)))])

    def _repr_html_(self) -> str:
        return preformatted(str(self))


def _listed(stages: list[str]) -> str:
    """Few names, or the first and last of many, which mostly follow one another."""
    if len(stages) <= _FEW:
        return ", ".join(stages) or "none"
    return f"{stages[0]} ... {stages[-1]}, {len(stages)} stages"


def _percent(taken: int, there: int) -> str:
    return f" ({100 * taken / there:.3g} %)" if taken and there else ""
