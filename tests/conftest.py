"""What all tests share: the seeds of random sweeps, and a cache of what is compiled that is not the user's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.seeds import VARIABLE, first_seed


def pytest_configure(config: pytest.Config) -> None:
    """For the processes of the tests too."""
    os.environ[VARIABLE] = str(first_seed())
    os.environ["XDG_CACHE_HOME"] = str(Path(__file__).parents[1] / "build" / "tests")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What the header says, which `-q` leaves out, where failures are read."""
    terminalreporter.write_line(pytest_report_header())


def pytest_report_header() -> str:
    return f"random sweeps: {VARIABLE}={first_seed()} runs them with these seeds again"
