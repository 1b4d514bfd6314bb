"""A few random kernels, schedules and faults at every door; the seed is another one each day, or ALLO_ATTACK_SEED.

`python -m benchmarks.attack` is the same without an end.
"""

from __future__ import annotations

import datetime
import os
import shutil
from pathlib import Path

import pytest

from .doors import through

SEED = int(os.environ.get("ALLO_ATTACK_SEED", datetime.datetime.now(datetime.UTC).strftime("%Y%m%d")))


def attack(door: str, seeds: range, folder: Path) -> None:
    for seed in seeds:
        outcome = through(door, seed, folder)
        told = "\n".join(str(finding) for finding in outcome.findings)
        assert not told, f"ALLO_ATTACK_SEED={SEED}, seed {seed}\n{told}"


def test_schedules_keep_the_results(tmp_path):
    attack("cpu", range(10 * SEED, 10 * SEED + 4), tmp_path)


def test_the_reference_gives_the_same_bits(tmp_path):
    attack("interpret", range(10), tmp_path)


@pytest.mark.exhaustive
@pytest.mark.parametrize("door", ["cpu", "interpret", "verify", "csim", "text"])
def test_every_door(door, tmp_path):
    if door == "csim" and shutil.which("g++") is None:
        pytest.skip("the simulation needs g++")
    attack(door, range(100 * SEED, 100 * SEED + 30), tmp_path)
