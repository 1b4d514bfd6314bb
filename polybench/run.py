"""Evaluates many designs: over processes or an executor of the user's, going on where the last run stopped."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

from .evaluation import CHECKS, Check, Evaluation, Task, evaluate, fingerprint
from .suite import NAMES, load

type Progress = Callable[[Task, Evaluation, bool], None]
"""Called after each task; the flag says that the result is that of an earlier run."""


def tasks(
    kernels: Sequence[str] = NAMES,
    sizes: Sequence[str] = ("MEDIUM",),
    designs: Sequence[str] = ("vanilla", "best"),
    checks: Sequence[str] = CHECKS,
) -> list[Task]:
    """One task for each design that a kernel has, at each size."""
    return [
        Task(kernel, design, size, tuple(checks))
        for kernel in kernels
        for size in sizes
        for design in designs
        if design in load(kernel).designs
    ]


def run(
    todo: Iterable[Task],
    folder: Path,
    *,
    executor: Executor | None = None,
    jobs: int | None = None,
    fresh: bool = False,
    progress: Progress | None = None,
) -> list[Evaluation]:
    """The evaluations of `todo`, in that order; each is written to `folder` as soon as it is known.

    What is in `folder` from the same sources is not done again, unless `fresh`. `executor` is anything with the
    interface of `concurrent.futures` (a dask or ray client); without one, `jobs` processes run here, and a
    process that dies costs the result of its task only.
    """
    todo = list(todo)
    folder.mkdir(parents=True, exist_ok=True)
    done: dict[Task, Evaluation] = {}
    for task in todo:
        known = None if fresh else _read(folder, task)
        if known is not None:
            done[task] = known
            if progress:
                progress(task, known, True)
    left = [task for task in todo if task not in done]

    def finished(task: Task, result: Evaluation) -> None:
        done[task] = result
        _file(folder, task).write_text(json.dumps(result.as_json(), indent=1) + "\n", encoding="utf-8")
        if progress:
            progress(task, result, False)

    if executor is not None:
        _collect({executor.submit(evaluate, task): task for task in left}, finished)
    else:
        _run_here(left, jobs or os.cpu_count() or 1, finished)
    return [done[task] for task in todo]


def _run_here(left: list[Task], jobs: int, finished: Callable[[Task, Evaluation], None]) -> None:
    """A pool breaks when one of its processes dies: the tasks it still had run one by one, each in its own."""
    context = get_context("spawn")
    broken: list[Task] = []
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        _collect({pool.submit(evaluate, task): task for task in left}, finished, broken)
    for task in broken:
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            _collect({pool.submit(evaluate, task): task}, finished)


def _collect(
    futures: dict[Future[Evaluation], Task],
    finished: Callable[[Task, Evaluation], None],
    broken: list[Task] | None = None,
) -> None:
    for future in as_completed(futures):
        task, problem = futures[future], future.exception()
        if problem is None:
            finished(task, future.result())
        elif broken is not None and isinstance(problem, RuntimeError):  # BrokenProcessPool is one
            broken.append(task)
        else:
            finished(task, _failed(task, problem))


def _failed(task: Task, problem: BaseException) -> Evaluation:
    """The evaluation of a design that cannot even be customised, or whose process died."""
    check = Check("error", f"{type(problem).__name__}: {problem}", 0.0)
    design = load(task.kernel).designs[task.design]
    return Evaluation(
        task.kernel,
        task.design,
        task.size,
        {"compile": check},
        None,
        design.dsp,
        0,
        0.0,
        fingerprint(task),
    )


def _file(folder: Path, task: Task) -> Path:
    return folder / f"{task.name}.json"


def _read(folder: Path, task: Task) -> Evaluation | None:
    """The result of an earlier run with the same sources; None if there is none, or it cannot be read."""
    try:
        found = Evaluation.from_json(json.loads(_file(folder, task).read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if found.fingerprint == fingerprint(task) and not found.failures else None
