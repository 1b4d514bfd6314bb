"""Programs as users of published `allo.dataflow` write them: simulator, reference and C simulation against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest

import allo
import allo.dataflow as df
from tests.seeds import rotating

from .published_style import branches, control, elements, grids, networks, sharing
from .published_style.program import Program


def made(module: ModuleType) -> list[Callable[[], Program]]:
    return [f for f in vars(module).values() if isinstance(f, FunctionType) and f.__module__ == module.__name__]


PROGRAMS = [make for module in (branches, control, elements, grids, networks, sharing) for make in made(module)]


def check(run: Callable[..., Any], program: Program) -> None:
    _, given, wanted = program
    arguments = [value.copy() if isinstance(value, np.ndarray) else value for value in given]
    run(*arguments)
    for number, array in wanted.items():
        if array.dtype.kind == "f":
            np.testing.assert_allclose(arguments[number].astype(np.float64), array, rtol=2e-5, atol=1e-5)
        else:
            np.testing.assert_array_equal(arguments[number], array)


@pytest.mark.parametrize("make", PROGRAMS, ids=lambda make: make.__name__)
def test_simulator(make: Callable[[], Program]) -> None:
    program = make()
    check(df.build(program[0], target="simulator"), program)


@pytest.mark.parametrize("make", rotating(PROGRAMS), ids=lambda make: make.__name__)
def test_reference(make: Callable[[], Program]) -> None:
    program = make()
    check(allo.interpret(program[0]), program)


@pytest.mark.filterwarnings("ignore::allo.ScheduleNote")
@pytest.mark.parametrize("make", rotating(PROGRAMS, slow=True), ids=lambda make: make.__name__)
def test_c_simulation(make: Callable[[], Program]) -> None:
    """That of the region, and of its schedule, which divides what the tasks share by itself."""
    program = make()
    check(df.build(program[0], target="vitis_hls", mode="csim"), program)
    check(df.customize(program[0]).build(target="vitis_hls", mode="csim"), program)


def test_there_are_many() -> None:
    assert len(PROGRAMS) >= 60
