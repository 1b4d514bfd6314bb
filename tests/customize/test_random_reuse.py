"""Random stencils whose loops keep values in line and window buffers: the results stay the same."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import note
from hypothesis import strategies as st

from allo import ScheduleError, customize
from tests.seeds import drawn, sweep

from .checks import assert_equal, outcome
from .random_kernels import load
from .random_stencils import LOOPS, stencils


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("stencils")


def buffers_keep_results(directory: Path, data: st.DataObject) -> int:
    """Applies reuse_at to loops in random order, each to `A` or to what an earlier one made; counts the successes."""
    kernel = load(data.draw(stencils()), directory)
    note(kernel.source)
    plain, s = customize(kernel.function), customize(kernel.function)
    handle = s.A
    spatial = [name for name in kernel.nests[0] if name in LOOPS]
    for name in data.draw(st.one_of(st.just(spatial), st.permutations(kernel.nests[0]))):
        target = handle if data.draw(st.integers(0, 3)) else s.A
        try:
            handle = s.reuse_at(target, name, strict=True)
        except ScheduleError as error:
            note(str(error))
    note(f"{s!r}\n{s.module}")
    assert_equal(outcome(s, kernel.function), outcome(plain, kernel.function))
    return len(s.steps)


@sweep(16, quick=1)
def test_stencils_keep_results(directory: Path, seed: int) -> None:
    applied: Counter[int] = Counter()

    @drawn(20, st.data())
    def check(data: st.DataObject) -> None:
        applied[buffers_keep_results(directory, data)] += 1

    check(seed)
    assert sum(count for steps, count in applied.items() if steps) > 3
