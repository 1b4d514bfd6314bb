"""Processes of dataflow regions that take turns in one order, and the FIFOs at which they wait for one another."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from ...errors import Location
from ...ir.hang import EndOfTwo, Hang, RunningTask, Waiting
from ...ir.left_over import AllLeftOver, LeftOver
from ...ir.stream_facts import StreamFacts
from .replay import ProcessEvent, ProcessStep, least_needs


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
    reader_asked: int = -1  # what had passed, puts and gets, when it was asked last
    writer_asked: int = -1
    putter: Process | None = None  # who has used this end last
    getter: Process | None = None
    put: ProcessEvent = field(init=False)
    got: ProcessEvent = field(init=False)

    def __post_init__(self) -> None:
        self.put, self.got = ProcessEvent(ProcessStep.PUT, fifo=self), ProcessEvent(ProcessStep.GET, fifo=self)

    @property
    def is_full(self) -> bool:
        """Whether a put would wait."""
        return len(self.values) >= self.depth

    @property
    def passed(self) -> int:
        """Puts and gets so far."""
        return self.puts + self.gets

    def waiting(self, depth: int, passed: tuple[int, int]) -> Waiting:
        """What an error tells of it."""
        return Waiting(self.facts, self.number, depth, *passed)


@dataclass(slots=True, eq=False)
class Process:
    """One thread of control, which runs while all others wait."""

    name: str = ""
    parent: Process | None = None  # who has started it
    joined: bool = False  # whether that goes on
    turn: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    missing: int = 0  # processes that must end before it begins
    followers: list[Process] = field(default_factory=list)
    done: bool = False
    full: Fifo | None = None
    empty: Fifo | None = None
    events: list[ProcessEvent] = field(default_factory=list)  # what it has done that others may see

    def is_within(self, other: Process) -> bool:
        """Whether it is the other one, or was started by it, or within it."""
        return self is other or (self.parent is not None and self.parent.is_within(other))

    @property
    def statement(self) -> str:
        """Its name without its position on a grid."""
        return self.name.partition("[")[0]

    @property
    def path(self) -> str:
        """What errors call it."""
        around = self.parent.path if self.parent is not None else ""
        return f"{self.name} of {around}" if around else self.name


# Questions while nothing passes through any FIFO, after which the program is said to ask without end; fewer after
# something hung. Machine code asks more often.
_QUESTIONS, _MORE_QUESTIONS = 1 << 17, 1 << 12


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
        self.used: list[Fifo] = []
        self.has_asked = False
        self.moves = self.moves_seen = self.questions = 0
        self.asked: Fifo | None = None  # first, since something has moved
        self.asks_for_room = False

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

    def demand_empty_fifos(self) -> None:
        """Raise DataflowError if the program has ended with elements in FIFOs."""
        left = tuple(
            LeftOver(fifo.waiting(fifo.facts.depth, (fifo.puts, fifo.gets)), _user(fifo.putter), _user(fifo.getter))
            for fifo in self.used
            if fifo.values
        )
        if left:
            raise AllLeftOver(left).error()

    # -- processes ------------------------------------------------------------------------------------------------

    def start(self, name: str, action: Callable[[], Any], after: Iterable[Process]) -> Process:
        """A process that begins when those before it have ended."""
        process = Process(name, self.current)
        self.alive[process] = None
        after = tuple(after)
        self.current.events.append(ProcessEvent(ProcessStep.START, process=process, leaders=after))
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
        me.events.append(ProcessEvent(ProcessStep.JOIN, leaders=tuple(processes)))
        for process in processes:
            if not process.done:
                process.followers.append(me)
                me.missing += 1
        if me.missing:
            self._leave()
        for process in processes:
            process.joined = True

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
        if fifo.putter is not self.current:
            self._change(fifo, fifo.putter, puts=True)
        while fifo.is_full:
            self.current.full, fifo.writer = fifo, self.current
            self._leave()
            self.current.full = None
        fifo.putter = self.current
        self.current.events.append(fifo.put)
        fifo.values.append(value)
        fifo.puts += 1
        self.moves += 1
        if fifo.reader is not None:
            self.ready.append(fifo.reader)
            fifo.reader = None

    def get(self, fifo: Fifo) -> Any:
        """Remove the oldest value, once there is one."""
        if fifo.getter is not self.current:
            self._change(fifo, fifo.getter, puts=False)
        self._wait_for_value(fifo)
        fifo.getter = self.current
        self.current.events.append(fifo.got)
        fifo.gets += 1
        self.moves += 1
        if fifo.writer is not None:
            self.ready.append(fifo.writer)
            fifo.writer = None
        return fifo.values.popleft()

    def _change(self, fifo: Fifo, before: Process | None, *, puts: bool) -> None:
        """An end of a FIFO is used by another process than before: not by one that runs at the same time."""
        me = self.current
        if before is None and puts:
            self.used.append(fifo)
        if before is None or before.joined or me.is_within(before):
            return
        if before.done and before.statement != me.statement:
            return  # such as one that fills a FIFO of a circle of tasks at first
        places = fifo.facts.puts if puts else fifo.facts.gets
        tasks = [RunningTask(0, process.path) for process in (before, me)]
        where = places[0] if places else None
        raise EndOfTwo(fifo.waiting(fifo.depth, (fifo.puts, fifo.gets)), puts, tasks[0], tasks[1], where).error()

    def _wait_for_value(self, fifo: Fifo) -> None:
        while not fifo.values:
            self.current.empty, fifo.reader = fifo, self.current
            self._leave()
            self.current.empty = None

    def peek(self, fifo: Fifo) -> Any:
        """The oldest value, once there is one; it stays."""
        if fifo.values:
            fifo.reader_asked = self._asks(fifo, fifo.reader_asked, False)
        self._wait_for_value(fifo)
        return fifo.values[0]

    def is_empty(self, fifo: Fifo) -> bool:
        """Whether a get would wait; whoever else can go on does so before."""
        fifo.reader_asked = self._asks(fifo, fifo.reader_asked, not fifo.values)
        return not fifo.values

    def is_full(self, fifo: Fifo) -> bool:
        """Whether a put would wait; whoever else can go on does so before."""
        fifo.writer_asked = self._asks(fifo, fifo.writer_asked, fifo.is_full, for_room=True)
        return fifo.is_full

    def has_none(self, fifo: Fifo) -> bool:
        """Whether a `try_get` finds nothing: it asks only then."""
        return not fifo.values and self.is_empty(fifo)

    def try_put(self, fifo: Fifo, value: Any) -> bool:
        """Append a value if there is room; whether there was."""
        if fifo.is_full and self.is_full(fifo):
            return False
        self.put(fifo, value)
        return True

    def _asks(self, fifo: Fifo, asked: int, waits: bool, *, for_room: bool = False) -> int:
        """Give way if the answer would be to wait, or if nothing has passed since it was asked last; what has passed.

        As in `fibers.cpp`, so that results that depend on when processes run are the same.
        """
        self.has_asked = True
        if waits or asked == fifo.passed:
            if self.moves != self.moves_seen or self.asked is None:
                self.moves_seen, self.questions = self.moves, 0
                self.asked, self.asks_for_room = fifo, for_room
            self.questions += 1
            if self.questions > (_QUESTIONS if self.first is None else _MORE_QUESTIONS):
                self._be_impatient()
            if self.ready:
                self.ready.append(self.current)
                self._leave()
        return fifo.passed

    def _be_impatient(self) -> None:
        """It has been asked for so long that nothing will pass any more: give a FIFO room, or end the program."""
        self.questions = 0
        if not self._deepen():
            raise self._hang(endless=True).error()

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

    def _hang(self, *, endless: bool = False) -> Hang:
        empty = next((process.empty for process in self.alive if process.empty is not None), None)
        full = None if self.first is None else self.first[0].waiting(self.first[0].facts.depth, self.first[1])
        deepest: dict[StreamFacts, Waiting] = {}
        for fifo in self.deeper:
            need = fifo.waiting(fifo.depth, (fifo.puts, fifo.gets))
            if fifo.facts not in deepest or deepest[fifo.facts].depth < need.depth:
                deepest[fifo.facts] = need
        needs = tuple(deepest.values())
        asked = self.asked if endless else None
        least = empty is asked is None and (len(needs) == 1 or not self.has_asked)
        if least and not self.has_asked:
            depths = least_needs(self.main, list(self.deeper))
            needs = tuple(replace(deepest[facts], depth=depth) for facts, depth in depths.items())
        return Hang(full, needs, _where(empty), _where(asked), self.asks_for_room, least=least)


def _user(process: Process | None) -> RunningTask | None:
    return None if process is None else RunningTask(0, process.path)


def _where(fifo: Fifo | None) -> Waiting | None:
    return None if fifo is None else fifo.waiting(fifo.facts.depth, (fifo.puts, fifo.gets))


def facts_of_stream(
    name: str, extents: tuple[int, ...], depth: int, made: Location,
    ends: Sequence[Sequence[Location]], unit: Fraction,
) -> StreamFacts:  # fmt: skip
    """What errors tell of a stream of a typed tree; `ends` are where it is put into, got from, and asked by either."""
    puts, gets, put_asks, get_asks = (tuple(dict.fromkeys(found)) for found in ends)
    return StreamFacts(name, extents, depth, made, puts, gets, None, put_asks, get_asks, unit)
