"""Jobs of a search: a schedule, what to decide or which steps to take, and the estimate of the result."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ..customize import Schedule
from ..customize.step.record import Steps
from ..errors import AlloError, ScheduleError
from ..estimate import estimate
from ..estimate.bound import Bound, bound
from .choices import Choose, Hole
from .derived import BUFFERED, OVERLAP, REUSED, Piped, banks, loops, memories_and_stages, parts
from .places import bounded_places, places_of
from .point import FIGURES, Point, PointState


@dataclass(frozen=True, slots=True)
class Job:
    """One point to look at. `base` is a pickled schedule; `holes` and `steps` are there if somebody has decided them
    already, which a process that does not know a user's space needs. A design that surely takes more than `limit`
    cycles, or of which a pipeline takes more than `dsp` DSPs, is not estimated."""

    base: bytes
    decisions: Mapping[str, int]
    options: Mapping[str, Any] = field(default_factory=dict)
    limit: float | None = None
    dsp: float | None = None
    holes: tuple[Hole, ...] = ()
    steps: str | None = None


def evaluated(job: Job) -> Point:
    """The point of a job, in any process; steps that are refused make a point too."""
    schedule, choose = _schedule(job.base).copy(), Choose(job.decisions)
    before = len(schedule.steps)
    holes, pipelines = job.holes, list[Piped]()
    try:
        if job.steps is not None:
            schedule.replay(job.steps)
        else:
            pipelines = loops(schedule, choose)
            holes = tuple(choose.holes.values())
        left_out = _left_out(job, schedule)
        if left_out is not None:
            places = bounded_places(left_out.bound, pipelines)
            reason, least = left_out.reason, left_out.least
            return Point(holes, added(schedule, before), PointState.BOUNDED, reason, least=least, places=places)
        if job.steps is None:
            found = memories_and_stages(schedule, choose, job.options)
            holes = tuple(choose.holes.values())
        else:
            found = estimate(schedule, **job.options)
    except ScheduleError as error:
        if job.steps is not None:
            return Point(holes, job.steps, PointState.ILLEGAL, str(error))
        reason = "\n".join(one.message for one in error.diagnostics)  # no line of the user is to blame
        return Point(tuple(choose.holes.values()), added(schedule, before), PointState.ILLEGAL, reason)
    except AlloError as error:
        return Point(holes, added(schedule, before), PointState.FAILED, str(error))
    figures = {name: getattr(found, name) for name in FIGURES}
    module = hashlib.sha256(str(schedule.ir).encode()).hexdigest()[:16]
    places = places_of(found, pipelines)
    return Point(holes, added(schedule, before), PointState.ESTIMATED, "", module, figures, places=places)


@dataclass(frozen=True, slots=True)
class _LeftOut:
    """Why a design is of no use: `least` are cycles above a limit, None if its lanes are."""

    reason: str
    least: int | None
    bound: Bound


def _left_out(job: Job, schedule: Schedule) -> _LeftOut | None:
    """Why a design is of no use; None: it may be. Arrays get the banks that it asks for if the space is derived."""
    if job.steps is not None and job.limit is None and job.dsp is None:
        return None
    taken = [name for name, number in job.decisions.items() if number]
    least = bound(schedule, job.options)
    if not any(name.startswith(BUFFERED) for name in taken) and (refused := _above(job, schedule, least)) is not None:
        return refused
    if job.steps is not None or not least.banks:
        return None
    banks(schedule, least.banks)
    if job.limit is None or any(name.startswith((BUFFERED, REUSED)) for name in taken):
        return None
    return _above(job, schedule, bound(schedule, job.options, ports=True))


def _above(job: Job, schedule: Schedule, least: Bound) -> _LeftOut | None:
    """What a bound exceeds."""
    share = parts(schedule) if job.steps is None and job.decisions.get(OVERLAP) else 1
    if job.limit is not None and least.cycles is not None and least.cycles // share > job.limit:
        cycles = least.cycles // share
        return _LeftOut(f"it takes at least {cycles} cycles", cycles, least)
    if job.dsp is not None and least.dsp > job.dsp:
        return _LeftOut(f"the lanes of a pipeline take {least.dsp} DSPs", None, least)
    return None


def added(schedule: Schedule, before: int) -> str:
    """The steps behind the first ones, as text."""
    return str(Steps(schedule.steps[before:]))


@lru_cache(maxsize=4)
def _schedule(base: bytes) -> Schedule:
    found: Schedule = pickle.loads(base)
    return found
