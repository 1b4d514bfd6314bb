"""Decides how the change of one step is shown: a unified diff of the functions in Python-like text."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from ..errors import ScheduleError, counted
from .primitive import integer

if TYPE_CHECKING:
    from .schedule import Schedule

_CONTEXT = 3


def step_diff(schedule: Schedule, k: int) -> str:
    """What step `k` of `schedule` changed."""
    steps, number = schedule.steps, integer("k", k)
    if not 0 <= number < len(steps):
        raise ScheduleError(f"there is no step {number}: the schedule has {counted(len(steps), 'step')}")
    before, after = schedule.pseudocode(k).splitlines(), schedule.pseudocode(k + 1).splitlines()
    lines = difflib.unified_diff(before, after, n=_CONTEXT, lineterm="")
    changed = [line for line in lines if not line.startswith(("---", "+++"))]
    return "\n".join([f"# step {k}: {steps[k]}", *(changed or ["# changes nothing that is shown here"])])
