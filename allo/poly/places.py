"""Places of accesses: what decides which element one touches, and whether two touch the same one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from .linear import Linear, Row
from .model import Access, Model, ModelLoop
from .pairs import Signs, pair_of
from .systems import feasible


@dataclass(frozen=True, slots=True)
class ElementPlace:
    """An element of an array as a value: equal places in one iteration of the `moving` loops are one element."""

    label: str  # of the array
    forms: tuple[object, ...]
    moving: frozenset[int]  # the variables of loops on which it depends


def place_of(access: Access) -> ElementPlace | None:
    """The place of an access; None if its subscripts are not affine."""
    if not access.exact_elements:
        return None
    quotients = {q.variable: (q.numerator, q.divisor) for q in access.quotients}
    used: set[int] = set()

    def term(variable: int) -> object:
        if variable in quotients:
            numerator, divisor = quotients[variable]
            return "quotient", form(numerator), divisor
        used.add(variable)
        return variable

    def form(linear: Linear) -> object:
        return linear.constant, tuple(sorted(((term(v), c) for v, c in linear.terms), key=repr))

    forms = tuple(form(subscript) for subscript in access.subscripts)
    parameters = {parameter.variable for parameter in access.parameters}
    loops = set(access.variables)
    if not used <= loops | parameters:
        return None
    return ElementPlace(access.buffer.label, forms, frozenset(used & loops))


def may_be_one(first: Access, second: Access, fixed: Iterable[ModelLoop], signs: Signs | None = None) -> bool:
    """Whether two accesses may touch one element in one iteration of the `fixed` loops, which are around both.

    `signs` say more of the two iterations.
    """
    if first.buffer.label != second.buffer.label:
        return False
    pair = pair_of(first, second)
    return pair is not None and pair.possible({loop.variable: 0 for loop in fixed} | dict(signs or {}))


def in_any_case(access: Access, around: Sequence[ModelLoop]) -> Access:
    """An access of the same element in each iteration of the loops `around` alone, on which alone its place depends."""
    loops = tuple(around)
    pieces = loops[-1].pieces if loops else ((),)
    exact = loops[-1].exact if loops else True
    return replace(access, loops=loops, path=access.path[: len(loops) + 1], pieces=pieces, exact_domain=exact)


def is_inside(model: Model, access: Access, around: Iterable[ModelLoop]) -> bool:
    """Whether the element of an access surely exists in all iterations of the loops `around` alone.

    Conditions, and loops that do not run, are not looked at: whoever asks wants to access it in any case.
    """
    loops = list(around)
    if not access.exact_elements or any(extent is None for extent in access.buffer.shape):
        return False
    place = place_of(access)
    if place is None or not place.moving <= {loop.variable for loop in loops}:
        return False
    pieces = loops[-1].pieces if loops else ((),)
    for subscript, extent in zip(access.subscripts, access.buffer.shape, strict=True):
        for beyond in (subscript.scaled(-1).plus(-1), subscript.plus(-(extent or 0))):
            if any(feasible([*piece, *access.rows, Row(beyond)]) for piece in pieces):
                return False
    return True
