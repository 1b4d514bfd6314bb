"""Times of many mappings at once that share a space-time mapping: overlap and contention, from inner loops outwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from math import inf, log, prod
from typing import Any

import numpy as np

from .program import TileNode, TileProgram, TileSegment
from .space import SpaceTime

_NORM = 4  # fits the simulator best
_STEADY = 1.0  # of the unevenness of channels stays where transfers of two steps overlap
_HELD_UP = 0.5  # of a burst of stores: cores do not end their steps at the same time
BEFORE = -1  # the level of what is loaded once, before all waves

type Numbers = np.ndarray[Any, np.dtype[np.float64]]  # one of each mapping
type Table = np.ndarray[Any, np.dtype[np.float64]]  # of each mapping and resource: a row of each mapping
type Key = tuple[int, bool]  # the level of a loop or the number of a segment; with two buffers


@dataclass(frozen=True, slots=True)
class TransferBurst:
    """Transfers that are asked for at once: cycles of resources, how late they end beside that.

    `spread` is the variance of the cycles of channels, by the places of tiles in them.
    """

    busy: Table
    late: Numbers
    spread: Numbers

    def __add__(self, other: TransferBurst) -> TransferBurst:
        return TransferBurst(self.busy + other.busy, np.maximum(self.late, other.late), self.spread + other.spread)

    def scaled(self, scale: float) -> TransferBurst:
        """The same, of more or fewer cores."""
        return TransferBurst(self.busy * scale, self.late, self.spread * scale)


@dataclass(frozen=True, slots=True)
class BatchTimes:
    """Something that runs: its time without the fill of pipelines, that fill, and the cycles of each resource.

    `first` are transfers into free buffers: they all start at once, before anything runs, and make a part of the fill.
    `patience` is how long others may hold up what it loads after its begin until it waits.
    """

    cycles: Numbers
    fill: Numbers
    busy: Table
    first: TransferBurst
    patience: Numbers

    def __add__(self, other: BatchTimes) -> BatchTimes:
        """One after the other."""
        patience = np.minimum(self.patience, self.cycles + other.patience)
        return BatchTimes(
            self.cycles + other.cycles, self.fill + other.fill, self.busy + other.busy, self.first + other.first,
            patience,
        )  # fmt: skip

    def scaled(self, scale: float) -> BatchTimes:
        """A part of it."""
        return BatchTimes(
            self.cycles * scale, self.fill * scale, self.busy * scale, self.first.scaled(scale), self.patience
        )


@dataclass(frozen=True)
class MappingBatch:
    """Mappings of one space-time mapping, by what their loads and stores cost.

    `loads` are those in the loop of a level, `stores` those of a segment, by whether they have two buffers; `compute`
    are the cycles of segments, `channels` which resources are channels, and `groups` in how many groups cores wait for
    one another only.
    """

    program: TileProgram
    space_time: SpaceTime
    compute: Mapping[int, float]
    channels: slice
    all_channels: int
    groups: Numbers
    loads: Mapping[Key, TransferBurst]
    stores: Mapping[Key, TransferBurst]
    none: TransferBurst

    def times(self) -> BatchTimes:
        """The time and the use of all resources of each mapping."""
        inner = self._ended(0.0)
        for share, scale in activities(self.space_time):
            inner += self._body(self.program.body, scale).scaled(share)
        direct = self._direct(self.program.body)
        for dim in reversed(self.space_time.waves):
            inner = self._loop(dim, self.space_time.wave_count(dim), inner, direct, 1.0)
            direct = ()
        once = self.loads.get((BEFORE, False), self.none)
        last = self._stored(direct, False, 1.0) + self._stored(direct, True, 1.0)
        busy = inner.busy + once.busy + last.busy
        waves = prod(self.space_time.wave_count(dim) for dim in range(len(self.space_time.grid)))
        full = self.space_time.active_cores * waves / prod(self.space_time.grid)  # the first wave, of the mean
        fill = inner.fill + self._time((once + inner.first).scaled(full))
        cycles = np.maximum(inner.cycles + self._time(last), busy.max(axis=1) - fill)
        return BatchTimes(cycles, fill, busy, self.none, inner.patience)

    def _body(self, nodes: Sequence[TileNode], scale: float) -> BatchTimes:
        found = self._ended(0.0)
        for node in nodes:
            if isinstance(node, TileSegment):
                found += self._ended(self.compute[node.number])
            else:
                step, direct = self._body(node.body, scale), self._direct(node.body)
                found += self._loop(node.level, node.mean, step, direct, scale)
        return found

    def _ended(self, cycles: float) -> BatchTimes:
        """Something that takes so long, and uses no resource."""
        zero = self.none.late
        return BatchTimes(zero + cycles, zero, self.none.busy, self.none, zero + inf)

    def _direct(self, nodes: Sequence[TileNode]) -> tuple[int, ...]:
        return tuple(node.number for node in nodes if isinstance(node, TileSegment))

    def _stored(self, segments: Sequence[int], overlaps: bool, scale: float) -> TransferBurst:
        bursts = (self.stores.get((number, overlaps), self.none) for number in segments)
        return reduce(TransferBurst.__add__, bursts, self.none).scaled(scale)

    def _busiest(self, busy: Table, spread: Numbers, share: float = 1.0) -> Numbers:
        """The cycles of the busiest resource, if tiles lie over channels with this variance."""
        # Half of the largest of so many: others go on meanwhile.
        uneven = np.sqrt(2 * log(self.all_channels) * spread) / 2
        return np.maximum(busy.max(axis=1), busy[:, self.channels].max(axis=1) + share * uneven)

    def _time(self, burst: TransferBurst) -> Numbers:
        """When all have ended."""
        return burst.late + self._busiest(burst.busy, burst.spread)

    def _waited(self, burst: TransferBurst) -> Numbers:
        """How long a group of cores waits for transfers: other groups ask for theirs while this one computes."""
        return burst.late + self._busiest(burst.busy, burst.spread) / self.groups

    def _bound(self, alone: Numbers, busy: Table, spread: Numbers) -> Numbers:
        """The time of a step in which a group needs `alone` by itself, and resources are busy for all groups.

        Groups that go their own ways queue at a resource that is nearly always busy: the norm is between the larger of
        both, which nothing reaches, and their sum, the time of groups that go in step.
        """
        in_step = np.maximum(alone, self._busiest(busy, spread, _STEADY))
        return np.where(self.groups == 1, in_step, (alone**_NORM + busy.max(axis=1) ** _NORM) ** (1 / _NORM))

    def _loop(
        self, level: int, trips: float, step: BatchTimes, segments: Sequence[int], scale: float
    ) -> BatchTimes:
        """`trips` steps: transfers with two buffers overlap with the step before or behind, others stand between."""
        ahead, serial = (self.loads.get((level, overlaps), self.none).scaled(scale) for overlaps in (True, False))
        leaving, behind = (self._stored(segments, overlaps, scale) for overlaps in (True, False))
        moved = ahead + serial + leaving + behind
        busy = step.busy + moved.busy
        # Tiles that leave hold up those that are asked for at the same time.
        held_up = _HELD_UP * np.maximum(0.0, self._waited(leaving) - step.patience)
        last = step.cycles + self._waited(serial) + self._waited(behind)
        alone = last + held_up
        # A buffer is free when a step ends, and its next tile is needed when the step after the following begins.
        steady = np.maximum.reduce(
            [self._bound(alone, busy, moved.spread), (self._waited(ahead) + alone) / 2, self._waited(leaving)]
        )
        # One step has no transfers beside it, (trips - 1) * steady + last; in the first, all groups ask at once.
        crowded = self._time(serial) - self._waited(serial)
        fill = step.fill + self._time(leaving) + crowded + last - steady
        patience = np.where(ahead.late > 0, np.maximum(0.0, alone - self._waited(ahead)), step.patience)
        patience = np.where(serial.late > 0, 0.0, np.minimum(patience, step.patience))
        return BatchTimes(trips * steady, fill, trips * busy, step.first + ahead, patience)


def activities(space_time: SpaceTime) -> list[tuple[float, float]]:
    """How the waves of a mapping differ: shares of all waves, and how many times the mean of cores have a program."""
    found = {1.0: 1.0}
    for dim, extent in enumerate(space_time.grid):
        count, across = space_time.wave_count(dim), min(space_time.across(dim), extent)
        mean, rest = extent / count, extent - (count - 1) * across
        ends = [(1 - 1 / count, across / mean), (1 / count, rest / mean)] if rest < across else [(1.0, 1.0)]
        more: dict[float, float] = {}
        for (scale, share), (part, times) in product(found.items(), ends):
            more[scale * times] = more.get(scale * times, 0.0) + share * part
        found = more
    return [(share, scale) for scale, share in found.items()]
