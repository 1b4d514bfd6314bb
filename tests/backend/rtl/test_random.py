"""Random kernels under random schedules in hardware: the bits of the CPU, and the cycles that were predicted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hypothesis
from hypothesis import strategies as st

from allo import Schedule, TargetError
from allo.backend.rtl import RTLModule
from tests.customize.checks import arguments_of
from tests.customize.random_kernels import load, programs
from tests.customize.test_random import random_sequence
from tests.seeds import EXAMPLES, sweep

from .shelf import shelve
from .simulated import assert_in_hardware

BATCH = 10
# what has no hardware yet
NOT_YET = (
    "stages of several iterations run at once", "stages that run at once use", "inside of a pipelined loop",
    "is made of other memory than argument", "has no processing elements",
)  # fmt: skip


def designs(seed: int, directory: Path) -> list[tuple[str, Schedule, RTLModule, tuple[Any, ...]]]:
    """Kernels with the text of kernel and schedule, as far as there is hardware for them, and arguments."""
    found = []

    @hypothesis.seed(seed)
    @hypothesis.settings(EXAMPLES, max_examples=BATCH, phases=[hypothesis.Phase.generate])
    @hypothesis.given(st.data())
    def draw(data: st.DataObject) -> None:
        kernel = load(data.draw(programs()), directory)
        s: Schedule = random_sequence(data, kernel)
        text = f"{kernel.source}\n{s!r}\n{s.pseudocode()}"
        try:
            built = s.build(target="rtl", limit=2_000_000)
        except TargetError as error:
            assert any(reason in str(error) for reason in NOT_YET), f"{text}\n{error}"
            return
        assert isinstance(built, RTLModule)
        found.append((text, s, built, arguments_of(kernel.function)))

    draw()
    return found


@sweep(60, quick=0)
def test_same_bits_in_the_predicted_cycles(seed: int, tmp_path: Path) -> None:
    made = designs(seed, tmp_path)
    shelve([built for _, _, built, _ in made])
    wrong = []
    for text, s, built, arguments in made:
        try:
            assert_in_hardware(s, built, *arguments)
        except AssertionError as error:
            wrong.append(f"{text}\n{error}")
    assert not wrong, "\n\n".join(wrong)
    assert len(made) > BATCH // 3
