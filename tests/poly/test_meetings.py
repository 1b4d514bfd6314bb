"""Distances over time and copy loops, against the enumeration of all iterations and copies."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest

from allo.poly import Access, CopyLoop, Form, Space, TimeLoop, extract
from allo.poly.meetings import companions, least_distance, meetings, narrowed
from allo.poly.space import Meeting, common

TRIPS = (3, 4, 3)  # of the time loops i and j, and of the copy loop u
FIRST = (1, 2, 1)  # values of their variables
ENDS = tuple(first + trip for first, trip in zip(FIRST, TRIPS, strict=True))


@dataclass(frozen=True)
class Use:
    index: int
    access: Access | None
    forms: tuple[Form | None, ...]
    around: tuple[int, ...] = (0,)


def store(chosen: random.Random, rank: int) -> str:
    subscripts = []
    for _ in range(rank):
        a, b, c = chosen.choices([-1, 0, 1, 2, 3], k=3)
        form = f"{a} * %i + {b} * %j + {c} * %u + {chosen.randrange(4) + 14}"
        subscripts.append(chosen.choice([form, form, f"({form}) mod 5"]))
    return f"affine.store %x, %A[{', '.join(subscripts)}] : memref<{'80x' * rank}i32>"


def read(parse: Callable[..., Any], seed: int) -> tuple[Space, Use, Use]:
    """Two stores in a pipeline of i and j with the loop u unrolled inside."""
    chosen = random.Random(seed)
    rank = chosen.choice([1, 2])
    function = parse(
        f"""func.func @f(%A: memref<{"80x" * rank}i32>, %x: i32) {{
          affine.for %i = {FIRST[0]} to {ENDS[0]} {{
            affine.for %j = {FIRST[1]} to {ENDS[1]} {{
              affine.for %u = {FIRST[2]} to {ENDS[2]} {{
                {store(chosen, rank)}
                {store(chosen, rank)}
              }} {{allo.name = "u"}}
            }} {{allo.name = "j"}}
          }} {{allo.name = "i"}}
          return
        }}"""
    )
    model = extract(function.op)
    i, j, u = (loop.variable for loop in model.loops)
    time = (TimeLoop(i, "i", TRIPS[0], 1, FIRST[0], TRIPS[1]), TimeLoop(j, "j", TRIPS[1], 1, FIRST[1], 1))
    space = Space(time)
    space.unrolled(CopyLoop(u, "u", TRIPS[2], 1, FIRST[2]))
    first, second = (
        Use(n, access, tuple(space.form(form, access) for form in access.subscripts))
        for n, access in enumerate(model.accesses)
    )
    return space, first, second


def really(first: Use, second: Use) -> Iterator[tuple[int, int, int]]:
    """The differences of i, j and u at which the two touch one element, found by looking at all."""

    def elements(use: Use) -> dict[tuple[int, ...], list[tuple[int, ...]]]:
        found: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
        for point in product(*map(range, FIRST, ENDS)):
            values = dict(zip(use.access.variables, point, strict=True))
            for quotient in use.access.quotients:
                total = sum(c * values[v] for v, c in quotient.numerator.terms) + quotient.numerator.constant
                values[quotient.variable] = total // quotient.divisor
            subscripts = [s.constant + sum(c * values[v] for v, c in s.terms) for s in use.access.subscripts]
            found.setdefault(tuple(subscripts), []).append(point)
        return found

    later = elements(second)
    for element, points in elements(first).items():
        for one, other in product(points, later.get(element, ())):
            i, j, u = (b - a for a, b in zip(one, other, strict=True))
            yield i, j, u


def includes(known: int | None, value: int) -> bool:
    return known in (None, value)


def test_copies_of_an_unrolled_loop_meet_their_own_accesses_only() -> None:
    """Elements of row i + k in columns 4 * j + k, and 5 * j + 1 as soon as one is there."""
    forms = [(Form(k, (1, 0), (), ()), Form(k, (0, 4), (), ())) for k in range(4)] * 2
    accesses = [Use(n, None, form, ()) for n, form in enumerate(forms)]
    assert {n: [one.index for one in near] for n, near in companions(accesses).items()} == {
        n: [n % 4, n % 4 + 4] for n in range(8)
    }
    more = Use(8, None, (Form(0, (1, 0), (), ()), Form(1, (0, 5), (), ())), ())
    assert all(len(near) == 9 for near in companions([*accesses, more]).values())


@pytest.mark.parametrize("seed", range(60))
def test_meetings_equal_enumeration(parse: Callable[..., Any], seed: int) -> None:
    space, first, second = read(parse, seed)
    met = meetings(space, first, second)
    real = set(really(first, second))
    assert not real or second in companions([first, second])[first.index]
    for i, j, u in real:
        assert any(
            includes(way.time[0], i) and includes(way.time[1], j) and includes(way.copies[0], u) for way in met.ways
        )
    distances = [i * TRIPS[1] + j for i, j, _ in real if (i, j) > (0, 0)]
    bounds = [bound for way in met.ways if (bound := least_distance(space, way)) is not None]
    assert not distances or min(bounds) <= min(distances)
    if met.exact and all(None not in way.time + way.copies for way in met.ways):
        assert {(*way.time, *way.copies) for way in met.ways} == real
    if bounds:
        most = TRIPS[2] - 1
        found = narrowed(space, (first.access, second.access), min(bounds), [(0, -most, most)])
        moves = [u for i, j, u in real if (i, j) > (0, 0)]
        assert found == ((min(distances), ((0, min(moves), max(moves)),)) if distances else None)


def test_least_distances_equal_enumeration() -> None:
    rows, columns = TRIPS[:2]
    space = Space((TimeLoop(1, "i", rows, 1, 0, columns), TimeLoop(2, "j", columns, 1, 0, 1)))
    points = list(product(range(rows), range(columns)))
    for way in product([None, *range(1 - rows, rows)], [None, *range(1 - columns, columns)]):
        met = [
            (c - a) * columns + d - b
            for (a, b), (c, d) in product(points, points)
            if (a, b) < (c, d) and includes(way[0], c - a) and includes(way[1], d - b)
        ]
        assert least_distance(space, Meeting(way, ())) == min(met, default=None)


def test_copy_loops_around_both_end_where_their_ways_part() -> None:
    assert common((0, 1, 3), (0, 2, 3)) == (0,)
    assert common((0, 1), (0, 1, 2)) == (0, 1)
