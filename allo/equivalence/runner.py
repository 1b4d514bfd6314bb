"""Runner of programs without risk: a process of its own, which ends when it takes too long."""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
from functools import cache
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from time import monotonic
from typing import Any

from ..ir.module import Module
from ..verify import Deadline, Failed, Program, Ran, Stuck

_KEPT = 64  # the last modules; a comparison runs less than half as many
_END_SECONDS = 0.2  # in which a process ends by itself when nobody asks any more
_GRACE_SECONDS = 1.0  # in which a comparison may notice by itself that its time is over
_POLL_SECONDS = 0.1
_MEMORY = 4_000_000_000  # bytes that the process may use
_BESIDE = 400_000_000  # of these, what a comparison needs beside its expressions: libraries, arrays
_START_SECONDS = 120.0  # of a new process, on a busy machine


class _TooLarge(Exception):
    """The process needs more memory than it may use."""


class ProcessRunner:
    """Runs modules on the CPU in one other process, which is started again after a crash or a limit.

    `memory` is how many bytes it may use; only Linux tells, elsewhere the limit is that of the expressions alone.
    """

    def __init__(self, memory: int = _MEMORY) -> None:
        self._memory = memory
        self._numbers: dict[str, int] = {}
        self._texts: dict[int, str] = {}
        self._next = 0
        self._sent: set[int] = set()
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None

    def prepare(self, module: Module) -> int:
        """A number for a module that will be run; equal modules have one, and are compiled once."""
        text = str(module)
        number = self._numbers.pop(text, None)
        if number is None:
            self._next += 1
            number = self._next
        self._numbers[text], self._texts[number] = number, text
        if len(self._numbers) > _KEPT:
            oldest = self._numbers.pop(next(iter(self._numbers)))
            del self._texts[oldest]
        return number

    def run(
        self, number: int, arguments: tuple[Any, ...], seconds: float, deadline: Deadline
    ) -> Ran | Failed:
        """Call the module with copies of `arguments`, for at most so many seconds of the processor."""
        try:
            connection = self._started()
            text = None if number in self._sent else self._texts[number]
            what, value = self._ask(connection, ("run", number, text, arguments), seconds, deadline)
            if what == "unknown":
                what, value = self._ask(
                    connection, ("run", number, self._texts[number], arguments), seconds, deadline
                )
        except TimeoutError:
            self.stop()
            return Failed(f"no result after {seconds:g} s", is_late=True)
        except _TooLarge as limit:
            return Failed(str(limit), is_late=True)
        except (EOFError, BrokenPipeError, ConnectionResetError):
            code = self.stop()
            return Failed(f"the program ended its process (exit code {code})")
        self._sent.add(number)
        return Failed(value) if what == "failed" else Ran(*value)

    def compare(self, a: Program, b: Program, *, reassociate: bool, deadline: Deadline) -> Any:
        """`concrete.compare` of the programs: Equal, Mismatch or Stuck."""
        seconds = deadline.left
        memory = max(0, self._memory - _BESIDE)
        options = {"reassociate": reassociate, "seconds": seconds, "memory": memory}
        try:
            last = Deadline(deadline.until + _GRACE_SECONDS)
            return self._ask(self._started(), ("compare", a, b, options), seconds + _GRACE_SECONDS, last)[1]
        except TimeoutError:
            self.stop()
            return Stuck(f"no answer after {seconds:.0f} s")
        except _TooLarge as limit:
            return Stuck(str(limit))
        except (EOFError, BrokenPipeError, ConnectionResetError):
            return Stuck(f"the comparison ended its process (exit code {self.stop()})")

    def stop(self) -> int | None:
        """End the process, if there is one; its exit code."""
        process, self._process = self._process, None
        if self._connection is not None:
            self._connection.close()
        self._connection = None
        self._sent.clear()
        if process is None:
            return None
        try:
            return process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()

    def _ask(
        self, connection: Connection, request: Any, seconds: float, deadline: Deadline
    ) -> tuple[str, Any]:
        """The answer to a request; TimeoutError if the process has worked so many seconds on it, or at the deadline,
        _TooLarge if it needs more memory than it may use (then it was ended)."""
        connection.send(request)
        start, begun = monotonic(), self._worked()
        while not connection.poll(min(seconds, _POLL_SECONDS)):
            if self._used() > self._memory:
                self.stop()
                raise _TooLarge(f"too large: it needs more than the limit of {self._memory / 1e9:g} GB of memory")
            waited = monotonic() - start
            worked = waited if begun is None else (self._worked() or 0.0) - begun
            if worked >= seconds or deadline.is_over:
                raise TimeoutError
        answer: tuple[str, Any] = connection.recv()
        return answer

    def _worked(self) -> float | None:
        """The processor time of the other process, if the system tells it: a busy machine is no reason to give up."""
        if self._process is None or sys.platform != "linux":
            return None
        try:
            fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return None
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _used(self) -> int:
        """The bytes that the other process has in memory; 0 if the system does not tell."""
        if self._process is None or sys.platform != "linux":
            return 0
        try:
            return int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except OSError:
            return 0

    def _started(self) -> Connection:
        if self._connection is None:
            ours, theirs = Pipe()
            code = f"from allo.equivalence.worker import serve; serve({theirs.fileno()})"
            root = str(Path(__file__).resolve().parents[2])
            paths = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
            self._process = subprocess.Popen(
                [sys.executable, "-c", code],
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env={**os.environ, "PYTHONPATH": paths},
            )
            theirs.close()
            self._connection = ours
            what, _ = self._ask(ours, ("run", -1, None, ()), _START_SECONDS, Deadline.after(_START_SECONDS))
            assert what == "unknown"
        return self._connection


@cache
def shared_runner() -> ProcessRunner:
    """The runner of this process; its own process ends with this one."""
    runner = ProcessRunner()
    atexit.register(runner.stop)
    return runner
