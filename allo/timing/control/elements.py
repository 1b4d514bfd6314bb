"""Simulation, element by element, of stages connected by FIFOs that put and get at uneven distances."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from .fifos import Cause, Channel, Delay, Waits
from .span import Event

MOST_ELEMENTS = 200_000  # of all FIFOs together: a fraction of a second

type Cycles = np.ndarray[tuple[Any, ...], np.dtype[np.floating[Any]]]


@dataclass(frozen=True, slots=True)
class ElementTimes:
    """When the elements of each channel are put and got, and how each stage gets late, at last by `late`.

    `stuck` are the channels that hold up stages which wait for one another for ever; the rest is void then.
    """

    puts: list[list[float]]
    gets: list[list[float]]
    late: list[float]
    delays: list[list[Delay]]
    stuck: tuple[Channel, ...] = ()

    def occupancy(self, number: int) -> int:
        """How many elements are in a FIFO at most."""
        puts = self.puts[number]
        return max([1, *(bisect_right(puts, got) - k for k, got in enumerate(self.gets[number]))])


def is_run(channels: Sequence[Channel]) -> bool:
    """Whether stages are run: if one of them puts or gets unevenly, and there are not too many elements."""
    uneven = any(event.times is not None for c in channels for event in (c.put, c.got))
    return uneven and sum(c.count for c in channels) <= MOST_ELEMENTS


def run(channels: Sequence[Channel], waits: Waits, *, bounded: bool) -> ElementTimes:
    """The run of stages that begin when `waits` says; FIFOs hold their depth if they are `bounded`."""
    stages = [_uses(channels, number, length) for number, length in enumerate(waits.lengths)]
    late = [float(waits.times[number, Fraction(0)]) for number in range(len(stages))]
    puts: list[list[float]] = [[] for _ in channels]
    gets: list[list[float]] = [[] for _ in channels]
    room = [channel.depth if bounded else channel.count for channel in channels]
    place = [0] * len(stages)
    delays: list[list[Delay]] = [waits.delays(number, Fraction(0)) for number in range(len(stages))]
    waiting = set(range(len(stages)))
    while waiting:
        number = waiting.pop()
        starts, uses = stages[number]
        while place[number] < len(uses):
            channel, is_put, lag = uses[place[number]]
            own, others = (puts[channel], gets[channel]) if is_put else (gets[channel], puts[channel])
            needed = len(own) - room[channel] if is_put else len(own)
            if needed >= len(others):
                break
            start = starts[place[number]] + late[number]
            if needed >= 0 and others[needed] + 1 - lag > start:
                longer, start = others[needed] + 1 - lag - start, others[needed] + 1 - lag
                cause = ("full" if is_put else "empty", channels[channel].name)
                _extend(delays[number], late[number], late[number] + longer, cause)
                late[number] += longer
            own.append(start + lag)
            place[number] += 1
            waiting.add(channels[channel].consumer if is_put else channels[channel].producer)
    full = [n for n, c in enumerate(channels) if len(puts[n]) < c.count and len(puts[n]) - len(gets[n]) >= room[n]]
    ended = all(at == len(uses) for at, (_, uses) in zip(place, stages, strict=True))
    left = full or [n for n, c in enumerate(channels) if len(gets[n]) < c.count]
    return ElementTimes(puts, gets, late, delays, () if ended else tuple(channels[n] for n in left))


def _extend(delays: list[Delay], before: float, after: float, cause: Cause) -> None:
    """Add a delay, which goes on with the last one if that has the same cause."""
    if delays and delays[-1][1:] == (before, cause):
        before = delays.pop()[0]
    delays.append((before, after, cause))


def hold(waits: Waits, channels: Sequence[Channel], found: ElementTimes) -> bool:
    """Let nothing happen before it does in a run; whether that is later for something than before."""
    later = False
    for number, channel in enumerate(channels):
        for put, times in ((True, found.puts[number]), (False, found.gets[number])):
            for k in (0, channel.count - 1):
                (stage, cycle), lag = waits.token(channel, put, k)
                later |= waits.not_before((stage, cycle), Fraction(times[k]) - lag)
    for number, length in enumerate(waits.lengths):
        later |= waits.not_before((number, length), length + Fraction(found.late[number]))
    return later


def _uses(
    channels: Sequence[Channel], stage: int, length: Fraction
) -> tuple[list[float], list[tuple[int, bool, float]]]:
    """The starts of the iterations in which a stage uses its channels, in order, and what it does there."""
    starts: list[Cycles] = []
    uses: list[tuple[int, bool, float]] = []
    for number, channel in enumerate(channels):
        for put, end, event in ((True, channel.producer, channel.put), (False, channel.consumer, channel.got)):
            if end == stage:
                starts.append(_starts(event, channel.count, length))
                uses += [(number, put, float(event.lag))] * channel.count
    if not starts:
        return [], []
    every = np.concatenate(starts)
    order = np.argsort(every, kind="stable")
    return every[order].tolist(), [uses[n] for n in order.tolist()]


def _starts(event: Event, count: int, length: Fraction) -> Cycles:
    """When the iterations start in which a stage uses a stream; gets are ahead of puts in an iteration of both."""
    whole = length - event.tail - event.first
    distances: Cycles
    if event.times is None:
        distances = np.arange(count) * (float(whole) / max(1, count - 1))
    else:
        distances = event.times + float(whole - int(event.times[-1]))
        distances[0] = 0.0
    return distances + float(event.first - event.lag)
