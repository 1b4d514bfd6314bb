"""Critical path through stages that overlap: the latency of one run, with FIFOs that are deep enough."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from .span import Event, Span, Stream
from .stages import passed_on, put_into, sources_of

type Uses = tuple[int, int, int]  # the first and the last use of a stream, and the lag of its pipeline, in cycles


@dataclass(frozen=True, slots=True)
class StageShape:
    """The cycles of a stage if it never waits, and when it puts and gets what its links need."""

    length: int
    puts: dict[int, Uses]
    gets: dict[int, Uses]


@dataclass(frozen=True, slots=True)
class _Link:
    producer: int
    consumer: int
    stream: Stream | None  # that the consumer gets from; None: it waits for an array


class StagePath:
    """What stages wait for, whatever cycles they take: `length` follows it for stages of given shapes.

    It is what the overlap of stages (`stages.py`) takes for the latency where no FIFO is ever full. Stages that pass
    values round in a circle wait in the order of the text.
    """

    def __init__(self, parts: Sequence[Span]) -> None:
        links = []
        for number, (part, sources) in enumerate(zip(parts, sources_of(parts), strict=True)):
            for other in sources:
                puts = parts[other].ends.puts
                streams = [stream for stream in part.ends.gets if put_into(puts, stream) is not None]
                links += [_Link(other, number, stream) for stream in streams]
                if other < number and passed_on(parts[other], part):
                    links.append(_Link(other, number, None))
        order = _in_order(len(parts), links)
        self.order = list(range(len(parts))) if order is None else order
        self.links = [link for link in links if order is not None or link.producer < link.consumer]
        self.incoming = [[n for n, link in enumerate(self.links) if link.consumer == at] for at in range(len(parts))]

    def shape(self, number: int, span: Span) -> StageShape:
        """A stage that takes this span, in whole cycles. Its latency must be known."""
        assert span.latency is not None
        length, puts, gets = math.ceil(span.latency), {}, {}
        for n, link in enumerate(self.links):
            if link.stream is None:
                continue
            if link.producer == number and (put := put_into(span.ends.puts, link.stream)) is not None:
                puts[n] = _uses(put, length)
            if link.consumer == number:
                gets[n] = _uses(span.ends.gets[link.stream], length)
        return StageShape(length, puts, gets)

    def length(self, shapes: Sequence[StageShape]) -> int:
        """The cycles from the begin of the first stage to the end of the last one."""
        delays: list[_Delays] = [_Delays([])] * len(shapes)
        for number in self.order:
            needs = []
            for n in self.incoming[number]:
                other = shapes[(link := self.links[n]).producer]
                late = delays[link.producer]
                if link.stream is None:
                    needs.append((0, late.at(other.length)))
                    continue
                *made, behind = other.puts[n]
                *taken, lag = shapes[number].gets[n]
                needs += [
                    (get - lag, late.at(put - behind) + behind + 1 - lag)
                    for put, get in zip(made, taken, strict=True)
                ]
            delays[number] = _Delays(needs)
        return max((late.at(shape.length) for late, shape in zip(delays, shapes, strict=True)), default=0)


class _Delays:
    """By how much a stage is late at each of its cycles, from when it may do what waits."""

    def __init__(self, needs: Sequence[tuple[int, int]]) -> None:
        ordered = sorted(needs)
        self.cycles = [cycle for cycle, _ in ordered]
        self.late = list(accumulate((time - cycle for cycle, time in ordered), max, initial=0))

    def at(self, cycle: int) -> int:
        """When it does what it does in a cycle if it never waits."""
        return cycle + self.late[bisect_right(self.cycles, cycle)]


def _uses(event: Event, length: int) -> Uses:
    return math.floor(event.first), length - math.floor(event.tail), math.floor(event.lag)


def _in_order(count: int, links: Sequence[_Link]) -> list[int] | None:
    """The stages, each behind those that it takes elements from; None if some wait for one another in a circle."""
    before: list[set[int]] = [{link.producer for link in links if link.consumer == at} for at in range(count)]
    found: dict[int, None] = {}
    while len(found) < count:
        ready = [n for n in range(count) if n not in found and before[n] <= found.keys()]
        if not ready:
            return None
        found |= dict.fromkeys(ready)
    return list(found)
