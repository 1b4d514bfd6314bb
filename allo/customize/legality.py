"""Decides what happens to a step that a dependence forbids, or that cannot be decided."""

from __future__ import annotations

from ..errors import Location, Note, ScheduleError
from ..poly import Access, Undecided, Violation


def demand(answer: Violation | Undecided | None, what: str, *, assume_safe: bool) -> None:
    """Refuse `what` (such as "loop 'i' cannot run in parallel") unless the model allows it.

    Raises ScheduleError with both statements, the array, and one pair of iterations. What cannot be decided is
    refused too, unless the user takes the responsibility with `assume_safe`.
    """
    match answer:
        case None:
            return
        case Violation():
            places = [_place(answer.source), _place(answer.sink)]
            distinct = list(dict.fromkeys(place for place in places if place is not None))
            raise ScheduleError(
                f"{what}: {answer.describe()}",
                notes=[Note("the statement is here", place) for place in distinct],
            )
        case Undecided():
            if assume_safe:
                return
            place = _place(answer.access)
            raise ScheduleError(
                f"{what}, because it cannot be decided: {answer.describe()}",
                hint="if you know that it is safe, pass assume_safe=True",
                notes=[Note("the statement is here", place)] if place else (),
            )


def _place(access: Access) -> Location | None:
    source = access.source
    return Location(source.file, source.line, source.column) if source.line else None
