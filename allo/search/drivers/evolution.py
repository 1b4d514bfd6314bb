"""Evolution: the better of two designs become parents; children take decisions of both, and some are changed."""

from __future__ import annotations

import random

from ..goal import Goal
from ..point import Point
from .searched import Candidates, Proposals

_CHANGED = 2  # decisions of a child that change, at most


def evolution(goal: Goal, seed: int = 0, population: int = 16) -> Proposals:
    """Generations of `population` children; the same seed gives the same ones. It ends when a budget does."""
    chance, known = random.Random(seed), Candidates(goal)
    (first,) = yield [{}]
    known.add([first])
    if not first.holes:
        return
    known.add((yield [_changed(chance, first, first.decisions, len(first.holes)) for _ in range(population)]))
    while True:
        parents = known.best(population) or [first]
        children = []
        for _ in range(population):
            mother, father = (_better(chance, parents) for _ in range(2))
            mixed = {
                name: taken if chance.random() < 0.5 else father.decisions.get(name, taken)
                for name, taken in mother.decisions.items()
            }
            children.append(_changed(chance, mother, mixed, _CHANGED))
        known.add((yield children))


def _better(chance: random.Random, parents: list[Point]) -> Point:
    """The better of two; `parents` are sorted."""
    return parents[min(chance.randrange(len(parents)), chance.randrange(len(parents)))]


def _changed(chance: random.Random, like: Point, decisions: dict[str, int], most: int) -> dict[str, int]:
    """Some decisions changed: ordered ones by a few places, the others to any option."""
    found = dict(decisions)
    for hole in chance.sample(like.holes, chance.randint(1, min(most, len(like.holes)))):
        last = len(hole.options) - 1
        if hole.ordered:
            taken = found.get(hole.name, hole.taken) + chance.choice((-3, -2, -1, 1, 2, 3))
        else:
            taken = chance.randint(0, last)
        found[hole.name] = min(max(taken, 0), last)
    return found
