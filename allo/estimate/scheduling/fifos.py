"""Puts and gets of stages connected by FIFOs: the times of each, by longest paths between what they do.

A stage keeps its order: iterations that start `n` cycles after others start at least so much later, since a stage that
waits stands still. A pipeline goes on with the iterations that have passed the point where another one waits. Values
are put and got at even distances between the first and the last one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from .span import Event
from .walks import components

type Point = tuple[int, Fraction]  # a stage, and a cycle of it if it never waited, in which an iteration starts
type Place = tuple[Point, Fraction]  # what happens so many cycles after a point


@dataclass(frozen=True, slots=True)
class Channel:
    """A FIFO of `depth` elements through which `count` elements go from one stage to another."""

    name: str
    producer: int
    consumer: int
    put: Event
    got: Event
    count: int
    depth: int


@dataclass(frozen=True, slots=True)
class Circle:
    """Stages that wait for one another: cycles until a value, and the room for another one, have gone round.

    `held` is the part of all elements that the FIFOs hold on the way.
    """

    stages: frozenset[int]
    cycles: Fraction
    held: Fraction


class Waits:
    """Points in the run of stages of these lengths, and how many cycles lie between them at least."""

    def __init__(self, lengths: Sequence[Fraction]) -> None:
        self.lengths = list(lengths)
        self.points: dict[Point, None] = {}
        self.edges: list[tuple[Point, Point, Fraction, str]] = []
        self.times: dict[Point, Fraction] = {}
        self.floors: dict[Point, Fraction] = {}
        for number, length in enumerate(self.lengths):
            self.node(number, Fraction(0))
            self.node(number, length)

    def node(self, stage: int, cycle: Fraction, lag: Fraction = Fraction(0)) -> Place:
        """What a stage does in a cycle, `lag` cycles after its iteration has started."""
        point = (stage, cycle - lag)
        self.points[point] = None
        return point, lag

    def uses(self, stage: int, event: Event) -> tuple[Place, Place]:
        """The first and the last use of a stream."""
        last = self.lengths[stage] - event.tail
        return self.node(stage, event.first, event.lag), self.node(stage, last, event.lag)

    def wait(self, first: Place, second: Place, cycles: int | Fraction, fifo: str = "") -> None:
        """Let the second come so many cycles behind the first; because of a FIFO that is full, if that is named."""
        self.points[first[0]] = self.points[second[0]] = None
        self.edges.append((first[0], second[0], cycles + first[1] - second[1], fifo))

    def not_before(self, point: Point, time: Fraction) -> bool:
        """Let a point come at this time or later; whether that is later than `solve` had it."""
        self.points[point] = None
        self.floors[point] = max(self.floors.get(point, Fraction(0)), time)
        return time > self.times.get(point, Fraction(0))

    def stretch(self, channel: Channel, circle: Circle) -> None:
        """Let puts and gets take as long as a circle of FIFOs, which passes on as many elements as it holds at once."""
        rounds, left = divmod(Fraction(channel.count - 1), circle.held * channel.count)
        ends = [[self.token(channel, put, k) for k in (0, channel.count - 1)] for put in (True, False)]
        slower = max(last[0][1] - first[0][1] for first, last in ends)
        for first, last in ends:
            self.wait(first, last, rounds * circle.cycles + left * slower / max(1, channel.count - 1))

    def token(self, channel: Channel, put: bool, k: int) -> Place:
        """The put or get number `k`."""
        stage, event = (channel.producer, channel.put) if put else (channel.consumer, channel.got)
        last = self.lengths[stage] - event.tail
        part = Fraction(k, channel.count - 1) if channel.count > 1 else Fraction(0)
        return (stage, event.first + (last - event.first) * part - event.lag), event.lag

    def solve(self) -> set[str] | None:
        """Find the earliest times; None, or the FIFOs in a circle of points that wait for one another."""
        edges = [*self.edges]
        order: dict[int, list[Point]] = {}
        for point in sorted(self.points):
            order.setdefault(point[0], []).append(point)
        for points in order.values():
            edges += [(a, b, b[1] - a[1], "") for a, b in pairwise(points)]
        self.times = {point: self.floors.get(point, Fraction(0)) for point in self.points}
        before: dict[Point, tuple[Point, str]] = {}
        for _ in range(len(self.points) + 1):
            last: Point | None = None
            for first, second, cycles, fifo in edges:
                if self.times[first] + cycles > self.times[second]:
                    self.times[second] = self.times[first] + cycles
                    before[second] = (first, fifo)
                    last = second
            if last is None:
                return None
        assert last is not None
        for _ in self.points:
            last = before[last][0]
        found: set[str] = set()
        at = last
        while True:
            at, fifo = before[at]
            found |= {fifo} if fifo else set()
            if at == last:
                return found

    def at(self, place: Place) -> Fraction:
        """When something happens, after `solve`."""
        return self.times[place[0]] + place[1]

    def begin(self, stage: int) -> Fraction:
        """When a stage begins at the latest so that it does nothing late."""
        own = {c: t for (n, c), t in self.times.items() if n == stage}
        return min((t - c for c, t in own.items() if c), default=own[Fraction(0)])

    def end(self, stage: int) -> Fraction:
        """When a stage ends."""
        return self.times[stage, self.lengths[stage]]


def occupancy(channel: Channel, free: Waits) -> int:
    """How many elements are in a FIFO at most if it is deep enough."""
    puts, gets = ([free.at(free.token(channel, put, k)) for k in (0, channel.count - 1)] for put in (True, False))
    before_first = _number(channel.count, puts[0], puts[1], gets[0])
    behind_last = channel.count - _number(channel.count, gets[0], gets[1], puts[1])
    return max(before_first, behind_last, 1)


def _number(count: int, first: Fraction, last: Fraction, time: Fraction) -> int:
    """How many of `count` events between `first` and `last` have happened at `time`."""
    if time < first:
        return 0
    if time >= last or count == 1:
        return count
    return min(count, math.floor((time - first) * (count - 1) / (last - first)) + 1)


def too_shallow(waits: Waits, channels: Sequence[Channel]) -> None:
    """Let puts wait for the gets that make room, at the points where stages begin or end to use a FIFO."""
    for channel in channels:
        numbers = _numbers(channel, channels, waits)
        for k in sorted(numbers):
            waits.wait(waits.token(channel, True, k), waits.token(channel, False, k), 1)
            if k >= channel.depth:
                made = waits.token(channel, False, k - channel.depth)
                waits.wait(made, waits.token(channel, True, k), 1, channel.name)


def _numbers(channel: Channel, channels: Sequence[Channel], waits: Waits) -> set[int]:
    """The elements that are looked at: those that pass when an end of the FIFO begins or ends something else."""
    found = {0, channel.count - 1}
    for put in (True, False):
        stage = channel.producer if put else channel.consumer
        first, last = (waits.token(channel, put, k)[0][1] for k in (0, channel.count - 1))
        for other in channels:
            for way, end in ((True, other.producer), (False, other.consumer)):
                if end == stage:
                    for k in (0, other.count - 1):
                        number = _number(channel.count, first, last, waits.token(other, way, k)[0][1])
                        found |= {number - 1, number}
    found |= {k + shift for k in found for shift in (channel.depth, -channel.depth)}
    return {k for k in found if 0 <= k < channel.count}


def slowest_circles(count: int, channels: Sequence[Channel]) -> list[Circle]:
    """For all stages that wait for one another through FIFOs, the circle that takes longest for all elements."""
    waits: list[_Wait] = []
    for c in channels:
        waits.append(_Wait(c.producer, c.consumer, c.put.first + 1 - c.got.first, Fraction(0)))
        if c.depth < c.count:
            room = c.got.first + 1 - c.put.first
            waits.append(_Wait(c.consumer, c.producer, room, Fraction(c.depth, c.count)))
    found = []
    for members in components(count, [(wait.source, wait.sink) for wait in waits]):
        inside = [wait for wait in waits if wait.source in members and wait.sink in members]
        circle = _slowest(frozenset(members), inside)
        if circle is not None:
            found.append(circle)
    return found


@dataclass(frozen=True, slots=True)
class _Wait:
    source: int
    sink: int
    cycles: Fraction
    held: Fraction


def _slowest(stages: frozenset[int], waits: Sequence[_Wait]) -> Circle | None:
    """The circle with the largest quotient of cycles and elements; None if one holds none, or none takes time."""
    best: Circle | None = None
    while True:
        quotient = best.cycles / best.held if best is not None else Fraction(0)
        distance = dict.fromkeys(stages, Fraction(0))
        before: dict[int, _Wait] = {}
        last = None
        for _ in range(len(stages) + 1):
            last = None
            for wait in waits:
                reached = distance[wait.source] + wait.cycles - quotient * wait.held
                if reached > distance[wait.sink]:
                    distance[wait.sink], before[wait.sink], last = reached, wait, wait.sink
            if last is None:
                return best
        assert last is not None
        for _ in stages:
            last = before[last].source
        cycles = held = Fraction(0)
        at = last
        while True:
            cycles, held, at = cycles + before[at].cycles, held + before[at].held, before[at].source
            if at == last:
                break
        if not held:
            return None
        best = Circle(stages, cycles, held)
