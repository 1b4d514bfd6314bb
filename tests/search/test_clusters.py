"""Clusters of two workers on this machine, one of which is killed: results are those of one process.

`.ci/run` runs these in an environment with the extras `dask` and `ray`; elsewhere they are skipped.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from concurrent.futures import Executor, Future
from time import sleep
from typing import Any

import pytest

import allo
from allo.search import Point, RayExecutor
from tests.search.kernels import chain

OPTIONS: dict[str, Any] = {"budget": 12, "verify": False}


class Killing(Executor):
    """An executor of others that kills a process when it gets its fifth job."""

    def __init__(self, executor: Any, process: int) -> None:
        self.executor, self.process, self.jobs = executor, process, 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.jobs += 1
        if self.jobs == 5:
            os.kill(self.process, signal.SIGKILL)
        found: Future[Any] = self.executor.submit(fn, *args, **kwargs)
        return found


@pytest.fixture(scope="module")
def alone() -> tuple[Point, ...]:
    return allo.search(chain, workers=0, **OPTIONS).points


@pytest.mark.filterwarnings("ignore")  # those of the packages
def test_dask(alone: tuple[Point, ...]) -> None:
    distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        victim, _ = client.run(os.getpid).values()
        killing = Killing(client.get_executor(), victim)
        assert allo.search(chain, executor=killing, **OPTIONS).points == alone
        assert killing.jobs > 5 and victim not in client.run(os.getpid).values()
        assert allo.search(chain, executor=client, budget=4, verify=False).points == alone[:4]  # as it is


@pytest.mark.filterwarnings("ignore")
def test_ray(alone: tuple[Point, ...]) -> None:
    ray = pytest.importorskip("ray", reason="the extra ray is not installed")

    def process() -> int:
        sleep(0.5)  # so that the other worker takes the other one
        return os.getpid()

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        asked = ray.remote(process)
        victim = ray.get([asked.remote() for _ in range(2)])[0]
        killing = Killing(RayExecutor(), victim)
        assert allo.search(chain, executor=killing, **OPTIONS).points == alone
        assert killing.jobs > 5
        with pytest.raises(ProcessLookupError):
            os.kill(victim, 0)
    finally:
        ray.shutdown()


def test_ray_is_asked_for_where_it_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(allo.ToolError) as error:
        RayExecutor()
    assert str(error.value) == "this executor needs the package ray\n  hint: pip install 'allo[ray]'"
