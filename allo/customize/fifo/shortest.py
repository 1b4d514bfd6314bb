"""The best factors of stages for one sample: the fewest cycles on the critical path that a budget of DSPs allows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

from ...ir.walk import LoopView
from ..nest.unrolling import Option
from ..step.handles import FifoName
from .balance import CostedSample, CostedStage, Plan, chosen_of
from .vectors import InnerLoop, widened

_FEW = 2_000  # choices that are all looked at
_PRICES = 12  # prices of a DSP that are tried

type Cost = tuple[int, int]  # cycles of one sample, and DSPs
type State = tuple[int, ...]  # the number of the option of each stage


class Choices:
    """What stages can be, and what a sample and all stages take then, with FIFOs as wide at both ends."""

    def __init__(
        self,
        costs: Sequence[CostedStage],
        loops: Sequence[InnerLoop],
        stage_of: Mapping[LoopView, CostedStage | None],
        sample: CostedSample,
        *,
        tails: bool,
    ) -> None:
        self.costs = costs
        self.loops = loops
        self.sample = sample
        self.stages = [stage.options(loops, tails=tails) for stage in costs]
        self.known: dict[State, Cost] = {}
        number = {id(stage): n for n, stage in enumerate(costs)}
        owners = [stage_of[loop.view] for loop in loops]
        self.owners = [None if owner is None else number[id(owner)] for owner in owners]
        self.groups = _joined(loops)
        self.deciding = [self._owners_of(group) for group in self.groups]
        near: list[set[int]] = [{n} for n in range(len(costs))]
        for stages in self.deciding:
            for stage in stages:
                near[stage] |= {*stages}
        self.near = [tuple(sorted(stages)) for stages in near]
        self.copied: dict[State, dict[LoopView, int]] = {}
        self.options: dict[State, Option] = {}

    @property
    def sizes(self) -> list[int]:
        return [len(stage.options) for stage in self.stages]

    def cost(self, state: State) -> Cost:
        """The cycles of a sample, and the DSPs of all stages."""
        if state not in self.known:
            copies, chosen = self._made(state)
            self.known[state] = self.sample.cycles(copies), sum(option.dsp for option in chosen)
        return self.known[state]

    def state(self, plan: Plan) -> State:
        """What a plan has chosen."""
        factors = [[option.factor for option in stage.options] for stage in self.stages]
        return tuple(own.index(one.chosen.factor) for own, one in zip(factors, plan[0], strict=True))

    def plan(self, state: State) -> Plan:
        """What it is as a plan."""
        of_loop, chosen = self._made(state)
        copies, widths = widened(self.loops, [of_loop[loop.view] for loop in self.loops])
        return tuple(map(chosen_of, self.stages, chosen)), copies, widths

    def _made(self, state: State) -> tuple[dict[LoopView, int], list[Option]]:
        """The copies of all loops, and what stages take: looked at once for the options of those that decide it."""
        copies: dict[LoopView, int] = {}
        for number, (group, owners) in enumerate(zip(self.groups, self.deciding, strict=True)):
            key = (number, *(state[owner] for owner in owners))
            if key not in self.copied:
                self.copied[key] = self._grown(group, state)
            copies |= self.copied[key]
        chosen = []
        for number, stages in enumerate(self.near):
            key = (number, *(state[stage] for stage in stages))
            if key not in self.options:
                factor = self.stages[number].options[state[number]].factor
                self.options[key] = self.costs[number].cost(copies, factor)
            chosen.append(self.options[key])
        return copies, chosen

    def _grown(self, group: Sequence[int], state: State) -> dict[LoopView, int]:
        """The copies of loops that FIFOs join."""
        loops, wanted = [self.loops[n] for n in group], []
        for n in group:
            owner = self.owners[n]
            factor = 1 if owner is None else self.stages[owner].options[state[owner]].factor
            wanted.append(1 if owner is None else self.loops[n].copies(factor))
        return {loop.view: count for loop, count in zip(loops, widened(loops, wanted)[0], strict=True)}

    def _owners_of(self, group: Sequence[int]) -> tuple[int, ...]:
        return tuple(sorted({owner for n in group if (owner := self.owners[n]) is not None}))


def shortest(choices: Choices, budget: int, start: State) -> State:
    """The choice of the fewest cycles within a budget, of those that of the fewest DSPs; `start` is within it.

    Exact where there are few choices. Else stages are changed one by one while a sample gains by it, more than a DSP
    is worth: at the least price at which the DSPs are within the budget, which is found by bisection, and at none.
    """
    sizes = choices.sizes
    if prod(sizes) <= _FEW:
        every = (_numbered(number, sizes) for number in range(prod(sizes)))
        return min((s for s in every if choices.cost(s)[1] <= budget), key=lambda s: (choices.cost(s), s))

    def within(state: State) -> tuple[bool, Cost]:
        return choices.cost(state)[1] > budget, choices.cost(state)

    best = [start]

    def at(price: float, begin: State) -> State:
        found = _descended(begin, choices, lambda s: (choices.cost(s)[0] + price * choices.cost(s)[1], choices.cost(s)))
        best.append(_descended(found, choices, within))
        return found

    low, high = 0.0, float(max(1, choices.cost(start)[0]))
    found = at(low, start)
    for _ in range(_PRICES if choices.cost(found)[1] > budget else 0):
        middle = (low * high) ** 0.5 if low else high / 1024
        found = at(middle, start)
        low, high = (middle, high) if choices.cost(found)[1] > budget else (low, middle)
    best.append(_descended(start, choices, within))
    return min(best, key=lambda state: (within(state), state))


def _descended(state: State, choices: Choices, key: Callable[[State], Any]) -> State:
    """A state that no change of one stage makes better."""
    while True:
        before = state
        for stage, size in enumerate(choices.sizes):
            others = [(*state[:stage], n, *state[stage + 1 :]) for n in range(size)]
            state = min([state, *others], key=key)
        if state == before:
            return state


def _numbered(number: int, sizes: Sequence[int]) -> State:
    state = []
    for size in sizes:
        number, own = divmod(number, size)
        state.append(own)
    return tuple(state)


def _joined(loops: Sequence[InnerLoop]) -> list[list[int]]:
    """The numbers of loops, those together that FIFOs join, directly or by others."""
    found: list[tuple[set[FifoName], list[int]]] = []
    for number, loop in enumerate(loops):
        fifos, group = {*loop.fifos}, [number]
        apart = []
        for others, numbers in found:
            if others.isdisjoint(fifos):
                apart.append((others, numbers))
            else:
                fifos |= others
                group = numbers + group
        found = [*apart, (fifos, group)]
    return [group for _, group in found]
