"""Processes, executors and stores: nothing is lost, and results are those of one process."""

from __future__ import annotations

import math
import os
import pickle
import signal
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

import allo
from allo.search import Point, PointState, PointStore, run, workers
from allo.search.job import Job, evaluated
from tests.search.kernels import chain, lanes, product, solve

OPTIONS: dict[str, Any] = {"budget": 12, "verify": False}


@pytest.fixture(scope="module")
def alone() -> tuple[Point, ...]:
    return allo.search(chain, workers=0, **OPTIONS).points


def test_processes_find_what_one_finds_although_one_is_killed(
    alone: tuple[Point, ...], monkeypatch: pytest.MonkeyPatch
):
    killed: list[int] = []
    run = workers.Workers.submit

    def submit(self: workers.Workers, fn: Callable[..., Point], /, *args: Job, **kwargs: object) -> Future[Point]:
        if self.processes and not killed:
            killed.append(self.processes[0])
            os.kill(killed[0], signal.SIGKILL)
        return run(self, fn, *args)

    monkeypatch.setattr(workers.Workers, "submit", submit)
    assert allo.search(chain, workers=2, **OPTIONS).points == alone
    assert killed


def test_refusals_of_processes_are_those_of_one():
    alone, others = (allo.search(solve, budget=8, verify=False, workers=count).points for count in (0, 1))
    assert alone == others
    reasons = {p.reason for p in alone if p.state is PointState.ILLEGAL}
    assert reasons and not any("File" in reason for reason in reasons)


def test_a_broken_executor_of_a_user_loses_nothing(alone: tuple[Point, ...]):
    class Breaking(Executor):
        count = 0

        def submit(self, fn: Callable[..., Point], /, *args: Job, **kwargs: object) -> Future[Point]:
            self.count += 1
            future: Future[Point] = Future()
            if self.count > 6:
                raise BrokenProcessPool("a child was killed")
            if self.count > 3:
                future.set_exception(BrokenProcessPool("a child was killed"))
            else:
                future.set_result(fn(*args))
            return future

    assert allo.search(chain, executor=Breaking(), **OPTIONS).points == alone


@pytest.mark.slow
def test_a_pool_of_the_standard_library(alone: tuple[Point, ...]):
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert allo.search(chain, executor=pool, **OPTIONS).points == alone


def test_a_job_that_ends_its_process_is_a_point_that_failed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(workers._Process, "_asked", lambda self, sent: (_ for _ in ()).throw(EOFError))
    point = workers._Process().run(Job(b"", {}, {}))
    assert (point.state.value, point.reason) == ("failed", "its process ended 3 times")


def test_the_clock_is_looked_at_after_each_point(alone: tuple[Point, ...], monkeypatch: pytest.MonkeyPatch):
    asked: list[Job] = []
    monkeypatch.setattr(run, "evaluated", lambda job: asked.append(job) or evaluated(job))
    monkeypatch.setattr(run, "monotonic", lambda: 0 if len(asked) < 3 else math.inf)
    found = allo.search(chain, workers=0, seconds=1000, **OPTIONS)
    assert found.points == alone[:3] and not found.complete


def test_time_ends_a_search_whose_workers_do_not_answer(alone: tuple[Point, ...]):
    class Silent(Executor):
        def __init__(self) -> None:
            self.futures: list[Future[Point]] = []

        def submit(self, fn: Callable[..., Point], /, *args: Job, **kwargs: object) -> Future[Point]:
            future: Future[Point] = Future()
            if not self.futures:
                future.set_result(fn(*args))
            self.futures.append(future)
            return future

    executor = Silent()
    found = allo.search(chain, executor=executor, seconds=0.1, **OPTIONS)
    assert found.points == alone[:1] and not found.complete
    assert len(executor.futures) > 1 and all(future.cancelled() for future in executor.futures[1:])


def test_workers_stop_although_a_process_hangs():
    job = Job(pickle.dumps(allo.customize(chain)), {})
    with workers.Workers(1) as hanging:
        assert hanging.submit(evaluated, job).result().is_design
        (process,) = hanging.processes
        os.kill(process, signal.SIGSTOP)
        future = hanging.submit(evaluated, job)
        hanging.stop()
        with pytest.raises(CancelledError):
            future.result(timeout=60)
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_a_search_goes_on_where_it_was_stopped(
    alone: tuple[Point, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "points.sqlite"
    few = {**OPTIONS, "budget": 5}
    assert allo.search(chain, workers=0, store=path, **few).points == alone[:5]
    asked: list[Job] = []
    monkeypatch.setattr(run, "evaluated", lambda job: asked.append(job) or evaluated(job))
    assert allo.search(chain, workers=0, store=path, **OPTIONS).points == alone
    assert len(asked) == len(alone) - 5
    asked.clear()
    assert allo.search(chain, workers=0, store=path, **OPTIONS).points == alone
    assert not asked
    allo.search(chain, workers=0, store=path, **few, frequency=200.0)  # another question
    assert len(asked) == 5


def test_a_store_answers_questions(tmp_path: Path):
    with PointStore(tmp_path / "points.sqlite") as store:
        found = allo.search(product, lanes, driver="exhaustive", workers=0, store=store, verify=False)
        assert len(store) == len({p.steps for p in found.points if p.is_design})
        few = store.points("dsp <= ? and kernel = 'product'", 5)
        assert few and all(p.dsp <= 5 for p in few)
        assert {p.steps for p in few} < {p.steps for p in found.points}


def test_files_that_are_no_stores_are_refused(tmp_path: Path):
    (tmp_path / "text").write_text("no store at all, " * 100)
    with pytest.raises(allo.SearchError) as error:
        allo.search(product, store=tmp_path / "text")
    assert str(error.value) == (
        f"'{tmp_path / 'text'}' cannot be used as a store: file is not a database\n"
        "  hint: name a file that does not exist yet, or one that a search has made"
    )
    with PointStore(tmp_path / "other") as store:
        store._connection.execute("pragma user_version = 99")
    store.close()
    with pytest.raises(allo.SearchError) as error:
        PointStore(tmp_path / "other")
    assert str(error.value) == f"the store '{tmp_path / 'other'}' is of version 99, this is 2"
    with PointStore(tmp_path / "third") as store, pytest.raises(allo.SearchError) as error:
        store.points("dsps < 5")
    assert str(error.value) == "the store does not understand 'dsps < 5': no such column: dsps"
