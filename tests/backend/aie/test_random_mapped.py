"""Random mapped programs, one that fits for each seed: reference, simulator and model of the array agree on bits."""

from __future__ import annotations

from pathlib import Path

from tests.seeds import sweep

from .random_mapped import compare, program, ring, updated

LIMITS = (
    "does not fit",
    "cores are needed",
    "DMA engines move words",
    "are not alike: they are chains of other lengths",
    "wait for one another",
)


@sweep(1200, 8)
def test_model_agrees_with_simulator(seed: int, tmp_path: Path) -> None:
    built = compare(program, tmp_path, seed, LIMITS)
    assert built.mlir.count("aie.core(") == len(built.plan.mapping.cores)


@sweep(300, 4)
def test_positions_that_pass_blocks_to_one_another(seed: int, tmp_path: Path) -> None:
    """On one core they take turns, iteration by iteration, if they are in a circle."""
    compare(ring, tmp_path, seed, (*LIMITS, "whose stream"))


@sweep(60, 1)
def test_what_a_search_does_with_them(seed: int, tmp_path: Path) -> None:
    compare(ring, tmp_path, seed, ["that were looked at fits"], "search")


@sweep(150, 4)
def test_arrays_that_come_and_go_or_only_go(seed: int, tmp_path: Path) -> None:
    """What a task leaves as it was has to come first; loops without iterations may be in one another."""
    compare(updated, tmp_path, seed, (*LIMITS, "transfers move words"))
