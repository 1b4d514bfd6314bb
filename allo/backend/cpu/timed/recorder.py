"""Recorder of a call of machine code with clocks: what the run-time library has kept, as a trace."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from allo import _mlir

from ....dataflow.trace import USES, Numbers, StreamUse, Trace, TracedChannel, TracedProcess, with_ends
from ....ir.stream_facts import StreamFacts
from ...arguments.calling import call, runtime_function
from .clocks import ProcessSite


@cache
def _library() -> Any:
    library = ctypes.CDLL(_mlir.runtime_library())
    pointer, number = ctypes.c_void_p, ctypes.c_int64
    library.allo_trace_new.restype = pointer
    library.allo_trace_delete.argtypes = [pointer]
    library.allo_trace_sizes.argtypes = [pointer, pointer]
    library.allo_trace_read.argtypes = [pointer, pointer, pointer, pointer]
    library.allo_trace_channel.argtypes = [pointer, number, pointer]
    library.allo_trace_channel.restype = ctypes.c_char_p
    return library


@dataclass(frozen=True, slots=True, eq=False)
class Recorded:
    """What is kept: rows (task, site, cycles, events) of processes, (use, clock, cycles, interval) of events, edges,
    channels."""

    processes: np.ndarray[tuple[int, int], np.dtype[np.int64]]
    events: np.ndarray[tuple[int, int], np.dtype[np.int64]]
    edges: np.ndarray[tuple[int, int], np.dtype[np.int64]]
    channels: tuple[tuple[str, int], ...]


class Recorder:
    """Records one call, if it comes to its end."""

    def __init__(self) -> None:
        self._handle = _library().allo_trace_new()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_: object) -> None:
        _library().allo_trace_delete(self._handle)

    def call(self, address: int, packed: Any, can_stop: bool, timeout: float | None = None) -> int:
        """Call machine code; the report of what has hung, as `allo_stream_call` gives it."""
        request = (ctypes.c_void_p * 3)(address, ctypes.addressof(packed), self._handle)
        return call(runtime_function("allo_traced_call"), request, None, address, can_stop, timeout)

    def recorded(self) -> Recorded:
        """What it has kept."""
        library, sizes = _library(), (ctypes.c_int64 * 4)()
        library.allo_trace_sizes(self._handle, sizes)
        shapes = ((sizes[0], 4), (sizes[1], 4), (sizes[3], 3))
        processes, events, edges = (np.empty(shape, np.int64) for shape in shapes)
        library.allo_trace_read(self._handle, *(rows.ctypes.data for rows in (processes, events, edges)))
        channels, task = [], ctypes.c_int64()
        for number in range(sizes[2]):
            name = library.allo_trace_channel(self._handle, number, ctypes.byref(task)).decode()
            channels.append((name, task.value))
        return Recorded(processes, events, edges, tuple(channels))


def _scheduled(bounds: Numbers, clock: Numbers, cycles: Numbers) -> Numbers:
    """The order of events by cycles, where the clock of their process stands still."""
    changes = np.zeros(len(clock), np.int64)
    changes[1:] = clock[1:] != clock[:-1]
    changes[bounds[:-1][np.diff(bounds) > 0]] = 1
    return np.lexsort((cycles, np.cumsum(changes)))  # stable


@dataclass(frozen=True, slots=True)
class StreamParts:
    """A stream of the program: its facts, and the bits of an element."""

    facts: StreamFacts
    bits: int


class TraceBuilder:
    """Gives names to what was recorded. Instances of a task, or of a FIFO, that follow one another are one."""

    def __init__(
        self,
        kept: Recorded,
        sites: Sequence[ProcessSite],
        streams: Sequence[StreamParts],
        *,
        unbounded: bool,
        in_time: bool = False,
    ) -> None:
        """`sites` starts with the top function, which is the task that is there at first.

        `in_time`: what waits holds up what comes after it in time (`Trace.steps`).
        """
        self.kept, self.sites, self.streams, self.unbounded = kept, sites, streams, unbounded
        self.in_time = in_time
        self.task_of: list[int] = kept.processes[:, 0].tolist()
        self.last: dict[int, int] = {task: number for number, task in enumerate(self.task_of)}
        self.first: dict[int, int] = {}
        for number, task in enumerate(self.task_of):
            self.first.setdefault(task, number)
        self.after: list[list[int]] = [[] for _ in self.task_of]
        self.starter: dict[int, int] = {}  # of the first process of a task, the process that starts it
        for process, of_task, other in kept.edges.tolist():
            self.after[process].append(self.last[other] if of_task else other)
            if not of_task and self.first[self.task_of[process]] == process:
                self.starter[process] = other
        self.processes = self._processes()

    def trace(self, *, scheduled: bool) -> Trace:
        """The trace.

        If `scheduled`, a process does what it does in an iteration, or in one piece of straight code, in the order in
        which that is scheduled, as a state machine does; else in the order of the program.
        """
        bounds = np.cumsum([0, *self.kept.processes[:, 3].tolist()])
        codes, clock, cycles, interval = self.kept.events.T
        numbers, channels = self._channels(codes)
        used = with_ends(channels, bounds, numbers[codes // USES], codes % USES == StreamUse.PUT)
        if scheduled:
            order = _scheduled(bounds, clock, cycles)
            codes, clock, cycles, interval = codes[order], clock[order], cycles[order], interval[order]
        uses = codes % USES
        return Trace(
            self.processes, used, bounds, numbers[codes // USES], uses == StreamUse.PUT, clock + cycles,
            np.ascontiguousarray(interval) if self.in_time else None, uses == StreamUse.PEEK,
        )  # fmt: skip

    # -- processes ---------------------------------------------------------------------------------------

    def _processes(self) -> tuple[TracedProcess, ...]:
        found: list[TracedProcess] = []
        known: dict[tuple[int, int, int], int] = {}  # tasks by that of their starter, their site and position
        earlier: dict[int, list[int]] = {}  # of a task, its instances so far
        counts: dict[tuple[int, int], int] = {}
        for number, (task, site, cycles, _) in enumerate(self.kept.processes.tolist()):
            if number not in self.starter:
                first = self.first[task]
                if number != first:
                    found.append(replace(found[first], length=cycles, after=tuple(self.after[number])))
                else:
                    found.append(TracedProcess(self.sites[0].name, cycles, (), 0, self.sites[0].line))
                continue
            starter = self.starter[number]
            place = counts.get((starter, site), 0)
            counts[starter, site] = place + 1
            parent = found[starter]
            assert parent.task is not None
            same = known.setdefault((parent.task, site, place), len(known) + 1)
            name, of = self._name(self.sites[site], place, parent)
            if self.sites[site].loop:
                self._overlap(number, earlier.get(same, []))
            earlier.setdefault(same, []).append(task)
            found.append(TracedProcess(name, cycles, tuple(self.after[number]), same, self.sites[site].line, of))
        return tuple(found)

    def _name(self, site: ProcessSite, place: int, parent: TracedProcess) -> tuple[str, str]:
        inside = "" if parent.task == 0 else f"{parent.name}/"
        subscripts: list[str] = []
        for extent in reversed(site.extents):
            place, own = divmod(place, extent)
            subscripts.insert(0, str(own))
        position = f"[{', '.join(subscripts)}]" if subscripts else ""
        return f"{inside}{site.name}{position}", f"{inside}{site.name}"

    def _overlap(self, number: int, earlier: Sequence[int]) -> None:
        """Let a stage of a loop go on when its iteration before has ended, and not all of that."""
        starter = self.starter[number]
        if not earlier or self.kept.processes[starter, 2] or self.kept.processes[starter, 3]:
            return  # the first iteration since something else
        self.after[number] = [self.last[earlier[-1]], *(other for other in self.after[number] if other != starter)]

    # -- channels ----------------------------------------------------------------------------------------

    def _channels(self, codes: Numbers) -> tuple[Numbers, list[TracedChannel]]:
        """The number of each recorded channel among those that are told apart, and these."""
        kept = self.kept.channels
        sizes = np.bincount(codes, minlength=USES * len(kept)).reshape(-1, USES)
        known: dict[tuple[int | None, str], int] = {}
        numbers, found = np.zeros(len(kept), np.int64), list[TracedChannel]()
        for number, (label, task) in enumerate(kept):
            maker = self.processes[self.first[task]]
            key = (maker.task, label)
            is_left = sizes[number, StreamUse.GET] != sizes[number, StreamUse.PUT]  # would be taken for new
            if key not in known or is_left:
                known[key] = len(found)
                found.append(self._channel(label, maker))
            numbers[number] = known[key]
        return numbers, found

    def _channel(self, label: str, maker: TracedProcess) -> TracedChannel:
        number, _, place = label.partition(" ")
        stream = self.streams[int(number)]
        inside = "" if maker.task == 0 else f"{maker.name}/"
        name = stream.facts.element(int(place) if place else None)
        depth = 0 if self.unbounded else stream.facts.depth
        return TracedChannel(
            f"{inside}{name}", depth, stream.bits, made=stream.facts.made,
            element_of=f"{inside}{stream.facts.name}" if place else "",
        )  # fmt: skip
