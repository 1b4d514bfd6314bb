"""Elements that are left in FIFOs after the end of a run: how many, in which stream, and which tasks use it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import DataflowError, Location, Note
from .hang import RunningTask, Waiting

_MOST_NOTES = 8  # streams that an error tells of beside the first one


@dataclass(frozen=True, slots=True)
class LeftOver:
    """A FIFO with elements in it, and who has put into it and taken out of it last."""

    fifo: Waiting
    putter: RunningTask | None
    getter: RunningTask | None

    def says(self) -> str:
        """How many elements, or blocks, have gone in and out."""
        stream, unit = self.fifo.stream, "element"
        puts, gets = stream.elements(self.fifo.puts), stream.elements(self.fifo.gets)
        if stream.unit < 1 and all((count * stream.unit).denominator == 1 for count in (puts, gets)):
            puts, gets, unit = int(puts * stream.unit), int(gets * stream.unit), "block"
        were = f"1 {unit} was" if puts == 1 else f"{puts} {unit}s were"
        taken = "was" if gets == 1 else "were"
        return f"{were} put into stream '{self.fifo.name}', and {gets} {taken} taken out of it"


@dataclass(frozen=True, slots=True)
class AllLeftOver:
    """All FIFOs of a run that have elements in them at its end."""

    found: tuple[LeftOver, ...]

    def error(self) -> DataflowError:
        """The error that tells of them, the same whatever the order in which they were found."""
        found = sorted(self.found, key=_order)
        first, stream = found[0], found[0].fifo.stream
        puts, gets = _in_order(stream.puts), _in_order(stream.gets)
        notes = _ends(first.putter, "puts into it", "elements are put into it", puts)
        notes += _ends(first.getter, "takes out of it", "elements are taken out of it", gets)
        notes += [Note(f"'{stream.name}' is made here", stream.made)] if stream.made else []
        others = list(dict.fromkeys(left.says() for left in found[1:]))
        notes += [Note(text) for text in others[:_MOST_NOTES]]
        if len(others) > _MOST_NOTES:
            notes.append(Note("in more streams elements are left, too"))
        return DataflowError(
            first.says(),
            at=next(iter((*gets, *puts)), stream.made),
            hint="take out as much as is put in: hardware would keep what is left, and begin the next call with it",
            notes=notes,
            streams=dict.fromkeys(left.fifo.state() for left in found),
        )


def _order(left: LeftOver) -> tuple[str, int, int, str, int]:
    made = left.fifo.stream.made or Location("", 0)
    return made.file, made.line, made.column, left.fifo.stream.name, left.fifo.index or 0


def _in_order(places: Sequence[Location]) -> list[Location]:
    return sorted(places, key=lambda place: (place.file, place.line, place.column))


def _ends(task: RunningTask | None, does: str, passive: str, places: Sequence[Location]) -> list[Note]:
    text = f"{passive} here" if task is None else f"task '{task.name}' {does} here"
    return [Note(text, place) for place in places]
