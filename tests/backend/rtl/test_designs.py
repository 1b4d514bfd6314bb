"""Dataflow designs of the literature in simulated hardware: what NumPy computes, in the cycles that were predicted."""

from __future__ import annotations

import numpy as np
import pytest

import allo.dataflow as df
from allo.backend.rtl import RTLModule
from tests.dataflow.test_designs import DESIGNS

# Arrays of which elements of the grid read or write at once are in registers.
QUICK = {"one_dimension": "A", "tiled_gemm": "", "hierarchy": "", "feed_forward": ""}
SLOW = {
    "weight_stationary": "XWY", "packed": "", "daisy_chain": "", "convolution": "XF", "unified": "WGYZ",
    "sparse": ("B", "A", "place", "Y"), "smith_waterman": "", "cannon": "XYZ", "multi_cache": "C",
    "multi_head": "", "flash_attention": "KVO",
}  # fmt: skip
LONG = {"summa": "XYZ"}
DATA_DECIDE = ("unified",)  # instructions are data


@pytest.mark.parametrize(
    ("name", "whole"),
    [
        *QUICK.items(),
        *(pytest.param(*one, marks=pytest.mark.slow) for one in SLOW.items()),
        *(pytest.param(*one, marks=pytest.mark.exhaustive) for one in LONG.items()),
    ],
)
def test_designs_of_the_literature(name: str, whole: str | tuple[str, ...]) -> None:
    design = DESIGNS[name]()
    s = df.customize(design.region)
    for array in whole:
        s.partition(f"{design.region.__name__}:{array}", dim=0)
    built = s.build(target="rtl", limit=100_000)
    assert isinstance(built, RTLModule)
    arguments = tuple(array.copy() if isinstance(array, np.ndarray) else array for array in design.arguments)
    built(*arguments)
    design.check(arguments)
    assert built.predicted_cycles == (None if name in DATA_DECIDE else built.cycles)
