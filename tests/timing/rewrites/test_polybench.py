"""What estimates assume of PolyBench designs against modules in which it is done."""

from __future__ import annotations

import pytest

import allo
from polybench.suite import NAMES, load
from tests.seeds import sampled

# Cycles that a design takes longer when nothing is assumed any more, and what they are spent on.
LONGER = {
    ("syr2k", "vanilla"): (4800, "a load before each run of loop 'j', as far as it is not hidden in the loop"),
    ("syrk", "vanilla"): (4800, "a load before each run of loop 'j'"),
    ("two_mm", "vanilla"): (5200, "a store behind each run of the loops 'k'"),
    ("three_mm", "vanilla"): (8300, "a store behind each run of the loops 'k'"),
    ("atax", "vanilla"): (116, "a store behind each run of loop 'j'"),
    ("bicg", "vanilla"): (124, "a store behind each run of loop 'j'"),
    ("doitgen", "vanilla"): (15000, "a store behind each run of loop 's'"),
    ("gramschmidt", "vanilla"): (3160, "loads and stores around the inner loops"),
    ("heat_3d", "vanilla"): (160, "products that are computed once take turns on one multiplier instead of two"),
    ("durbin", "best"): (1, "a load before a loop"),
}


@pytest.mark.parametrize("design", ["vanilla", "best"])
@pytest.mark.parametrize("name", sampled(NAMES))
def test_rewritten_designs_need_no_assumptions(name: str, design: str) -> None:
    made = load(name).designs[design]
    s = made.customized("SMALL")
    options = {"auto_pipeline": design == "vanilla", "operators": made.operators}
    assumed, done = (allo.estimate(s, rewritten=rewritten, **options) for rewritten in (False, True))
    assert assumed.cycles is not None and done.cycles is not None
    more, _ = LONGER.get((name, design), (0, ""))
    if more:
        assert done.cycles - assumed.cycles == more
        assert more < 0.02 * assumed.cycles
    else:
        assert done.cycles <= assumed.cycles
    assert (done.interval or 0) <= (assumed.interval or 0)
