"""Random kernels, schedules and faults against every door: `python -m benchmarks.attack --door cpu --seeds 0 1000`.

The doors are `cpu` (a build of the kernel against one of the schedule), `interpret` (the reference against machine
code), `verify` (of accepted schedules), `csim` (the C++ against the CPU), `rtl` (hardware in simulation against the
CPU, and its cycles against those predicted) and `text` (faults in the text of a module, which are run when they are
said to be equivalent).
Each seed is a kernel with some schedules or faults. They run in a process of their own, so that a crash or an endless
call is one more finding and stops nothing. What is found is made smaller (fewer steps, fewer lines of the kernel),
printed, and the exit code 1. `--budget` is the number of seconds after which no seed begins any more.
"""

from __future__ import annotations

import argparse
import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from tests.attack.doors import DOORS, Finding, again, through

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 300.0  # seconds of one seed
SMALLER_SECONDS = 240.0  # of making one finding smaller


def child(door: str, first: int, last: int, until: float) -> None:
    """Attack with some seeds; a line of JSON before and after each."""
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, last):
            if time.time() > until:
                return
            print(json.dumps({"begins": seed}), flush=True)
            try:
                outcome = through(door, seed, Path(folder))
            except Exception:
                told = traceback.format_exc(limit=-4)
                print(json.dumps({"counts": {}, "findings": [asdict(_crash(door, seed, told))]}), flush=True)
                continue
            findings = [asdict(finding) for finding in outcome.findings]
            print(json.dumps({"counts": outcome.counts, "findings": findings}), flush=True)


def _crash(door: str, seed: int, told: str) -> Finding:
    from tests.attack.kernels import kernel

    return Finding(door, seed, told, kernel(seed, small=door == "text").text)


def _process(*arguments: str, **named: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "benchmarks.attack", *arguments]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, **named)


def rows(door: str, first: int, last: int, until: float) -> Iterator[dict[str, Any]]:
    """The outcome of each seed, whatever becomes of the processes."""
    seed = first
    while seed < last and time.time() < until:
        process = _process("--door", door, "--child", str(seed), str(last), str(until))
        begun = seed - 1
        for line in _lines(process):
            row = json.loads(line)
            begun = row.get("begins", begun)
            if "counts" in row:
                yield row
        process.kill()  # it has ended, or takes too long
        code = process.wait()
        if code == 0:
            return
        seed = max(begun, seed) + 1
        yield {
            "counts": {},
            "findings": [asdict(_crash(door, begun, f"the process ended with {code}, or never"))],
        }


def _lines(process: subprocess.Popen[str]) -> Iterator[str]:
    """What a process prints, until it ends or prints nothing for too long."""
    assert process.stdout is not None
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        data = b""
        while selector.select(PATIENCE):
            part = os.read(process.stdout.fileno(), 1 << 16)
            if not part:
                process.wait()
                return
            *whole, data = (data + part).split(b"\n")
            yield from (line.decode() for line in whole)


def smaller(finding: Finding) -> Finding:
    """The finding with as few steps and lines of the kernel as show it too; those of mutants are one change already."""
    if finding.door not in DOORS or not finding.steps:
        return finding
    until = time.time() + SMALLER_SECONDS
    for part in ("steps", "text"):
        lines = getattr(finding, part).splitlines()
        for number in reversed(range(len(lines))):
            fewer = replace(finding, **{part: "\n".join([*lines[:number], *lines[number + 1 :]]) + "\n"})
            if time.time() < until and _shows(fewer):
                finding, lines = fewer, [*lines[:number], *lines[number + 1 :]]
    return finding


def _shows(finding: Finding) -> bool:
    process = _process("--again", json.dumps(asdict(finding)), stderr=subprocess.DEVNULL)
    try:
        return process.wait(60) == 0
    except subprocess.TimeoutExpired:
        process.kill()
        return False


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--door", choices=[*DOORS, "interpret", "text"], default="cpu")
    parser.add_argument("--seeds", nargs=2, type=int, metavar=("A", "B"), default=(0, 100))
    parser.add_argument("--budget", type=float, default=float("inf"), metavar="SECONDS")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--again", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.door, int(options.child[0]), int(options.child[1]), float(options.child[2]))
        return
    if options.again:
        finding = Finding(**json.loads(options.again))
        sys.exit(0 if again(finding, finding.text, finding.steps) else 1)
    start, counts, found = time.time(), Counter[str](), 0
    for row in rows(options.door, *options.seeds, start + options.budget):
        counts.update(row["counts"])
        counts["seeds"] += 1
        for given in row["findings"]:
            found += 1
            print(f"--- {smaller(Finding(**given))}", flush=True)
        if counts["seeds"] % 50 == 0:
            print(f"{time.time() - start:.0f} s: {dict(counts)}", file=sys.stderr, flush=True)
    told = ", ".join(f"{number} {what}" for what, number in counts.items())
    first, last = options.seeds
    print(f"{options.door}, seeds {first} to {last}: {told}; {found} findings, {time.time() - start:.0f} s")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
