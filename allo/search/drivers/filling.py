"""Lanes for the loops of a design, place by place, until a limit of DSPs is reached."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import batched, product

from ..choices import Decisions, Hole
from ..derived import FUNCTION, MERGED, STATEMENTS
from ..goal import Goal
from ..point import Point
from .searched import Candidates

_TOGETHER = 4  # points that are asked for at once: what is found bounds the next ones
_MATTERS = 0.2  # of the iterations of the place with the most: others only follow it
_PROBED = 32  # copies with which orders are tried: many copies in a bad order take long to estimate
_MOST_ORDERS = 6  # of the places that are alike
_MOST_SHAPES = 8  # of places that are alike
_WORSE = 1.3  # times the least iterations that are left, which shapes may leave
_ALIKE = 1.05  # ratio of iterations within which a shape that fits the banks of other places is preferred
_OVER = 1.1  # times the lanes that there seems to be room for: copies share what they have in common
_LESS = 0.95  # times the lanes of shapes that were all too large
_SLOWER = 1.1  # times the fewest cycles of a probe: others are not pursued
_SLOW = 2.5  # times the cycles of the best design: shapes that leave more iterations are not looked at
_LEAST = 2  # lanes at most of a loop that showed to be of no use

type Filling = Generator[Sequence[Decisions], Sequence[Point], Point]


type _Shape = tuple[int, ...]  # the lanes of the loops of a place


@dataclass(frozen=True, slots=True)
class _Group:
    """Places whose loops have as many iterations, which change together: they often read the same arrays, whose banks
    then fit all. `lanes` are the holes of each place by the extents of their loops, `orders` those of all places."""

    lanes: tuple[tuple[Hole, ...], ...]
    orders: tuple[Hole, ...]

    @property
    def extents(self) -> _Shape:
        return tuple(_extent(hole) for hole in self.lanes[0])

    @property
    def iterations(self) -> int:
        """Those of the loops of a place."""
        return math.prod(self.extents)

    @property
    def choices(self) -> list[list[int]]:
        """The lanes that each of the loops may have at all places."""
        places = [[_lanes(hole) for hole in lanes] for lanes in self.lanes]
        return [[n for n in sizes[0] if all(n in other for other in sizes)] for sizes in zip(*places, strict=True)]

    def turns(self, shape: _Shape) -> int:
        """The iterations that so many lanes leave."""
        return math.prod(-(-extent // side) for extent, side in zip(self.extents, shape, strict=True))

    def shaped(self, shape: _Shape) -> dict[str, int]:
        """The decisions for so many lanes."""
        return {hole.name: _lanes(hole).index(n) for lanes in self.lanes for hole, n in zip(lanes, shape, strict=True)}

    def copies(self, decisions: Decisions) -> int:
        """The most copies of a body at one of the places."""
        return max(math.prod(_lanes(hole)[decisions.get(hole.name, 0)] for hole in lanes) for lanes in self.lanes)

    def taken(self, decisions: Decisions) -> _Shape:
        """The lanes of the first place."""
        return tuple(_lanes(hole)[decisions.get(hole.name, 0)] for hole in self.lanes[0])


def _lanes(hole: Hole) -> list[int]:
    return [int(option) for option in hole.options]


def _extent(hole: Hole) -> int:
    return int(hole.options[-1])


def filled(goal: Goal, known: Candidates, start: Point, limit: float) -> Filling:
    """The best design with the structure of `start` that was found, with about as many lanes as `limit` allows.

    Pipelines that run one after the other share units, so that each may have all of them. The places with the most
    iterations come first: orders are tried with few lanes, and without lanes of one loop each, then the shapes that
    leave the fewest iterations. Other places then get as many lanes along loops of as many iterations, and pipelines
    that may run at once do so, with half of the lanes each.
    """
    search = _Search(goal, known, limit, start, start)
    groups = _groups(start)
    most = max((group.iterations for group in groups), default=0.0)
    large = [group for group in groups if group.iterations >= _MATTERS * most]
    small = [group for group in groups if group not in large]
    for group in sorted(large, key=lambda group: -group.iterations):
        yield from search.fill(group)
        yield from search.follow(small, large)
    for hole in [hole for hole in search.best.holes if hole.name.startswith(MERGED)]:
        yield from search.merge(hole, large)
    return search.best


def structures(point: Point) -> Iterator[dict[str, int]]:
    """Other structures: one decision of those on functions and statements, which decide what loops there are."""
    for hole in point.holes:
        if hole.name.startswith(STATEMENTS) or hole.name.endswith(FUNCTION):
            yield {**point.decisions, hole.name: 1 - hole.taken}


@dataclass
class _Search:
    """What is filled: `best` is the best design with this structure so far."""

    goal: Goal
    known: Candidates
    limit: float
    start: Point
    best: Point
    rest: float = math.inf  # the cycles of other places, at most

    def note(self, group: _Group, shapes: Sequence[_Shape], points: Sequence[Point]) -> None:
        """Learn what other places take: a pipeline takes a cycle for each iteration at least."""
        for shape, point in zip(shapes, points, strict=True):
            self.rest = min(self.rest, point.figure("cycles") - group.turns(shape))

    def ratio(self, cycles: float, of: float | None = None) -> float:
        """How much longer places take in a design than in the best one, or in one of so many cycles."""
        least = self.best.figure("cycles") if of is None else of
        return (cycles - self.rest) / max(least - self.rest, 1)

    def ask(self, moves: Sequence[Decisions]) -> Generator[Sequence[Decisions], Sequence[Point], list[Point]]:
        """The points of some decisions; the best one is kept."""
        found: list[Point] = []
        for few in batched(moves, _TOGETHER):
            points = yield few
            self.known.add(points)
            found += points
            self.best = self.goal.sorted([self.best, *(p for p in points if self.goal.allows(p))])[0]
        return found

    def fill(self, group: _Group) -> Generator[Sequence[Decisions], Sequence[Point], None]:
        """Lanes and orders for places that are alike."""
        if not self.start.dsp:
            return
        before, dsp = self.best.decisions, self.best.dsp
        room = self.limit / self.start.dsp * group.copies(self.start.decisions)
        self.rest = math.inf
        names = [hole.name for hole in group.orders]
        best: list[tuple[Point, Decisions, _Shape]] = []
        for shape in _probes(group, min(room / 4, _PROBED)):
            moves: list[Decisions] = [
                {**before, **dict(zip(names, orders, strict=True)), **group.shaped(shape)}
                for orders in _combined(group.orders)
            ]
            found = yield from self.ask(moves)
            self.note(group, [shape] * len(moves), found)
            made = {id(point): move for point, move in zip(found, moves, strict=True)}
            designs = self.goal.sorted(point for point in found if self.goal.allows(point))
            best += [(point, made[id(point)], shape) for point in designs[:1]]
        for point, move, shape in sorted(best, key=lambda one: one[0].figure("cycles")):
            if self.ratio(point.figure("cycles"), of=min(one[0].figure("cycles") for one in best)) <= _SLOWER:
                own = room
                if point.dsp > dsp:  # it is what these places take
                    own = self.limit / point.dsp * group.copies(move)
                yield from self.shape(group, move, own, shape)

    def shape(
        self, group: _Group, base: Decisions, room: float, probe: _Shape
    ) -> Generator[Sequence[Decisions], Sequence[Point], None]:
        """The shapes that leave the fewest iterations, those first that fit the lanes of other places; loops that have
        no lanes in a `probe` get few."""
        own = {hole.name for lanes in group.lanes for hole in lanes}
        levers = [h for h in self.best.holes if " at " in h.name and h.ordered and h.name not in own]
        others = {(_extent(h), _lanes(h)[base[h.name]]) for h in levers if base.get(h.name)}
        left, estimated, is_slow = _shapes(group, room, probe, others), 0, False
        while left and estimated < _MOST_SHAPES and not is_slow:
            count = _TOGETHER if estimated else 1
            tried, left = left[:count], left[count:]
            found = yield from self.ask([{**base, **group.shaped(shape)} for shape in tried])
            estimated += sum(point.is_design for point in found)
            self.note(group, tried, found)
            known = [point.least or point.figure("cycles") for point in found if not point.is_too_large]
            is_slow = bool(known) and self.ratio(min(known)) > _SLOW  # the next ones leave more iterations
            large = [math.prod(shape) for shape, p in zip(tried, found, strict=True) if p.is_too_large]
            fewest = min(large, default=math.inf)
            if len(large) == len(tried):  # not only these are too large
                fewest *= _LESS
            left = [shape for shape in left if math.prod(shape) < fewest]

    def follow(
        self, small: Sequence[_Group], large: Sequence[_Group]
    ) -> Generator[Sequence[Decisions], Sequence[Point], None]:
        """As many lanes of loops at other places as loops with as many iterations have, or half or twice as many."""
        taken = self.best.decisions
        lanes: dict[int, int] = {}
        for hole in [hole for group in large for place in group.lanes for hole in place]:
            own = _lanes(hole)[taken.get(hole.name, 0)]
            lanes[_extent(hole)] = max(lanes.get(_extent(hole), 1), own)
        for factor in (1.0, 2.0, 0.5):
            moves = [_scaled(group, lanes, factor) for group in small]
            every = {name: n for move in moves for name, n in move.items()}
            yield from self.ask([{**self.best.decisions, **move} for move in (every, *moves) if move])

    def merge(self, hole: Hole, large: Sequence[_Group]) -> Generator[Sequence[Decisions], Sequence[Point], None]:
        """Two pipelines at once, as they are or, where they are large, with half of the lanes."""
        both = {**self.best.decisions, hole.name: 1}
        yield from self.ask([both])
        for group in large:
            titles = [_title(lanes[0]) for lanes in group.lanes]
            if sum(title in hole.name for title in titles) > 1 and self.best.dsp:
                room = self.limit / self.best.dsp * group.copies(self.best.decisions) / 2
                yield from self.shape(group, both, room, group.taken(self.best.decisions))


def _title(hole: Hole) -> str:
    """The place of a hole."""
    return hole.name.partition(" at ")[2]


def _groups(point: Point) -> list[_Group]:
    """Places of a point: what is decided `at` them."""
    places: dict[str, list[Hole]] = {}
    for hole in point.holes:
        if " at " in hole.name:
            places.setdefault(_title(hole), []).append(hole)
    alike: dict[_Shape, list[tuple[Hole, ...]]] = {}
    orders: dict[_Shape, list[Hole]] = {}
    for holes in places.values():
        lanes = sorted((h for h in holes if h.ordered), key=lambda hole: (_extent(hole), len(hole.options)))
        if lanes:
            extents = tuple(map(_extent, lanes))
            alike.setdefault(extents, []).append(tuple(lanes))
            orders.setdefault(extents, []).extend(hole for hole in holes if not hole.ordered)
    return [_Group(tuple(lanes), tuple(orders[extents])) for extents, lanes in alike.items()]


def _probes(group: _Group, room: float) -> Iterator[_Shape]:
    """Shapes with sides that are about the same: of all loops, and of three or more without one of them."""
    count = len(group.extents)
    few = [tuple(n for n in range(count) if n != left) for left in range(count)] if count > 2 else []
    for chosen in few or [tuple(range(count))]:
        choices = [sizes if n in chosen else [1] for n, sizes in enumerate(group.choices)]
        shapes = [s for s in product(*choices) if math.prod(s) <= max(room, 1) and _is_balanced(s, chosen)]
        if shapes:
            yield max(shapes, key=lambda shape: (math.prod(shape), -max(shape), shape))


def _is_balanced(sizes: Sequence[int], chosen: Sequence[int]) -> bool:
    """Whether no side is more than four times another one."""
    return max(sizes[n] for n in chosen) <= 4 * min(sizes[n] for n in chosen)


def _shapes(group: _Group, room: float, probe: _Shape, others: set[tuple[int, int]]) -> list[_Shape]:
    """Lanes that leave the fewest iterations, best first."""
    choices = [
        [n for n in sizes if own > 1 or n <= _LEAST] for sizes, own in zip(group.choices, probe, strict=True)
    ]
    turns = {
        shape: group.turns(shape)
        for shape in product(*choices)
        if math.prod(shape) <= room * _OVER
    }
    least = min(turns.values(), default=1)

    def place(shape: _Shape) -> tuple[float, ...]:
        fits = sum(pair in others for pair in zip(group.extents, shape, strict=True))
        return (math.floor(math.log(turns[shape] / least, _ALIKE)), -fits, max(shape), turns[shape])

    return sorted((shape for shape, count in turns.items() if count <= _WORSE * least), key=place)


def _combined(orders: Sequence[Hole]) -> Iterator[tuple[int, ...]]:
    """All combinations of options, or the same option of each if there are too many."""
    counts = [len(hole.options) for hole in orders]
    if math.prod(counts) <= _MOST_ORDERS:
        return product(*map(range, counts))
    return (tuple(min(n, count - 1) for count in counts) for n in range(max(counts)))


def _scaled(group: _Group, lanes: dict[int, int], factor: float) -> dict[str, int]:
    """As many lanes as loops of these extents have, times a factor, or about as many."""
    found = {}
    for hole in [hole for place in group.lanes for hole in place if lanes.get(_extent(hole))]:
        wanted, sizes = lanes[_extent(hole)] * factor, _lanes(hole)
        found[hole.name] = min(range(len(sizes)), key=lambda n: (abs(sizes[n] - wanted), n))
    return found
