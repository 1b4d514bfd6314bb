"""Designs that would wait for ever at a FIFO: each door refuses them in the same words; unbounded FIFOs."""

# ruff: noqa: F821 - in a kernel, `A: T[N]` declares an array without values

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import allo
from allo.errors import DataflowError, ScheduleError, TargetError
from allo.ir.types import int32
from allo.verify import Unknown

N = 16
X = np.arange(N, dtype=np.int32)
WHY = (
    "stream 'fifo_A' of depth 2 is full, and what would take elements out waits too, or has ended: "
    "3 elements have been put and 1 taken"
)


def both(X: int32[N], A: int32[N], B: int32[N]):
    for i in range(N):
        A[i] = X[i] + 1
    for j in range(N):
        B[j] = X[j] * 2


def add(A: int32[N], B: int32[N], Y: int32[N]):
    for i in range(N):
        Y[i] = A[i] + B[i]


def top(X: int32[N], Y: int32[N]):
    A: int32[N]
    B: int32[N]
    both(X, A, B)
    add(A, B, Y)


def design(depth: int = 2) -> allo.Schedule:
    """`both` puts all of A before it puts any of B, and `add` takes them in turn."""
    s = allo.customize(top)
    s.relay("A", "add", depth=depth)
    s.relay("B", "add", depth=2)
    return s


def run(s: allo.Schedule, **options: Any) -> np.ndarray:
    Y = np.zeros(N, np.int32)
    s.build(**options)(X, Y)
    return Y


@pytest.mark.parametrize(
    "options", [{}, {"target": "vhls"}, {"target": "vitis_hls", "mode": "csim"}, {"target": "catapult"}], ids=str
)
def test_it_is_refused(options: dict[str, str]) -> None:
    with pytest.raises(DataflowError) as caught:
        run(design(), **options)
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.message, diagnostic.hint) == (WHY, "the least depth that does is 15")
    assert [note.message for note in diagnostic.notes] == [
        "'fifo_A' is made here",
        "circle of waits, 1 of 2: 'both', in iteration i = 3, waits to put into 'fifo_A', which is full (2 of 2; 3 "
        "put, 1 taken), until 'add' takes an element out",
        "circle of waits, 2 of 2: 'add', in iteration i = 0, waits to get from 'fifo_B', which is empty (0 of 2; 0 "
        "put, 0 taken), until 'both' puts one in",
    ]
    assert [(task.name, task.stream, task.waits_for) for task in caught.value.tasks if task.in_circle] == [
        ("both", "fifo_A", ("add",)),
        ("add", "fifo_B", ("both",)),
    ]
    assert [(s.name, s.depth, s.holds, s.puts, s.gets) for s in caught.value.streams] == [
        ("fifo_A", 2, 2, 3, 1),
        ("fifo_B", 2, 0, 0, 0),
    ]
    assert caught.value.depths == {"fifo_A": 15}


def test_it_is_not_verified() -> None:
    result = design().verify()
    assert isinstance(result, Unknown)
    assert result.reason == f"the second program never ends: {WHY}; the least depth that does is 15"


@pytest.mark.parametrize("options", [{}, {"target": "vitis_hls", "mode": "csim"}], ids=str)
def test_the_least_depth_does(options: dict[str, str]) -> None:
    assert np.array_equal(run(design(15), **options), 3 * X + 1)
    with pytest.raises(DataflowError):
        run(design(14), **options)
    assert design(15).verify()


@pytest.mark.parametrize("options", [{}, {"target": "vitis_hls", "mode": "csim"}], ids=str)
def test_unbounded_fifos(options: dict[str, str]) -> None:
    assert np.array_equal(run(design(), unbounded=True, **options), 3 * X + 1)


def test_unbounded_fifos_are_for_what_runs_here() -> None:
    with pytest.raises(TargetError) as caught:
        design().build(target="vitis_hls", mode="csyn", project="unused", unbounded=True)
    assert str(caught.value) == (
        "unbounded=True is for simulations, and mode 'csyn' is none\n  hint: build with mode=\"csim\""
    )


def in_sequence(X: int32[N], Y: int32[N]):
    A: int32[N]
    for i in range(N):
        A[i] = X[i] + 1
    for j in range(N):
        Y[j] = A[j] * 2
    for k in range(N):
        Y[k] = Y[k] + 1


def test_relay_between_nests_that_cannot_run_at_the_same_time() -> None:
    s = allo.customize(in_sequence)
    with pytest.raises(ScheduleError) as caught:
        s.relay("A", "S_j_1", depth=2)
    (diagnostic,) = caught.value.diagnostics
    first = in_sequence.__code__.co_firstlineno
    assert diagnostic.message == (
        "relay: 'fifo_A' holds 2, and its ends run one after the other: what puts into it waits for ever. "
        "They cannot run at the same time: function 'in_sequence' cannot become a dataflow region: "
        f"'Y' has two producers, the statement at line {first + 5} writes Y[j] "
        f"and the statement at line {first + 7} writes Y[k]"
    )
    assert diagnostic.hint == "give a depth of 16, or let the rest become stages of a dataflow region first"
    s.relay("A", "S_j_1", depth=16)
    assert np.array_equal(run(s), 2 * (X + 1) + 1)
    assert s.verify()


def handed_on(X: int32[N], Y: int32[N]):
    A: int32[N]
    for i in range(N):
        A[i] = X[i] + 1
    for j in range(N):
        Y[j] = A[j] * 2


def test_relay_lets_both_ends_run_at_the_same_time() -> None:
    s = allo.customize(handed_on)
    s.relay("A", "S_j_1", depth=2)
    assert "# dataflow" in s.pseudocode().splitlines()[0]
    for options in ({}, {"target": "vitis_hls", "mode": "csim"}):
        assert np.array_equal(run(s, **options), 2 * (X + 1))
    assert s.verify()
