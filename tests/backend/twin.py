"""A plugin of pytest: every CPU build that is called also runs in the simulation of its C++, and must agree with it.

python -m pytest -p tests.backend.twin tests/programs

With ALLO_TWIN_TARGET=rtl it runs in simulated hardware, in the predicted cycles, unless these or the text are too many.
"""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from allo import Schedule
from allo.backend.rtl import RTLModule
from allo.errors import TargetError
from allo.ir.walk import location_of

_build = Schedule.build
TARGET = os.environ.get("ALLO_TWIN_TARGET", "vitis_hls")
RECORD = os.environ.get("ALLO_TWIN_RECORD", "")
NO_HARDWARE = (
    "has an extent that is known at run time only; the interface of hardware needs",
    "banks, and Vitis HLS makes 1,024",
    "has extents that are known at run time only, and hardware needs its size",
    "of f64 yet\n",  # an elementary function
)
MOST_CYCLES, MOST_LINES = 300_000, 8_000  # of designs in hardware
equal = 0  # calls that gave the same
refused: set[str] = set()  # tests of which a kernel cannot be hardware
large: set[str] = set()  # tests with a design that is too large to be simulated here
left_out: set[str] = set()  # tests that did not run
functions: set[str] = set()  # those that were simulated: file and line


def same(first: Any, second: Any) -> bool:
    """Bit for bit; NaNs have a sign that processors choose as they like."""
    if isinstance(first, tuple):
        return all(map(same, first, second))
    if isinstance(first, np.ndarray) and (first.dtype, first.shape) != (second.dtype, second.shape):
        return False
    if isinstance(first, np.ndarray) and first.dtype.kind == "f":
        numbers = ~np.isnan(first)
        return bool(np.all(np.isnan(second) != numbers)) and first[numbers].tobytes() == second[numbers].tobytes()
    if isinstance(first, np.ndarray):
        return bool(np.all(first == second))
    return type(first) is type(second) and repr(first) == repr(second)


def compare(result: Any, given: Any, wanted: Any, wanted_given: Any) -> None:
    """What two calls return, and what they leave in their arguments: (positional, named)."""
    assert same(result, wanted), "the results differ"
    assert all(map(same, given[0], wanted_given[0])), "the arguments differ"
    assert all(same(given[1][name], value) for name, value in wanted_given[1].items()), "the arguments differ"


OTHER_BITS = {"contract", "fastmath", "subnormals"}  # options with which a CPU rounds as no simulation does


class Twin:
    """A CPU build with the simulation."""

    def __init__(self, schedule: Schedule, built: Any) -> None:
        self._built = built
        self._simulated = _build(schedule, target=TARGET, **({} if TARGET == "rtl" else {"mode": "csim"}))
        self._is_large = isinstance(self._simulated, RTLModule) and (
            self._simulated.code.count("\n") > MOST_LINES
            or (self._simulated.predicted_cycles or 0) > MOST_CYCLES
        )
        places = [location_of(function.operation) for function in schedule.ir.functions()]
        self._functions = {f"{Path(at.file).name}:{at.line}" for at in places if at is not None}

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        global equal
        if self._is_large:
            large.add(_test())
            return self._built(*arguments, **named)
        given = copy.deepcopy((arguments, named))
        simulated = self._simulated(*given[0], **given[1])
        result = self._built(*arguments, **named)
        compare(simulated, given, result, (arguments, named))
        if isinstance(self._simulated, RTLModule):
            predicted, found = self._simulated.predicted_cycles, self._simulated.cycles
            assert predicted in (None, found), f"{found} cycles are not the {predicted} that were predicted"
        equal += 1
        functions.update(self._functions)
        return result

    def __str__(self) -> str:
        return str(self._built)

    def __repr__(self) -> str:
        return repr(self._built)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._built, name)


def build(self: Schedule, target: str | None = None, *rest: Any, **options: Any) -> Any:
    built = _build(self, target, *rest, **options)
    if target not in (None, "llvm") or not OTHER_BITS.isdisjoint(options):
        return built
    try:
        return Twin(self, built)
    except TargetError as error:
        if not any(reason in str(error) for reason in NO_HARDWARE):
            raise
        refused.add(_test())
        return built


def _test() -> str:
    """The name of the test that runs."""
    return os.environ["PYTEST_CURRENT_TEST"].partition("::")[2].rpartition(" ")[0]


@pytest.fixture(autouse=True)
def _twins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Schedule, "build", build)


def pytest_deselected(items: list[pytest.Item]) -> None:
    left_out.update(item.name.partition("[")[0] for item in items)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if RECORD:
        lists = {"large": large, "refused": refused, "left_out": left_out, "functions": functions}
        Path(RECORD).write_text(json.dumps({"equal": equal, **{name: sorted(each) for name, each in lists.items()}}))


def simulated(
    tests: str, folder: Path, *left_out: str, marks: str = "not exhaustive", target: str = "vitis_hls"
) -> dict[str, Any]:
    """What this plugin says of the tests of a file, or of one of them, which pass."""
    record, root = folder / "counts.json", Path(__file__).parents[2]
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "-p", "tests.backend.twin"]
    command += ["-m", marks, *(f"--deselect={tests}::{name}" for name in left_out), tests]
    told = {"ALLO_TWIN_RECORD": str(record), "ALLO_TWIN_TARGET": target, "PYTHONPATH": str(root)}
    done = subprocess.run(command, cwd=root, env=os.environ | told, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:]
    found: dict[str, Any] = json.loads(record.read_text())
    return found
