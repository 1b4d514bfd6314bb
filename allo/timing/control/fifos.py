"""Puts and gets of stages connected by FIFOs: the times of each, by longest paths between what they do.

A stage keeps its order: iterations that start `n` cycles after others start at least so much later, since a stage that
waits stands still. A pipeline goes on with the iterations that have passed the point where another one waits. Values
are put and got at even distances between the first and the last one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import lcm

from ..interval.walks import components, positive_cycle
from .span import Event

type Point = tuple[int, Fraction]  # a stage, and a cycle of it if it never waited, in which an iteration starts
type Place = tuple[Point, Fraction]  # what happens so many cycles after a point
type Cause = tuple[str, str]  # what is waited for: the kind and the name of a `Stall`
type Delay = tuple[float, float, Cause]  # by how much a stage is late before it waits and after that, and for what

_KINDS = ("empty", "full", "array", "circle", "")  # what is said first where there are several
UNKNOWN: Cause = ("", "")


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

    `held` is the part of all elements that the FIFOs hold on the way, `fifos` are those that may be full.
    """

    stages: frozenset[int]
    cycles: Fraction
    held: Fraction
    fifos: tuple[str, ...] = ()


class Waits:
    """Points in the run of stages of these lengths, and how many cycles lie between them at least."""

    def __init__(self, lengths: Sequence[Fraction]) -> None:
        self.lengths = list(lengths)
        self.points: dict[Point, None] = {}
        self.edges: list[tuple[Point, Point, Fraction, Cause]] = []
        self.times: dict[Point, Fraction] = {}
        self.floors: dict[Point, Fraction] = {}
        self.executed: Sequence[Sequence[Delay]] | None = None  # of each stage, if they were run element by element
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

    def wait(self, first: Place, second: Place, cycles: int | Fraction, cause: Cause = UNKNOWN) -> None:
        """Let the second come so many cycles behind the first."""
        self.points[first[0]] = self.points[second[0]] = None
        self.edges.append((first[0], second[0], cycles + first[1] - second[1], cause))

    def not_before(self, point: Point, time: Fraction) -> bool:
        """Let a point come at this time or later; whether that is later than `solve` had it."""
        self.points[point] = None
        self.floors[point] = max(self.floors.get(point, Fraction(0)), time)
        return time > self.times.get(point, Fraction(0))

    def stretch(self, channel: Channel, circle: Circle, numbers: Sequence[int]) -> None:
        """Let gets take as long as a circle of FIFOs, which passes on as many elements as it holds at once."""
        ends = [[self.token(channel, put, k) for k in (0, channel.count - 1)] for put in (True, False)]
        slower = max(last[0][1] - first[0][1] for first, last in ends) / max(1, channel.count - 1)
        full = channel.name in circle.fifos  # while others are empty, since values come late
        cause = ("circle", ", ".join(circle.fifos)) if full else ("empty", channel.name)
        for k in numbers:
            rounds, left = divmod(Fraction(k), circle.held * channel.count)
            cycles = rounds * circle.cycles + left * slower
            self.wait(ends[1][0], self.token(channel, False, k), cycles, cause)

    def token(self, channel: Channel, put: bool, k: int) -> Place:
        """The put or get number `k`."""
        stage, event = (channel.producer, channel.put) if put else (channel.consumer, channel.got)
        last = self.lengths[stage] - event.tail
        part = Fraction(k, channel.count - 1) if channel.count > 1 else Fraction(0)
        return (stage, event.first + (last - event.first) * part - event.lag), event.lag

    def solve(self) -> set[str] | None:
        """Find the earliest times; None, or the full FIFOs in a circle of points that wait for one another."""
        number = {point: n for n, point in enumerate(self.points)}
        exact = [point[1] for point in self.points] + [Fraction(cycles) for _, _, cycles, _ in self.edges]
        scale = lcm(*{value.denominator for value in (*exact, *self.floors.values())})  # whole numbers are faster
        edges = [(number[a], number[b], int(cycles * scale), cause) for a, b, cycles, cause in self.edges]
        order: dict[int, list[Point]] = {}
        for point in sorted(self.points):
            order.setdefault(point[0], []).append(point)
        for points in order.values():
            edges += [(number[a], number[b], int((b[1] - a[1]) * scale), UNKNOWN) for a, b in pairwise(points)]
        times = [int(self.floors.get(point, 0) * scale) for point in self.points]
        circle = _longest(times, edges)
        self.times = {point: Fraction(time, scale) for point, time in zip(self.points, times, strict=True)}
        return circle

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

    def stalls(self, stage: int) -> dict[Cause, float]:
        """The cycles that a stage waits after its begin, and for what."""
        begin, found = float(self.begin(stage)), dict[Cause, float]()
        for before, after, cause in self.delays(stage) if self.executed is None else self.executed[stage]:
            if after > begin:
                found[cause] = found.get(cause, 0.0) + after - max(before, begin)
        return found

    def delays(self, stage: int, until: Fraction | None = None) -> list[Delay]:
        """What makes a stage late on its way, or up to a cycle of it."""
        found: list[Delay] = []
        late = Fraction(0)
        for point in sorted(p for p in self.points if p[0] == stage and (until is None or p[1] <= until)):
            time = self.times[point]
            if time - point[1] > late:
                edges = (edge for edge in self.edges if edge[1] == point)
                causes = [cause for first, _, n, cause in edges if self.times[first] + n == time]
                cause = min(causes, key=lambda cause: _KINDS.index(cause[0]), default=UNKNOWN)
                found.append((float(late), float(time - point[1]), cause))
                late = time - point[1]
        return found


def _longest(times: list[int], edges: Sequence[tuple[int, int, int, Cause]]) -> set[str] | None:
    """Let times be as late as edges demand; None, or the full FIFOs in a circle of edges that never ends."""
    before: dict[int, tuple[int, Cause]] = {}
    last: int | None = None
    for _ in range(len(times) + 1):
        last = None
        for first, second, cycles, cause in edges:
            if times[first] + cycles > times[second]:
                times[second] = times[first] + cycles
                before[second] = (first, cause)
                last = second
        if last is None:
            return None
    assert last is not None
    for _ in times:
        last = before[last][0]
    found: set[str] = set()
    at = last
    while True:
        at, (kind, fifo) = before[at]
        found |= {fifo} if kind == "full" else set()
        if at == last:
            return found


def slowest_circles(count: int, channels: Sequence[Channel]) -> list[Circle]:
    """For all stages that wait for one another through FIFOs, the circle that takes longest for all elements."""
    waits: list[_Wait] = []
    for c in channels:
        waits.append(_Wait(c.producer, c.consumer, c.put.first + 1 - c.got.first, Fraction(0)))
        if c.depth < c.count:
            room = c.got.first + 1 - c.put.first
            waits.append(_Wait(c.consumer, c.producer, room, Fraction(c.depth, c.count), c.name))
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
    fifo: str = ""  # that is full


def _slowest(stages: frozenset[int], waits: Sequence[_Wait]) -> Circle | None:
    """The circle with the largest quotient of cycles and elements; None if one holds none, or none takes time."""
    best: Circle | None = None
    while True:
        quotient = best.cycles / best.held if best is not None else Fraction(0)
        lengths = [wait.cycles - quotient * wait.held for wait in waits]
        circle = positive_cycle(sorted(stages), waits, lengths)
        if circle is None:
            return best
        cycles = sum((wait.cycles for wait in circle), Fraction(0))
        held = sum((wait.held for wait in circle), Fraction(0))
        if not held:
            return None
        best = Circle(stages, cycles, held, tuple(sorted(wait.fifo for wait in circle if wait.fifo)))
