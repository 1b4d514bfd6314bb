"""Random legal schedules of random kernels are never said to be different, and hardly ever unknown."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import note
from hypothesis import strategies as st

from allo.verify import Different, Equivalent
from tests.customize.random_kernels import load, programs
from tests.customize.test_random import random_sequence
from tests.seeds import drawn, sweep

SEQUENCES = 4  # of one kernel


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kernels")


@sweep(12, quick=0)
@drawn(6, st.data())
def test_random_schedules_are_equivalent(directory: Path, data: st.DataObject) -> None:
    """24; `python -m benchmarks.verify random` tries 2,000."""
    kernel = load(data.draw(programs(run_time=False)), directory)
    note(kernel.source)
    for _ in range(SEQUENCES):
        s = random_sequence(data, kernel)
        result = s.verify()
        note(f"{s!r}\n{s.pseudocode()}\n{result}")
        assert not isinstance(result, Different)
        assert isinstance(result, Equivalent)
