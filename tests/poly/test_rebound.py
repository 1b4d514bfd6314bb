"""The bounds of loops in a new order enumerate the same points, whatever the polyhedron is."""

import random
from itertools import permutations, product
from math import ceil, floor

from allo.poly import Bounds, rebound, scan_bounds
from allo.poly.linear import Linear, Row, variable
from tests.seeds import sweep

VARIABLES = (1, 2, 3)


def random_rows(seed: int) -> list[Row]:
    """A box from 0 to 4, and some cuts through it."""
    generator = random.Random(seed)
    rows = [Row(variable(v)) for v in VARIABLES]
    rows += [Row(variable(v).scaled(-1).plus(generator.randint(0, 4))) for v in VARIABLES]
    for _ in range(generator.randint(0, 3)):
        terms = tuple((v, c) for v in VARIABLES if (c := generator.randint(-2, 2)))
        if terms:
            rows.append(Row(Linear(generator.randint(-2, 6), terms)))
    return rows


def value(form: Linear, point: dict[int, int]) -> int:
    return form.constant + sum(c * point[v] for v, c in form.terms)


def points(order: tuple[int, ...], bounds: list[Bounds], point: dict[int, int]) -> list[tuple[int, ...]]:
    """The iterations of nested loops with these bounds."""
    if not order:
        return [tuple(point[v] for v in VARIABLES)]
    low = max(ceil(value(side.form, point) / side.coefficient) for side in bounds[0].lower)
    high = min(floor(value(side.form, point) / side.coefficient) for side in bounds[0].upper)
    inner = [points(order[1:], bounds[1:], {**point, order[0]: x}) for x in range(low, high + 1)]
    return [found for group in inner for found in group]


@sweep(25)
def test_same_points_in_every_order(seed: int) -> None:
    rows = random_rows(seed)
    cube = [dict(zip(VARIABLES, found, strict=True)) for found in product(range(5), repeat=3)]
    wanted = sorted(tuple(p.values()) for p in cube if all(value(row.form, p) >= 0 for row in rows))
    for order in permutations(VARIABLES):
        assert sorted(points(order, rebound(order, rows), {})) == wanted


@sweep(25)
def test_outer_bounds_may_be_wider_where_each_holds_its_own_constraints(seed: int) -> None:
    rows = random_rows(seed)
    cube = [dict(zip(VARIABLES, found, strict=True)) for found in product(range(5), repeat=3)]
    wanted = sorted(tuple(p.values()) for p in cube if all(value(row.form, p) >= 0 for row in rows))
    for order in permutations(VARIABLES):
        bounds = scan_bounds(order, rows)
        for count in (1, 2):
            fewer = [row for row in rows if set(dict(row.form.terms)) <= set(order[:count])]
            wider = scan_bounds(order[:count], fewer)
            assert sorted(points(order, [*wider, *bounds[count:]], {})) == wanted


def test_bounds_that_follow_from_others_are_left_out() -> None:
    triangle = [Row(variable(1)), Row(variable(1).scaled(-1).plus(7)), Row(variable(2))]
    triangle.append(Row((variable(1) - variable(2)).plus(-1)))
    outer, inner = rebound((2, 1), triangle)
    assert [side.form for side in inner.lower] == [variable(2).plus(1)]
    assert [side.form for side in outer.upper] == [Linear(6)]
