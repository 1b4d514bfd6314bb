"""Random mapped programs: the simulator and the model of the array show the same bits, or a limit is told."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest

import allo.dataflow as df
from allo.errors import TargetError
from tests.seeds import sweep

from .random_mapped import program

LIMITS = (
    "does not fit",
    "cores are needed",
    "DMA engines move words",
    "are not alike",
    "wait for one another",
)


@sweep(600, 12)
def test_model_agrees_with_simulator(seed: int, tmp_path: Path) -> None:
    made = program(seed)
    region = made.region(tmp_path, seed)
    seen = made.arrays(Random(seed))
    wanted = [array.copy() for array in seen]
    df.build(region)(*wanted)
    try:
        built = df.build(region, target="npu-model", mapping_primitives=made.steps)
    except TargetError as error:
        if not any(limit in str(error) for limit in LIMITS):
            raise
        pytest.skip(str(error).splitlines()[0])
    built(*seen)
    for one, other in zip(seen, wanted, strict=True):
        np.testing.assert_array_equal(one, other)
    assert built.mlir.count("aie.core(") == len(built.plan.mapping.cores)
