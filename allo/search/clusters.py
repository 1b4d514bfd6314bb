"""Executor of the machines of a Ray cluster, which has none of its own; those of Dask are taken as they are."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import cache
from typing import Any

from ..errors import ToolError


class RayExecutor(Executor):
    """Jobs as tasks of Ray, `num_cpus` for each; Ray runs those again whose worker ends.

    It takes the cluster that `ray.init()` has connected to, and starts one on this machine if there is none, as Ray
    does. Raises ToolError without the package `ray`.
    """

    def __init__(self, num_cpus: float = 1) -> None:
        try:
            import ray
        except ImportError:
            raise ToolError("this executor needs the package ray", hint="pip install 'allo[ray]'") from None
        self._remote = cache(ray.remote(num_cpus=num_cpus))  # Ray sends a function anew each time it is made remote

    def submit[T](self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        future: Future[T] = self._remote(fn).remote(*args, **kwargs).future()
        return future
