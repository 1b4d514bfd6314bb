"""The change of one step as a unified diff of the functions in Python-like text."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from html import escape

from ...errors import ScheduleError, counted
from .primitive import integer
from .record import Steps

_CONTEXT = 3
_STYLES = {"+": "color: #1a7f37", "-": "color: #b02a37", "@@": "color: #57606a", "#": "font-weight: bold"}


class StepDiff(str):
    """The text of a diff, which a prompt shows as it is and a notebook in colours."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        lines = (f'<span style="{_style(line)}">{escape(line)}</span>' for line in self.splitlines())
        return f'<pre style="line-height: 1.3">{"\n".join(lines)}</pre>'


def _style(line: str) -> str:
    return next((style for first, style in _STYLES.items() if line.startswith(first)), "")


def step_diff(steps: Steps, k: int, text_after: Callable[[int], str]) -> StepDiff:
    """What step `k` changed; `text_after(n)` is the text of the functions after the first `n` steps."""
    number = integer("k", k)
    if not 0 <= number < len(steps):
        raise ScheduleError(f"there is no step {number}: the schedule has {counted(len(steps), 'step')}")
    before, after = text_after(k).splitlines(), text_after(k + 1).splitlines()
    lines = difflib.unified_diff(before, after, n=_CONTEXT, lineterm="")
    changed = [line for line in lines if not line.startswith(("---", "+++"))]
    return StepDiff("\n".join([f"# step {k}: {steps[k]}", *(changed or ["# changes nothing that is shown here"])]))
