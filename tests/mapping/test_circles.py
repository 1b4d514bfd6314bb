"""Streams of a circle that may share a FIFO: what is taken is what was put first."""

from __future__ import annotations

import pytest

from allo.mapping import RepeatedMoves, StreamCircle, StreamMoves
from allo.mapping.circles import is_one_queue

type Moves = tuple[StreamMoves | RepeatedMoves, ...]


def put(name: str, count: int = 1) -> StreamMoves:
    return StreamMoves((), ((name, count),))


def got(name: str, count: int = 1) -> StreamMoves:
    return StreamMoves(((name, count),), ())


BOTH = put("a"), put("b"), got("a"), got("b")
CASES: dict[str, tuple[Moves, bool]] = {
    "as put": (BOTH, True),
    "the other way round": ((put("a"), put("b"), got("b"), got("a")), False),
    "in a loop": ((RepeatedMoves(BOTH),), True),
    "one ahead of a loop": ((put("a"), put("b"), RepeatedMoves((got("a"), put("a"), got("b"), put("b"))),
                             got("a"), got("b")), True),
    "an iteration turns them": ((put("a"), put("b"), RepeatedMoves((got("a"), put("b"), got("b"), put("a"))),
                                 got("b"), got("a")), False),
    "other streams between them": ((put("a"), put("c"), put("b"), got("a"), got("b"), got("c")), True),
    "in parts": ((put("a", 3), got("a", 2), put("b"), got("a"), got("b")), True),
    "in parts that follow": ((put("a", 2), put("a", 2), got("a", 3), put("b"), got("a"), got("b")), True),
    "more than is in front": ((put("a"), put("b"), put("a"), got("a", 2), got("b")), False),
    "both by one statement": ((StreamMoves((), (("a", 1), ("b", 1))), got("a"), got("b")), False),
    "both got by one statement": ((put("a"), put("b"), StreamMoves((("a", 1), ("b", 1)), ())), False),
    "before it is there": ((got("a"), put("a")), False),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_one_queue(case: str) -> None:
    moves, is_queue = CASES[case]
    assert is_one_queue(StreamCircle(("f", "g"), moves=moves), {"a", "b"}) is is_queue
