"""The doors at which kernels and schedules are compared: CPU, `interpret`, `verify`, simulations, printed modules."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import allo
from allo import Schedule
from allo.errors import AlloError, CheckError, DataflowError, InternalError, RunTimeout
from allo.ir.hang import Hang
from allo.poly import hang_of
from allo.verify import Different, Equivalent

from .kernels import Kernel, kernel, loaded
from .steps import attempted
from .text_mutants import mutated
from .values import Shapes, arguments, differences, signature

CALLS = 2  # with the state that the first one left
SIMULATED_CALLS = 8  # of C++, which is compiled for long and called in no time
SCHEDULES = 4  # of one kernel
SIMULATED = 2  # of these in C and in hardware, which take longest
CYCLES = 300_000  # of a call in hardware
MUTANTS = 8  # of one module
SECONDS = 10.0  # of one comparison by `verify`


@dataclass(frozen=True)
class Finding:
    """What should not have happened, with the kernel and the steps or the mutant that show it again."""

    door: str
    seed: int
    told: str
    text: str
    steps: str = ""
    module: str = ""
    mutant: str = ""

    def __str__(self) -> str:
        parts = [f"{self.door} {self.seed}: {self.told}", self.text, self.steps, self.module, self.mutant]
        return "\n".join(part for part in parts if part)


@dataclass
class Outcome:
    """What a seed gave: how often what happened, and what should not have happened."""

    counts: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)


def through(door: str, seed: int, folder: Path | None = None) -> Outcome:
    """Attack one door with the kernel of a seed."""
    outcome = Outcome()
    made = kernel(seed, folder, small=door == "text")
    try:
        original = allo.customize(made.function)
    except AlloError:
        outcome.counts["kernels refused"] += 1
        return outcome
    outcome.counts["kernels"] += 1
    if door == "text":
        _text(outcome, made, original, seed)
        return outcome
    if door == "interpret":
        told = _interpreted(outcome.counts, made, original, seed)
        outcome.findings += [Finding(door, seed, told, made.text)] if told else []
        return outcome
    for s in _schedules(outcome, made, door, seed, SIMULATED if door in ("csim", "rtl") else SCHEDULES):
        told = DOORS[door](outcome.counts, original, s, seed)
        if told:
            outcome.findings.append(Finding(door, seed, told, made.text, str(s.steps)))
    return outcome


def again(finding: Finding, text: str, steps: str) -> bool:
    """Whether a kernel and steps of a finding, or fewer of them, show the same kind of mistake."""
    made = loaded(text)
    try:
        original = allo.customize(made.function)
        s = original.copy()
        s.replay(steps)
    except AlloError:
        return False
    told = DOORS[finding.door](Counter(), original, s, finding.seed)
    return told.split(":")[0] == finding.told.split(":")[0]


def _results(built: Any, shapes: Shapes, seed: int, calls: int = CALLS) -> list[Any]:
    """What calls with random arguments leave in the arguments and return."""
    found: list[Any] = []
    for call in range(calls):
        given = shapes.given(arguments(shapes.kinds, 10 * seed + call))
        returned = built(*given)
        found += shapes.taken(given)
        found += [] if returned is None else [np.asarray(r) for r in np.atleast_1d(returned)]
    return found


def _schedules(outcome: Outcome, made: Kernel, door: str, seed: int, count: int) -> list[Schedule]:
    """Random schedules that differ."""
    found: dict[str, Schedule] = {}
    for number in range(count):
        attempt = attempted(made, 100 * seed + number)
        outcome.counts["steps"] += len(attempt.schedule.steps)
        outcome.counts["steps refused"] += attempt.refused
        for told in attempt.wrong:
            outcome.findings.append(Finding(door, seed, told, made.text, str(attempt.schedule.steps)))
        if attempt.schedule.steps:
            outcome.counts["sequences accepted"] += 1
            found.setdefault(str(attempt.schedule.module), attempt.schedule)
    return list(found.values())


def _cpu(counts: Counter[str], original: Schedule, s: Schedule, seed: int) -> str:
    wanted = _results(original.build(contract=False), Shapes(original), seed)
    hangs = isinstance(hang_of(s.ir), Hang)
    try:
        seen = _results(s.build(contract=False), Shapes(s), seed)
    except AlloError as error:
        if hangs and isinstance(error, DataflowError):
            counts["FIFOs too shallow, which is told"] += 1
            return ""
        return f"build or run: {error}"
    if hangs:
        return "a hang is told that no run shows"
    counts["sequences run"] += 1
    counts["values"] += sum(np.size(value) for value in wanted)
    return "".join(f"results: {difference}" for difference in differences(wanted, seen)[:1])


def _interpreted(counts: Counter[str], made: Kernel, original: Schedule, seed: int) -> str:
    """The reference against machine code; what it refuses has no value that machine code could be compared with."""
    wanted = _results(original.build(), Shapes(original), seed)
    try:
        seen = _results(allo.interpret(made.function), Shapes(original), seed)
    except CheckError:
        counts["without a meaning"] += 1
        return ""
    counts["kernels run"] += 1
    counts["values"] += sum(np.size(value) for value in wanted)
    return "".join(f"results: {difference}" for difference in differences(wanted, seen)[:1])


def _verify(counts: Counter[str], original: Schedule, s: Schedule, seed: int) -> str:
    result = s.verify(timeout=SECONDS)
    counts[type(result).__name__] += 1
    return f"verify: {result}" if isinstance(result, Different) or "internal error" in str(result) else ""


def _csim(counts: Counter[str], original: Schedule, s: Schedule, seed: int) -> str:
    try:
        built = s.build(target="vitis_hls", mode="csim")
    except AlloError as error:
        counts["refused"] += 1
        return f"build: {error}" if isinstance(error, InternalError) else ""
    wanted = _results(original.build(contract=False), Shapes(original), seed, SIMULATED_CALLS)
    try:
        seen = _results(built, Shapes(s), seed, SIMULATED_CALLS)
    except AlloError as error:
        return f"run: {error}"
    counts["simulations"] += 1
    counts["values"] += sum(np.size(value) for value in wanted)
    return "".join(f"results: {difference}" for difference in differences(wanted, seen)[:1])


def _rtl(counts: Counter[str], original: Schedule, s: Schedule, seed: int) -> str:
    """Hardware in simulation: the bits of the CPU, in the cycles that were predicted."""
    try:
        built: Any = s.build(target="rtl", limit=CYCLES)
    except AlloError as error:
        counts["refused"] += 1
        return f"build: {error}" if isinstance(error, InternalError) else ""
    wanted = _results(original.build(contract=False), Shapes(original), seed)
    try:
        seen = _results(built, Shapes(s), seed)
    except RunTimeout:
        counts["too long"] += 1
        return ""
    except AlloError as error:
        return f"run: {error}"
    counts["simulations"] += 1
    if built.predicted_cycles not in (None, built.cycles):
        return f"cycles: {built.cycles}, not the {built.predicted_cycles} that were predicted"
    return "".join(f"results: {difference}" for difference in differences(wanted, seen)[:1])


DOORS: dict[str, Callable[[Counter[str], Schedule, Schedule, int], str]] = {
    "cpu": _cpu,
    "verify": _verify,
    "csim": _csim,
    "rtl": _rtl,
}


def _text(outcome: Outcome, made: Kernel, original: Schedule, seed: int) -> None:
    """Change the printed module of a kernel, or of a schedule of it, and compare with what it was."""
    draw = random.Random(f"text {seed}")
    s = draw.choice([original, *_schedules(outcome, made, "text", seed, 1)])
    text = str(s.module)
    for what, mutant in mutated(text, MUTANTS, draw):
        told = _compared(outcome.counts, text, mutant, seed)
        if told:
            outcome.findings.append(
                Finding("text", seed, f"{told}\n{what}", made.text, str(s.steps), text, mutant)
            )


def _compared(counts: Counter[str], text: str, mutant: str, seed: int) -> str:
    try:
        result = allo.verify(text, mutant, timeout=SECONDS)
    except AlloError as error:
        counts["mutants refused"] += 1
        return f"refused: {error}" if isinstance(error, InternalError) else ""
    counts["mutants"] += 1
    counts[type(result).__name__] += 1
    if "internal error" in str(result):
        return f"verify: {result}"
    return _equal_when_run(counts, text, mutant, seed) if isinstance(result, Equivalent) else ""


def _equal_when_run(counts: Counter[str], text: str, mutant: str, seed: int) -> str:
    """What runs of two modules show that are said to be equivalent. They may crash: see `benchmarks/attack.py`."""
    one, other = Schedule.from_mlir(text), Schedule.from_mlir(mutant)
    if signature(one.ir) != signature(other.ir):
        return "equivalent: another interface"
    wanted = _results(one.build(contract=False), Shapes(one), seed)
    try:
        seen = _results(other.build(contract=False), Shapes(other), seed)
    except AlloError as error:
        return f"equivalent: {error}"
    counts["equivalent mutants run"] += 1
    return "".join(f"equivalent: {difference}" for difference in differences(wanted, seen)[:1])
