"""Search for the k best mappings of a tile program: bounds, dominated choices cut early, then the performance model."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np

from ...errors import TargetError
from .choices import (
    LoadChoice,
    TileMapping,
    all_mappings,
    footprint,
    load_choices,
    loads_of,
    nest_of,
    store_choices,
)
from .model import TileModel
from .program import TileProgram
from .space import SpaceTime, space_times
from .traffic import Busy, TrafficModel, mean_active

_WHOLE = 512  # combinations of choices for loads that are all looked at, in one space-time mapping
_WIDTH = 160  # combinations that go on from load to load where there are more


@dataclass(frozen=True)
class TileCandidate:
    """A mapping with its estimated cycles."""

    cycles: float
    mapping: TileMapping


@dataclass(frozen=True)
class TileSearch:
    """The best candidates, fastest first; how many mappings the space has that were not cut, and were estimated.

    Where loads are many, `whole` is false: some combinations of their choices were not considered.
    """

    best: tuple[TileCandidate, ...]
    considered: int
    estimated: int
    whole: bool


@dataclass(frozen=True)
class _Option:
    """A choice for one load: the bytes it needs, its use of resources in one issue and in all."""

    choice: LoadChoice
    bytes: int
    one: Busy
    all: Busy
    late: float


def search(program: TileProgram, traffic: TrafficModel, k: int, model: TileModel | None = None) -> TileSearch:
    """The `k` fastest mappings by the performance model. Raises TargetError if none fits the memory of a core."""
    kept = _Fastest(model or TileModel(program, traffic), k)
    parts = [_Combinations(kept.model, one) for one in space_times(program, traffic.routes.mesh.shape)]
    for part in parts:
        for bound, mapping in sorted(part.bounded(), key=lambda pair: pair[0]):
            kept.consider(bound, mapping)
    if not kept.heap:
        raise TargetError(_too_large(program, traffic), hint="make blocks smaller")
    if not (whole := all(part.whole for part in parts)):
        kept.improve(parts)
    return TileSearch(kept.best(), kept.considered, kept.estimated, whole)


class _Fastest:
    """The `k` fastest mappings of all that were considered."""

    def __init__(self, model: TileModel, k: int) -> None:
        self.model, self.k = model, k
        self.heap: list[tuple[float, int, TileMapping]] = []  # the slowest first
        self.considered = self.estimated = 0

    def consider(self, bound: float, mapping: TileMapping) -> None:
        """Estimate a mapping, unless its bound says that it is none of the fastest."""
        self.considered += 1
        if len(self.heap) == self.k and bound >= -self.heap[0][0]:
            return
        timed = self.model.timed(mapping)
        self.estimated += 1
        entry = -(timed.cycles + timed.fill), -self.estimated, mapping
        if len(self.heap) < self.k:
            heapq.heappush(self.heap, entry)
        elif entry[0] > self.heap[0][0]:
            heapq.heapreplace(self.heap, entry)

    def improve(self, parts: Sequence[_Combinations]) -> None:
        """Change one load after the other of the fastest mappings, as long as that makes one of them faster."""
        by_space = {part.space_time: part for part in parts}
        tried: set[TileMapping] = set()
        while fresh := [one.mapping for one in self.best() if one.mapping not in tried]:
            tried.add(fresh[0])
            known = {mapping for _, _, mapping in self.heap}
            for bound, mapping in by_space[fresh[0].space_time].neighbours(fresh[0]):
                if mapping not in known:
                    self.consider(bound, mapping)

    def best(self) -> tuple[TileCandidate, ...]:
        """The fastest first; of equals, what was found first."""
        ordered = sorted(self.heap, key=lambda entry: (-entry[0], -entry[1]))
        return tuple(TileCandidate(-cycles, mapping) for cycles, _, mapping in ordered)


def exhaustive(program: TileProgram, traffic: TrafficModel) -> Iterator[TileCandidate]:
    """All mappings of the space with their estimates, for small programs."""
    model = TileModel(program, traffic)
    for mapping in all_mappings(program, traffic.routes):
        timed = model.timed(mapping)
        yield TileCandidate(timed.cycles + timed.fill, mapping)


def _too_large(program: TileProgram, traffic: TrafficModel) -> str:
    tiles = sum(load.box.bytes for load in loads_of(program))
    return (
        f"no mapping of '{program.name}' fits: its arrays take {program.local} bytes of a core and one tile of each "
        f"load {tiles}, together more than the {traffic.local.size} bytes of '{traffic.local.name}'"
    )


class _Combinations:
    """The choices for all loads and stores of one space-time mapping that fit together, with bounds of their cycles.

    `whole` says whether all of them are listed. Where loads have too many choices together, they are taken one by one,
    and only the best combinations by the bound go on.
    """

    def __init__(self, model: TileModel, space_time: SpaceTime) -> None:
        self.model, self.space_time = model, space_time
        self.capacity = model.traffic.local.size
        loads = range(len(model.loads))
        self.options = [_options(model, space_time, number, self.capacity) for number in loads]
        self.whole = prod(map(len, self.options)) <= _WHOLE
        self.compute = model.compute(space_time)
        self.stored = np.zeros(model.traffic.size)
        per_byte = model.traffic.store(model.traffic.active(space_time)).busy * mean_active(space_time)
        for box, _, loops in model.stores:
            times = prod(loop.mean for loop in nest_of(space_time, loops))
            self.stored = self.stored + per_byte * (box.bytes * times)

    def bounded(self) -> Iterator[tuple[float, TileMapping]]:
        """The mappings that fit, with bounds from below of their cycles."""
        for chosen in product(*self.options) if self.whole else self._narrow():
            yield from self._stored(chosen)

    def _stored(self, chosen: Sequence[_Option]) -> Iterator[tuple[float, TileMapping]]:
        used = self.model.program.local + sum(option.bytes for option in chosen)
        if used > self.capacity:
            return
        bound = max(self.compute, float(sum((option.all for option in chosen), self.stored).max()))
        choices = tuple(option.choice for option in chosen)
        for buffers in product(*(store_choices(self.space_time, loops) for _, _, loops in self.model.stores)):
            extra = sum(box.bytes * (n - 1) for (box, _, _), n in zip(self.model.stores, buffers, strict=True))
            if used + extra <= self.capacity:
                yield bound, TileMapping(self.space_time, choices, buffers)

    def _narrow(self) -> list[tuple[_Option, ...]]:
        least = [min(option.bytes for option in options) for options in self.options if options]
        partial: list[tuple[tuple[_Option, ...], Busy, int, float]] = [((), self.stored, self.model.program.local, 0.0)]
        for number, options in enumerate(self.options):
            rest = sum(least[number + 1 :])
            partial = [
                ((*chosen, option), busy + option.all, used + option.bytes, late + option.late)
                for chosen, busy, used, late in partial
                for option in options
                if used + option.bytes + rest <= self.capacity
            ]
            partial.sort(key=lambda one: (max(self.compute, float(one[1].max())), one[3]))
            partial = partial[:_WIDTH]
        return [chosen for chosen, _, _, _ in partial]

    def neighbours(self, mapping: TileMapping) -> Iterator[tuple[float, TileMapping]]:
        """The mappings that differ in the choice for one load."""
        known = [{option.choice: option for option in options} for options in self.options]
        chosen = [options[choice] for options, choice in zip(known, mapping.loads, strict=True)]
        for number, options in enumerate(self.options):
            for option in options:
                if option is not chosen[number]:
                    yield from self._stored([*chosen[:number], option, *chosen[number + 1 :]])


def _options(model: TileModel, space_time: SpaceTime, number: int, capacity: int) -> list[_Option]:
    """The choices for a load without those that another one is no worse than in any respect."""
    load = model.loads[number]
    nest = nest_of(space_time, load.loops)
    made = []
    for choice in load_choices(load, space_time, model.traffic.routes, capacity):
        issued = model.issued(space_time, load, choice)
        size = footprint(load.box, nest, choice.level) * choice.buffers
        times = model.issues(space_time, load, choice.level)
        made.append(_Option(choice, size, issued.busy, issued.busy * times, issued.late))
    return _undominated(made)


def _undominated(options: Sequence[_Option]) -> list[_Option]:
    kept: list[_Option] = []
    for option in sorted(options, key=lambda one: (one.choice.level, float(one.all.sum()), one.late)):
        alike = (one for one in kept if _comparable(one.choice, option.choice))
        if not any(_no_worse(one, option) for one in alike):
            kept.append(option)
    return kept


def _no_worse(one: _Option, other: _Option) -> bool:
    return one.bytes <= other.bytes and one.late <= other.late and bool(np.all(one.one <= other.one))


def _comparable(one: LoadChoice, other: LoadChoice) -> bool:
    return one.level == other.level and one.buffers == other.buffers
