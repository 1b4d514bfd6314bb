"""Faults planted in a copy of `allo`, one at a time, and how many of them its tests notice.

    python -m benchmarks.mutants --package allo/poly
    python -m benchmarks.mutants --sample 20 --seed 1 --jobs 2
    python -m benchmarks.mutants --faults order-private,ranges-difference --whole

The faults are in `benchmarks/mutation/faults/`; `--propose` prints others for it. Each runs the default tests of its
folder, those that reach its lines first, or the files of tests that it names, and stops at the first that fails. The
tree itself is never changed.
"""

from __future__ import annotations

import argparse
import atexit
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from queue import SimpleQueue

from benchmarks.mutation.catalogue import ROOT, Fault, chosen, read, toml
from benchmarks.mutation.propose import propose
from benchmarks.mutation.reach import Reach, digest

WORK = ROOT / "build" / "mutants"
_LONGEST = 1200.0  # seconds for the tests of a folder
_MEMORY = 12 << 30  # bytes of address space: a fault must not take the machine with it
_LEFT_OUT = (
    ".venv",
    ".git",
    "build",
    "__pycache__",
    ".mypy_cache",
    ".ruff_cache",
    ".pytest_cache",
    ".hypothesis",
)


class Outcome(StrEnum):
    NOTICED = "noticed"
    ENDED = "ended"  # a test took too long, or the process died
    SURVIVED = "survived"
    EQUIVALENT = "equivalent"
    STALE = "stale"


_GOOD = (Outcome.NOTICED, Outcome.ENDED)


@dataclass(frozen=True, slots=True)
class Result:
    fault: str
    package: str
    outcome: Outcome
    by: str = ""
    seconds: float = 0.0


class Scratch:
    """A copy of the tree in which the tests run."""

    def __init__(self) -> None:
        WORK.mkdir(parents=True, exist_ok=True)
        self.root = Path(tempfile.mkdtemp(prefix="tree-", dir=WORK))
        atexit.register(shutil.rmtree, self.root, ignore_errors=True)
        ignored = shutil.ignore_patterns(*_LEFT_OUT)
        shutil.copytree(ROOT, self.root, ignore=ignored, symlinks=True, dirs_exist_ok=True)

    def pytest(self, arguments: list[str], limit: float) -> tuple[int | None, str]:
        """The exit code, None when the time is over, and what was printed."""
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.root),
            "PYTHONDONTWRITEBYTECODE": "1",
            "XDG_CACHE_HOME": str(self.root / "build" / "cache"),
        }
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-x",
            "--tb=line",
            "-p",
            "no:cacheprovider",
            f"--rootdir={self.root}",
        ]
        process = subprocess.Popen(
            [*command, "-p", "benchmarks.mutation.reach", *arguments],
            cwd=self.root, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY)),
        )  # fmt: skip
        try:
            output, _ = process.communicate(timeout=limit)
            return process.returncode, output
        except subprocess.TimeoutExpired:
            return None, ""
        finally:
            with suppress(ProcessLookupError):  # nothing that a test has started lives on
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def record(self, folder: str) -> None:
        """Write down which tests reach what. Raises SystemExit if the tests fail without any fault."""
        self.demand(["--reach-record", str(reach_of(folder)), f"tests/{folder}"])

    def demand(self, arguments: list[str]) -> None:
        """Raises SystemExit if tests fail without any fault."""
        code, output = self.pytest(arguments, _LONGEST)
        if code != 0:
            raise SystemExit(f"tests fail without a fault, pytest {' '.join(arguments)}:\n{output}")

    def run(self, fault: Fault, *, whole: bool, limit: float, budget: float) -> Result:
        lines = fault.lines(self.root)
        if lines is None:
            return Result(fault.id, fault.package, Outcome.STALE)
        path = self.root / fault.file
        text, start = path.read_text(), time.monotonic()
        known = digest(path)
        options = ["--reach-lines", f"{fault.file}:{lines[0]}:{lines[1]}", "--reach-digest", known]
        options += ["--reach-limit", str(limit), "--reach-budget", str(budget), *["--reach-whole"] * whole]
        tests = [*fault.tests]
        if tests:
            options = []
        for folder in () if tests else fault.folders:
            record = Reach.load(reach_of(folder))
            options += ["--reach-use", str(reach_of(folder))]
            found = None if whole else record.of(fault.file, known, *lines)
            tests += record.files(self.root, f"tests/{folder}", found)
        try:
            fault.apply(self.root)
            code, output = self.pytest([*options, *tests], _LONGEST) if tests else (0, "")
        finally:
            path.write_text(text)
        seconds = time.monotonic() - start
        if code == 4 or code == 3:
            raise SystemExit(f"pytest itself failed for the fault {fault.id}:\n{output}")
        if code in (None, 0, 5):  # too many tests for the time are no evidence
            outcome = Outcome.EQUIVALENT if fault.equivalent else Outcome.SURVIVED
            return Result(fault.id, fault.package, outcome, "", seconds)
        by = next(
            (line.split(" ")[1] for line in output.splitlines() if line.startswith(("FAILED ", "ERROR "))), ""
        )
        return Result(fault.id, fault.package, Outcome.NOTICED if by else Outcome.ENDED, by, seconds)


def reach_of(folder: str) -> Path:
    return WORK / "reach" / top(folder)


def top(folder: str) -> str:
    return folder.split("/")[0]


def run_all(faults: list[Fault], options: argparse.Namespace) -> list[Result]:
    """Plant the faults one at a time in each of `--jobs` copies of the tree."""
    copies: SimpleQueue[Scratch] = SimpleQueue()
    for _ in range(options.jobs):
        copies.put(Scratch())
    first = copies.get()
    named = sorted({test for fault in faults for test in fault.tests})
    if named:
        print("running tests that faults name", flush=True)
        first.demand(named)
    for folder in sorted({top(folder) for fault in faults if not fault.tests for folder in fault.folders}):
        if options.record or not reach_of(folder).exists():
            print(f"recording tests/{folder}", flush=True)
            first.record(folder)
    copies.put(first)

    def one(fault: Fault) -> Result:
        scratch = copies.get()
        try:
            result = scratch.run(fault, whole=options.whole, limit=options.timeout, budget=options.budget)
        finally:
            copies.put(scratch)
        print(f"{result.outcome:11} {result.seconds:6.1f} s  {result.fault}  {result.by}", flush=True)
        return result

    with ThreadPoolExecutor(options.jobs) as pool:
        return list(pool.map(one, faults))


def table(results: list[Result]) -> str:
    """The score of each package. Faults that nothing can show, and stale ones, do not count."""
    lines = [
        "| package | faults | noticed | survived | equivalent | stale | score |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    packages = sorted({result.package for result in results})
    for name in [*packages, "all"]:
        count = Counter(r.outcome for r in results if name in ("all", r.package))
        good, bad = sum(count[outcome] for outcome in _GOOD), count[Outcome.SURVIVED]
        score = f"{100 * good / (good + bad):.0f} %" if good + bad else ""
        shown = (count.total(), good, bad, count[Outcome.EQUIVALENT], count[Outcome.STALE], score)
        lines.append(f"| {name} | {' | '.join(map(str, shown))} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--package", default="", help="only faults in files under this path, such as allo/poly"
    )
    parser.add_argument("--faults", default="", help="only those with these names, with commas between them")
    parser.add_argument(
        "--catalogue", type=Path, nargs="*", default=(), help="files of faults in place of it"
    )
    parser.add_argument("--sample", type=int, default=0, help="only so many, at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=60, help="seconds for one test")
    parser.add_argument(
        "--budget", type=float, default=0, help="seconds for the tests of one fault, 0 for all"
    )
    parser.add_argument(
        "--whole", action="store_true", help="run all tests of the folders, whatever they reach"
    )
    parser.add_argument("--record", action="store_true", help="find out again which tests reach what")
    parser.add_argument(
        "--propose", type=int, default=0, help="print so many new faults of the package; run nothing"
    )
    parser.add_argument("--results", type=Path, help="a file of JSON that results are added to")
    options = parser.parse_args()
    if options.propose:
        print("\n".join(map(toml, propose(options.package, options.propose, options.seed))))
        return
    names = [name for name in options.faults.split(",") if name]
    results = run_all(
        chosen(read(options.catalogue), options.package, names, options.sample, options.seed), options
    )
    if options.results:
        known = json.loads(options.results.read_text()) if options.results.exists() else {}
        known.update({result.fault: asdict(result) for result in results})
        options.results.write_text(json.dumps(known, indent=1) + "\n")
    print(f"\n{table(results)}")
    for result in results:
        if result.outcome in (Outcome.SURVIVED, Outcome.STALE):
            print(f"{result.outcome}: {result.fault}")


if __name__ == "__main__":
    main()
