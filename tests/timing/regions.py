"""Regions of pipelined loops, as an estimate schedules them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

import allo
from allo.timing.pipeline import ScheduledRegion, scheduled
from allo.timing.problem.region import LoopBody

RULES = import_module("allo.timing.vendor_rules")


class _Found(Exception):
    """A region that is about to be scheduled, and the picoseconds of a cycle."""


def schedules(s: allo.Schedule, **options: Any) -> list[ScheduledRegion]:
    """The schedules of all pipelined loops."""
    found: list[ScheduledRegion] = []

    def recorded(region: LoopBody, budget: int, requested: int | None, **options: Any) -> ScheduledRegion:
        done = scheduled(region, budget, requested, **options)
        if requested is not None:
            found.append(done)
        return done

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RULES, "scheduled", recorded)
        allo.estimate(s, **options)
    return found


def region_of(s: allo.Schedule) -> tuple[LoopBody, int]:
    """The region of the first pipelined loop of a schedule, not yet scheduled, and the picoseconds of a cycle."""

    def stopped(region: LoopBody, budget: int, requested: int | None, **options: Any) -> ScheduledRegion:
        if requested is not None:
            raise _Found(region, budget)
        return scheduled(region, budget, requested, **options)

    with pytest.MonkeyPatch.context() as patch, pytest.raises(_Found) as found:
        patch.setattr(RULES, "scheduled", stopped)
        allo.estimate(s)
    region, budget = found.value.args
    return region, budget
