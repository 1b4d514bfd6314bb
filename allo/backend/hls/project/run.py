"""Runner of a project's step: by make, with a line of progress, a log, and an end in any case."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ....errors import ToolError
from .reports import Reported

LOGS = "logs"
_LAST_LINES = 8
_TICK = 0.2  # seconds between two looks
_GRACE = 5.0  # seconds that a tool has to end when it is asked to


@dataclass(frozen=True, slots=True)
class ToolStep:
    """A step: what make calls it, what it is in words, and the tool it needs, found by one of its `commands`.

    `environment` is a variable that the set-up script of the tool sets, if one is needed; `report` is what it leaves.
    """

    goal: str
    what: str
    tool: str
    commands: tuple[str, ...]
    environment: str = ""
    report: Reported | None = None

    def command(self, folder: Path, variables: Sequence[str]) -> list[str]:
        return ["make", "-C", str(folder), self.goal, *variables]

    def require(self) -> str:
        """The tool and where its command is; ToolError if it cannot be run here."""
        path = next(filter(None, map(shutil.which, self.commands)), None)
        if path is None:
            raise ToolError(f"{self.tool} is not installed here (no command '{self.commands[0]}')")
        if self.environment and not os.environ.get(self.environment):
            raise ToolError(
                f"{self.tool} is not set up here (no variable {self.environment})",
                hint="source the set-up script of the tool",
            )
        return f"{self.tool} ({path})"


def require_tools(stages: Sequence[ToolStep], folder: Path, variables: Sequence[str]) -> None:
    """Raises ToolError, which names the tool and the command of the last stage, if one of them cannot be run here."""
    command = shlex.join(stages[-1].command(folder, variables))
    written = f"the project is written to {folder}, but"
    for stage in stages:
        try:
            stage.require()
        except ToolError as error:
            (told,), run = error.diagnostics, f"run `{command}`"
            hint = f"{told.hint}, then {run}" if told.hint else f"{run} on a machine that has it"
            raise ToolError(f"{written} {told.message}", hint=hint) from None
    if shutil.which("make") is None:
        raise ToolError(f"{written} there is no command 'make'", hint=f"install make, then run `{command}`")


def run_stage(stage: ToolStep, folder: Path, variables: Sequence[str], timeout: float | None) -> Path:
    """Run a step and return its log; ToolError with the command and the last lines if it fails or takes too long."""
    command = stage.command(folder, variables)
    (folder / LOGS).mkdir(exist_ok=True)
    log = folder / LOGS / f"{stage.goal}.log"
    progress = _Progress(f"{stage.goal}: {stage.what} by {stage.tool}")
    with open(log, "wb") as output:
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
            )  # fmt: skip
        except OSError as error:
            raise ToolError(f"the command does not start: {shlex.join(command)}: {error.strerror}") from None
        ended = False
        try:
            ended = _wait(process, progress, timeout)
        finally:
            if process.poll() is None:
                _stop(process)
            progress.end("done" if process.returncode == 0 else "failed")
    if not ended:
        raise _failure(f"{stage.what} did not end within {timeout:g} s (configs['timeout'])", command, log)
    if process.returncode:
        raise _failure(f"{stage.what} by {stage.tool} failed with status {process.returncode}", command, log)
    return log


def _wait(process: subprocess.Popen[bytes], progress: _Progress, timeout: float | None) -> bool:
    """Whether the process ended by itself."""
    while True:
        try:
            process.wait(_TICK if timeout is None else min(_TICK, timeout))
            return True
        except subprocess.TimeoutExpired:
            if timeout is not None and progress.elapsed >= timeout:
                return False
            progress.show()


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the process and all that it started. It is reaped last: until then its group cannot be another's."""
    _signal(process, signal.SIGTERM)
    end = time.monotonic() + _GRACE
    options = os.WEXITED | os.WNOHANG | os.WNOWAIT
    while os.waitid(os.P_PID, process.pid, options) is None and time.monotonic() < end:
        time.sleep(_TICK)
    _signal(process, signal.SIGKILL)
    process.wait()


def _signal(process: subprocess.Popen[bytes], kind: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, kind)


def _failure(what: str, command: Sequence[str], log: Path) -> ToolError:
    lines = log.read_text(errors="replace").rstrip().splitlines()[-_LAST_LINES:]
    shown = "\n".join(f"    {line}" for line in lines)
    last = f"\n  its last lines:\n{shown}" if lines else ""
    return ToolError(f"{what}\n  command: {shlex.join(command)}\n  log: {log}{last}")


class _Progress:
    """One line on the terminal that says what runs and for how long; elsewhere it is written once, in the end."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.start = time.monotonic()
        self.live = sys.stderr.isatty()
        self.shown = ""

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self.start

    def show(self) -> None:
        seconds = int(self.elapsed)
        line = f"{self.text}, {seconds // 60}:{seconds % 60:02}"
        if self.live and line != self.shown:
            sys.stderr.write(f"\r{line}")
            sys.stderr.flush()
            self.shown = line

    def end(self, outcome: str) -> None:
        back = "\r" if self.shown else ""
        sys.stderr.write(f"{back}{self.text}: {outcome} in {self.elapsed:.1f} s\n")
        sys.stderr.flush()
