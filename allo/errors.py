"""All errors a user can meet, and the one way in which their text is formed."""

from __future__ import annotations

import difflib
import linecache
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a Python file: `line` and `column` count from 1; 0 means unknown."""

    file: str
    line: int
    column: int = 0
    end_column: int = 0

    def __str__(self) -> str:
        column = f", column {self.column}" if self.column else ""
        return f'File "{self.file}", line {self.line}{column}'

    def excerpt(self, indent: str = "    ") -> str:
        """The source line, with a caret below the place when the column is known."""
        text = linecache.getline(self.file, self.line).rstrip("\n")
        if not text.strip():
            return ""
        stripped = text.lstrip()
        lines = [indent + stripped]
        if self.column:
            start = max(self.column - 1 - (len(text) - len(stripped)), 0)
            width = min(self.end_column - self.column, len(stripped) - start) if self.end_column else 1
            lines.append(indent + " " * start + "^" * max(width, 1))
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Note:
    """A further place that explains an error, such as the loop that a schedule line names."""

    message: str
    at: Location | None = None

    def render(self) -> str:
        if self.at is None:
            return f"  note: {self.message}"
        excerpt = self.at.excerpt("      ")
        return f"  note: {self.message}\n    {self.at}" + (f"\n{excerpt}" if excerpt else "")


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One mistake: what, where, why, and what to do."""

    message: str
    at: Location | None = None
    hint: str | None = None
    notes: tuple[Note, ...] = ()

    def render(self) -> str:
        parts = [self.message]
        if self.at is not None:
            parts = [f"{self.at}: {self.message}"]
            if excerpt := self.at.excerpt():
                parts.append(excerpt)
        parts.extend(note.render() for note in self.notes)
        if self.hint:
            parts.append(f"  hint: {self.hint}")
        return "\n".join(parts)


class AlloError(RuntimeError):
    """Base of all errors of this package; `str(error)` is the whole text a user needs.

    Programs for published Allo expect a RuntimeError where a step or a kernel is refused.
    """

    def __init__(
        self,
        message: str,
        *,
        at: Location | None = None,
        hint: str | None = None,
        notes: Iterable[Note] = (),
    ) -> None:
        self.diagnostics: tuple[Diagnostic, ...] = (Diagnostic(message, at, hint, tuple(notes)),)
        super().__init__(message)

    def __str__(self) -> str:
        return "\n\n".join(diagnostic.render() for diagnostic in self.diagnostics)

    @classmethod
    def collected(cls, diagnostics: Iterable[Diagnostic]) -> Self:
        """One error for all `diagnostics`, in the order of the source."""
        ordered = sorted(
            dict.fromkeys(diagnostics),
            key=lambda d: (d.at.file, d.at.line, d.at.column) if d.at else ("", 0, 0),
        )
        error = cls(ordered[0].message)
        error.diagnostics = tuple(ordered)
        return error


class KernelError(AlloError):
    """The kernel uses the language wrongly; carries every mistake found, not the first."""


class ScheduleError(AlloError):
    """A primitive cannot be applied; the schedule is as it was before."""


class ModelError(AlloError):
    """A model of another framework has what no kernel means; carries every operator that is missing, not the first."""


class KernelNote(UserWarning):
    """Something in a kernel that is accepted and may surprise, such as a literal that becomes negative."""


class ScheduleNote(UserWarning):
    """A step that was accepted although it does nothing, and why. `strict=True` makes it an error."""


class NoSuchLoop(ScheduleError, AttributeError):
    """A loop tree has no loop or nest of this name: what `hasattr` asks for."""


class LayoutConflict(ScheduleError):
    """Two requests for the layout of one buffer contradict each other; the schedule is as it was before."""


class VerificationError(AlloError):
    """Two programs that should be equivalent are not, or cannot be compared."""


@dataclass(frozen=True, slots=True)
class StreamState:
    """A stream when a run ended: elements that it was declared to hold, that it held, that were put and taken."""

    name: str
    depth: int
    holds: int
    puts: int
    gets: int


@dataclass(frozen=True, slots=True)
class TaskState:
    """A task when a run ended: its name with its position, its line of the kernel, what it does, and at which stream.

    `waits_for` are the tasks that would let it go on, and `in_circle` says whether they wait for it in their turn.
    """

    name: str
    at: Location | None
    does: str
    stream: str | None = None
    waits_for: tuple[str, ...] = ()
    in_circle: bool = False


class DataflowError(AlloError):
    """Streams or tasks do not fit together: types, balance, deadlock.

    Of a program that waits for ever, or was stopped, `tasks` and `streams` are the states, and `depths` those that
    would let it end, by the name of the stream.
    """

    def __init__(
        self,
        message: str,
        *,
        at: Location | None = None,
        hint: str | None = None,
        notes: Iterable[Note] = (),
        tasks: Iterable[TaskState] = (),
        streams: Iterable[StreamState] = (),
        depths: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__(message, at=at, hint=hint, notes=notes)
        self.tasks = tuple(tasks)
        self.streams = tuple(streams)
        self.depths = dict(depths or {})


class RunTimeout(DataflowError, TimeoutError):
    """A run has taken longer than the `timeout` of its build allows."""


class CheckError(AlloError):
    """A debug build was stopped where the kernel, with these arguments, does what has no meaning.

    Arrays are left as they were at that moment.
    """


class TargetError(AlloError):
    """The program cannot be built for the target."""


class ContractionError(AlloError):
    """An einsum expression that cannot be, arrays that do not fit it, a TEC or a step against the rules of TEIR."""


class SearchError(AlloError):
    """A search that cannot begin: a hole, an objective, a constraint or a driver that cannot be."""


class ToolError(AlloError):
    """An external tool failed or is absent; names its command."""


class InternalError(AlloError):
    """A fault of this package, never of the user."""

    def __init__(self, message: str, *, at: Location | None = None) -> None:
        super().__init__(f"internal error, please report it: {message}", at=at)


def counted(number: int, noun: str) -> str:
    """`number` things, in good English: "1 argument", "2 arguments", "no argument"."""
    return f"{number or 'no'} {noun}{'s' if number > 1 else ''}"


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """A hint that names the candidate most like `name`, if one is near."""
    matches = difflib.get_close_matches(name, list(candidates), n=1, cutoff=0.6)
    return f"did you mean '{matches[0]}'?" if matches else None
