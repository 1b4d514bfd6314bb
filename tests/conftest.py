"""What a run of tests says of its random seeds; the processes that it starts take the same."""

from __future__ import annotations

import os

import pytest

from tests.seeds import VARIABLE, first_seed


def pytest_configure(config: pytest.Config) -> None:
    os.environ[VARIABLE] = str(first_seed())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What the header says, which `-q` leaves out, where failures are read."""
    terminalreporter.write_line(pytest_report_header())


def pytest_report_header() -> str:
    return f"random sweeps: {VARIABLE}={first_seed()} runs them with these seeds again"
