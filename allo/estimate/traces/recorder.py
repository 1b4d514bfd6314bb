"""Recorder of a static trace: processes, channels and events, as the text of a trace program says them."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...dataflow.trace import USES, StreamUse, Trace, TracedChannel, TracedProcess, with_ends
from ...ir.stream_facts import StreamFacts


class TooManyEvents(Exception):
    """A trace would have more events than it may: at least `events`."""

    def __init__(self, events: int) -> None:
        super().__init__(f"{events} events")
        self.events = events


@dataclass(slots=True)
class TraceRecorder:
    """What runs of a trace program say; `facts` and `bits` are of the operations that make streams, by number.

    Event codes are the number of the channel times `USES`, and the use.
    """

    facts: Sequence[StreamFacts]
    bits: Sequence[int]
    most: int
    processes: list[TracedProcess] = field(default_factory=list)
    channels: list[TracedChannel] = field(default_factory=list)
    streams: list[int] = field(default_factory=list)  # of each channel, what makes it
    codes: list[array[int]] = field(default_factory=list)
    cycles: list[array[int]] = field(default_factory=list)
    intervals: list[array[int]] = field(default_factory=list)  # of `Trace.steps`: none, or one for each event
    tasks: int = 0
    events: int = 0
    is_as_written: bool = True  # all puts and gets are in the order of the program
    _open: list[tuple[str, tuple[int, ...], int, str]] = field(default_factory=list)
    _regions: list[list[int]] = field(default_factory=list)

    def make(self, number: int, count: int, depth: int) -> int:
        """The first of as many FIFOs."""
        first, facts = len(self.channels), self.facts[number]
        for place in range(count):
            name = facts.element(place)
            of = facts.name if facts.extents else ""
            self.channels.append(TracedChannel(name, depth, self.bits[number], made=facts.made, element_of=of))
        self.streams += [number] * count
        return first

    def begin(self, name: str, position: Sequence[int], after: Sequence[int]) -> tuple[Callable[[int], None], ...]:
        """A process begins when some others have ended: what takes its codes, cycles and intervals."""
        whole = f"{name}[{', '.join(map(str, position))}]" if position else name
        self.tasks += 1
        return self._stretch(whole, tuple(after), self.tasks - 1, name if position else "")

    def _stretch(self, name: str, after: tuple[int, ...], task: int, of: str) -> tuple[Callable[[int], None], ...]:
        self._open.append((name, after, task, of))
        self.codes.append(array("q"))
        self.cycles.append(array("q"))
        self.intervals.append(array("q"))
        self.processes.append(TracedProcess(name, 0, after, task, position_of=of))
        return self.codes[-1].append, self.cycles[-1].append, self.intervals[-1].append

    def end(self, cycles: int) -> int:
        """The last process that has begun ends after so many cycles; its number."""
        name, after, task, of = self._open.pop()
        number = next(n for n in reversed(range(len(self.processes))) if self.processes[n].task == task)
        self.processes[number] = TracedProcess(name, cycles, after, task, position_of=of)
        self.events += len(self.codes[number])
        if self.events > self.most:
            raise TooManyEvents(self.events)
        return number

    def fork(self, cycles: int) -> int:
        """The process that runs starts a region: the number of its stretch before it."""
        name, _, task, of = self._open[-1]
        number = self.end(cycles)
        self._open.append((name, (number,), task, of))  # waits for the region
        return number

    def join(self, before: int, ended: Sequence[int]) -> tuple[Callable[[int], None], ...]:
        """The region has ended, and the process that started it goes on."""
        name, _, task, of = self._open.pop()
        return self._stretch(name, tuple(ended) or (before,), task, of)

    def mark(self) -> int:
        """Where the process that runs is."""
        return len(self.codes[-1])

    def in_order(self, mark: int) -> None:
        """What it has done since a mark, it does in the order of cycles."""
        codes, cycles = self.codes[-1], self.cycles[-1]
        order = sorted(range(mark, len(cycles)), key=cycles.__getitem__)
        self.is_as_written &= order == list(range(mark, len(cycles)))
        codes[mark:] = array("q", [codes[n] for n in order])
        cycles[mark:] = array("q", [cycles[n] for n in order])

    def trace(self) -> Trace:
        """What was recorded."""
        sizes = np.cumsum([0, *map(len, self.codes)])
        codes, cycles, intervals = (
            np.frombuffer(b"".join(own.tobytes() for own in rows), np.int64)
            for rows in (self.codes, self.cycles, self.intervals)
        )
        channel, uses = codes // USES, codes % USES
        is_put, looks = uses == StreamUse.PUT, uses == StreamUse.PEEK
        channels = with_ends(self.channels, sizes, channel, is_put)
        return Trace(
            tuple(self.processes), channels, sizes, channel, is_put, cycles,
            intervals if len(intervals) else None, looks if looks.any() else None,
        )  # fmt: skip
