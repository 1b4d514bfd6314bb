"""Hangs of programs with streams: processes without their data, run with FIFOs of their depths."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

from mlir import ir

from ..errors import Location
from ..ir.effects import Effects
from ..ir.module import Module
from ..ir.processes import is_region, region_statements
from ..ir.stream_facts import Hang, Waiting, facts_of, made_streams
from .token_counts import is_balanced
from .token_program import DataDependent, TokenProgram

MOST_STEPS = 4_000_000  # puts and gets, roughly: some seconds
# What a FIFO of a program that waits for ever nowhere may hold when it is simulated: results do not depend on depths
# then, and processes take turns less often.
ROOM = 1024


@dataclass(frozen=True, slots=True)
class Untold:
    """It cannot be said whether a program hangs, because of what stands at a place."""

    reason: str
    at: Location | None


@dataclass(slots=True, eq=False)
class _Fifo:
    number: int
    index: int | None
    declared: int
    depth: int
    count: int = 0
    puts: int = 0
    gets: int = 0
    reader: _Task | None = None
    writer: _Task | None = None


@dataclass(slots=True, eq=False)
class _Task:
    steps: Generator[Any]
    missing: int = 0
    followers: list[_Task] = field(default_factory=list)
    done: bool = False
    full: _Fifo | None = None
    empty: _Fifo | None = None


class _TooLong(Exception):
    pass


class _TwoAtOneEnd(Exception):
    pass


def hang_of(module: Module, most: int = MOST_STEPS, *, balanced: bool = False) -> Hang | Untold | None:
    """Why a program waits for ever at FIFOs, which is the same in whatever order its processes run; None if it ends.

    `balanced` says that as many elements are taken out of each stream as are put into it.
    """
    made = [op for function in module.functions() for op in made_streams(function)]
    if not made or (is_forest(module, made) and (balanced or is_balanced(module, (op.results[0] for op in made)))):
        return None
    return _outcome(module, made, most)[0]


def imbalance_of(module: Module, most: int = MOST_STEPS) -> Hang | Waiting | Untold | None:
    """Why a program waits for ever, or else a stream in which elements are left when it has ended."""
    made = [op for function in module.functions() for op in made_streams(function)]
    if not made or (is_balanced(module, (op.results[0] for op in made)) and is_forest(module, made)):
        return None
    hang, left = _outcome(module, made, most)
    return left or hang


def _outcome(
    module: Module, made: Sequence[ir.Operation], most: int
) -> tuple[Hang | Untold | None, Waiting | None]:
    try:
        text = TokenProgram(module, made).text()
    except DataDependent as error:
        return Untold(error.reason, error.at), None
    facts = {number: facts_of(module, op) for number, op in enumerate(made)}

    def told(fifo: _Fifo, depth: int, passed: tuple[int, int]) -> Waiting:
        return Waiting(facts[fifo.number], fifo.index, depth, *passed)

    run = _Run(most)
    hang = _hang(run, text, told)
    ended = hang is None or (isinstance(hang, Hang) and hang.empty is None)
    left = next((fifo for fifo in run.fifos if fifo.puts > fifo.gets), None) if ended else None
    return hang, None if left is None else told(left, left.declared, (left.puts, left.gets))


def _hang(run: _Run, text: str, told: Callable[[_Fifo, int, tuple[int, int]], Waiting]) -> Hang | Untold | None:
    try:
        found = run.run(text)
    except _TooLong:
        return Untold(f"more than {run.most:,} elements pass through its streams", None)
    except SyntaxError:  # Python has a limit
        return Untold("its loops are nested too deeply", None)
    except _TwoAtOneEnd:
        return Untold("two processes wait at one end of a stream, in no order", None)
    except KeyError:
        return Untold("it uses a stream outside of an array of streams", None)
    if found is None:
        return None
    full, needs, empty = found
    return Hang(
        None if full is None else told(full[0], full[0].declared, full[1]),
        tuple(told(fifo, fifo.depth, (fifo.puts, fifo.gets)) for fifo in needs),
        None if empty is None else told(empty, empty.declared, (empty.puts, empty.gets)),
    )


def always_ends(module: Module) -> bool:
    """Whether it is seen, in the time that the text takes, that a program with streams waits for ever nowhere."""
    return not isinstance(hang_of(module, 0), Hang | Untold)


def is_forest(module: Module, made: Sequence[ir.Operation]) -> bool:
    """Whether the processes of all regions are joined by FIFOs and arrays in trees.

    Such processes end with FIFOs of any depth if as much is put as taken: of those that wait in a circle, two wait at
    one FIFO, which would be full and empty, or one waits for another one to begin, which is before it.
    """
    effects = Effects(module)
    for block in {op.block for op in made}:
        if not is_region(block):
            return False
        streams = {op.results[0]: list[int]() for op in made if op.block == block}
        if any(isinstance(stream.type, ir.MemRefType) for stream in streams):
            return False
        edges: list[tuple[int, int]] = []
        found = region_statements(effects, block)
        places = {statement.op: place for place, statement in enumerate(found)}
        for place, statement in enumerate(found):
            used = effects.touched(statement.op).streams
            for stream in used & streams.keys():
                streams[stream].append(place)
            edges += [(places[other], place) for other in statement.after]
            if not statement.is_process and (used or statement.after):
                return False  # what stands behind it waits too
        if any(len(users) != 2 for users in streams.values()):
            return False
        edges += [(users[0], users[1]) for users in streams.values()]
        if _has_circle(len(found), edges):
            return False
    return True


def _has_circle(count: int, edges: Sequence[tuple[int, int]]) -> bool:
    """Whether edges without a direction close a circle; two between the same nodes do."""
    root = list(range(count))

    def find(node: int) -> int:
        while root[node] != node:
            node = root[node]
        return node

    for one, other in edges:
        if find(one) == find(other):
            return True
        root[find(one)] = find(other)
    return False


type _Found = tuple[tuple[_Fifo, tuple[int, int]] | None, list[_Fifo], _Fifo | None]


class _Run:
    """Tasks that take turns, as in the simulations that run the data too."""

    def __init__(self, most: int) -> None:
        self.most = self.left = most
        self.fifos: list[_Fifo] = []
        self.ready: deque[_Task] = deque()
        self.alive: list[_Task] = []
        self.first: tuple[_Fifo, tuple[int, int]] | None = None
        self.deeper: dict[_Fifo, None] = {}

    def run(self, text: str) -> _Found | None:
        """What hung when the processes of a `TokenProgram` ran."""
        names: dict[str, Any] = {
            "make": self._make,
            "tick": self._tick,
            "ready": self.ready,
            "region": lambda: _Region(self.start),
        }
        exec(compile(text, "<tokens>", "exec"), names)  # the text is ours, and has no names of the user
        main = self.start(names["main"], [])
        while not main.done:
            if not self.ready and not self._deepen():
                empty = next((task.empty for task in self.alive if task.empty is not None), None)
                return self.first, list(self.deeper), empty
            self._step(self.ready.popleft())
        return None if self.first is None else (self.first, list(self.deeper), None)

    def _make(self, number: int, index: int | None, depth: int) -> _Fifo:
        self.fifos.append(_Fifo(number, index, depth, depth))
        return self.fifos[-1]

    def start(self, function: Callable[[], Generator[Any]], after: list[_Task]) -> _Task:
        task = _Task(function())
        self.alive.append(task)
        self._follow(task, after)
        if not task.missing:
            self.ready.append(task)
        return task

    def _follow(self, task: _Task, leaders: list[_Task]) -> None:
        for leader in leaders:
            if not leader.done:
                leader.followers.append(task)
                task.missing += 1

    def _tick(self, count: int) -> None:
        self.left -= count
        if self.left < 0:
            raise _TooLong

    def _step(self, task: _Task) -> None:
        task.full = task.empty = None
        try:
            what, state = next(task.steps)
        except StopIteration:
            task.done = True
            self.alive.remove(task)
            for follower in task.followers:
                follower.missing -= 1
                if not follower.missing:
                    self.ready.append(follower)
            return
        if state == "end":
            self._follow(task, what)
            if not task.missing:
                self.ready.append(task)
        elif (what.writer if state == "full" else what.reader) is not None:
            raise _TwoAtOneEnd
        elif state == "full":
            task.full, what.writer = what, task
        else:
            task.empty, what.reader = what, task

    def _deepen(self) -> bool:
        """Give the first of the shallowest FIFOs that are full room for one more; whether there is one."""
        full = [task.full for task in self.alive if task.full is not None]
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


class _Region:
    def __init__(self, start: Callable[[Callable[[], Generator[Any]], list[_Task]], _Task]) -> None:
        self.tasks: list[_Task] = []
        self._start = start

    def start(self, function: Callable[[], Generator[Any]], after: list[_Task]) -> None:
        self.tasks.append(self._start(function, after))
