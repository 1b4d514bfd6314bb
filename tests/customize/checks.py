"""What the tests of every primitive ask: exact text, exact refusal, same meaning, replay and undo."""

from __future__ import annotations

import re
from collections.abc import Callable
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

import allo
from allo import Schedule, ScheduleError
from allo.ir.module import Module
from allo.ir.types import TensorType

DTYPES = {"int8": np.int8, "int32": np.int32, "float32": np.float32}


def ir_text(schedule: Schedule, function: str | None = None) -> str:
    """One function, with its maps written where they are used."""
    op = schedule.ir.function(function or schedule.top_func_name).operation
    return op.get_asm(use_local_scope=True).strip()


def assert_ir(schedule: Schedule, golden: str, function: str | None = None) -> None:
    assert ir_text(schedule, function) == dedent(golden).strip()


def normalised(message: str) -> str:
    """A message without what changes when a test file is edited: paths, line numbers, the line of this file."""
    text = re.sub(r'File "[^"]*checks\.py", line \d+: ([^\n]*)\n[^\n]*', r"\1", message, count=1)
    text = re.sub(r'File "[^"]*", line \d+', "File, line N", text)
    return re.sub(r"at line \d+", "at line N", text)


def refusal(schedule: Schedule, name: str, *arguments: Any, **options: Any) -> str:
    """The message of a primitive that is refused; it has changed nothing."""
    text, module, steps = str(schedule.module), schedule.ir, schedule.steps
    with pytest.raises(ScheduleError) as caught:
        getattr(schedule, name)(*arguments, **options)
    assert schedule.ir is module and schedule.steps is steps and str(schedule.module) == text
    return normalised(str(caught.value))


def assert_refused(golden: str, schedule: Schedule, name: str, *arguments: Any, **options: Any) -> None:
    assert refusal(schedule, name, *arguments, **options) == dedent(golden).strip("\n")


def arguments_of(kernel: Callable[..., Any], seed: int = 1) -> list[Any]:
    """Random small numbers in the shapes and types that the kernel declares."""
    random = np.random.default_rng(seed)
    made: list[Any] = []
    for name, declared in kernel.__annotations__.items():
        if name == "return":
            continue
        if isinstance(declared, TensorType):
            numbers = random.integers(0, 8, declared.shape)
            made.append(numbers.astype(DTYPES[str(declared.element)]))
        else:
            made.append(5)
    return made


def outcome(schedule: Schedule, kernel: Callable[..., Any], seed: int = 1) -> list[Any]:
    """All arguments after the call, and what it returned."""
    arguments = arguments_of(kernel, seed)
    returned = schedule.build()(*arguments)
    return [*arguments, *(returned if isinstance(returned, tuple) else [returned])]


def assert_equal(found: list[Any], wanted: list[Any]) -> None:
    for left, right in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(left, right)


def assert_same_meaning(kernel: Callable[..., Any], schedule: Schedule) -> None:
    """The scheduled kernel gives, bit for bit, what the unscheduled one gives."""
    assert_equal(outcome(schedule, kernel), outcome(allo.customize(kernel), kernel))


def assert_faithful(kernel: Callable[..., Any], schedule: Schedule) -> None:
    """Same meaning; the steps replayed on a fresh schedule give the same text; undo gives the text before."""
    assert_same_meaning(kernel, schedule)
    fresh = allo.customize(kernel)
    texts = [str(fresh.module)]
    for step in schedule.steps:
        fresh.replay([step])
        texts.append(str(fresh.module))
    assert texts[-1] == str(schedule.module)
    assert list(map(str, fresh.steps)) == list(map(str, schedule.steps))
    for text in reversed(texts[:-1]):
        fresh.undo()
        assert str(fresh.module) == text
    assert fresh.steps == ()


def parsed(text: str) -> Schedule:
    """A schedule of a module written in MLIR."""
    return Schedule(Module.parse(text))
