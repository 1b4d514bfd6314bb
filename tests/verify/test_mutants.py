"""Programs with one fault: none that differs is called equivalent, and nearly all are found different."""

from __future__ import annotations

import zlib
from collections import Counter

import pytest

import allo
import polybench
from allo.verify import Different, Equivalent
from tests.seeds import sweep

from .mutants import FAULTS, mutants
from .test_verify import row_wise, streamed


def schedule_of(name: str) -> allo.Schedule:
    """The fastest design of a benchmark that has one, or its kernel."""
    benchmark = polybench.load(name)
    designs = [benchmark.designs[d] for d in ("best", "vanilla") if d in benchmark.designs]
    return designs[0].customized("MINI") if designs else allo.customize(benchmark.kernel("MINI"))


def found(s: allo.Schedule, count: int, seed: int) -> Counter[str]:
    """How many mutants got each answer; those called equivalent agree when they are run."""
    counts: Counter[str] = Counter()
    for mutant in mutants(s.ir, count, seed):
        result = allo.verify(s, mutant.module)
        counts[type(result).__name__] += 1
        if isinstance(result, Equivalent):
            tested = allo.verify(s, mutant.module, method="differential")
            assert not isinstance(tested, Different), f"{mutant.kind}: {mutant.what}\n{tested}"
    return counts


@pytest.mark.parametrize("design", [row_wise, streamed])
def test_faults_are_found(design):
    counts = found(design(), 3, seed=11)
    assert counts["Different"] >= 2 and counts["Unknown"] == 0


def test_every_kind_of_fault_is_made():
    kinds = {mutant.kind for mutant in mutants(streamed().ir, 60, seed=2)}
    assert kinds >= set(FAULTS) - {"operands", "stale"}


def test_mutants_are_the_same_for_a_seed():
    first, second = ([m.what for m in mutants(streamed().ir, 6, seed=5)] for _ in range(2))
    assert first == second and len(first) == 6


@sweep(3, quick=0)
@pytest.mark.parametrize("name", polybench.NAMES)
def test_faults_in_each_benchmark(name, seed):
    """A few; `python -m benchmarks.verify mutants` tries 20 in each."""
    counts = found(schedule_of(name), 2, seed ^ zlib.crc32(name.encode()))
    assert counts["Unknown"] <= 1
