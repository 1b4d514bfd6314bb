"""Latency of one sample by the copies of inner loops: what `unroll_stages` minimises is what an estimate says."""

# ruff: noqa: F821 - kernels declare arrays without a value

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest

import allo
from allo.customize.fifo.shortest import Choices, shortest
from allo.customize.fifo.vectors import InnerLoop, widened
from allo.customize.nest.unrolling import Option, StageOptions
from allo.customize.step.handles import FifoName
from allo.ir.types import float32
from allo.timing.control.paths import StagePath
from allo.timing.control.span import Ends, Event, Span
from allo.timing.control.stages import stages
from tests.seeds import sweep


def branches(A: float32[8, 32], W: float32[32, 32], V: float32[32, 32], B: float32[8, 32]):
    X: float32[8, 32]
    for i, j in allo.grid(8, 32, name="scale"):
        X[i, j] = A[i, j] * 2.0
    Y: float32[8, 32] = 0.0
    for i, k, j in allo.grid(8, 32, 32, name="first"):
        Y[i, j] += X[i, k] * W[k, j]
    Z: float32[8, 32] = 0.0
    for i, k, j in allo.grid(8, 32, 32, name="second"):
        Z[i, j] += X[i, k] * V[k, j]
    for i, j in allo.grid(8, 32, name="join"):
        B[i, j] = Y[i, j] + Z[i, j]


def streaming(dsp: int, objective: str) -> tuple[allo.Schedule, Any]:
    s = allo.customize(branches)
    s.fuse_streams("branches")
    plan = s.unroll_stages("branches", dsp=dsp, objective=objective)
    for bank in plan.banks:
        s.partition(bank.array, dim=bank.dim, factor=bank.factor)
    return s, plan


@pytest.mark.parametrize("dsp", [25, 60, 200])
def test_one_input_is_faster(dsp: int) -> None:
    """No slower than stages of one speed, within the budget, and with the same results."""
    (fast, plan), (even, _) = (streaming(dsp, objective) for objective in ("latency", "interval"))
    assert plan.dsp == allo.estimate(fast).dsp <= dsp
    assert allo.estimate(fast).cycles <= allo.estimate(even).cycles
    rng = np.random.default_rng(0)
    shapes = ((8, 32), (32, 32), (32, 32), (8, 32))
    arrays = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    wanted, found = arrays[-1].copy(), arrays[-1].copy()
    allo.customize(branches).build()(*arrays[:3], wanted)
    fast.build()(*arrays[:3], found)
    assert np.array_equal(wanted, found)


# -- the critical path --------------------------------------------------------------------------------------


def random_parts(rng: random.Random, streams: list[Any], stretched: list[int]) -> list[Span]:
    """Stages that each get from some before them; times of puts and gets are anywhere in their run."""
    parts = []
    for number, (gets, puts) in enumerate(streams):
        length = stretched[number]

        def event(length: int = length) -> Event:
            first, last = sorted(rng.randrange(length) for _ in range(2))
            return Event(Fraction(first), Fraction(length - last), None, Fraction(rng.choice([0, 0, min(first, 3)])))

        ends = Ends({(p, None): event() for p in puts}, {(g, None): event() for g in gets})
        parts.append(Span(Fraction(length), ends=ends))
    return parts


@sweep(6, quick=2)
def test_the_path_is_the_overlap_of_stages(seed: int) -> None:
    """Both say the same of stages with FIFOs that are deep enough."""
    rng, module = random.Random(seed), allo.customize(branches)
    module.fuse_streams("branches")
    block = module.module.body.operations[0].regions[0].blocks[0]
    values = [op.results[0] for op in block.operations if op.operation.name == "allo.stream_create"]
    for _ in range(20):
        count = rng.randint(2, len(values) + 1)
        streams: list[Any] = [([], []) for _ in range(count)]
        for value in values[: count - 1]:
            source, sink = sorted(rng.sample(range(count), 2))
            streams[source][1].append(value)
            streams[sink][0].append(value)
        parts = random_parts(rng, streams, [rng.randint(10, 400) for _ in range(count)])
        path = StagePath(parts)
        shapes = [path.shape(number, part) for number, part in enumerate(parts)]
        assert path.length(shapes) == stages(parts, []).span.latency


# -- the choice ---------------------------------------------------------------------------------------------


class View(NamedTuple):
    """A loop, as an inner loop of a stage has one."""

    number: int


class Loop(NamedTuple):
    """An inner loop without FIFOs."""

    view: View
    fifos: tuple[Any, ...] = ()
    widths: None = None

    def copies(self, factor: int) -> int:
        return factor


class Stage:
    """A stage of one loop, with random options."""

    def __init__(self, number: int, options: tuple[Option, ...]) -> None:
        self.name = str(number)
        self.number = number
        self.made = options

    def options(self, loops: object, *, tails: bool = False) -> StageOptions:
        return StageOptions(self.name, self.made, "")

    def cost(self, copies: Any, factor: int) -> Option:
        return next(one for one in self.made if one.factor == copies[View(self.number)])


class Paths:
    """A sample whose time is the longest of some paths through stages."""

    def __init__(self, stages: list[Stage], paths: list[list[int]]) -> None:
        self.stages = stages
        self.paths = paths

    def cycles(self, copies: Any) -> int:
        return max(sum(self.stages[n].cost(copies, 0).cycles for n in path) for path in self.paths)


@sweep(6, quick=2)
def test_best_of_all(seed: int) -> None:
    """Of small graphs no other choice within the budget is faster, and none as fast is cheaper."""
    rng = random.Random(seed)
    for _ in range(10):
        made = []
        for n in range(rng.randint(1, 5)):
            cycles, dsp, options = rng.randint(50, 1000), rng.randint(0, 5), []
            for factor in range(1, rng.randint(2, 5)):
                options.append(Option(factor, cycles, dsp))
                cycles, dsp = max(1, cycles - rng.randint(1, 200)), dsp + rng.randint(0, 6)
            made.append(Stage(n, tuple(options)))
        paths = [sorted(rng.sample(range(len(made)), rng.randint(1, len(made)))) for _ in range(3)]
        sample = Paths(made, paths)
        loops: list[Any] = [Loop(View(stage.number)) for stage in made]
        owners: Any = {loop.view: stage for loop, stage in zip(loops, made, strict=True)}
        choices = Choices(made, loops, owners, sample, tails=False)
        least = (0,) * len(made)
        budget = choices.cost(least)[1] + rng.randint(0, 20)
        every = [choices.cost(state) for state in product(*(range(len(stage.made)) for stage in made))]
        wanted = min(cost for cost in every if cost[1] <= budget)
        assert choices.cost(shortest(choices, budget, least)) == wanted


@sweep(4, quick=2)
def test_choices_that_are_too_many_to_try(seed: int) -> None:
    """A chain of many stages is as good as the best one, which is known: all of one kind, at a budget for half."""
    rng = random.Random(seed)
    count, gain = 16, rng.randint(10, 90)
    made = [Stage(n, (Option(1, 100, 1), Option(2, 100 - gain, 3))) for n in range(count)]
    loops: list[Any] = [Loop(View(stage.number)) for stage in made]
    owners: Any = {loop.view: stage for loop, stage in zip(loops, made, strict=True)}
    choices = Choices(made, loops, owners, Paths(made, [list(range(count))]), tails=False)
    found = choices.cost(shortest(choices, 2 * count, (0,) * count))
    assert found == (100 * count - gain * count // 2, 2 * count)


class Sides:
    """A stage of several loops, each with random cycles and DSPs a copy."""

    def __init__(self, name: str, loops: list[Any], rates: dict[Any, int]) -> None:
        self.name = name
        self.loops = loops
        self.rates = rates

    def options(self, loops: object, *, tails: bool = False) -> StageOptions:
        return StageOptions(self.name, tuple(Option(factor, 0, 0) for factor in (1, 2, 4, 8)), "")

    def cost(self, copies: Any, factor: int) -> Option:
        cycles = sum(1000 * self.rates[loop.view] // copies[loop.view] for loop in self.loops)
        return Option(factor, cycles, sum(self.rates[loop.view] * copies[loop.view] for loop in self.loops))


class Sums:
    """A sample that goes through one stage after the other."""

    def __init__(self, stages: list[Sides]) -> None:
        self.stages = stages

    def cycles(self, copies: Any) -> int:
        return sum(stage.cost(copies, 1).cycles for stage in self.stages)


@sweep(6, quick=2)
def test_what_fifos_join_is_as_wide_whichever_choices_were_seen_before(seed: int) -> None:
    """Costs and plans are those of all loops looked at together, though one stage at a time is looked at again."""
    rng = random.Random(seed)
    for _ in range(40):
        views: list[Any] = [View(n) for n in range(rng.randint(2, 9))]
        names = [FifoName("f", f"fifo_{n}") for n in range(rng.randint(1, 6))]
        loops: list[Any] = []
        for view in views:
            fifos = tuple(rng.sample(names, rng.randint(0, min(2, len(names)))))
            widths = rng.choice([(), (2,), (2, 4), (2, 4, 8)])
            loops.append(InnerLoop(view, fifos, widths) if fifos else Loop(view))
        rates = {view: rng.randint(1, 9) for view in views}
        count = rng.randint(1, 4)
        numbers = {view: rng.randrange(count + 1) for view in views}  # the last one is no stage
        made = [Sides(str(n), [loop for loop in loops if numbers[loop.view] == n], rates) for n in range(count)]
        owners: Any = {loop.view: made[n] if (n := numbers[loop.view]) < count else None for loop in loops}
        choices = Choices(made, loops, owners, Sums(made), tails=False)
        for _ in range(10):
            state = tuple(rng.randrange(4) for _ in made)
            factors = [1 if own is None else 2 ** state[made.index(own)] for own in owners.values()]
            wanted = [loop.copies(factor) for loop, factor in zip(loops, factors, strict=True)]
            copies, wide = widened(loops, wanted)
            of_loop = {loop.view: n for loop, n in zip(loops, copies, strict=True)}
            taken = [stage.cost(of_loop, 2**n) for stage, n in zip(made, state, strict=True)]
            assert choices.cost(state) == (Sums(made).cycles(of_loop), sum(option.dsp for option in taken))
            chosen, *rest = choices.plan(state)
            assert ([one.chosen for one in chosen], rest) == (taken, [copies, wide])
