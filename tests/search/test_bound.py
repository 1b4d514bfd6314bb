"""Lower bounds of cycles never exceed estimates, of random decisions and of designs made by hand."""

from __future__ import annotations

import random

import pytest

import allo
from allo.estimate.bound import bound
from allo.search.choices import Choose
from allo.search.derived import loops, memories_and_stages
from polybench.suite import load
from tests.search.kernels import chain, product
from tests.seeds import sweep

NAMES = ("atax", "bicg", "gemm", "gesummv", "mvt", "jacobi_1d", "trmm", "product", "chain")


class Chance(Choose):
    """Decisions by chance."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.chance = random.Random(seed)

    def __call__(self, name, options, **facts):
        given = tuple(options)
        if name not in self.holes:
            self.decisions = {**self.decisions, name: self.chance.randrange(len(given[:6]))}
        return super().__call__(name, given, **facts)


@pytest.mark.parametrize("profile", [None, "vitis_hls_2023.2", "rtl"])
@sweep(9, quick=1)
def test_of_random_decisions(seed: int, profile: str | None):
    name = random.Random(seed).choice(NAMES)
    kernel = {"product": product, "chain": chain}.get(name)
    s = allo.customize(kernel if kernel is not None else load(name).designs["vanilla"].kernel("MINI"))
    options = {} if profile is None else {"profile": profile}
    choose = Chance(seed)
    try:
        loops(s, choose)
    except allo.ScheduleError:
        return  # tiles that a dependence forbids
    before = bound(s, options).cycles
    estimate = memories_and_stages(s, Choose(choose.decisions), options)
    assert before is not None and estimate.cycles is not None
    assert before <= estimate.cycles, s.steps


@pytest.mark.parametrize("name", ["gemm", "atax", "correlation", "jacobi_2d", "nussinov"])
def test_of_designs_by_hand(name: str):
    design = load(name).designs["vanilla"]
    s = allo.customize(design.kernel("MINI"))
    design.schedule(s, "MINI")
    least, found = bound(s, {"auto_pipeline": True}).cycles, allo.estimate(s, auto_pipeline=True)
    assert least is not None and found.cycles is not None and 0 < least <= found.cycles
