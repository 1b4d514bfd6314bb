"""Workers of a search: processes of our own that estimate, started again when they end, or executors of users."""

from __future__ import annotations

import os
import pickle
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from threading import Lock
from time import monotonic
from typing import IO

from ..errors import ToolError
from ..messages import LOG
from .job import Job, evaluated
from .point import Point, PointState

_TRIES = 3  # of a job whose process ends
_LENGTH = struct.Struct("<Q")

type Map = Callable[[Sequence[Job]], list[Point]]


class Workers(Executor):
    """An executor of processes that import nothing of the program that searches.

    A job whose process ends is tried again in a new one; after some tries it is a point that failed, since it takes
    processes with it.
    """

    def __init__(self, count: int) -> None:
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="allo-search")
        self._idle: SimpleQueue[_Process] = SimpleQueue()
        self._all = [_Process() for _ in range(count)]
        for process in self._all:
            self._idle.put(process)

    def submit(self, fn: Callable[..., Point], /, *args: Job, **kwargs: object) -> Future[Point]:  # type: ignore[override]
        (job,) = args
        return self._threads.submit(self._run, job)

    def _run(self, job: Job) -> Point:
        process = self._idle.get()
        try:
            return process.run(job)
        finally:
            self._idle.put(process)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._threads.shutdown(wait, cancel_futures=cancel_futures)
        for process in self._all:
            process.end()

    def stop(self) -> None:
        """End what runs, at once; the futures of it, and of what waits, are cancelled."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for process in self._all:
            process.stop()

    @property
    def processes(self) -> list[int]:
        """The numbers of the processes that run."""
        return [p.process.pid for p in self._all if p.process is not None]


class _Process:
    """One process; it is started when there is something to do."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self._starts = Lock()
        self._is_stopped = False

    def run(self, job: Job) -> Point:
        """The point of a job. Raises CancelledError if the process is stopped."""
        sent = pickle.dumps(job)
        for _ in range(_TRIES):
            try:
                found = self._asked(sent)
            except (EOFError, BrokenPipeError, ConnectionResetError):
                self.end()
                continue
            if isinstance(found, Exception):
                raise found
            return found
        reason = f"its process ended {_TRIES} times"
        return Point(job.holes, job.steps or "", PointState.FAILED, reason)

    def _asked(self, sent: bytes) -> Point | Exception:
        with self._starts:
            if self._is_stopped:
                raise CancelledError
            process = self.process = self.process or _started()
        assert process.stdin is not None and process.stdout is not None
        _write(process.stdin, sent)
        found: Point | Exception = pickle.loads(_read(process.stdout))
        return found

    def stop(self) -> None:
        """Kill the process while a thread waits for it, and start no other."""
        with self._starts:
            self._is_stopped = True
            if self.process is not None:
                self.process.kill()

    def end(self) -> None:
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            process.communicate()


def _started() -> subprocess.Popen[bytes]:
    root = str(Path(__file__).resolve().parents[2])
    paths = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [sys.executable, "-c", "from allo.search.workers import serve; serve()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": paths},
    )


def serve() -> None:
    """The loop of a process: jobs from stdin, points to stdout, to which nothing else may be written."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while True:
        try:
            job = pickle.loads(_read(sys.stdin.buffer))
        except EOFError:
            return
        try:
            found: Point | Exception = evaluated(job)
        except Exception as error:
            found = error
        _write(answers, pickle.dumps(found))


def _write(stream: IO[bytes], data: bytes) -> None:
    stream.write(_LENGTH.pack(len(data)) + data)
    stream.flush()


def _read(stream: IO[bytes]) -> bytes:
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    (length,) = _LENGTH.unpack(head)
    data = stream.read(length)
    if len(data) < length:
        raise EOFError
    return data


def on_executor(executor: Executor, jobs: Sequence[Job], until: float | None = None) -> Iterator[Point | None]:
    """The points of jobs on any executor, in their order; what it has lost is computed here, in a process of its own.

    Also clients that only have `submit`, as that of dask: what counts is the result of its futures. Points that are
    not known at the time `until` (of the monotonic clock) are None, and what has not begun is cancelled.
    """
    futures: list[Future[Point] | None] = []
    for job in jobs:
        try:
            futures.append(executor.submit(evaluated, job))
        except RuntimeError as error:  # it was shut down, or its processes are gone
            LOG.warning("the executor takes no more designs, which are estimated here: %s", error)
            futures.append(None)
    spare = _Process()
    try:
        for future, job in zip(futures, jobs, strict=True):
            yield _result(future, job, spare, until)
    finally:
        spare.end()


def _result(future: Future[Point] | None, job: Job, spare: _Process, until: float | None) -> Point | None:
    left = None if until is None else max(0.0, until - monotonic())
    if future is None:
        return spare.run(job) if left != 0 else None
    try:
        return future.result(left)
    except pickle.PicklingError as error:
        raise ToolError(f"the executor cannot send a design to its processes: {error}") from error
    except Exception as error:  # each executor has errors of its own for workers that ended
        if left is not None and not future.done():
            future.cancel()
            return None
        LOG.warning("the executor has lost a design, which is estimated here: %r", error)
        return spare.run(job)
