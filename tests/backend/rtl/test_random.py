"""Random kernels under random schedules in hardware: the bits of the CPU, and the cycles that were predicted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import note
from hypothesis import strategies as st

from allo import Schedule, TargetError
from tests.customize.checks import arguments_of
from tests.customize.random_kernels import load, programs
from tests.customize.test_random import random_sequence
from tests.seeds import drawn, sweep

from .simulated import assert_as_predicted

# what has no hardware yet
NOT_YET = (
    "stages of several iterations run at once", "stages that run at once use", "a call inside of a pipelined loop",
    "is made of other memory than argument", "a copy of a whole array", "has no processing elements",
)  # fmt: skip


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kernels")


def is_refused(build: Callable[[], object]) -> bool:
    """Whether a schedule has no hardware, for one of the reasons that are known."""
    try:
        build()
    except TargetError as error:
        assert any(reason in str(error) for reason in NOT_YET), error
        return True
    return False


@sweep(40, quick=1)
@drawn(2, st.data())
def test_same_bits_in_the_predicted_cycles(directory: Path, data: st.DataObject) -> None:
    kernel = load(data.draw(programs()), directory)
    note(kernel.source)
    s: Schedule = random_sequence(data, kernel)
    note(f"{s!r}\n{s.pseudocode()}")
    if not is_refused(lambda: s.build(target="rtl")):
        assert_as_predicted(s, *arguments_of(kernel.function), limit=2_000_000, random_state=1)
