"""A plugin of pytest: every CPU build that is called also runs in the simulation of its C++, and must agree with it.

python -m pytest -p tests.hls.twin tests/programs
"""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from allo import Schedule

_build = Schedule.build
TARGET = os.environ.get("ALLO_TWIN_TARGET", "vitis_hls")
RECORD = os.environ.get("ALLO_TWIN_RECORD", "")
MOST = 1 << 22  # bytes of arguments: what is larger is about speed
counts = {"equal": 0}


def same(first: Any, second: Any) -> bool:
    if isinstance(first, tuple):
        return all(map(same, first, second))
    if isinstance(first, np.ndarray):
        if first.dtype.kind == "f":
            return bool(np.array_equal(first, second, equal_nan=True))
        return first.dtype == second.dtype and bool(np.all(first == second))
    return bool(first == second or first != first)


class Twin:
    """A CPU build, with the simulation and a CPU build that rounds as that does."""

    def __init__(self, schedule: Schedule, built: Any) -> None:
        self._built = built
        self._simulated = _build(schedule, target=TARGET, mode="csim")
        self._rounding = _build(schedule, contract=False)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        size = sum(a.nbytes for a in arguments if isinstance(a, np.ndarray))
        if size <= MOST:
            first, second = copy.deepcopy((arguments, named)), copy.deepcopy((arguments, named))
            simulated = self._simulated(*first[0], **first[1])
            wanted = self._rounding(*second[0], **second[1])
            assert same(simulated, wanted), "the results differ"
            assert all(map(same, first[0], second[0])), "the arguments differ"
            counts["equal"] += 1
        return self._built(*arguments, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._built, name)


def build(self: Schedule, target: str | None = None, *rest: Any, **options: Any) -> Any:
    built = _build(self, target, *rest, **options)
    if target not in (None, "llvm"):
        return built
    return Twin(self, built)


@pytest.fixture(autouse=True)
def _twins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Schedule, "build", build)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if RECORD:
        Path(RECORD).write_text(json.dumps(counts))


