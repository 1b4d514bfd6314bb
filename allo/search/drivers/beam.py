"""Beam: the best designs so far are changed in one decision each, then in two, until none of them gets better."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..choices import Decisions
from ..goal import Goal
from ..point import Point
from .filling import filled, structure_of, structures
from .lanes import LaneModel
from .searched import Candidates, Key, Proposals, exchanged, key_of, nearby

_AT_ONCE = 12  # of the changes that made a design better


def beam(goal: Goal, width: int = 4) -> Proposals:
    """Begin with the first options; it ends when all that is near the `width` best designs has been looked at.

    Where DSPs are limited, loops first get as many lanes as the limit allows (`filled`). Then the best design is
    changed in one decision at a time; the changes that make it better are then made together. Designs with another
    structure get lanes so, too. If none of the best gets better, two decisions are exchanged: of one place first, then
    of any two.
    """
    known = Candidates(goal)
    near, close, far = set[Key](), set[Key](), set[Key]()
    limit = goal.limits.get("dsp") if goal.is_of_cycles else None
    known.add((yield [{}]))
    others: list[dict[str, int]] = []
    models: dict[Key, LaneModel | None] = {}

    def likely(moves: Iterable[dict[str, int]]) -> list[dict[str, int]]:
        """Those that may be among the best, by what is known of their pipelines."""
        most, found = known.most(width), []
        for move in moves:
            model = models.get(structure_of(move))
            if model is None or model.expected(move) <= most:
                found.append(move)
        return found

    if limit is not None:
        for start in known.best(1):
            models[structure_of(start.decisions)] = yield from filled(goal, known, start, width)
            others = list(structures(start))
    while True:
        best = known.best(width)
        if (point := _new(best[:1], near)) is not None or (not others and (point := _new(best, near)) is not None):
            moves = likely(nearby(point))
            points = yield moves
            known.add(points)
            if together := list(_together(goal, point, moves, points)):
                known.add((yield together))
        elif limit is not None and others:
            (start,) = yield [others.pop(0)]
            known.add([start])
            if start.is_design:
                models[structure_of(start.decisions)] = yield from filled(goal, known, start, width)
        elif (point := _new(best, close)) is not None:
            known.add((yield likely(exchanged(point, of_one_place=True))))
        elif (point := _new(best, far)) is not None:
            known.add((yield likely(exchanged(point, of_one_place=False))))
        else:
            return


def _new(best: Sequence[Point], done: set[Key]) -> Point | None:
    """The first design whose surroundings have not been looked at, which then are."""
    found = next((p for p in best if key_of(p.decisions) not in done), None)
    if found is not None:
        done.add(key_of(found.decisions))
    return found


def _together(goal: Goal, point: Point, moves: Sequence[Decisions], points: Sequence[Point]) -> Iterator[Decisions]:
    """The best changes that made a design better, of each decision one, more and more of them at once."""
    made = {id(p): move for p, move in zip(points, moves, strict=True)}
    changes: dict[str, int] = {}
    count = 0
    for better in goal.sorted([point, *(p for p in points if p.is_design)]):
        if better is point or count == _AT_ONCE:
            break
        old, new = point.decisions, made[id(better)]
        fresh = {name: n for name, n in new.items() if old.get(name, 0) != n and name not in changes}
        changes |= fresh
        count += bool(fresh)
        if fresh and count > 1:
            yield {**point.decisions, **changes}
