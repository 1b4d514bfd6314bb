"""Replay of what processes of the reference have put and got, with FIFOs of other depths and without values."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from ...ir.least_depths import least_depths
from ...ir.stream_facts import StreamFacts

if TYPE_CHECKING:
    from .processes import Fifo, Process


class ProcessStep(Enum):
    """What a process does that others may see."""

    PUT = "puts"
    GET = "gets"
    START = "starts a process"
    JOIN = "waits for processes"


@dataclass(frozen=True, slots=True, eq=False)
class ProcessEvent:
    """One of them: at a FIFO, or with a process that begins when others have ended, or with those that it waits for."""

    step: ProcessStep
    fifo: Fifo | None = None
    process: Process | None = None
    leaders: tuple[Process, ...] = ()


@dataclass(slots=True, eq=False)
class _Queue:
    number: int
    depth: int
    count: int = 0
    waiting: _Replayed | None = None


@dataclass(slots=True, eq=False)
class _Replayed:
    events: Sequence[ProcessEvent]
    place: int = 0
    missing: int = 0
    followers: list[_Replayed] = field(default_factory=list)
    full: _Queue | None = None

    @property
    def done(self) -> bool:
        return self.place == len(self.events) and not self.missing


def least_needs(main: Process, deeper: Sequence[Fifo]) -> dict[StreamFacts, int]:
    """The least depths with which what processes have done comes to its end, by stream; `deeper` are FIFOs that were
    given more room until it did."""
    numbers: dict[StreamFacts, int] = {}
    found: dict[int, int] = {}
    for fifo in deeper:
        number = numbers.setdefault(fifo.facts, len(numbers))
        found[number] = max(fifo.depth, found.get(number, 0))
    declared = {number: facts.depth for facts, number in numbers.items()}

    def again(depths: Mapping[int, int], only: frozenset[int]) -> dict[int, int] | None:
        return _Replay(numbers, depths, only).run(main)

    least = least_depths(again, declared, found)
    return {facts: least[number] for facts, number in numbers.items() if number in least}


class _Replay:
    def __init__(self, numbers: dict[StreamFacts, int], depths: Mapping[int, int], only: frozenset[int]) -> None:
        self.numbers = numbers
        self.depths = depths
        self.only = only
        self.queues: dict[Fifo, _Queue] = {}
        self.tasks: dict[Process, _Replayed] = {}
        self.ready: deque[_Replayed] = deque()

    def run(self, main: Process) -> dict[int, int] | None:
        """The depths that FIFOs have got, by stream; None if processes wait for ever."""
        first = self._start(main, ())
        while not first.done:
            if not self.ready and not self._deepen():
                return None
            self._go_on(self.ready.popleft())
        deepest: dict[int, int] = {}
        for queue in self.queues.values():
            if queue.number in self.only:
                deepest[queue.number] = max(queue.depth, deepest.get(queue.number, 0))
        return deepest

    def _start(self, process: Process, leaders: Sequence[Process]) -> _Replayed:
        made = self.tasks[process] = _Replayed(process.events)
        if not self._follow(made, leaders):
            self._push(made)
        return made

    def _push(self, task: _Replayed) -> None:
        if task.done:  # it does nothing
            self._end(task)
        else:
            self.ready.append(task)

    def _end(self, task: _Replayed) -> None:
        for follower in task.followers:
            follower.missing -= 1
            if not follower.missing:
                self._push(follower)

    def _follow(self, task: _Replayed, leaders: Sequence[Process]) -> int:
        for leader in (self.tasks[process] for process in leaders):
            if not leader.done:
                leader.followers.append(task)
                task.missing += 1
        return task.missing

    def _queue(self, fifo: Fifo) -> _Queue:
        if fifo not in self.queues:
            number = self.numbers.get(fifo.facts, -1)
            self.queues[fifo] = _Queue(number, max(fifo.facts.depth, self.depths.get(number, 0)))
        return self.queues[fifo]

    def _go_on(self, task: _Replayed) -> None:
        task.full = None
        while not task.done:
            event = task.events[task.place]
            if event.fifo is not None and not self._pass(task, event.step, self._queue(event.fifo)):
                return
            task.place += 1
            if event.process is not None:
                self._start(event.process, event.leaders)
            elif event.step is ProcessStep.JOIN and self._follow(task, event.leaders):
                return
        self._end(task)

    def _pass(self, task: _Replayed, step: ProcessStep, queue: _Queue) -> bool:
        """Put or get, if that need not wait."""
        change = 1 if step is ProcessStep.PUT else -1
        if not 0 <= queue.count + change <= queue.depth:
            queue.waiting = task
            task.full = queue if change > 0 else None
            return False
        queue.count += change
        if queue.waiting is not None:
            self.ready.append(queue.waiting)
            queue.waiting = None
        return True

    def _deepen(self) -> bool:
        full = [task.full for task in self.tasks.values() if task.full is not None and task.full.number in self.only]
        if not full:
            return False
        chosen = min(full, key=lambda queue: queue.depth)
        chosen.depth += 1
        assert chosen.waiting is not None
        self.ready.append(chosen.waiting)
        chosen.waiting = None
        return True
