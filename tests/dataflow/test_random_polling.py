"""Random designs that poll: an end each time, and the same bits or the same error behind all doors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.errors import DataflowError
from tests.seeds import sweep

from .random_polling import N, region_of
from .test_random_graphs import told


def outcome(built: Callable[..., Any], sources: int) -> list[Any]:
    """The results, or what an error says."""
    A = np.arange(1, 1 + sources * N, dtype=np.int32).reshape(sources, N)
    C, asked = np.zeros(sources * N, np.int32), np.zeros(1, np.int32)
    try:
        built(A, C, asked)
    except DataflowError as error:
        return [told(error)]
    return [C.tolist(), asked.tolist()]


def seen(seed: int, folder: Path) -> tuple[Callable[..., Any], int, list[Any]]:
    """A design, how many sources it has, and what the simulator gives; as reference it gives the same."""
    region = region_of(seed, folder)
    sources = sum(name.startswith("source") for name in region.__code__.co_varnames)
    given = outcome(df.customize(region).build(), sources)
    assert outcome(allo.interpret(region), sources) == given
    return region, sources, given


@sweep(90, quick=4)
def test_doors_agree(seed: int, tmp_path: Path) -> None:
    region, sources, given = seen(seed, tmp_path)
    if len(given) > 1:  # to find that nothing moves any more takes seconds
        assert outcome(df.customize(region).build(), sources) == given


@pytest.mark.slow
@sweep(30, quick=4)
def test_c_simulation_agrees(seed: int, tmp_path: Path) -> None:
    region, sources, given = seen(seed, tmp_path)
    if "peek" not in (tmp_path / f"polling_{seed}.py").read_text():
        assert outcome(df.build(region, target="vitis_hls", mode="csim"), sources) == given
