"""Beam: the best designs so far are changed in one decision each, then in two, until none of them gets better."""

from __future__ import annotations

from ..goal import Goal
from .searched import Candidates, Key, Proposals, exchanged, key_of, nearby


def beam(goal: Goal, width: int = 4) -> Proposals:
    """Begin with the first options; it ends when all that is near the `width` best designs has been looked at."""
    known, near, far = Candidates(goal), set[Key](), set[Key]()
    known.add((yield [{}]))
    while True:
        best = known.best(width)
        todo = [p for p in best if key_of(p.decisions) not in near]
        if todo:
            near |= {key_of(p.decisions) for p in todo}
            known.add((yield [decisions for point in todo for decisions in nearby(point)]))
            continue
        point = next((p for p in best if key_of(p.decisions) not in far), None)
        if point is None:
            return
        far.add(key_of(point.decisions))
        known.add((yield list(exchanged(point))))
