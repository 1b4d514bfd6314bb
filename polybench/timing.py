"""How long a design takes on one core of this CPU, beside the same loops in C by gcc -O3: measured in pairs."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import batched
from pathlib import Path
from typing import Any

import numpy as np

from allo.ir.types import AlloType

from .benchmark import Benchmark, Design
from .in_c import compile_c

ROUNDS = 7
type Program = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Timing:
    """CPU time of each program in milliseconds, the median of the rounds; a ratio is the median of their ratios."""

    milliseconds: float  # `a * b + c` may be rounded once, as gcc does
    exact: float  # every operation rounds, as `build` does by itself
    c: float  # pointers that may overlap, as PolyBench/C has them
    restrict: float  # pointers that do not
    of_c: float  # below 1: faster than C
    of_restrict: float
    rounds: int


def timed(
    benchmark: Benchmark,
    designs: Sequence[Design],
    size: str,
    T: AlloType | None = None,
    rounds: int = ROUNDS,
) -> list[Timing]:
    """What each of `designs`, in both roundings, takes for the inputs of PolyBench, all and both C programs in turn.

    All programs run in this process, on copies of one input: a busy machine slows all of them, and CPU time does not
    count what other programs do in between. Without `T` the elements have the type of the benchmark. Raises
    FileNotFoundError if gcc is missing.
    """
    chosen = (T,) if T else ()
    arguments = benchmark.arguments(size, *chosen)
    scalar = next(str(a.dtype) for a in reversed(arguments) if isinstance(a, np.ndarray))
    with tempfile.TemporaryDirectory() as folder:
        programs: list[Program] = [
            compile_c(benchmark, size, scalar, Path(folder)),
            compile_c(benchmark, size, scalar, Path(folder), restrict=True),
        ]
        for design in designs:
            s = design.customized(size, T)
            programs += [s.build(contract=True), s.build()]
        c, restrict, *ours = _interleaved(programs, arguments, rounds)
    return [
        Timing(
            *map(_milliseconds, (mine, exact, c, restrict)), _ratio(mine, c), _ratio(mine, restrict), rounds
        )
        for mine, exact in batched(ours, 2)
    ]


def _interleaved(programs: list[Program], arguments: tuple[Any, ...], rounds: int) -> list[list[float]]:
    """CPU seconds of each program in each round, after one round that does not count."""
    times: list[list[float]] = [[] for _ in programs]
    inputs = [tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments) for _ in programs]
    for number in range(rounds + 1):
        for program, mine, found in zip(programs, inputs, times, strict=True):
            for array, original in zip(mine, arguments, strict=True):
                if isinstance(array, np.ndarray):
                    array[...] = original
            start = time.thread_time()
            program(*mine)
            if number:
                found.append(time.thread_time() - start)
    return times


def _milliseconds(times: list[float]) -> float:
    return statistics.median(times) * 1e3


def _ratio(ours: list[float], theirs: list[float]) -> float:
    return statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
