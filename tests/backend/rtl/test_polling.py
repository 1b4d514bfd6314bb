"""Designs that ask and try in simulated hardware, where the answers depend on the cycle in which they do."""

from __future__ import annotations

# ruff: noqa: F821, B007 - tasks are compiled where they stand
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.backend.rtl import RTLModule
from allo.backend.rtl.lowering import stream_events
from allo.backend.rtl.simulate import model
from allo.errors import DataflowError, RunTimeout
from allo.ir.types import Stream, int32
from tests.dataflow import polling as p
from tests.dataflow.random_polling import N as EACH
from tests.dataflow.random_polling import region_of
from tests.dataflow.test_polling import ENDLESS, never
from tests.seeds import sweep

N = 12
NUMBERS = np.arange(1, 1 + N, dtype=np.int32)


def built(design: Any, **options: Any) -> RTLModule:
    s = design if isinstance(design, allo.Schedule) else df.customize(design)
    made = s.build(target="rtl", random_state=1, **options)
    assert isinstance(made, RTLModule) and made.predicted_cycles is None
    return made


def slow(*values: Any) -> Any:
    return pytest.param(*values, marks=pytest.mark.slow)


def zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.int32)


@pytest.mark.parametrize("region", [p.arbiter, slow(p.kinds), slow(p.element_places)])
def test_what_does_not_depend_on_time_is_as_on_the_cpu(region: Any) -> None:
    arguments = {
        "arbiter": (NUMBERS, 100 + NUMBERS, zeros(2 * N)), "kinds": (NUMBERS, zeros(N)),
        "element_places": (NUMBERS, zeros(2, N)),
    }[region.__name__]  # fmt: skip
    own, wanted = ([one.copy() for one in arguments] for _ in range(2))
    built(region, limit=10_000)(*own)
    df.customize(region).build()(*wanted)
    for one, other in zip(own, wanted, strict=True):
        np.testing.assert_array_equal(np.sort(one, axis=None), np.sort(other, axis=None))


@pytest.mark.slow
def test_one_after_the_other() -> None:
    made = p.sequence.build(target="rtl", random_state=1)
    A = zeros(4)
    made(A)
    assert list(A) == [0, 1, 1, 56]


@df.region()
def each_cycle(A: int32[N], sent: int32[N], C: int32[4 * N], found: int32[4 * N]):
    pipe: Stream[int32, 2]

    @df.kernel(mapping=[1], args=[A, sent])
    def source(A: int32[N], sent: int32[N]):
        for i in range(N):
            sent[i] = pipe.try_put(A[i])

    @df.kernel(mapping=[1], args=[C, found])
    def sink(C: int32[4 * N], found: int32[4 * N]):
        for j in range(4 * N):
            C[j], found[j] = pipe.try_get()


def by_hand(puts: int, gets: int) -> tuple[list[int], list[int]]:
    """What `each_cycle` sends and finds if it tries to put, and to get, in so many cycles each."""
    fifo, sent, found = list[int](), list[int](), list[int]()
    for cycle in range(4 * N * gets):
        room, some = len(fifo) < 2, list(fifo)
        if cycle % gets == 0:
            found.append(some[0] if some else 0)
            del fifo[: bool(some)]
        if cycle % puts == 0 and len(sent) < N:
            sent.append(int(room))
            fifo += [int(NUMBERS[cycle // puts])] * room
    return sent, found


@pytest.mark.parametrize(("puts", "gets"), [(1, 3), slow(1, 1), slow(4, 1), slow(2, 3)])
def test_pipelines_try_once_an_interval(puts: int, gets: int) -> None:
    s = df.customize(each_cycle)
    s.pipeline("source:i", initiation_interval=puts)
    s.pipeline("sink:j", initiation_interval=gets)
    sent, C, found = zeros(N), zeros(4 * N), zeros(4 * N)
    made = built(s, limit=10_000)
    made(NUMBERS, sent, C, found)
    assert all(loop.as_scheduled for loop in made.loops)
    # `source` reads its array first, so that it tries a cycle or two later than `sink`
    wanted = by_hand(puts, gets)
    assert sent.tolist() == wanted[0] if gets <= puts else 0 < sent.sum() < N
    np.testing.assert_array_equal(C[C > 0], NUMBERS[sent > 0])
    np.testing.assert_array_equal(found, C > 0)
    assert sorted(wanted[1])[-1] == C.max() or gets > puts


@df.region()
def in_one_cycle(A: int32[N], B: int32[N], C: int32[N]):
    """What was asked stays while something else of its cycle waits."""
    slow: Stream[int32, 2]
    fast: Stream[int32, 2]

    @df.kernel(mapping=[1], args=[A])
    def one(A: int32[N]):
        for i in range(N):
            slow.put(A[i])

    @df.kernel(mapping=[1], args=[B])
    def other(B: int32[N]):
        for k in range(N):
            fast.put(B[k])

    @df.kernel(mapping=[1], args=[C])
    def both(C: int32[N]):
        taken: int32 = 0
        for j in range(N):
            x, ok = fast.try_get()
            y: int32 = slow.get()
            C[j] = x + 1000 * y
            if ok:
                taken += 1
        for k in range(N):
            if taken < N:
                C[0] += fast.get()
                taken += 1


def test_an_answer_stays_while_its_iteration_waits() -> None:
    s = df.customize(in_one_cycle)
    s.pipeline("one:i", initiation_interval=5)
    for loop in ("other:k", "both:j"):
        s.pipeline(loop)
    C = zeros(N)
    built(s, limit=10_000)(NUMBERS, 10 * NUMBERS, C)
    assert C.sum() == 1000 * NUMBERS.sum() + 10 * NUMBERS.sum()
    assert (C // 1000).tolist() == NUMBERS.tolist()


@pytest.mark.slow
def test_what_finds_no_room_is_lost() -> None:
    C, lost = zeros(N), zeros(1)
    built(p.lossy, limit=10_000)(NUMBERS, C, lost)
    kept = C[C > 0]
    assert 0 < len(kept) < 2 * N and (np.diff(np.where(kept > 50, kept - 50, kept - 1)) >= 0).all()


def test_who_asks_without_end_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "PATIENCE", 50_000)
    made, simulated = built(never), df.customize(never).build()
    with pytest.raises(DataflowError) as caught:
        made(NUMBERS[:4], zeros(1))
    assert ENDLESS in str(caught.value)
    with pytest.raises(DataflowError) as wanted:
        simulated(NUMBERS[:4], zeros(1))
    assert told(caught.value) == told(wanted.value)


def told(error: Exception) -> str:
    return re.sub(r'File "[^"]+", line \d+, column \d+', "AT", str(error))


@sweep(60, quick=1)
def test_random_designs(seed: int, tmp_path: Path) -> None:
    """Which elements come is no matter of time, but for when an element too few or too many is sent."""
    region = region_of(seed, tmp_path)
    sources = sum(name.startswith("source") for name in region.__code__.co_varnames)
    s = df.customize(region)
    s.partition("polling:A", dim=1)
    own, wanted = (run(one, sources) for one in (built(s, limit=50_000), s.build()))
    assert (own is None) == (wanted is None)
    if own is not None and wanted is not None:
        np.testing.assert_array_equal(np.sort(own), np.sort(wanted))


def run(made: Callable[..., Any], sources: int) -> np.ndarray | None:
    """The results; None if it never ends, or leaves something."""
    A = np.arange(1, 1 + sources * EACH, dtype=np.int32).reshape(sources, EACH)
    C = zeros(sources * EACH)
    try:
        made(A, C, zeros(1))
    except (DataflowError, RunTimeout):
        return None
    return C


@pytest.mark.slow
def test_faults_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_events, "_kept", lambda region, found, fire, done: found)  # not kept while others wait
    with pytest.raises((AssertionError, DataflowError)):
        test_an_answer_stays_while_its_iteration_waits()
