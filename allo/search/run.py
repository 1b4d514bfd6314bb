"""One search as it runs: what a driver proposes, looked up, computed here or elsewhere, and kept."""

from __future__ import annotations

import hashlib
import json
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from time import monotonic
from typing import Any

from ..customize import Schedule
from ..errors import ScheduleError
from ..estimate.estimate import device_of
from .choices import Choose, Decisions, Hole
from .drivers import Proposals
from .goal import Goal
from .job import Job, added, evaluated
from .point import Point, PointState
from .store import PointStore
from .workers import on_executor

type Space = Callable[[Schedule, Choose], Any]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a driver asked for: the job that answers it, and a name that is the same for the same work."""

    key: str
    holes: tuple[Hole, ...]
    job: Job | None
    refused: Point | None = None


class SearchRun:
    """One search; `looked_at` are its points in the order in which they were asked for."""

    def __init__(
        self,
        start: Schedule,
        space: Space | None,
        goal: Goal,
        options: Mapping[str, Any],
        executor: Executor | None,
        store: PointStore | None,
        kept: int | None,
    ) -> None:
        self.start = start
        self.space = space
        self.goal = goal
        self.options = options
        self.executor = executor
        self.store = store
        self.kept = kept
        self.base = pickle.dumps(start)
        self.known: dict[str, Point] = {}
        self.looked_at: list[Point] = []
        self.name = _name(start, space is None, options)

    def so_far(self) -> str:
        """What progress says."""
        best = next(iter(self.goal.sorted(p for p in self.looked_at if p.is_design)), None)
        return f"{len(self.looked_at)} points" + (f", best {best}" if best is not None else "")

    def points_of(self, proposals: Proposals, budget: int, until: float | None) -> bool:
        """Look at what a driver proposes; whether it came to its end before the budget and the time did. The first
        point is looked at in any case."""
        batch = next(proposals)
        while True:
            limit = self._limit()
            asked = [self._asked(decisions, limit) for decisions in batch]
            fresh = list({one.key: one for one in asked if one.key not in self.known}.values())
            some = fresh[: budget - len(self.looked_at)]
            for few in [some] if self.looked_at else [some[:1], some[1:]]:
                for one, point in self._points(few, until if self.looked_at else None):
                    self.known[one.key] = point
                    self.looked_at.append(point)
            if any(one.key not in self.known for one in fresh):
                return False
            points = [self.known[one.key] for one in asked]
            if self.space is not None:  # decisions that made no difference have holes of their own
                points = [replace(point, holes=one.holes) for point, one in zip(points, asked, strict=True)]
            try:
                batch = proposals.send(points)
            except StopIteration:
                return True

    def _limit(self) -> float | None:
        """The cycles above which a design would not be among those that the driver keeps."""
        if self.kept is None:
            return None
        found = self.goal.sorted(p for p in self.looked_at if self.goal.allows(p))
        return found[self.kept - 1].figure("cycles") if len(found) >= self.kept else None

    def _asked(self, decisions: Decisions, limit: float | None) -> _Asked:
        """A user's space is asked here, since other processes do not know it."""
        if self.space is None:
            taken = {name: number for name, number in sorted(decisions.items()) if number}
            job = Job(self.base, taken, self.options, limit, self.goal.limits.get("dsp"))
            return _Asked(json.dumps(taken), (), job)
        schedule, choose, refused = self.start.copy(), Choose(decisions), None
        try:
            self.space(schedule, choose)
        except ScheduleError as error:
            refused = str(error)
        holes, steps = tuple(choose.holes.values()), added(schedule, len(self.start.steps))
        if refused is not None:
            taken = {hole.name: hole.taken for hole in holes}
            return _Asked(f"refused: {taken}", holes, None, Point(holes, steps, PointState.ILLEGAL, refused))
        return _Asked(steps, holes, Job(self.base, {}, self.options, limit, None, holes, steps))

    def _points(self, asked: Sequence[_Asked], until: float | None) -> Iterator[tuple[_Asked, Point]]:
        """Points of different keys, from the store or computed, those that are known when the time ends."""
        found = {one.key: one.refused for one in asked if one.refused is not None}
        if self.store is not None:
            stored = {one.key: self.store.get(self.name, one.key) for one in asked if one.key not in found}
            limit = next((one.job.limit for one in asked if one.job is not None), None)
            found |= {key: p for key, p in stored.items() if p is not None and _holds(p, limit)}
        jobs = [one.job for one in asked if one.key not in found and one.job is not None]
        if self.executor is not None:
            computed = on_executor(self.executor, jobs, until)
        else:
            computed = (evaluated(job) if until is None or monotonic() < until else None for job in jobs)
        for one in asked:
            point = found.get(one.key) or next(computed)
            if point is not None:
                if one.key not in found:
                    self._keep(one.key, point)
                yield one, point

    def _keep(self, key: str, point: Point) -> None:
        """Put a point into the store, unless it says nothing of other searches."""
        if self.store is not None and not (point.state is PointState.BOUNDED and point.least is None):
            self.store.put(self.name, key, self.start.top_func_name, point)


def _holds(point: Point, limit: float | None) -> bool:
    """Whether a stored point is an answer to this search, or was left out for the goal of another one."""
    return point.least is None or (limit is not None and point.least > limit)


def _name(start: Schedule, is_derived: bool, options: Mapping[str, Any]) -> str:
    """What points depend on: the kernel with its steps, this version, the target with its options, the space."""
    rest = {name: repr(value) for name, value in sorted(options.items()) if name != "target"}
    parts = [version("allo"), str(start.ir), repr(device_of(options)), json.dumps(rest)]
    parts += [Path(__file__).with_name("derived.py").read_text() if is_derived else "steps"]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
