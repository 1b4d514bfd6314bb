"""Lanes for all loops of a design at once, until a limit of DSPs is reached."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence

from ..choices import Decisions
from ..derived import FUNCTION, MERGED, OVERLAP, STATEMENTS
from ..goal import Goal
from ..point import Point
from .lanes import LaneModel, Lanes
from .searched import Candidates, Key, key_of

_ALONE = 3  # points that are asked for one by one, as each corrects the model much
_TOGETHER = 4  # points that are asked for at once then
_MOST = 24  # points of a structure
_RESOURCES = ("dsp", "bram18", "uram", "lut", "ff")

type Filling = Generator[Sequence[Decisions], Sequence[Point], LaneModel | None]


def filled(goal: Goal, known: Candidates, start: Point, width: int) -> Filling:
    """Designs with the structure of `start`, with the lanes that a model of all its pipelines takes to be the best.

    What is found corrects the model: what a lane takes, for what pipelines wait, which banks fit. It ends when the
    model expects nothing that would be among the `width` best designs. The model, if there is anything to have lanes.
    """
    if not start.dsp or not start.places:
        return None
    limits = {name: limit for name, limit in goal.limits.items() if name in _RESOURCES}
    model = LaneModel(start, limits)
    yield from _improved(known, start.decisions, model, width)
    if any(place.waits for place in start.places):
        yield from _improved(known, start.decisions, LaneModel(start, limits, waits=True), width, _ALONE)
    for hole in start.holes:
        if hole.name.startswith(MERGED) and not hole.taken:
            titles = hole.name.removeprefix(MERGED).split(" and ")
            at_once = LaneModel(start, limits, at_once=frozenset(title.strip() for title in titles))
            yield from _improved(known, {**start.decisions, hole.name: 1}, at_once, width)
    return model


def _improved(
    known: Candidates, structure: Decisions, model: LaneModel, width: int, most: int = _MOST
) -> Generator[Sequence[Decisions], Sequence[Point], None]:
    """Points with the lanes that a model expects to be the best, which correct it."""
    tried: set[Lanes] = set()
    while len(tried) < most:
        count = 1 if len(tried) < _ALONE else _TOGETHER
        least = known.most(width)
        lanes = [lanes for cycles, lanes in model.best(count, tried) if cycles < least]
        if not lanes:
            break
        points = yield [{**structure, **model.decisions(one)} for one in lanes]
        known.add(points)
        for one, point in zip(lanes, points, strict=True):
            tried.add(one)
            model.learn(one, point)


def structures(point: Point) -> Iterator[dict[str, int]]:
    """Other structures: one decision of those on functions, statements and pipelines at once, which decide what loops
    there are."""
    for hole in point.holes:
        if _is_of_structure(hole.name):
            yield {**point.decisions, hole.name: 1 - hole.taken}


def structure_of(decisions: Decisions) -> Key:
    """The decisions on which pipelines there are."""
    return key_of({name: taken for name, taken in decisions.items() if _is_of_structure(name)})


def _is_of_structure(name: str) -> bool:
    return name.startswith((STATEMENTS, MERGED)) or name.endswith(FUNCTION) or name == OVERLAP
