"""Random steps of a caller and of a part: what is composed commutes, what is refused changes nothing."""

# ruff: noqa: F821 - kernels declare arrays without a value

import random

import allo
from allo import Partition, ScheduleError, customize
from allo.ir.types import int32
from tests.seeds import sweep

from .checks import assert_faithful


def work(A: int32[4, 8], B: int32[4, 8]):
    T: int32[4, 8]
    for i, j in allo.grid(4, 8, name="first"):
        T[i, j] = A[i, j] * 2
    for i, j in allo.grid(4, 8, name="second"):
        B[i, j] = T[i, j] + T[i, 0]


def top(A: int32[4, 8], C: int32[4, 8]):
    B: int32[4, 8]
    work(A, B)
    for i, j in allo.grid(4, 8, name="end"):
        C[i, j] = B[i, j] - 1
    work(C, B)
    for i, j in allo.grid(4, 8, name="last"):
        C[i, j] = C[i, j] + B[i, j]


STEPS = (
    *(("split", f"work:{nest}.{loop}", 2) for nest in ("first", "second") for loop in "ij"),
    *(("pipeline", f"work:{nest}.{loop}") for nest in ("first", "second") for loop in "ij"),
    *(("unroll", f"work:{nest}.j", factor) for nest in ("first", "second") for factor in (2, 4)),
    *(("reorder", f"work:{nest}.j", f"work:{nest}.i") for nest in ("first", "second")),
    ("buffer_at", "work:A", "work:first.i"),
    ("buffer_at", "work:T", "work:second.i"),
    ("partition", "work:A", Partition.Cyclic, 2, 4),
    ("partition", "work:B", Partition.Block, 2, 2),
    ("partition", "work:T", Partition.Complete, 1),
    ("reshape", "work:T", (32,)),
)
OF_TOP = (
    ("split", "end.j", 4),
    ("pipeline", "last.i"),
    ("partition", "B", Partition.Cyclic, 2, 2),
    ("partition", "A", Partition.Block, 2, 4),
)


def apply(schedule, steps):
    for name, *arguments in steps:
        getattr(schedule, name)(*arguments)
    return schedule


def some(generator, steps, kernel):
    """A few steps that can be applied one after the other."""
    while True:
        chosen = generator.sample(steps, generator.randrange(1, 4))
        try:
            apply(customize(kernel), chosen)
            return chosen
        except ScheduleError:
            continue


@sweep(24)
def test_composition(seed):
    generator = random.Random(seed)
    mine, theirs = some(generator, STEPS + OF_TOP, top), some(generator, STEPS, work)
    part, s = apply(customize(work), theirs), apply(customize(top), mine)
    before = str(s.module)
    try:
        s.compose(part)
    except ScheduleError:
        assert str(s.module) == before and len(s.steps) == len(mine)
        return
    assert_faithful(top, s)
    assert all(any(str(step) == str(own) for own in s.steps) for step in part.steps)
    other = apply(allo.compose(top, part), mine) if not shared(mine, theirs) else s
    assert str(other.module) == str(s.module)


def shared(mine, theirs):
    """The same step twice is applied once by `compose`, and twice by hand."""
    return set(map(str, mine)) & set(map(str, theirs))


def test_both_outcomes_occur():
    outcomes = set()
    for seed in range(8):
        generator = random.Random(seed)
        mine, theirs = some(generator, STEPS + OF_TOP, top), some(generator, STEPS, work)
        s = apply(customize(top), mine)
        try:
            s.compose(apply(customize(work), theirs))
            outcomes.add("composed")
        except ScheduleError:
            outcomes.add("refused")
    assert outcomes == {"composed", "refused"}
