"""What the tests of composition ask: exact refusals that change nothing, the meaning of the kernel, replay of steps."""

from __future__ import annotations

import re
from collections.abc import Callable
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

import allo
from allo import Schedule, ScheduleError
from allo.ir.types import TensorType

DTYPES = {"int8": np.int8, "int32": np.int32, "float32": np.float32}


def refusal(schedule: Schedule, *arguments: Any, **options: Any) -> str:
    """The message of a composition that is refused; it has changed nothing."""
    text, module, steps = str(schedule.module), schedule.ir, schedule.steps
    with pytest.raises(ScheduleError) as caught:
        schedule.compose(*arguments, **options)
    assert schedule.ir is module and schedule.steps is steps and str(schedule.module) == text
    message = re.sub(r'File "[^"]*", line \d+(, column \d+)?', "File", str(caught.value))
    return re.sub(r"\n *schedule\.compose\(\*arguments, \*\*options\)", "", message)


def assert_refused(golden: str, schedule: Schedule, *arguments: Any, **options: Any) -> None:
    assert refusal(schedule, *arguments, **options) == dedent(golden).strip("\n")


def run(schedule: Schedule, kernel: Callable[..., Any]) -> list[Any]:
    """The arguments after a call on random small numbers, and what it returned."""
    random = np.random.default_rng(1)
    arguments = [
        random.integers(0, 5, declared.shape).astype(DTYPES[str(declared.element)])
        for name, declared in kernel.__annotations__.items()
        if name != "return" and isinstance(declared, TensorType)
    ]
    returned = schedule.build()(*arguments)
    return [*arguments, *(returned if isinstance(returned, tuple) else [returned])]


def assert_faithful(kernel: Callable[..., Any], schedule: Schedule) -> None:
    """The same results as without steps; the steps, their text and the MLIR of the schedule give the same module."""
    for found, wanted in zip(run(schedule, kernel), run(allo.customize(kernel), kernel), strict=True):
        np.testing.assert_array_equal(found, wanted)
    for steps in (schedule.steps, str(schedule.steps)):
        fresh = allo.customize(kernel)
        fresh.replay(steps)
        assert str(fresh.module) == str(schedule.module)
    assert str(Schedule.from_mlir(schedule.to_mlir()).module) == str(schedule.module)
    fresh.undo(len(fresh.steps))
    assert str(fresh.module) == str(allo.customize(kernel).module)
