"""Names of the functions and loops that default schedules change."""

from __future__ import annotations

import re

from allo.customize import Schedule
from allo.errors import ScheduleError

from ..ir.parts import called_functions


def pipelines(s: Schedule, function: str, *loops: str) -> Schedule:
    """An iteration of each of the loops `nest.loop` of `function` (default: the kernel) begins in each cycle."""
    for loop in loops:
        s.pipeline(f"{function or s.top_func_name}:{loop}")
    return s


def called(s: Schedule, function: str, kernel: str) -> str:
    """What `kernel`, which `function` calls, is called in the module: a second instance of a template gets a number.

    Raises ScheduleError if `function` does not call it.
    """
    names = called_functions(s.ir.function(function).operation)
    for name in names:
        if re.fullmatch(rf"{kernel}(_\d+)?", name):
            return name
    listed = ", ".join(names) or "nothing"
    raise ScheduleError(
        f"'{function}' does not call '{kernel}', which its default schedule is about",
        hint=f"it calls {listed}",
    )
