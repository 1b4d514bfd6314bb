"""Random legal schedules of random kernels are never said to be different, and hardly ever unknown."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from allo.verify import Different, Equivalent
from tests.customize.random_kernels import load, programs
from tests.customize.test_random import random_sequence

SETTINGS = settings(
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
SEQUENCES = 4  # of one kernel


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kernels")


def no_false_alarm(directory: Path, data: st.DataObject) -> None:
    kernel = load(data.draw(programs()), directory)
    note(kernel.source)
    for _ in range(SEQUENCES):
        s = random_sequence(data, kernel)
        result = s.verify()
        note(f"{s!r}\n{s.pseudocode()}\n{result}")
        assert not isinstance(result, Different)
        assert isinstance(result, Equivalent)


@settings(SETTINGS, max_examples=6)
@given(st.data())
def test_random_schedules_are_equivalent(directory: Path, data: st.DataObject) -> None:
    no_false_alarm(directory, data)


@pytest.mark.slow
@settings(SETTINGS, max_examples=60)
@given(st.data())
def test_more_random_schedules(directory: Path, data: st.DataObject) -> None:
    """240; `python -m benchmarks.verify random` tries 2,000."""
    no_false_alarm(directory, data)
