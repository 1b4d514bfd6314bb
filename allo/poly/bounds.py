"""Accesses that surely leave their array: exact ones, in an iteration that runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .linear import Linear, Piece, Row
from .model import Access, Model
from .systems import lexicographic_minimum

type Interval = tuple[int, int]


@dataclass(frozen=True, slots=True)
class OutOfBounds:
    """In `iteration`, subscript `dimension` (from 0) of `access` is `value`, outside 0 <= e < extent."""

    access: Access
    dimension: int
    extent: int | None  # None: known at run time only
    value: int
    iteration: tuple[tuple[str, int], ...]


def out_of_bounds(model: Model) -> Iterator[OutOfBounds]:
    """The accesses that leave their array whenever the function is called, the first iteration of each.

    Accesses that are not exact, or that depend on a run-time parameter, are not judged.
    """
    parameters = model.parameter_variables
    for access in model.accesses:
        if not access.exact:
            continue
        for dimension, (subscript, extent) in enumerate(zip(access.subscripts, access.buffer.shape, strict=True)):
            if _surely_inside(access, subscript, extent):
                continue
            found = _escape(access, dimension, subscript, extent, parameters)
            if found is not None:
                yield found
                break


def surely_inside(access: Access) -> bool:
    """A cheap proof that no iteration leaves the array; false means not proven.

    Of subscripts that are not affine the model only says that they stay inside, which is no proof.
    """
    return access.exact_elements and all(
        extent is not None and _surely_inside(access, subscript, extent)
        for subscript, extent in zip(access.subscripts, access.buffer.shape, strict=True)
    )


def _surely_inside(access: Access, subscript: Linear, extent: int | None) -> bool:
    """A cheap proof by intervals that the subscript stays in the array."""
    for piece in access.pieces:
        interval = _value(subscript, _intervals((*piece, *access.rows)))
        if interval is None or interval[0] < 0 or (extent is not None and interval[1] >= extent):
            return False
    return True


def _intervals(rows: Piece) -> dict[int, Interval]:
    """Bounds of each variable from the rows in which it is the last one, with coefficient 1 or -1."""
    lows: dict[int, int] = {}
    highs: dict[int, int] = {}
    for row in sorted(rows, key=lambda r: r.form.terms[-1][0] if r.form.terms else -1):
        if not row.form.terms:
            continue
        last, coefficient = row.form.terms[-1]
        known = {v: (lows[v], highs[v]) for v in lows if v in highs}
        rest = _value(Linear(row.form.constant, row.form.terms[:-1]), known)
        if rest is None or abs(coefficient) != 1:
            continue
        if coefficient == 1 or row.equality:  # rest + v >= 0
            low = -rest[1] if coefficient == 1 else rest[0]
            lows[last] = max(lows.get(last, low), low)
        if coefficient == -1 or row.equality:  # rest - v >= 0
            high = rest[1] if coefficient == -1 else -rest[0]
            highs[last] = min(highs.get(last, high), high)
    return {v: (lows[v], highs[v]) for v in lows if v in highs}


def _value(form: Linear, known: dict[int, Interval]) -> Interval | None:
    """The interval of a form over variables in intervals."""
    low = high = form.constant
    for number, coefficient in form.terms:
        if number not in known:
            return None
        ends = (known[number][0] * coefficient, known[number][1] * coefficient)
        low, high = low + min(ends), high + max(ends)
    return low, high


def _escape(
    access: Access, dimension: int, subscript: Linear, extent: int | None, parameters: frozenset[int]
) -> OutOfBounds | None:
    for piece in access.pieces:
        rows = (*piece, *access.rows)
        if any(number in parameters for row in rows for number, _ in row.form.terms):
            continue
        if any(number in parameters for number, _ in subscript.terms):
            continue
        above = () if extent is None else (Row(subscript.plus(-extent)),)
        for escape in (*above, Row(subscript.scaled(-1).plus(-1))):
            system = [*rows, escape]
            numbers = (*access.variables, *_others(access, subscript))
            point = lexicographic_minimum(numbers, system)
            if point is None:
                continue
            values = dict(zip(numbers, point, strict=True))
            value = subscript.constant + sum(values[number] * c for number, c in subscript.terms)
            iteration = tuple((loop.name, values[loop.variable]) for loop in access.loops)
            return OutOfBounds(access, dimension, extent, value, iteration)
    return None


def _others(access: Access, subscript: Linear) -> tuple[int, ...]:
    """The existential variables of a subscript."""
    return tuple(number for number, _ in subscript.terms if number not in access.variables)
