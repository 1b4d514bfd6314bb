"""Refusals of steps that a dependence forbids, or that cannot be decided."""

from __future__ import annotations

from collections.abc import Iterable

from ...errors import Location, Note, ScheduleError
from ...ir.elements import SPATIAL, element_nests
from ...ir.module import Module
from ...ir.processes import concurrency_marks
from ...ir.states import Draft, FinishedModule
from ...ir.walk import loops_of
from ...poly import Access, RecomputeObstacle, Undecided, Violation, between_instances, carried_by, extract
from .handles import Loop

_VOUCH = "if you know that it is safe, pass assume_safe=True"
_REASSOCIATE = (
    "these are updates of one floating-point reduction; if another rounding (of a maximum, another NaN or zero) is "
    "acceptable, pass reassociate=True"
)


def demand(answer: Violation | Undecided | None, what: str, *, assume_safe: bool, hint: str = _VOUCH) -> None:
    """Refuse `what` (such as "loop 'i' cannot run in parallel") unless the model allows it.

    Raises ScheduleError with both statements, the array, and one pair of iterations. What cannot be decided is
    refused too, unless the user takes the responsibility with `assume_safe`; `hint` tells how.
    """
    match answer:
        case None:
            return
        case Violation():
            places = [_place(answer.source), _place(answer.sink)]
            distinct = list(dict.fromkeys(place for place in places if place is not None))
            raise ScheduleError(
                f"{what}: {answer.describe()}",
                hint=_REASSOCIATE if answer.reassociable else None,
                notes=[Note("the statement is here", place) for place in distinct],
            )
        case Undecided():
            if assume_safe:
                return
            place = _place(answer.access)
            raise ScheduleError(
                f"{what}, because it cannot be decided: {answer.describe()}",
                hint=hint,
                notes=[Note("the statement is here", place)] if place else (),
            )


def demand_repeatable(answer: RecomputeObstacle | Violation | Undecided, what: str) -> None:
    """Refuse `what` because a nest cannot be computed again where it is needed."""
    if not isinstance(answer, RecomputeObstacle):
        demand(answer, what, assume_safe=False)
        return
    accesses = [access for access in (answer.access, answer.other) if access is not None]
    described = ", ".join(
        f"the statement at {access.source} {'writes' if access.is_write else 'reads'} {access.text}"
        for access in accesses
    )
    places = dict.fromkeys(place for access in accesses if (place := _place(access)) is not None)
    raise ScheduleError(
        f"{what}: {answer.reason}" + (f" ({described})" if described else ""),
        notes=[Note("the statement is here", place) for place in places]
    )


def parallel_loops(module: Module, loop: Loop) -> dict[str, bool]:
    """The parallel loops in the nest of `loop`, and whether the user vouches for them (`assume_safe`)."""
    function = module.function(loop.function)
    views = [v for v in loops_of(function) if v.nest == loop.nest and "allo.parallel" in v.op.attributes]
    if not views:
        return {}
    model = extract(function)
    return {view.name: isinstance(carried_by(model, view.op), Undecided) for view in views}


def demand_still_parallel(
    module: Module, loop: Loop, before: dict[str, bool], *, assume_safe: bool = False
) -> None:
    """Refuse a rewrite after which a loop that ran in parallel `before` carries a dependence."""
    if not before:
        return
    function = module.function(loop.function)
    model = extract(function)
    for view in loops_of(function):
        if view.nest == loop.nest and view.name in before:
            what = f"loop '{view.name}' runs in parallel and could no longer do so"
            demand(carried_by(model, view.op), what, assume_safe=assume_safe or before[view.name])


def vouched_elements(module: Module, functions: Iterable[str]) -> dict[tuple[str, str], bool]:
    """The unfolded nests of some functions, and whether the user vouches for their processing elements."""
    found = {}
    for name in functions:
        function = module.function(name)
        nests = element_nests(function)
        model = extract(function) if nests else None
        for nest in nests:
            assert model is not None
            answer = between_instances(model, [view.op for view in nest.spatial], streams=False)
            found[name, nest.outermost.nest] = isinstance(answer, Undecided)
    return found


def demand_still_apart(
    module: Module, before: dict[tuple[str, str], bool], *, assume_safe: bool = False
) -> None:
    """Refuse a rewrite after which processing elements that were independent `before` change what others use."""
    for name in dict.fromkeys(function for function, _ in before):
        function = module.function(name)
        model = extract(function)
        for nest in element_nests(function):
            vouched = before.get((name, nest.outermost.nest), False)
            answer = between_instances(model, [view.op for view in nest.spatial], streams=False)
            what = f"the processing elements of nest '{nest.outermost.nest}' would no longer be independent"
            demand(answer, what, assume_safe=assume_safe or vouched)


def demand_still_elements(module: FinishedModule, draft: Draft) -> None:
    """Refuse a step, which wrote `draft`, after which iterations of an unfolded loop are no processing elements."""
    changed = [part for name in draft.changed if (part := module.parts.get(name)) is not None]
    for part in changed:
        for nest in element_nests(part.op.opview) if SPATIAL in concurrency_marks(part) else ():
            obstacle = nest.obstacle()
            if obstacle is not None:
                raise ScheduleError(
                    f"nest '{nest.outermost.nest}' would no longer have processing elements: {obstacle.reason}",
                    hint="take this step first, then unfold",
                    notes=[Note("this is in the way", obstacle.at)] if obstacle.at else (),
                )


def _place(access: Access) -> Location | None:
    source = access.source
    return Location(source.file, source.line, source.column) if source.line else None
