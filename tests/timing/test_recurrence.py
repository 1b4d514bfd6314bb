"""Recurrences of pipelined loops, against a model that runs every iteration and every copy."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from importlib import import_module
from typing import Any

import pytest

import allo
from allo.ir.types import float32, int32
from allo.timing.interval.recurrence import recurrence_of, words
from allo.timing.interval.walks import positive_cycle
from allo.timing.pipeline import scheduled
from allo.timing.problem.dependences import graph_of
from allo.timing.problem.graph import Edge
from tests.seeds import sweep

from .expanded import recurrence_interval, symbolic_interval
from .regions import region_of

CIRCULATION = import_module("allo.timing.interval.circulation")  # `allo.estimate` is a function, too
EXPANDED = import_module("allo.timing.interval.expanded")


@pytest.fixture
def summed_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies are not looked at one by one, as if there were too many of them."""
    monkeypatch.setattr(EXPANDED, "_MOST_NODES", 0)


def intervals(kernel: Callable[..., Any], loop: str = "i", *, overwriting: bool = True) -> tuple[int, int]:
    s = allo.customize(kernel)
    s.pipeline(loop)
    region, budget = region_of(s)
    expected = recurrence_interval(region, budget, overwriting=overwriting)
    return symbolic_interval(region_of(s)[0], budget), expected


def accumulate(A: float32[8], x: float32[1]):
    for i in range(8):
        x[0] += A[i]


def rows(A: float32[6, 5], x: float32[6]):
    for j in range(5):
        for i in range(6):
            x[i] += A[i, j]


def lanes(A: float32[8, 4], x: float32[4]):
    for i in range(8):
        for u in range(4):
            x[u] += A[i, u]


def inner_product(A: float32[8, 4], x: float32[8]):
    for _r in range(3):
        for i in range(8):
            for u in range(4):
                x[i] += A[i, u]


def whole_sum(A: float32[8, 4], x: float32[2]):
    for i in range(8):
        for u in range(4):
            x[0] += A[i, u]


def prefix(A: float32[16]):
    for i in range(2, 16):
        A[i] = A[i - 2] + A[i]


def wavefront(A: float32[8, 8]):
    for i in range(1, 8):
        for u in range(1, 8):
            A[i, u] = A[i - 1, u] + A[i, u - 1]


def seidel(A: float32[8, 8]):
    for i in range(1, 7):
        for u in range(1, 7):
            A[i, u] = A[i - 1, u + 1] + A[i, u - 1]


def shifted(A: float32[32]):
    for i in range(6):
        for u in range(4):
            A[4 * i + u + 4] = A[4 * i + u] * 2.0


def temporary(A: float32[8, 4], x: float32[8]):
    for i in range(8):
        total: float32 = 0.0
        for u in range(4):
            total += A[i, u]
        x[i] = total


def two_states(A: float32[16], y: float32[16]):
    a: float32 = 0.0
    b: float32 = 0.0
    for i in range(16):
        y[i] = A[i] + b * 0.5
        b = a
        a = y[i]


def far_and_near(A: float32[40], B: float32[4]):
    for i in range(6):
        for u in range(4):
            A[4 * i + u] = A[4 * i + u + 2] + B[u]
            A[4 * i + u + 6] = A[4 * i + u + 3] + B[u]


def turns(A: float32[16], B: float32[4]):
    for i in range(6):
        for u in range(4):
            A[i + 4] = A[i + 1] + B[u]
            A[i + 1] = A[i + 3] * B[u]


def sum_and_use(A: float32[8], B: float32[3]):
    for i in range(5):
        for u in range(3):
            A[i + 3] = A[i + 1] + A[i]
            A[i] = A[i] + B[u]


@pytest.mark.parametrize(
    ("kernel", "interval"),
    [
        (accumulate, 7),  # 6 add + 1 write: the sum stays in a register
        (rows, 2),  # 8 cycles over 6 iterations
        (lanes, 7),
        (inner_product, 4),  # 1 + 4 * 6 + 1 cycles over 8 iterations
        (whole_sum, 25),  # 4 * 6 add + 1 write
        (prefix, 4),
        (wavefront, 8),
        (seidel, 14),
        (shifted, 5),
        (temporary, 1),
        (two_states, 6),  # 3 mul + 6 add + 2 writes over 2 iterations
        (far_and_near, 10),  # 3 reads + 4 * 6 add + 3 writes over 3 iterations: one value passes to another copy
        (turns, 11),  # 1 read + 3 mul + 6 add + 1 write: the second update of a copy, then the first of the next one
    ],
)
def test_known_recurrences(kernel: Callable[..., Any], interval: int) -> None:
    """The interval by hand, and by executing all iterations."""
    assert intervals(kernel) == (interval, interval)


def delay_line(A: float32[16], T: float32[8], B: float32[16]):
    for i in range(4):
        T[i] = A[i]
        x: float32 = T[i + 1] * 2.0
        B[i] = x


def moved_down(A: float32[16], T: float32[32]):
    for i in range(14):
        T[i + 2] = A[i] * 3.0
        T[i] = A[i] * A[i + 1] * 2.0


@pytest.mark.parametrize("kernel", [delay_line, moved_down])
def test_overwriting_alone_costs_no_interval(kernel: Callable[..., Any]) -> None:
    assert intervals(kernel) == (1, 1)


def test_an_element_is_read_before_it_is_overwritten() -> None:
    """The second read comes a cycle of writing and one of reading after the write, the next write not before it."""

    def chase(P: int32[64], A: int32[16], B: int32[16]):
        for i in range(16):
            P[A[i]] = i
            B[i] = P[P[B[i]]]

    s = allo.customize(chase)
    s.bind("P", allo.Memory(resource="BRAM", storage_type="RAM_1WNR"))
    s.pipeline("i")
    loop = allo.estimate(s).loop("i")
    words = "recurrence through P: 1 read + 1 write until it is overwritten, over distance 1"
    assert (loop.interval, str(loop.reason)) == (2, words)


def starts(kernel: Callable[..., Any], array: str) -> tuple[list[int], int]:
    """The cycles in which the accesses of an array start, in the order of the text, and the interval."""
    s = allo.customize(kernel)
    s.pipeline("i")
    region, budget = region_of(s)
    done = scheduled(region, budget, 1)
    nodes = [node for node in region.nodes if node.memory is not None and node.memory.name == array]
    return [done.schedule.first(node.index) for node in nodes], done.interval


def test_a_late_read_holds_up_the_write_of_a_later_iteration() -> None:
    """The value that decides which element is read comes late; the next iteration may overwrite that element."""

    def late(A: float32[32], T: float32[64], B: float32[32]):
        for i in range(16):
            T[i + 3] = A[i]
            k: int32 = int32(A[i] * 2.0 + 1.0)
            B[i] = T[k]

    (write, read), interval = starts(late, "T")
    assert read > 8
    assert write + interval >= read


def test_writes_of_an_element_stay_in_order() -> None:
    """The fast write of T[i + 1] in iteration i + 1 replaces the slow one of iteration i."""

    def twice(A: float32[32], T: float32[64]):
        for i in range(16):
            T[i + 1] = A[i] * 3.0 + 1.0
            T[i] = A[i]

    (slow, fast), interval = starts(twice, "T")
    assert interval == 1
    assert fast + interval >= slow + 1


def test_writes_of_one_iteration_stay_in_order() -> None:
    def again(A: float32[32], T: float32[64], n: int32[32]):
        for i in range(16):
            T[i] = A[i] * 3.0 + 1.0
            if n[i] > 0:
                T[i] = A[i]

    (slow, fast), _ = starts(again, "T")
    assert fast >= slow + 1


@sweep(40)
def test_random_subscripts(seed: int) -> None:
    """Never below what the values demand; equal wherever one subscript moves all accesses."""
    choose = random.Random(seed)
    outer, inner, copies = choose.choice([(4, 5, 3), (3, 6, 4), (5, 4, 2)])
    a, b, c = choose.choice([(0, 1, 0), (1, 0, 0), (0, 4, 1), (8, 1, 0), (0, 1, 4), (20, 4, 1), (1, 1, 0)])
    shift = choose.randrange(0, 7)

    def update(A: float32[256], B: float32[256]):
        for o in range(outer):
            for i in range(inner):
                for u in range(copies):
                    A[a * o + b * i + c * u + shift] = A[a * o + b * i + c * u] + B[u]

    found, expected = intervals(update)
    assert found >= expected
    if shift == 0 or expected == 1:
        assert found == expected


@sweep(40)
def test_two_random_updates_of_an_array(seed: int) -> None:
    """Never below what the values demand that pass between the updates and their copies."""
    choose = random.Random(seed)
    inner, copies = choose.choice([(4, 2), (5, 3), (6, 4)])
    b, c = choose.choice([(1, 0), (1, 1), (2, 1), (3, 1), (4, 1), (1, 2), (1, 4)])
    to, at, to_2, at_2 = (choose.randrange(0, 6) for _ in range(4))

    def update(A: float32[64], B: float32[4]):
        for i in range(inner):
            for u in range(copies):
                A[b * i + c * u + to] = A[b * i + c * u + at] + B[u]
                A[b * i + c * u + to_2] = A[b * i + c * u + at_2] * B[u]

    found, expected = intervals(update, overwriting=False)
    assert found >= expected


def test_copies_at_the_ends_of_a_loop_have_no_others() -> None:
    """1 read + 3 * 6 add + 1 write over 3 iterations: the first copy has none before it."""
    assert intervals(sum_and_use) == (7, 7)


@pytest.mark.usefixtures("summed_up")
def test_many_copies_at_the_ends_of_a_loop_are_taken_for_others() -> None:
    """Walks are known by their moves then, not by copies."""
    assert intervals(sum_and_use) == (10, 7)


@pytest.mark.usefixtures("summed_up")
@pytest.mark.parametrize("copies", [4, 100, 4000])
def test_the_cost_does_not_depend_on_the_number_of_copies(copies: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sums over all copies are one after the other; each reads what the use of the one before has written."""

    def many(A: float32[16], B: float32[4000]):
        for i in range(6):
            for u in range(copies):
                A[i + 4] = A[i + 1] + B[u]
                A[i + 1] = A[i + 3] * B[u]

    searches: list[int] = []

    def counted(nodes: Sequence[int], edges: Sequence[Edge], lengths: Sequence[Fraction | int]) -> list[Edge] | None:
        searches.append(len(edges))
        return positive_cycle(nodes, edges, lengths)

    monkeypatch.setattr(CIRCULATION, "positive_cycle", counted)
    s = allo.customize(many)
    s.pipeline("i")
    graph = graph_of(region_of(s)[0], 2433, {})
    found = recurrence_of(graph, 1)
    assert found is not None
    assert (found.interval, words(graph, found)) == (
        11, "recurrence through A: 1 read + 6 add + 3 mul + 1 write over distance 1"
    )  # fmt: skip
    assert sum(searches) < 1000


@pytest.mark.usefixtures("summed_up")
def test_too_many_walks_are_an_assumption(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then all copies of what waits for one another run one after the other: 44 cycles, but an iteration takes 13."""
    monkeypatch.setattr(CIRCULATION, "_MOST_PIVOTS", 1)
    s = allo.customize(turns)
    s.pipeline("i")
    loop = allo.estimate(s).loop("i")
    assumed = "assumed: copies of unrolled loops run one after the other, since too many of them may share elements"
    assert (loop.interval, str(loop.reason)) == (13, assumed)


def test_the_reason_names_what_passes_between_updates() -> None:
    s = allo.customize(turns)
    s.pipeline("i")
    loop = allo.estimate(s).loop("i")
    words = "recurrence through A: 1 read + 6 add + 3 mul + 1 write over distance 1"
    assert (loop.interval, str(loop.reason)) == (11, words)


def test_a_condition_decides_when_a_value_is_kept() -> None:
    """The largest element so far: a comparison, then the register is written, in each iteration."""

    def largest(A: float32[16], B: float32[1]):
        best: float32 = A[0]
        for i in range(16):
            if A[i] > best:
                best = A[i]
        B[0] = best

    s = allo.customize(largest)
    s.pipeline("i")
    loop = allo.estimate(s).loop("i")
    assert (loop.interval, str(loop.reason)) == (2, "recurrence through best: 1 comparison + 1 write over distance 1")


def written_at_the_end(A: float32[80]):
    for i in range(64):
        x: float32 = A[i + 9]
        if i >= 63:
            A[i + 10] = x * 3.0 + 1.0


def written_before_the_end(A: float32[80]):
    for i in range(64):
        x: float32 = A[i + 9]
        if i >= 62:
            A[i + 10] = x * 3.0 + 1.0


def read_at_the_start(A: float32[80], B: float32[80]):
    for i in range(64):
        x: float32 = 1.0
        if i < 1:
            x = A[i + 9]
        A[i + 10] = x * 3.0 + 1.0


@pytest.mark.parametrize(
    ("kernel", "interval"), [(written_at_the_end, 1), (written_before_the_end, 11), (read_at_the_start, 1)]
)
def test_a_guard_that_leaves_no_later_iteration_closes_no_recurrence(kernel: object, interval: int) -> None:
    s = allo.customize(kernel)
    s.pipeline("i")
    assert allo.estimate(s).loop("i").interval == interval
