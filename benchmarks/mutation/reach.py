"""Pytest plugin: which tests reach which lines of `allo`, and those that reach given lines first.

`--reach-record FILE` runs the tests and writes down what each reaches. `--reach-use FILE --reach-lines PATH:FROM:TO`
runs those that reach the lines, the quickest first, and tests that are not in the record. What a test does in processes
of its own, and what it finds in a cache, is not seen, so `--reach-whole` runs the others too, behind them.
"""

from __future__ import annotations

import faulthandler
import hashlib
import pickle
import sys
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Generator
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

TOOL = sys.monitoring.COVERAGE_ID
_NEW = 0.1  # seconds that a test may take that is not in the record


@dataclass
class Reach:
    """For each line of a source file the tests that reach it, as bits; none for what runs while modules are read."""

    tests: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    lines: dict[str, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    at_import: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    digests: dict[str, str] = field(default_factory=dict)

    def store(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        lines, at_import = dict(self.lines), dict(self.at_import)
        path.write_bytes(pickle.dumps((self.tests, self.seconds, lines, at_import, self.digests)))

    @staticmethod
    def load(path: Path) -> Reach:
        return Reach(*pickle.loads(path.read_bytes()))

    def of(self, source: str, digest: str, first: int, last: int) -> set[str] | None:
        """The tests that reach one of the lines; None if all may."""
        if self.digests.get(source) != digest:
            return None
        wanted = range(first, last + 1)
        if any(line in self.at_import.get(source, ()) for line in wanted):
            return None
        bits = 0
        for line in wanted:
            bits |= self.lines.get(source, {}).get(line, 0)
        return {name for number, name in enumerate(self.tests) if bits >> number & 1}

    def files(self, root: Path, folder: str, found: set[str] | None) -> list[str]:
        """The files of tests of a folder that hold these tests, or are not as they were."""
        wanted = None if found is None else {name.split("::")[0] for name in found}
        paths = {
            path.relative_to(root).as_posix(): path for path in sorted((root / folder).rglob("test_*.py"))
        }
        return [
            n for n, p in paths.items() if wanted is None or n in wanted or self.digests.get(n) != digest(p)
        ]


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Recorder:
    """Writes down the lines of `allo` that each test reaches."""

    def __init__(self, path: Path, root: Path) -> None:
        self.path, self.root, self.reach = path, root, Reach()
        self.prefix = f"{root}/allo/"
        self.current: int | None = None
        sys.monitoring.use_tool_id(TOOL, "reach")
        sys.monitoring.register_callback(TOOL, sys.monitoring.events.LINE, self._line)
        sys.monitoring.set_events(TOOL, sys.monitoring.events.LINE)

    def _line(self, code: CodeType, line: int) -> Any:
        if code.co_filename.startswith(self.prefix):
            source = code.co_filename[len(self.prefix) - len("allo/") :]
            if self.current is None:
                self.reach.at_import[source].add(line)
            else:
                found = self.reach.lines[source]
                found[line] = found.get(line, 0) | 1 << self.current
        return sys.monitoring.DISABLE

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self.current = len(self.reach.tests)
        self.reach.tests.append(item.nodeid)
        self.reach.seconds.append(0.0)
        sys.monitoring.restart_events()
        try:
            return (yield)
        finally:
            self.current = None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.reach.seconds[-1] += report.duration

    def pytest_sessionfinish(self) -> None:
        sys.monitoring.set_events(TOOL, sys.monitoring.events.NO_EVENTS)
        sys.monitoring.free_tool_id(TOOL)
        tests = {name.split("::")[0] for name in self.reach.tests}
        for source in {*self.reach.lines, *self.reach.at_import, *tests}:
            self.reach.digests[source] = digest(self.root / source)
        self.reach.store(self.path)


class Order:
    """Runs the likeliest tests first."""

    def __init__(
        self, records: list[Reach], lines: str, digest: str, limit: float, budget: float, whole: bool
    ) -> None:
        source, first, last = lines.rsplit(":", 2)
        found = [record.of(source, digest, int(first), int(last)) for record in records]
        self.found = None if None in found else set().union(*(tests for tests in found if tests))
        self.seconds = {t: s for record in records for t, s in zip(record.tests, record.seconds, strict=True)}
        self.limit, self.budget, self.whole = limit, budget, whole

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        if not self.whole:
            config.hook.pytest_deselected(items=[item for item in items if not self._reaches(item)])
            items[:] = [item for item in items if self._reaches(item)]
        items.sort(key=lambda item: (not self._reaches(item), self._cost(item)))
        if self.budget:
            spent = list(accumulate(map(self._cost, items)))
            kept = max(1, bisect_right(spent, self.budget))
            config.hook.pytest_deselected(items=items[kept:])
            items[:] = items[:kept]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        faulthandler.dump_traceback_later(
            self.limit, exit=True
        )  # a thread of C, which endless loops do not stop
        try:
            return (yield)
        finally:
            faulthandler.cancel_dump_traceback_later()

    def _cost(self, item: pytest.Item) -> float:
        return self.seconds.get(item.nodeid, _NEW)

    def _reaches(self, item: pytest.Item) -> bool:
        return self.found is None or item.nodeid in self.found or item.nodeid not in self.seconds


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("reach")
    group.addoption("--reach-record", type=Path)
    group.addoption("--reach-use", type=Path, action="append")
    group.addoption("--reach-lines")
    group.addoption("--reach-digest")
    group.addoption("--reach-limit", type=float, default=60.0, help="seconds for a test")
    group.addoption(
        "--reach-budget", type=float, default=0.0, help="seconds for all tests, as recorded; 0: no limit"
    )
    group.addoption("--reach-whole", action="store_true")


def pytest_configure(config: pytest.Config) -> None:
    option = config.getoption
    if option("--reach-record"):
        config.pluginmanager.register(Recorder(option("--reach-record"), config.rootpath))
    elif option("--reach-use"):
        records = [Reach.load(path) for path in option("--reach-use")]
        names = ("--reach-lines", "--reach-digest", "--reach-limit", "--reach-budget", "--reach-whole")
        config.pluginmanager.register(Order(records, *map(option, names)))
