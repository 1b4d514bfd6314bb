"""Runs of token programs: processes without data that take turns, and what is known when none can go on."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any

from .periods import Periods
from .program import TokenProgram
from .tasks import StuckTask, Task, TokenFifo, Walled

_NO_LIMIT = 1 << 62


class TooLong(Exception):
    """A run takes more steps than it may."""


class TwoAtOneEnd(Exception):
    """Two processes wait at one end of a stream."""


@dataclass(frozen=True, slots=True)
class Wall:
    """No more than `most` elements go into a FIFO: that of what makes it, at its place in an array."""

    number: int
    index: int | None
    most: int


@dataclass(frozen=True, slots=True)
class SharedEnd:
    """A FIFO at one of whose ends two processes are, at these sites."""

    fifo: TokenFifo
    tasks: tuple[Task, Task]
    sites: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run went: what was full `first`, the FIFOs that were made `deeper`, and who has to `wait` at its end.

    `stuck` are all tasks when none could go on for the first time.
    """

    first: tuple[TokenFifo, tuple[int, int]] | None
    deeper: tuple[TokenFifo, ...]
    wait: tuple[Task, ...]
    stuck: tuple[StuckTask, ...]

    @property
    def empty(self) -> TokenFifo | None:
        """The first FIFO at which a process waits for ever for an element."""
        return next((task.empty for task in self.wait if task.empty is not None), None)


class TokenRun:
    """One run of the compiled text of a token program.

    FIFOs of the streams in `depths` hold that many. If nobody can go on, the first of the shallowest FIFOs that are
    full gets room for one more, if its stream is one of `only`; if none is, the run ends, unless it is `forced`: then
    FIFOs hold any number, and gets of what nobody puts get something, so that all is seen that uses a FIFO. What
    happens again and again is not run (`Periods`).
    """

    def __init__(
        self, program: TokenProgram, most: int, wall: Wall | None = None, *,
        depths: Mapping[int, int] | None = None, only: frozenset[int] | None = None, forced: bool = False,
    ) -> None:  # fmt: skip
        self.program = program
        self.left = most
        self.wall = wall
        self.depths = depths or {}
        self.only = only
        self.forced = forced
        self.running: Task | None = None
        self.stuck: tuple[StuckTask, ...] = ()
        self.fifos: dict[TokenFifo, None] = {}  # those of regions that have not ended, and where elements are left
        self.changes = 0  # how often these have become others
        self.ready: deque[Task] = deque()
        self.alive: dict[Task, None] = {}
        self.started = 0
        self.first: tuple[TokenFifo, tuple[int, int]] | None = None
        self.deeper: dict[TokenFifo, None] = {}
        self.shared: SharedEnd | None = None
        self.first_sites: dict[tuple[TokenFifo, str], int] = {}
        self.choices = 0  # how often one of several full FIFOs was made deeper

    def run(self, code: CodeType) -> Ending:
        """How it ends. Raises TooLong and TwoAtOneEnd."""
        names = self._names()
        exec(code, names)  # the text is ours, and has no names of the user
        main = self.start(names["main"], [], 0, ())
        periods = Periods(self)
        while not main.done:
            if not self.ready and not self._go_on():
                break
            for _ in range(len(self.ready)):
                self._step(self.ready.popleft())
            periods.look()
        waiting = tuple(task for task in self.alive if task.full is not None or task.empty is not None)
        return Ending(self.first, tuple(self.deeper), waiting, self.stuck)

    def run_in_order(self, code: CodeType) -> bool:
        """Whether processes could run one after the other, with FIFOs that hold any number. Raises TooLong."""
        names = self._names() | {"ready": deque[Task]()}
        exec(code, names)
        main = self.start(names["main"], [], 0, ())
        while not main.done:
            for fifo in self.fifos:
                self._free(fifo)
            task = self.ready.popleft()
            self._step(task)
            if task.empty is not None:
                return False
            if task.full is not None:  # a FIFO that it has made itself
                self._free(task.full)
                self.ready.append(task)
            if self.ready and self.ready[-1] is task:  # it has only paused
                self.ready.rotate()
        return True

    def _free(self, fifo: TokenFifo) -> None:
        fifo.limit, fifo.writer = _NO_LIMIT, None

    def _names(self) -> dict[str, Any]:
        """What the text of a token program uses."""
        return {
            "make": self._make,
            "forget": self._forget,
            "ready": self.ready,
            "take": self._take,
            "region": lambda: _Region(self),
        }

    def _take(self, fifo: TokenFifo, end: str, task: Task, site: int) -> None:
        other = getattr(fifo, end)
        setattr(fifo, end, task)
        if other is None:
            self.first_sites[fifo, end] = site
        elif self.shared is None:
            self.shared = SharedEnd(fifo, (other, task), (self.first_sites[fifo, end], site))

    def _make(self, number: int, index: int | None, depth: int) -> TokenFifo:
        wall = self.wall if self.wall is not None and (self.wall.number, self.wall.index) == (number, index) else None
        holds = max(depth, self.depths.get(number, 0))
        if wall is None:
            fifo = TokenFifo(number, index, depth, holds, limit=holds)
        else:
            fifo = Walled(number, index, depth, holds, most=wall.most, limit=holds)
        self.fifos[fifo] = None
        self.changes += 1
        self._count()
        return fifo

    def _forget(self, *made: TokenFifo | dict[int, TokenFifo]) -> None:
        """The FIFOs of a region that has ended are no more, but for those in which elements are left."""
        self.changes += 1
        for one in made:
            for fifo in one.values() if isinstance(one, dict) else (one,):
                if fifo.puts == fifo.gets:
                    del self.fifos[fifo]
                    for end in ("putter", "getter"):
                        self.first_sites.pop((fifo, end), None)

    def start(
        self,
        function: Callable[[Task], Generator[Any]],
        after: Sequence[Task],
        process: int,
        position: tuple[int, ...],
    ) -> Task:
        """A process that begins when those before it have ended."""
        task = Task(process, position, self.running)
        task.steps = function(task)
        self.started += 1
        self.alive[task] = None
        self._follow(task, after)
        if not task.missing:
            self.ready.append(task)
        self._count()
        return task

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise TooLong

    def _follow(self, task: Task, leaders: Sequence[Task]) -> None:
        for leader in leaders:
            if not leader.done:
                leader.followers.append(task)
                task.missing += 1

    def _step(self, task: Task) -> None:
        task.full = task.empty = None
        self.running = task
        self.left -= 1
        assert task.steps is not None
        try:
            what, state, task.site = next(task.steps)
        except StopIteration:
            self._end(task)
            return
        if state == "pause":
            self.left -= what
            self.ready.append(task)
        elif state == "end":
            self._follow(task, what)
            if not task.missing:
                self.ready.append(task)
        elif (what.writer if state == "full" else what.reader) is not None:
            raise TwoAtOneEnd
        elif state == "full":
            task.full, what.writer = what, task
        else:
            task.empty, what.reader = what, task
        if self.left < 0:
            raise TooLong

    def _end(self, task: Task) -> None:
        task.done = True
        del self.alive[task]
        for follower in task.followers:
            follower.missing -= 1
            if not follower.missing:
                self.ready.append(follower)

    def _go_on(self) -> bool:
        """Let somebody go on, as all wait; whether there is one."""
        self.stuck = self.stuck or tuple(map(self._stuck, self.alive))
        return self._force() if self.forced else self._deepen()

    def _stuck(self, task: Task) -> StuckTask:
        fifo = task.full or task.empty
        leaders = () if fifo is not None else tuple(other for other in self.alive if task in other.followers)
        passed = (0, 0) if fifo is None else (fifo.puts, fifo.gets)
        return StuckTask(task, task.site, task.full, task.empty, passed, leaders, self.iteration(task))

    def iteration(self, task: Task) -> tuple[tuple[str, int], ...]:
        """The loops around the place where a task waits, without those over a block, and their variables."""
        site = None if task.site is None else self.program.sites[task.site]
        loops = () if site is None else site.loops
        return tuple((loop.name, task.values[loop.place]) for loop in loops if site and not loop.is_of(site.op))

    def _force(self) -> bool:
        task = next((task for task in self.alive if task.full is not None or task.empty is not None), None)
        if task is None:
            return False
        if task.full is not None:
            self._free(task.full)
        elif task.empty is not None:
            task.empty.puts += 1
            task.empty.reader = None
        self.ready.append(task)
        return True

    def _deepen(self) -> bool:
        """Give the first of the shallowest FIFOs that are full room for one more; whether there is one."""
        full = [task.full for task in self.alive if task.full is not None and not task.full.is_walled]
        full = [fifo for fifo in full if self.only is None or fifo.number in self.only]
        if not full:
            return False
        chosen = min(full, key=lambda fifo: fifo.depth)
        self.choices += len(full) > 1
        if self.first is None:
            self.first = chosen, (chosen.puts, chosen.gets)
        self.deeper[chosen] = None
        chosen.depth += 1
        chosen.limit += 1
        assert chosen.writer is not None
        self.ready.append(chosen.writer)
        chosen.writer = None
        return True


class _Region:
    """The processes of one region, in the order in which they were started."""

    def __init__(self, run: TokenRun) -> None:
        self.tasks: list[Task] = []
        self._run = run

    def start(
        self,
        function: Callable[[Task], Generator[Any]],
        after: Sequence[Task],
        process: int,
        position: tuple[int, ...],
    ) -> None:
        self.tasks.append(self._run.start(function, after, process, position))
