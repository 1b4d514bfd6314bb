"""Random collectives and layouts: machine code, reference and C simulation give what NumPy says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import allo
import allo.dataflow as df
from tests.seeds import sweep

from .random_collectives import Design, collectives_of, products_of


def check(design: Design, run: Callable[..., Any]) -> None:
    arguments = [array.copy() for array in design.arguments]
    run(*arguments)
    for array, wanted in zip(arguments, design.wanted, strict=True):
        np.testing.assert_array_equal(array, wanted, err_msg=design.text)


@pytest.mark.parametrize("make", [collectives_of, products_of])
@sweep(90, quick=8)
def test_results(seed: int, make: Callable[[int], Design], tmp_path: Path) -> None:
    design = make(seed)
    region = design.region(tmp_path)
    check(design, df.build(region))
    check(design, allo.interpret(region))


@pytest.mark.slow
@pytest.mark.parametrize("make", [collectives_of, products_of])
@sweep(9, quick=3)
def test_hls_code(seed: int, make: Callable[[int], Design], tmp_path: Path) -> None:
    design = make(seed)
    check(design, df.build(design.region(tmp_path), target="vitis_hls", mode="csim"))
