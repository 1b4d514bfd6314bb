"""Search for the k best mappings of a tile program: bounds, dominated choices cut early, then the performance model."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

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
    stores_of,
)
from .model import TileModel
from .program import TileProgram
from .space import SpaceTime, space_times
from .traffic import Busy, TrafficModel, mean_active


@dataclass(frozen=True)
class TileCandidate:
    """A mapping with its estimated cycles."""

    cycles: float
    mapping: TileMapping


@dataclass(frozen=True)
class TileSearch:
    """The best candidates, fastest first; how many mappings the space has that were not cut, and were estimated."""

    best: tuple[TileCandidate, ...]
    considered: int
    estimated: int


@dataclass(frozen=True)
class _Option:
    """A choice for one load: the bytes it needs, its use of resources in one issue and in all."""

    choice: LoadChoice
    bytes: int
    one: Busy
    all: Busy
    late: float


def search(program: TileProgram, traffic: TrafficModel, k: int) -> TileSearch:
    """The `k` fastest mappings by the performance model. Raises TargetError if none fits the memory of a core."""
    model = TileModel(program, traffic)
    capacity = traffic.local.size
    heap: list[tuple[float, int, TileMapping]] = []  # the slowest of the best first
    considered = estimated = 0
    for space_time in space_times(program, traffic.routes.mesh.shape):
        for bound, mapping in sorted(_bounded(model, space_time, capacity), key=lambda pair: pair[0]):
            considered += 1
            if len(heap) == k and bound >= -heap[0][0]:
                continue
            timed = model.timed(mapping)
            estimated += 1
            entry = -(timed.cycles + timed.fill), -estimated, mapping
            if len(heap) < k:
                heapq.heappush(heap, entry)
            elif entry[0] > heap[0][0]:
                heapq.heapreplace(heap, entry)
    if not heap:
        raise TargetError(_too_large(program, traffic), hint="make blocks smaller")
    best = sorted(heap, key=lambda entry: (-entry[0], -entry[1]))
    return TileSearch(tuple(TileCandidate(-cycles, mapping) for cycles, _, mapping in best), considered, estimated)


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


def _bounded(model: TileModel, space_time: SpaceTime, capacity: int) -> list[tuple[float, TileMapping]]:
    """The mappings that fit, with bounds from below of their cycles."""
    program, traffic = model.program, model.traffic
    options = [_options(model, space_time, number, capacity) for number in range(len(model.loads))]
    stores = [store_choices(space_time, loops) for _, _, loops in stores_of(program)]
    stored = np.zeros(traffic.size)
    per_byte = traffic.store(traffic.active(space_time)).busy * mean_active(space_time)
    for box, _, loops in model.stores:
        times = float(np.prod([loop.mean for loop in nest_of(space_time, loops)] or [1.0]))
        stored = stored + per_byte * (box.bytes * times)
    compute = model.compute(space_time)
    found = []
    for chosen in product(*options):
        used = program.local + sum(option.bytes for option in chosen)
        if used > capacity:
            continue
        busy = sum((option.all for option in chosen), stored)
        bound = max(compute, float(busy.max()))
        for buffers in product(*stores):
            extra = sum(box.bytes * (n - 1) for (box, _, _), n in zip(model.stores, buffers, strict=True))
            if used + extra <= capacity:
                choices = tuple(option.choice for option in chosen)
                found.append((bound, TileMapping(space_time, choices, buffers)))
    return found


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
