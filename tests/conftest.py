"""What all tests share: seeds of random sweeps, a cache of what is compiled, and a check of all schedules."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

_WRITES_BYTECODE = not sys.dont_write_bytecode
sys.dont_write_bytecode = False  # what pytest rewrites is compiled once, also where programs may not write

from tests.seeds import VARIABLE, first_seed  # noqa: E402

MOST_COPIES = 50_000  # of a schedule that is checked


def pytest_configure(config: pytest.Config) -> None:
    """For the processes of the tests too; shells let jobs in the background ignore Ctrl-C, which tests press."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ[VARIABLE] = str(first_seed())
    os.environ["XDG_CACHE_HOME"] = str(Path(__file__).parents[1] / "build" / "tests")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[object]:
    """Test files are compiled once, not by each run, also where Python may not write what programs import."""
    try:
        return (yield)
    finally:
        sys.dont_write_bytecode = not _WRITES_BYTECODE


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """All that was collected stays to the end: the garbage collector need not walk it again during each test."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What the header says, which `-q` leaves out, where failures are read."""
    terminalreporter.write_line(pytest_report_header())


def pytest_report_header() -> str:
    return f"random sweeps: {VARIABLE}={first_seed()} runs them with these seeds again"


_STATES: dict[str, dict[str, Any]] = {}  # of the generators of numbers that a module has, when it was imported


@pytest.fixture(autouse=True)
def numbers_begin_again(request: pytest.FixtureRequest) -> None:
    """Each test gets the same numbers, whatever ran before it in its process."""
    module = request.module
    if module.__name__ not in _STATES:
        made = {name: own for name, own in vars(module).items() if isinstance(own, np.random.Generator)}
        _STATES[module.__name__] = {name: own.bit_generator.state for name, own in made.items()}
    for name, state in _STATES[module.__name__].items():
        getattr(module, name).bit_generator.state = state


@pytest.fixture(autouse=True, scope="session")
def schedules_can_be_built() -> Iterator[None]:
    """Every schedule that a test makes, of whatever design, passes the checker."""
    from allo.timing import pipeline
    from allo.timing.check import violations
    from allo.timing.schedule import StaticSchedule

    def checked[**P](make: Callable[P, StaticSchedule]) -> Callable[P, StaticSchedule]:
        def made(*arguments: P.args, **named: P.kwargs) -> StaticSchedule:
            found = make(*arguments, **named)
            copies = sum(found.problem.copies(index) for index in range(len(found.cycles)))
            if sys.getprofile() is None and copies < MOST_COPIES:  # else calls are counted
                assert violations(found) == [], found
            return found

        return made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "solve", checked(pipeline.solve))
        patch.setattr(pipeline, "rebound", checked(pipeline.rebound))
        yield
