"""Progress of the C++ build on the terminal, also where pip keeps the output to itself."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

_NINJA = re.compile(r"\[(\d+)/(\d+)\]")
_STEP = 10  # per cent between two lines


def run_with_progress(command: Sequence[str], environment: dict[str, str]) -> int:
    """Run a build with ninja; its output goes to stdout, every tenth of it to the terminal. Returns its status."""
    with _terminal() as terminal:
        if terminal is None:
            return subprocess.run(command, env=environment).returncode
        process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        )
        assert process.stdout is not None
        told = -1
        for line in process.stdout:
            print(line, end="", flush=True)
            told = tell(line, told, terminal)
        return process.wait()


def tell(line: str, told: int, terminal: TextIO) -> int:
    """Write how much is done, if `line` of ninja says so and it is a step more than `told`; what is told now."""
    found = _NINJA.match(line)
    if found is None:
        return told
    done, whole = int(found[1]), int(found[2])
    share = 100 * done // whole // _STEP
    if share > max(told, 0):
        terminal.write(f"\r  allo: {share * _STEP} % of the C++ part ({done} of {whole} targets)\n")
        terminal.flush()
        return share
    return told


@contextmanager
def _terminal() -> Iterator[TextIO | None]:
    """The terminal, unless ninja writes to it itself, there is none, or ALLO_BUILD_PROGRESS=0."""
    if os.environ.get("ALLO_BUILD_PROGRESS") == "0" or sys.stdout.isatty():
        yield None
        return
    try:
        stream = open("/dev/tty", "w")  # noqa: SIM115 - closed below
    except OSError:
        yield None
        return
    with stream:
        yield stream
