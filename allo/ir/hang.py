"""Programs that wait for ever: which task waits where and for whom, the circle of waits, and depths that would do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from ..errors import DataflowError, Location, Note, StreamState, TaskState
from .stream_facts import StreamFacts

_MOST_NOTES = 12  # of one error; a longer circle is shown in part


@dataclass(frozen=True, slots=True)
class Waiting:
    """A FIFO at which something waits for ever: the stream, which of an array, and what has passed so far.

    `depth` is what it holds, or what would do.
    """

    stream: StreamFacts
    index: int | None
    depth: int
    puts: int
    gets: int

    @property
    def name(self) -> str:
        return self.stream.element(self.index)

    def state(self) -> StreamState:
        """What a tool can read of it."""
        puts, gets = self.stream.elements(self.puts), self.stream.elements(self.gets)
        return StreamState(self.name, self.stream.shown(self.depth), puts - gets, puts, gets)


class WaitReason(Enum):
    """Why a task does not go on."""

    FULL = "waits to put"
    EMPTY = "waits to get"
    END = "waits for other tasks to end"
    TURN = "could go on"  # of a run that was stopped


@dataclass(frozen=True, slots=True)
class RunningTask:
    """A task of one run: those of one name, such as tasks of two calls of a region, have numbers of their own."""

    number: int
    name: str


@dataclass(frozen=True, slots=True)
class Wait:
    """What a task waits for: at a line, until one of `others` uses the other end of a FIFO; or until `others` end.

    `iteration` are the loops around the line with their variables, where these are known.
    """

    task: RunningTask
    reason: WaitReason
    at: Location | None
    stream: Waiting | None
    others: tuple[RunningTask, ...]
    iteration: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Hang:
    """Why a program never ends: the FIFO that was `full` first, the depths that it `needs`, what stays `empty`.

    There is one of `needs` for each stream that has to be deeper; if they are `least`, none of them can be smaller
    while the others are as they are. Or a FIFO is `asked` again and again, by the end that puts if `asks_for_room`, and
    nothing passes through any. `waits` are those of all tasks when none could go on for the first time.
    """

    full: Waiting | None
    needs: tuple[Waiting, ...]
    empty: Waiting | None
    asked: Waiting | None = None
    asks_for_room: bool = False
    waits: tuple[Wait, ...] = ()
    least: bool = False

    def error(self) -> DataflowError:
        """The error that tells of it."""
        waiting = self.full or self.asked or self.empty
        assert waiting is not None
        stream = waiting.stream
        so_far = f"{_values(stream.elements(waiting.puts))} been put and {stream.elements(waiting.gets)} taken"
        if waiting is self.asked:
            message = f"stream '{waiting.name}' is asked again and again, and nothing moves in any stream: {so_far}"
            at = stream.put_asks if self.asks_for_room else stream.get_asks
            hint = "end the loop that asks when nothing comes any more, or put what it waits for"
        elif self.full is None:
            message = f"stream '{waiting.name}' is empty, and nothing will be put into it any more: {so_far}"
            at, hint = stream.gets, "put as many elements into it as are taken out"
        else:
            depth = stream.shown(waiting.depth)
            message = (
                f"stream '{waiting.name}' of depth {depth} is full, and what would take elements out waits "
                f"too, or has ended: {so_far}"
            )
            at, hint = stream.puts, self._remedy(stream)
        chain, is_circle = ((), False) if waiting is self.asked else chain_of(self.waits, waiting)
        if self.full is None and is_circle:
            hint = "let one of these tasks put an element before it gets one"
        notes = [Note(f"'{stream.name}' is made here", stream.made)] if stream.made else []
        notes += wait_notes(chain, is_circle)
        if not chain:
            notes += [*_puts(stream), *_gets(stream)]
            asks = [p for p in (*stream.put_asks, *stream.get_asks) if p not in (*stream.puts, *stream.gets)]
            notes += [Note(f"'{stream.name}' is asked here what is in it", place) for place in asks]
        elif (not is_circle or len(chain) == 1) and chain[-1].stream is not None:  # where it would have been let go on
            last = chain[-1].stream.stream
            notes += _gets(last) if chain[-1].reason is WaitReason.FULL else _puts(last)
        depths = self._depths() if self.empty is self.asked is None else {}
        return DataflowError(
            message, at=chain[0].at if chain else at[0] if at else stream.made, hint=hint, notes=notes,
            tasks=task_states(self.waits, chain if is_circle else ()), streams=stream_states(self.waits), depths=depths,
        )  # fmt: skip

    def _depths(self) -> dict[str, int]:
        return {need.stream.name: need.stream.shown(need.depth) for need in self.needs}

    def _remedy(self, stream: StreamFacts) -> str:
        needs = self._depths()
        if self.asked is not None:
            return (
                f"no depth is enough: with more room, '{self.asked.name}' is asked again and again after "
                f"{self.asked.puts} puts, and nothing moves"
            )
        if self.empty is not None:
            return (
                f"no depth is enough: with more room, '{self.empty.name}' stays empty after "
                f"{self.empty.puts} puts; put as many elements into streams as are taken out"
            )
        listed = " and ".join(f"{depth} for '{name}'" for name, depth in needs.items())
        if list(needs) == [stream.name] and self.least:
            listed = f"the least depth that does is {needs[stream.name]}"
        elif self.least and len(needs) == 1:
            listed = f"the least depth that does is {listed}"
        else:
            listed = f"depths that do are {listed}" + (", and none of them less" if self.least else "")
        if stream.sequence is None:
            return listed
        return f"{listed}; or let both ends run at the same time: s.dataflow({stream.sequence!r})"


@dataclass(frozen=True, slots=True)
class EndOfTwo:
    """Two tasks that used one end of a FIFO in a run: the one that `puts` into it, or gets, after another one did."""

    waiting: Waiting
    puts: bool
    first: RunningTask
    second: RunningTask
    at: Location | None

    def error(self) -> DataflowError:
        """The error that tells of it."""
        stream, does = self.waiting.stream, "puts into it" if self.puts else "gets from it"
        places = [place for place in (stream.puts if self.puts else stream.gets) if place != self.at]
        notes = [Note(f"elements are {'put into' if self.puts else 'taken out of'} it here, too", p) for p in places]
        notes += [Note(f"'{stream.name}' is made here", stream.made)] if stream.made else []
        return DataflowError(
            f"stream '{self.waiting.name}' has two tasks at one end: '{self.first.name}' {does}, and so does "
            f"'{self.second.name}', with these data",
            at=self.at,
            hint="elements would come in any order: give each task a stream of its own, `Stream[T, d][P]`",
            notes=notes,
        )


def _puts(stream: StreamFacts) -> list[Note]:
    return [Note(f"elements are put into '{stream.name}' here", place) for place in stream.puts]


def _gets(stream: StreamFacts) -> list[Note]:
    return [Note(f"elements are taken out of '{stream.name}' here", place) for place in stream.gets]


def _values(count: int) -> str:
    return "1 element has" if count == 1 else f"{count} elements have"


def chain_of(waits: Sequence[Wait], waiting: Waiting) -> tuple[tuple[Wait, ...], bool]:
    """Who waits for whom, from the FIFO on, and whether that comes back to where it began."""
    by_task = {wait.task: wait for wait in waits}
    at_it = [
        wait for wait in waits
        if wait.stream is not None and (wait.stream.stream, wait.stream.index) == (waiting.stream, waiting.index)
    ]  # fmt: skip
    if not at_it:
        return (), False
    circle = _circle(at_it[0], by_task)
    if circle:
        return tuple(circle), True
    chain = [at_it[0]]
    while True:
        after = next((by_task[other] for other in chain[-1].others if other in by_task), None)
        if after is None:
            return tuple(chain), False
        if after in chain:
            return tuple(chain[chain.index(after) :]) if after is chain[0] else tuple(chain), after is chain[0]
        chain.append(after)


def _circle(start: Wait, by_task: dict[RunningTask, Wait]) -> list[Wait]:
    """The shortest way from a wait back to it; empty if there is none."""
    came: dict[RunningTask, Wait] = {}
    queue = [start]
    for wait in queue:
        for other in wait.others:
            if other == start.task:
                way = [wait]
                while way[0] is not start:
                    way.insert(0, came[way[0].task])
                return way
            if other in by_task and other not in came:
                came[other] = wait
                queue.append(by_task[other])
    return []


def wait_notes(chain: Sequence[Wait], is_circle: bool) -> list[Note]:
    """A note for each wait."""
    shown = chain if len(chain) <= _MOST_NOTES else [*chain[: _MOST_NOTES - 1], chain[-1]]
    ended = {wait.task for wait in chain}
    notes = []
    for wait in shown:
        number = chain.index(wait) + 1
        head = f"{'circle of waits' if is_circle else 'waits'}, {number} of {len(chain)}: " if len(chain) > 1 else ""
        notes.append(Note(head + told(wait, ended), wait.at))
    return notes


def told(wait: Wait, known: set[RunningTask] | None = None) -> str:
    """A wait as a sentence; tasks that are not `known` to wait have ended."""
    who, stream = f"'{wait.task.name}'", wait.stream
    others = " or ".join(f"'{other.name}'" for other in wait.others)
    if wait.others == (wait.task,):
        others = "it"
    is_over = bool(wait.others) and known is not None and not any(other in known for other in wait.others)
    if wait.reason is WaitReason.TURN:
        return f"{who} {wait.reason.value if known is None else 'asks again and again what is in streams'}"
    if stream is None:
        return f"{who} waits until {others} has ended"
    state = stream.state()
    passed = f"{state.puts} put, {state.gets} taken"
    filled = f"{state.holds} of {state.depth}" if state.depth else f"{state.holds}"
    if wait.iteration:
        who += f", in iteration {', '.join(f'{loop} = {value}' for loop, value in wait.iteration)},"
    if wait.reason is WaitReason.FULL:
        text = f"{who} waits to put into '{stream.name}', which is full ({filled}; {passed}), until "
        then = f"{others or 'somebody'} takes an element out"
    else:
        text = f"{who} waits to get from '{stream.name}', which is empty ({filled}; {passed}), until "
        then = f"{others or 'somebody'} puts one in"
    if not wait.others and known is not None:
        return text + then.replace("somebody", "a task") + ", and none does"
    return text + then + (", and that has ended" if is_over else "")


def task_states(waits: Sequence[Wait], circle: Sequence[Wait]) -> Iterator[TaskState]:
    """What a tool can read of tasks."""
    for wait in waits:
        stream = None if wait.stream is None else wait.stream.name
        others = tuple(other.name for other in wait.others)
        yield TaskState(wait.task.name, wait.at, wait.reason.value, stream, others, wait in circle)


def stream_states(waits: Sequence[Wait]) -> Iterator[StreamState]:
    """The streams at which tasks wait, each once."""
    return iter(dict.fromkeys(wait.stream.state() for wait in waits if wait.stream is not None))
