"""Rewritten modules beside what they were: both run on the CPU, with random options, on random kernels."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import allo
from allo import Schedule
from allo.backend.cpu import MANIFEST
from allo.errors import AlloError
from allo.ir.hang import Hang
from allo.ir.module import Module
from allo.poly import hang_of
from allo.target import load_target
from allo.timing.rewrites import NAMES, Prepared, RewriteOptions, prepared
from tests.attack.kernels import kernel as drawn_kernel
from tests.attack.steps import attempted
from tests.attack.values import Shapes, arguments, differences
from tests.estimate.random_kernels import random_kernel

from .sums import sums_kernel

CALLS = 2  # the second with the state that the first one left


def results(module: Module, shapes: Shapes, calls: list[list[Any]]) -> list[Any]:
    """What calls with these arguments leave in the arguments and return."""
    built = MANIFEST.build(module, None, {"contract": False})
    found: list[Any] = []
    for values in calls:
        given = shapes.given(values)
        returned = built(*given)
        found += shapes.taken(given)
        found += [] if returned is None else [np.asarray(r) for r in np.atleast_1d(returned)]
    return found


def rewritten(module: Module, seed: int) -> Prepared:
    """The module after all rewrites that keep the bits, or after some of them, by random options."""
    draw = random.Random(f"rewrites {seed}")
    options = RewriteOptions(draw.random() < 0.7, False, draw.choice([0, 1, 2, 3]), load_target("u280"))
    if draw.random() < 0.3:
        return prepared(module, options, only=draw.sample(NAMES, draw.randrange(1, len(NAMES) + 1)))
    return prepared(module, options, only=NAMES)


def difference(s: Schedule, seed: int, counts: Counter[str], values: list[Any] | None = None) -> str:
    """How the results of the rewritten module differ; empty if they do not."""
    if isinstance(hang_of(s.ir), Hang):
        counts["hangs"] += 1
        return ""
    shapes = Shapes(s)
    calls = [arguments(shapes.kinds, 10 * seed + call) if values is None else values for call in range(CALLS)]
    wanted = results(s.ir, shapes, calls)
    made = rewritten(s.ir, seed)
    for record in made.rewrites:
        counts[f"{record.name}{'' if record.done else ' left it'}"] += 1
    counts["modules"] += 1
    seen = results(made.module, shapes, calls)
    return "".join(f"{told}\n{s.module}\n{made.module}\n{made}" for told in differences(wanted, seen)[:1])


def of_attack(seed: int, folder: Path, counts: Counter[str], schedules: int = 2) -> str:
    """The first difference in random schedules of a random kernel."""
    made = drawn_kernel(seed, folder)
    try:
        schedule = allo.customize(made.function)
    except AlloError:
        return ""
    given = [schedule, *(attempted(made, 100 * seed + number).schedule for number in range(schedules))]
    for number, s in enumerate(given):
        if told := difference(s, 7 * seed + number, counts):
            return f"{made.text}\n{s.steps}\n{told}"
    return ""


def of_pipelines(seed: int, counts: Counter[str]) -> str:
    """A difference in a random kernel with a pipelined loop."""
    made = random_kernel(seed)
    s = allo.customize(made.function)
    s.pipeline("i")
    told = difference(s, seed, counts, list(made.data[0].values()))
    return f"{made.text}\n{told}" if told else ""


def of_sums(seed: int, counts: Counter[str]) -> str:
    """A difference in a random kernel with sums, in which a loop may be pipelined and others unrolled."""
    text, function = sums_kernel(seed)
    try:
        s = allo.customize(function)
    except AlloError:
        counts["kernels refused"] += 1
        return ""
    draw = random.Random(f"marks {seed}")
    loops = [f"{loop.nest}.{loop.name}" for loop in s.ir.loops(s.ir.top)]
    for loop in draw.sample(loops, min(len(loops), 2)):
        if draw.random() < 0.7:
            s.pipeline(loop)
    told = difference(s, seed, counts)
    return f"{text}\n{told}" if told else ""


def proved(seed: int) -> object:
    """What the verifier says of a random kernel with sums after the rewrites; None if the kernel is refused."""
    _, function = sums_kernel(seed)
    try:
        s = allo.customize(function)
    except AlloError:
        return None
    return allo.verify(s, str(rewritten(s.ir, seed).module), timeout=10)
