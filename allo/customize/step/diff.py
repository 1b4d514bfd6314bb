"""The change of one step as a unified diff of the functions in Python-like text."""

from __future__ import annotations

import difflib
from collections.abc import Callable

from ...errors import ScheduleError, counted
from .primitive import integer
from .record import Steps

_CONTEXT = 3


def step_diff(steps: Steps, k: int, text_after: Callable[[int], str]) -> str:
    """What step `k` changed; `text_after(n)` is the text of the functions after the first `n` steps."""
    number = integer("k", k)
    if not 0 <= number < len(steps):
        raise ScheduleError(f"there is no step {number}: the schedule has {counted(len(steps), 'step')}")
    before, after = text_after(k).splitlines(), text_after(k + 1).splitlines()
    lines = difflib.unified_diff(before, after, n=_CONTEXT, lineterm="")
    changed = [line for line in lines if not line.startswith(("---", "+++"))]
    return "\n".join([f"# step {k}: {steps[k]}", *(changed or ["# changes nothing that is shown here"])])
