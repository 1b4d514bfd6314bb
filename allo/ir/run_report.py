"""Reports of simulations, lines of words with tabs between them, as hangs and as states of runs that were stopped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import Location, ToolError
from .hang import EndOfTwo, Hang, RunningTask, Wait, Waiting, WaitReason, told
from .left_over import AllLeftOver, LeftOver
from .module import Module
from .stream_facts import StreamFacts, number_streams
from .task_facts import TaskFacts, number_sites, number_tasks

_MOST_TASKS = 8  # of those that could not go on, in a text


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What the numbers in reports of a module mean: its entry, its streams, tasks, and the lines of puts and gets."""

    top: str
    streams: tuple[StreamFacts, ...] = ()
    tasks: tuple[TaskFacts, ...] = ()
    sites: tuple[Location | None, ...] = (None,)

    @classmethod
    def number(cls, module: Module) -> RunFacts:
        """Give the streams, tasks, puts and gets of `module` numbers, in place."""
        return cls(module.top, number_streams(module), number_tasks(module), number_sites(module))


@dataclass(frozen=True, slots=True)
class RunState:
    """Where a run was when it was stopped: elements that had passed, tasks, those that had ended, and waits."""

    passed: int
    tasks: int
    ended: int
    left: RunningTask | None  # the one that ended it
    waits: tuple[Wait, ...]

    def text(self) -> str:
        """What to tell a user."""
        parts = [f"{self.passed:,} elements had passed through streams"]
        if self.tasks:
            parts.append(f"{self.ended:,} of {self.tasks:,} tasks had ended")
        lines = [f"when it was stopped, {' and '.join(parts)}:"]
        for wait in self.waits[:_MOST_TASKS]:
            place = f" ({wait.at})" if wait.at is not None else ""
            lines.append(f"  {told(wait)}{place}")
        if len(self.waits) > _MOST_TASKS:
            lines.append(f"  and {len(self.waits) - _MOST_TASKS:,} more tasks")
        return "\n".join(lines)


class _Report:
    def __init__(self, text: str, facts: RunFacts) -> None:
        self.facts = facts
        self.lines = [line.split("\t") for line in text.splitlines()]
        self.named = {int(words[1]): words[2:] for words in self.lines if words[0] == "task"}

    def of(self, kind: str) -> list[list[str]]:
        return [words[1:] for words in self.lines if words[0] == kind]

    def waiting(self, words: Sequence[str]) -> Waiting:
        label, depth, puts, gets = words
        number, _, index = label.partition(" ")
        stream = self.facts.streams[int(number)]
        return Waiting(stream, int(index) if index else None, int(depth), int(puts), int(gets))

    def task(self, number: int) -> RunningTask:
        if number <= 1 or number not in self.named:
            return RunningTask(number, self.facts.top if number <= 1 else "a task")
        parent, statement, element = map(int, self.named[number])
        name = self.facts.tasks[statement].element(element) if statement >= 0 else "a task"
        return RunningTask(number, name if parent <= 1 else f"{name} of {self.task(parent).name}")

    def wait(self, words: Sequence[str]) -> Wait:
        number, site, reason, *fifo, others = words
        stream = self.waiting(fifo) if fifo[0] else None
        at = None if reason == "end" else self.facts.sites[int(site)]
        users = tuple(self.task(int(other)) for other in others.split())
        return Wait(self.task(int(number)), WaitReason[reason.upper()], at, stream, users)

    def waits(self) -> tuple[Wait, ...]:
        found = [self.wait(words) for words in self.of("wait")]
        # the program itself only waits for its regions, unless it uses streams
        return tuple(wait for wait in found if wait.task.number > 1 or wait.stream is not None or len(found) == 1)

    def left_over(self) -> tuple[LeftOver, ...]:
        """FIFOs in which elements are left."""
        found = []
        for words, ends in zip(self.of("left"), self.of("ends"), strict=True):
            putter, getter = (self.task(int(number)) if int(number) else None for number in ends)
            found.append(LeftOver(self.waiting(words), putter, getter))
        return tuple(found)


def reported_hang(text: str, facts: RunFacts) -> Hang | EndOfTwo | AllLeftOver:
    """The hang that a simulation reports, or who shares an end of a FIFO, or what is left in FIFOs after its end.

    Raises ToolError if there was no memory.
    """
    if "memory\n" in text:
        raise ToolError("there is no memory for the stacks of so many processes", hint="run fewer at the same time")
    report = _Report(text, facts)
    for kind in ("two_put", "two_get"):
        for words in report.of(kind):
            first, second, site = (int(number) for number in report.of("users")[0])
            at = facts.sites[site] if site < len(facts.sites) else None
            return EndOfTwo(report.waiting(words), kind == "two_put", report.task(first), report.task(second), at)
    left = report.left_over()
    if left:
        return AllLeftOver(left)
    full, empty, of_writer, of_reader = (
        next((report.waiting(words) for words in report.of(kind)), None)
        for kind in ("full", "empty", "asked_by_writer", "asked_by_reader")
    )
    asked = of_writer or of_reader
    needs: dict[StreamFacts, Waiting] = {}
    for words in report.of("needs"):
        need = report.waiting(words)
        if need.stream not in needs or needs[need.stream].depth < need.depth:
            needs[need.stream] = need
    least = len(needs) == 1 and empty is asked is None  # all that are less were tried
    return Hang(full, tuple(needs.values()), empty, asked, of_writer is not None, report.waits(), least)


def reported_state(text: str, facts: RunFacts) -> RunState | None:
    """Where a run was that was stopped, None if nothing is known."""
    report = _Report(text, facts)
    for words in report.of("state"):
        passed, tasks, ended, left = map(int, words)
        return RunState(passed, tasks, ended, report.task(left) if left > 1 else None, report.waits())
    return None


