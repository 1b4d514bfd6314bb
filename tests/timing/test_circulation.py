"""Walks that together come back to the copies in which they began."""

from __future__ import annotations

from allo.timing.interval.circulation import Circulation
from allo.timing.problem.graph import Edge

CYCLE = 1000


def to_next_copy(cycles: int, moves: int = 1, loop: int = 0) -> Edge:
    return Edge(0, 0, cycles * CYCLE, 0, ranges=((loop, moves, moves),))


def to_next_iteration(cycles: int, *ranges: tuple[int, int, int], distance: int = 1) -> Edge:
    return Edge(0, 0, cycles * CYCLE, distance, ranges=ranges)


def test_a_walk_that_moves_on_comes_back_in_later_iterations() -> None:
    edges = [to_next_copy(6), to_next_iteration(2, (0, -3, 3))]
    demand = Circulation({0: 4}, edges, CYCLE).demand(1)
    assert demand is not None
    assert (demand.interval, demand.edges, demand.times) == (20, (edges[1], edges[0]), (1, 3))


def test_what_never_comes_back_demands_nothing() -> None:
    assert Circulation({0: 4}, [to_next_copy(6), to_next_iteration(9, (0, 1, 3))], CYCLE).demand(1) is None


def test_nothing_beyond_what_is_demanded_anyway() -> None:
    assert Circulation({0: 4}, [to_next_copy(6), to_next_iteration(2, (0, -3, 3))], CYCLE).demand(20) is None


def test_two_loops() -> None:
    """Two copies on in one loop and three back in the other: 2 x 4 + 3 x 5 + 1 cycles."""
    back = Edge(0, 0, 5 * CYCLE, 0, ranges=((0, 0, 0), (1, -1, -1)))
    edges = [to_next_copy(4), back, to_next_iteration(1, (0, -2, -2), (1, 3, 3))]
    demand = Circulation({0: 12}, edges, CYCLE).demand(1)
    assert demand is not None
    assert demand.interval == 24
    taken = dict(zip(map(id, demand.edges), demand.times, strict=True))
    assert [taken[id(edge)] for edge in edges] == [2, 3, 1]


def test_fractions() -> None:
    """Two iterations move a copy back, that is half a copy of 3 cycles in each."""
    demand = Circulation({0: 9}, [to_next_copy(3), to_next_iteration(4, (0, -1, -1), distance=2)], CYCLE).demand(1)
    assert demand is not None
    assert demand.interval == 4  # (4 + 3) / 2


def test_equal_edges_are_one() -> None:
    edges = [to_next_iteration(2), to_next_iteration(7), to_next_iteration(5)]
    demand = Circulation({0: 1}, edges, CYCLE).demand(1)
    assert demand is not None
    assert (demand.interval, demand.edges) == (7, (edges[1],))
