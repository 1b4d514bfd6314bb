"""FIFOs between two stages, cycle by cycle: when each token is put and taken, for every depth."""

from __future__ import annotations

from fractions import Fraction

import pytest

from allo.timing.control.fifos import Channel, Waits, slowest_circles
from allo.timing.control.shallow import occupancy, too_shallow
from allo.timing.control.span import Event

COUNT = 8
LATE = 9  # the cycle in which the consumer takes its first token


def stages(depth: int, late: int = LATE) -> tuple[Waits, Channel]:
    """A stage that puts a token in each of its 8 cycles, and one that takes one in each from its cycle `late` on."""
    put = Event(Fraction(0), Fraction(1))
    got = Event(Fraction(late), Fraction(1))
    waits = Waits([Fraction(COUNT), Fraction(late + COUNT)])
    return waits, Channel("fifo", 0, 1, put, got, COUNT, depth)


def executed(depth: int, late: int) -> list[tuple[int, int]]:
    """When each token is put and got: a cycle lies between a put and its get, a get and the room it makes."""
    puts: list[int] = []
    gets: list[int] = []
    for k in range(COUNT):
        room = gets[k - depth] + 1 if k >= depth else 0
        puts.append(max(puts[-1] + 1 if puts else 0, room))
        gets.append(max(gets[-1] + 1 if gets else late, puts[k] + 1))
    return list(zip(puts, gets, strict=True))


@pytest.mark.parametrize("late", [0, 1, 3, LATE])
@pytest.mark.parametrize("depth", range(2, COUNT + 1))
def test_tokens_wait_for_room(depth: int, late: int) -> None:
    """With a depth of 1 the stages take turns, which the points that are looked at do not show in full."""
    waits, channel = stages(depth, late)
    too_shallow(waits, [channel])
    assert waits.solve() is None
    for k in {0, depth, COUNT - 1} & set(range(COUNT)):
        put, got = executed(depth, late)[k]
        assert waits.at(waits.token(channel, True, k)) == put
        assert waits.at(waits.token(channel, False, k)) == got


@pytest.mark.parametrize("late", [0, 1, 3, 5, LATE])
def test_how_many_tokens_are_held(late: int) -> None:
    waits, channel = stages(COUNT, late)
    for k in (0, COUNT - 1):
        waits.wait(waits.token(channel, True, k), waits.token(channel, False, k), 1)
    assert waits.solve() is None
    tokens = executed(COUNT, late)  # each has its place until the cycle behind its get
    held = [sum(put <= cycle <= got for put, got in tokens) for cycle in range(late + COUNT)]
    assert occupancy(channel, waits) == max(held)


def test_two_fifos_that_wait_for_one_another_are_named() -> None:
    """The consumer takes all of the second FIFO before it takes something of the first one, which is full before."""
    waits = Waits([Fraction(2 * COUNT), Fraction(2 * COUNT)])
    first, second = Event(Fraction(0), Fraction(COUNT + 1)), Event(Fraction(COUNT), Fraction(1))
    channels = [
        Channel("early", 0, 1, first, second, COUNT, 2),
        Channel("late", 0, 1, second, first, COUNT, 2),
    ]
    too_shallow(waits, channels)
    assert waits.solve() == {"early"}


def test_a_fifo_as_deep_as_its_tokens_are_many_is_in_no_circle() -> None:
    _, channel = stages(COUNT)
    assert slowest_circles(2, [channel]) == []


def test_the_time_for_a_token_and_its_room_to_go_round() -> None:
    """A token is taken 10 cycles after its put, the room for another one is there a cycle later: 2 cycles a token."""
    put, got = Event(Fraction(0), Fraction(1)), Event(Fraction(0), Fraction(1))
    (circle,) = slowest_circles(2, [Channel("fifo", 0, 1, put, got, COUNT, 1)])
    assert circle.stages == {0, 1}
    assert circle.cycles / (circle.held * COUNT) == 2
