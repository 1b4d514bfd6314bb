"""Rewrites keep the bits: random kernels on the CPU before and after, and proofs where the verifier has them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from allo.verify import Different
from tests.seeds import sweep

from . import same_bits


@sweep(300, quick=8)
def test_sums(seed: int) -> None:
    told = same_bits.of_sums(seed, Counter())
    assert not told, told


@sweep(120, quick=4)
def test_pipelines(seed: int) -> None:
    told = same_bits.of_pipelines(seed, Counter())
    assert not told, told


@sweep(60, quick=2)
def test_schedules(seed: int, tmp_path: Path) -> None:
    told = same_bits.of_attack(seed, tmp_path, Counter())
    assert not told, told


def test_a_condition_that_never_holds() -> None:
    """A register was written back over what another store had written, since no access of it ever ran."""
    assert not same_bits.of_pipelines(200, Counter())


@sweep(30, quick=0)
def test_nothing_is_proved_different(seed: int) -> None:
    assert not isinstance(same_bits.proved(seed), Different)
