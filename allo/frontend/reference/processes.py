"""Processes of dataflow regions that take turns in one order, and the FIFOs at which they wait for one another."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...errors import Location
from ...ir.stream_facts import Hang, StreamFacts, Waiting


@dataclass(slots=True, eq=False)
class Fifo:
    """At most `depth` values; `number` is its place in an array of FIFOs."""

    facts: StreamFacts
    number: int | None
    depth: int
    values: deque[Any] = field(default_factory=deque)
    puts: int = 0
    gets: int = 0
    reader: Process | None = None
    writer: Process | None = None

    @property
    def is_full(self) -> bool:
        """Whether a put would wait."""
        return len(self.values) >= self.depth

    def waiting(self, depth: int, passed: tuple[int, int]) -> Waiting:
        """What an error tells of it."""
        return Waiting(self.facts, self.number, depth, *passed)


@dataclass(slots=True, eq=False)
class Process:
    """One thread of control, which runs while all others wait."""

    turn: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    missing: int = 0  # processes that must end before it begins
    followers: list[Process] = field(default_factory=list)
    done: bool = False
    full: Fifo | None = None
    empty: Fifo | None = None


class _Abandoned(BaseException):
    """Ends a process of a program that has failed."""


class Scheduler:
    """The processes of one run of a program: one runs at a time, until it has to wait."""

    def __init__(self) -> None:
        self.main = Process()
        self.current = self.main
        self.ready: deque[Process] = deque()
        self.alive: dict[Process, None] = {self.main: None}
        self.error: BaseException | None = None
        self.first: tuple[Fifo, tuple[int, int]] | None = None
        self.deeper: dict[Fifo, None] = {}

    def run(self, action: Callable[[], list[Any]]) -> list[Any]:
        """What `action`, which may start processes, gives. Raises DataflowError if they wait for ever."""
        try:
            results = action()
        except _Abandoned:
            assert self.error is not None
            raise self.error from None
        finally:
            self._abandon()
        if self.first is not None:
            raise self._hang().error()
        return results

    # -- processes ------------------------------------------------------------------------------------------------

    def start(self, action: Callable[[], Any], after: Iterable[Process]) -> Process:
        """A process that begins when those before it have ended."""
        process = Process()
        self.alive[process] = None
        for leader in after:
            if not leader.done:
                leader.followers.append(process)
                process.missing += 1
        if not process.missing:
            self.ready.append(process)
        threading.Thread(target=self._live, args=(process, action), daemon=True).start()
        return process

    def join(self, processes: Sequence[Process]) -> None:
        """Wait until all have ended."""
        me = self.current
        for process in processes:
            if not process.done:
                process.followers.append(me)
                me.missing += 1
        if me.missing:
            self._leave()

    def _live(self, process: Process, action: Callable[[], Any]) -> None:
        process.turn.acquire()
        try:
            if self.error is None:
                action()
        except _Abandoned:
            return
        except BaseException as error:
            self._fail(error)
            return
        process.done = True
        del self.alive[process]
        for follower in process.followers:
            follower.missing -= 1
            if not follower.missing:
                self.ready.append(follower)
        self._next()

    def _fail(self, error: BaseException) -> None:
        """End the program: the main process raises the error."""
        self.error = self.error or error
        self.main.turn.release()

    def _abandon(self) -> None:
        """Let the processes end that are left."""
        self.error = self.error or _Abandoned()
        for process in self.alive:
            if process is not self.main:
                process.turn.release()

    def _next(self) -> None:
        """Let the next process run; if all wait, give a FIFO room, or end the program."""
        while not self.ready:
            if not self._deepen():
                self._fail(self._hang().error())
                return
        self.current = self.ready.popleft()
        self.current.turn.release()

    def _leave(self) -> None:
        """Wait until this process is ready again."""
        me = self.current
        self._next()
        me.turn.acquire()
        if self.error is not None:
            raise _Abandoned

    # -- FIFOs ----------------------------------------------------------------------------------------------------

    def put(self, fifo: Fifo, value: Any) -> None:
        """Append a value, once there is room."""
        while fifo.is_full:
            self.current.full, fifo.writer = fifo, self.current
            self._leave()
            self.current.full = None
        fifo.values.append(value)
        fifo.puts += 1
        if fifo.reader is not None:
            self.ready.append(fifo.reader)
            fifo.reader = None

    def get(self, fifo: Fifo) -> Any:
        """Remove the oldest value, once there is one."""
        while not fifo.values:
            self.current.empty, fifo.reader = fifo, self.current
            self._leave()
            self.current.empty = None
        fifo.gets += 1
        if fifo.writer is not None:
            self.ready.append(fifo.writer)
            fifo.writer = None
        return fifo.values.popleft()

    def _deepen(self) -> bool:
        """Give the first of the shallowest FIFOs that are full room for one more; whether there is one."""
        full = [process.full for process in self.alive if process.full is not None]
        if not full:
            return False
        chosen = min(full, key=lambda fifo: fifo.depth)
        if self.first is None:
            self.first = chosen, (chosen.puts, chosen.gets)
        self.deeper[chosen] = None
        chosen.depth += 1
        assert chosen.writer is not None
        self.ready.append(chosen.writer)
        chosen.writer = None
        return True

    def _hang(self) -> Hang:
        empty = next((process.empty for process in self.alive if process.empty is not None), None)
        full = None if self.first is None else self.first[0].waiting(self.first[0].facts.depth, self.first[1])
        needs = tuple(fifo.waiting(fifo.depth, (fifo.puts, fifo.gets)) for fifo in self.deeper)
        return Hang(full, needs, None if empty is None else empty.waiting(empty.facts.depth, (empty.puts, empty.gets)))


def facts_of_stream(
    name: str, extents: tuple[int, ...], depth: int, made: Location, puts: Sequence[Location], gets: Sequence[Location]
) -> StreamFacts:
    """What errors tell of a stream of a typed tree."""
    return StreamFacts(name, extents, depth, made, tuple(dict.fromkeys(puts)), tuple(dict.fromkeys(gets)), None)
