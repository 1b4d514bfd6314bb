"""Traces: puts, gets and looks of each process of a dataflow design, in order, with the cycles if nothing waits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum

import numpy as np

from ..errors import Location

AT_ONCE, NEVER = -1, -2  # of an event that waits for no other one, and for one that does not exist


class StreamUse(IntEnum):
    """What is done at a stream, as the run-time library notes it (`Trace.h`)."""

    GET = 0
    PUT = 1
    PEEK = 2  # waits for the element that the next get takes, and leaves it there


USES = len(StreamUse)

type Numbers = np.ndarray[tuple[int], np.dtype[np.int64]]
type Flags = np.ndarray[tuple[int], np.dtype[np.bool_]]


@dataclass(frozen=True, slots=True)
class TracedChannel:
    """A FIFO of `depth` elements of `bits` bits (depth 0: any number), from one process to another.

    `producer` and `consumer` are numbers of processes, those of the first put and the first get; None without any.
    `element_of` is the array of streams that it is in.
    """

    name: str
    depth: int
    bits: int = 32
    producer: int | None = None
    consumer: int | None = None
    made: Location | None = None
    element_of: str = ""


@dataclass(frozen=True, slots=True)
class TracedProcess:
    """What runs in its own time: a task at a position, or a stretch of a function between the regions that it starts.

    It takes `length` cycles if it never waits, and begins when the processes `after` have ended. Processes of one
    `task`, a number that they share, run one after the other. `position_of` is the task whose grid it is in.
    """

    name: str
    length: int
    after: tuple[int, ...] = ()
    task: int | None = None
    line: Location | None = None
    position_of: str = ""


@dataclass(slots=True)
class RecordedProcess:
    """A process whose puts and gets are written down in order, in the cycles that they have if it never waits."""

    name: str
    kind: str
    cycle: int = 0
    events: list[tuple[int, bool, int]] = field(default_factory=list)

    def get(self, channel: int) -> None:
        self.events.append((channel, False, self.cycle))

    def put(self, channel: int, times: int = 1, later: int = 0) -> None:
        """Puts that arrive so many cycles later, for which the process does not wait."""
        self.events += [(channel, True, self.cycle + later)] * times


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """All puts and gets of a run: event `n` is a put into `channel[n]`, or a get out of it, in cycle `cycle[n]`.

    Events of process `p` are those from `bounds[p]` up to `bounds[p + 1]`, in the order in which it does them; cycles
    count from its begin. In a pipeline they may go back: the next iteration begins before the last one has put.

    With `steps`, an event that waits tries again after as many cycles, and holds up what comes after it in the order of
    its process only from when it waits on. Without, it makes all of that later.

    Events that are no puts take an element, but for `looks`, which wait for the one that the next get takes.
    """

    processes: tuple[TracedProcess, ...]
    channels: tuple[TracedChannel, ...]
    bounds: Numbers
    channel: Numbers
    is_put: Flags
    cycle: Numbers
    steps: Numbers | None = None
    looks: Flags | None = None
    puts: tuple[Numbers, ...] = field(init=False, repr=False)  # of each channel, the numbers of its events
    gets: tuple[Numbers, ...] = field(init=False, repr=False)
    made: Numbers = field(init=False, repr=False)  # of each get and look, the put of its element: `NEVER` without one

    def __post_init__(self) -> None:
        count = len(self.channels)
        codes = self.channel * USES + self.is_put
        if self.looks is not None:
            codes[self.looks] += StreamUse.PEEK
        order = np.argsort(codes, kind="stable")
        sizes = np.bincount(codes, minlength=USES * count)
        ends = np.split(order, np.cumsum(sizes)[:-1]) if count else []
        object.__setattr__(self, "gets", tuple(ends[StreamUse.GET :: USES]))
        object.__setattr__(self, "puts", tuple(ends[StreamUse.PUT :: USES]))
        made = np.full(len(self), AT_ONCE, np.int64)
        for puts, gets, looks in zip(self.puts, self.gets, ends[StreamUse.PEEK :: USES], strict=True):
            made[gets] = padded(puts, len(gets))
            made[looks] = padded(puts, len(gets) + 1)[np.searchsorted(gets, looks)]
        object.__setattr__(self, "made", made)

    def __len__(self) -> int:
        return len(self.cycle)

    @property
    def owner(self) -> Numbers:
        """The process of each event."""
        return np.repeat(np.arange(len(self.processes)), np.diff(self.bounds))

    @property
    def depths(self) -> Numbers:
        """The declared depth of each channel."""
        return np.array([channel.depth for channel in self.channels], np.int64)


def padded(events: Numbers, count: int) -> Numbers:
    """The first `count` events, as if what is missing would never happen."""
    missing = count - len(events)
    return events[:count] if missing <= 0 else np.concatenate([events, np.full(missing, NEVER, np.int64)])


def trace_of(
    processes: Sequence[TracedProcess],
    channels: Sequence[TracedChannel],
    events: Sequence[Iterable[tuple[int, bool, int]]],
) -> Trace:
    """The trace of events (channel, is it a put?, cycle) of each process; who uses a channel is found out of them."""
    rows = [np.array(list(own), np.int64).reshape(-1, 3) for own in events]
    joined = np.concatenate(rows) if rows else np.zeros((0, 3), np.int64)
    bounds = np.cumsum([0, *(len(own) for own in rows)])
    return Trace(
        tuple(processes), with_ends(channels, bounds, joined[:, 0], joined[:, 1] != 0), bounds,
        joined[:, 0], joined[:, 1] != 0, joined[:, 2],
    )  # fmt: skip


def recorded_trace(processes: Sequence[RecordedProcess], channels: Sequence[TracedChannel]) -> Trace:
    """The trace of what processes have done at channels."""
    made = [TracedProcess(own.name, own.cycle, position_of=own.kind) for own in processes]
    return trace_of(made, channels, [own.events for own in processes])


def with_ends(
    channels: Sequence[TracedChannel], bounds: Numbers, channel: Numbers, is_put: Flags
) -> tuple[TracedChannel, ...]:
    """The channels, each with the process that puts first and that which gets first."""
    owner = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    found: list[dict[int, int]] = []
    for wanted in (True, False):
        own = is_put == wanted
        used, first = np.unique(channel[own], return_index=True)
        found.append(dict(zip(used.tolist(), owner[own][first].tolist(), strict=True)))
    return tuple(replace(c, producer=found[0].get(n), consumer=found[1].get(n)) for n, c in enumerate(channels))

