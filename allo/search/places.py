"""Places of a design: its pipelines, with the lanes that they have and the cycles that they take."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from ..estimate import Estimate
from ..estimate.bound import Bound, dsp_of
from ..estimate.report.result import LoopEstimate
from ..timing.control.timeline import TimelinePart
from .derived import Piped
from .point import PipelineFacts


def places_of(found: Estimate, pipelines: Sequence[Piped]) -> tuple[PipelineFacts, ...]:
    """What an estimate says of pipelines."""
    rows = {(loop.function, loop.nest, loop.name): loop for loop in found.loops}
    parts = [part for timeline in found.kernel.timelines if timeline.of == found.top for part in timeline.parts]
    places = []
    for one in pipelines:
        last = one.loops[-1]
        key = last.function, last.nest, last.name
        schedule, row = found.schedules.get(key), rows.get(key)
        if schedule is None or row is None or row.interval is None:
            continue
        around = [rows.get((loop.function, loop.nest, loop.name)) for loop in one.loops[:-1]]
        part = _part(parts, found.top, last.function, last.nest)
        waits = row.reason is not None and row.reason.kind in ("recurrence", "schedule")
        place = PipelineFacts(one.titles, dsp_of(schedule), row.interval, waits, _cycles(row, around))
        places.append(place if part is None else replace(place, part=part.name, begin=part.begin, end=part.end))
    return tuple(places)


def bounded_places(least: Bound, pipelines: Sequence[Piped]) -> tuple[PipelineFacts, ...]:
    """What a bound says of pipelines."""
    known = {(bound.function, bound.nest, bound.name): bound for bound in least.pipelines}
    lasts = [(one.titles, one.loops[-1]) for one in pipelines]
    found = [(titles, known.get((last.function, last.nest, last.name))) for titles, last in lasts]
    return tuple(
        PipelineFacts(titles, bound.dsp, bound.interval, bound.interval > 1)
        for titles, bound in found
        if bound is not None
    )


def _cycles(row: LoopEstimate, around: Sequence[LoopEstimate | None]) -> int | None:
    """Those of all runs: loops around that are no part of the pipeline run it again."""
    runs = math.prod(loop.trips or 1 for loop in around if loop is not None and not loop.flattened)
    return None if row.latency is None else round(row.latency * runs)


def _part(parts: Sequence[TimelinePart], top: str, function: str, nest: str) -> TimelinePart | None:
    """The part of the kernel that a nest is, or that calls its function."""
    own = (part for part in parts if (part.nest == nest if function == top else part.callee == function))
    return next(own, None)
