"""Random mapped programs: the simulator and the model of the array show the same bits, or a limit is told."""

from __future__ import annotations

from pathlib import Path

from tests.seeds import sweep

from .random_mapped import compare, program

LIMITS = (
    "does not fit",
    "cores are needed",
    "DMA engines move words",
    "are not alike",
    "wait for one another",
)


@sweep(600, 12)
def test_model_agrees_with_simulator(seed: int, tmp_path: Path) -> None:
    built = compare(program(seed), tmp_path, seed, None, LIMITS)
    assert built.mlir.count("aie.core(") == len(built.plan.mapping.cores)
