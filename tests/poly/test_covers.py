"""Stores that surely overwrite what others read or write, in the same iteration and copy of a pipelined body."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count

import pytest

from allo.poly import Access, CopyLoop, Form, Space
from allo.poly.covers import alike, cover_of, is_overwritten, lasting_copies

NUMBERS = count()
IN_COPY = Form(0, (0,), ((0, 1),), ())  # A[u], with one element for each copy of loop 0
STILL = Form(3, (0,), (), ())  # A[3]
MOVING = Form(0, (1,), (), ())  # A[t]


@dataclass(eq=False)
class Placed:
    position: tuple[int, ...]
    forms: tuple[Form | None, ...]
    around: tuple[int, ...] = ()
    guards: tuple[tuple[str, int], ...] = ()
    access: Access | None = None
    index: int = field(default_factory=lambda: next(NUMBERS))


@pytest.fixture
def space() -> Space:
    """Two unrolled loops: four copies, and none."""
    return Space((), [CopyLoop(10, "u", 4, 1, 0), CopyLoop(11, "v", 0, 1, 0)])


def test_the_last_store_in_front_covers() -> None:
    load = Placed((2,), (IN_COPY,), (0,))
    first, last, behind = (Placed((n,), (IN_COPY,), (0,)) for n in (0, 1, 3))
    assert cover_of([first, last, behind], load) is last


@pytest.mark.parametrize(
    "store",
    [
        Placed((0,), (IN_COPY,), (0,), (("if", 0),)),
        Placed((0,), (STILL,), (0,)),
        Placed((0,), (None,), (0,)),
        Placed((0,), (IN_COPY,), (1,)),
        Placed((3,), (IN_COPY,), (0,)),
    ],
    ids=["condition", "element", "unknown", "loop", "later"],
)
def test_what_does_not_cover(store: Placed) -> None:
    assert cover_of([store], Placed((2,), (IN_COPY,), (0,))) is None
    assert cover_of([store], Placed((2,), (None,), (0,))) is None


def test_a_store_under_the_condition_of_the_load_covers() -> None:
    store = Placed((0,), (STILL,), (), (("if", 0),))
    assert cover_of([store], Placed((0, 1), (STILL,), (0,), (("if", 0), ("if", 1)))) is store


def test_what_is_overwritten(space: Space) -> None:
    store, under = Placed((0,), (STILL,)), Placed((0,), (STILL,), (), (("if", 0),))
    assert is_overwritten(space, [store, Placed((1,), (STILL,), (0,))], store)
    assert not is_overwritten(space, [store, Placed((1,), (STILL,), (1,))], store)  # it does not run
    assert not is_overwritten(space, [store, under, Placed((1,), (STILL,), (), (("if", 0),))], store)
    assert is_overwritten(space, [under, Placed((1,), (STILL,))], under)
    assert not is_overwritten(space, [store], store)


def test_copies_that_others_see(space: Space) -> None:
    store, load = Placed((0, 0), (STILL,), (0,)), Placed((0, 1), (STILL,), (0,))
    assert lasting_copies(space, [store], store) == {0: 3}
    assert lasting_copies(space, [store], load) == {0: 0}
    each = Placed((0, 0), (IN_COPY,), (0,))
    assert lasting_copies(space, [each], each) == {}
    never = Placed((0, 0), (STILL,), (1,))
    assert lasting_copies(space, [never], never) == {}


def test_copies_meet_in_all_iterations_or_in_none() -> None:
    assert alike(Placed((0,), (STILL,)), Placed((1,), (IN_COPY,)))
    assert not alike(Placed((0,), (STILL,)), Placed((1,), (MOVING,)))
    assert not alike(Placed((0,), (STILL,)), Placed((1,), (None,)))
