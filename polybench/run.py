"""Evaluates many designs: over processes or an executor of the user's, going on where the last run stopped."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from multiprocessing import active_children, get_context
from pathlib import Path
from queue import SimpleQueue

from .evaluation import CHECKS, Check, Evaluation, Task, applicable, evaluate, fingerprint
from .suite import NAMES, load

type Progress = Callable[[Task, Evaluation, bool], None]
"""Called with the checks that have been done of a task; the flag says that they are those of an earlier run."""
type Finished = Callable[[Task, Evaluation], None]


def tasks(
    kernels: Sequence[str] = NAMES,
    sizes: Sequence[str] = ("MEDIUM",),
    designs: Sequence[str] = ("vanilla", "best", "cpu"),
    checks: Sequence[str] = CHECKS,
) -> list[Task]:
    """One task for each design that a kernel has, at each size, with the checks that are for such a design."""
    found = [
        Task(kernel, design, size, applicable(checks, design, load(kernel).designs[design]))
        for kernel in kernels
        for size in sizes
        for design in designs
        if design in load(kernel).designs
    ]
    return [task for task in dict.fromkeys(found) if task.checks]


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

    Checks that an earlier run from the same sources has passed, by what is in `folder`, are not done again, unless
    `fresh`. `executor` is anything whose futures have `add_done_callback` and `result`, as those of
    `concurrent.futures` (a client of dask); without one, `jobs` processes run here, times are measured when they have
    ended, one by one, and a process that dies costs the result of its task only. When this is interrupted, what is
    finished is kept. Raises OSError if `folder` cannot be written, or a file of results in it cannot be read.
    """
    todo = list(todo)
    folder.mkdir(parents=True, exist_ok=True)
    done: dict[str, Evaluation] = {}
    left: list[Task] = []
    for task in todo:
        known = None if fresh else _read(folder, task)
        if known is not None:
            done[task.name] = known
            old = known.only(task.checks)
            if progress and old.checks:
                progress(replace(task, checks=tuple(old.checks)), old, True)
        missing = tuple(check for check in task.checks if known is None or check not in known.checks)
        if missing:
            left.append(replace(task, checks=missing))

    def finished(task: Task, result: Evaluation) -> None:
        done[task.name] = result.with_checks_of(done.get(task.name))
        _write(folder, task, done[task.name])
        if progress:
            progress(task, result, False)

    if executor is not None:
        _collect(executor, left, finished)
    else:
        _run_here(_part(left, lambda check: check != "time"), jobs or os.cpu_count() or 1, finished)
        _run_here(_part(left, lambda check: check == "time"), 1, finished)
    return [done[task.name].only((*task.checks, "compile")) for task in todo]


def _part(left: list[Task], wanted: Callable[[str], bool]) -> list[Task]:
    parts = [replace(task, checks=tuple(filter(wanted, task.checks))) for task in left]
    return [part for part in parts if part.checks]


def _run_here(left: list[Task], jobs: int, finished: Finished) -> None:
    """A pool breaks when one of its processes dies: the tasks it still had run again, each in its own process."""
    if not left:
        return
    broken: list[Task] = []
    with _processes(jobs) as pool:
        _collect(pool, left, finished, broken)
    with _unless_interrupted(ThreadPoolExecutor(jobs)) as pool:
        _collect(pool, broken, finished, evaluated=_in_its_own_process)


def _in_its_own_process(task: Task) -> Evaluation:
    with _processes(1) as pool:
        return pool.submit(evaluate, task).result()


@contextmanager
def _unless_interrupted(pool: Executor) -> Iterator[Executor]:
    """`pool`; what it still had to do is dropped, with the processes that began in between, if this is interrupted."""
    before = set(active_children())
    with pool:
        try:
            yield pool
        except BaseException:
            if isinstance(pool, ThreadPoolExecutor):  # whose threads would begin other processes
                pool.shutdown(wait=False, cancel_futures=True)
            for child in set(active_children()) - before:
                child.terminate()
            # waited for: Python, when it ends, wakes threads of pools, of which one might be just ending
            pool.shutdown(cancel_futures=True)
            raise


def _processes(jobs: int) -> AbstractContextManager[Executor]:
    """Processes that leave an interrupt from the terminal to this one."""
    return _unless_interrupted(
        ProcessPoolExecutor(
            jobs,
            mp_context=get_context("spawn"),
            initializer=signal.signal,
            initargs=(signal.SIGINT, signal.SIG_IGN),
        )
    )


def _collect(
    pool: Executor,
    left: list[Task],
    finished: Finished,
    broken: list[Task] | None = None,
    evaluated: Callable[[Task], Evaluation] = evaluate,
) -> None:
    """Results in the order in which they come; `broken` gets the tasks whose pool has ended before them."""
    results: SimpleQueue[tuple[Task, Callable[[], Evaluation]]] = SimpleQueue()
    futures = [_submit(pool, evaluated, task, results) for task in left]
    try:
        for _ in left:
            task, result = results.get()
            try:
                found = result()
            except (
                Exception
            ) as problem:  # of the machine, or of a design that cannot be customised: its task's alone
                if broken is not None and isinstance(problem, BrokenExecutor):
                    broken.append(task)
                    continue
                found = _failed(task, problem)
            finished(task, found)
    except BaseException:
        for future in futures:
            if future is not None and hasattr(future, "cancel"):
                future.cancel()
        raise


def _submit(
    pool: Executor,
    evaluated: Callable[[Task], Evaluation],
    task: Task,
    results: SimpleQueue[tuple[Task, Callable[[], Evaluation]]],
) -> Future[Evaluation] | None:
    """The future, which puts its result into `results`; None if there is none, which is a result too."""
    try:
        future = pool.submit(evaluated, task)
    except Exception as problem:  # a pool that is broken, a client that is closed
        results.put((task, partial(_raise, problem)))
        return None
    future.add_done_callback(lambda _: results.put((task, future.result)))
    return future


def _raise(problem: Exception) -> Evaluation:
    raise problem


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
        None,
        design.dsp,
        0,
        0.0,
        fingerprint(task),
    )


def _file(folder: Path, task: Task) -> Path:
    return folder / f"{task.name}.json"


def _write(folder: Path, task: Task, result: Evaluation) -> None:
    """All of the file or nothing: an interrupt leaves the old one."""
    new = folder / f".{task.name}.new"
    new.write_text(json.dumps(result.as_json(), indent=1) + "\n", encoding="utf-8")
    new.replace(_file(folder, task))


def _read(folder: Path, task: Task) -> Evaluation | None:
    """What an earlier run with the same sources found and did not fail; None if there is nothing of that kind."""
    try:
        found = Evaluation.from_json(json.loads(_file(folder, task).read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None  # also what another version has written
    if found.fingerprint != fingerprint(task):
        return None
    return found.only(set(found.checks) - set(found.failures))
