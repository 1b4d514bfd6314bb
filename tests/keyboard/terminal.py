"""Sessions on a pseudo-terminal: Python at its prompt, and a shell for the `allo` command that starts in no time."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pexpect

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 60
OF_THE_TERMINAL = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "CI")  # the sessions have a terminal of their own
ANSI = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


class Session:
    """A program at a prompt."""

    def __init__(self, arguments: list[str], folder: Path, prompt: str, **environment: str) -> None:
        inherited = {name: value for name, value in os.environ.items() if name not in OF_THE_TERMINAL}
        self.prompt = prompt
        self.child = pexpect.spawn(
            sys.executable, arguments, cwd=str(folder), timeout=SECONDS, encoding="utf-8", dimensions=(60, 200),
            env={**inherited, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", **environment},
        )  # fmt: skip
        self.child.expect_exact(prompt)

    def type(self, line: str) -> str:
        """What the program prints after a line, without its echo."""
        self.child.sendline(line)
        return self.answer().partition("\n")[2]

    def answer(self) -> str:
        """What comes until the next prompt."""
        self.child.expect_exact(self.prompt)
        return str(self.child.before).replace("\r\n", "\n")

    def interrupt(self, after: str) -> str:
        """Ctrl-C once `after` is there; what comes then."""
        self.child.expect_exact(after)
        self.child.sendintr()
        return self.answer()

    def complete(self, start: str, wanted: str) -> str:
        """The line after Tab: it is not run."""
        self.child.send(f"{start}\t")
        self.child.expect_exact(wanted)
        line = f"{self.child.before}{self.child.after}"
        self.child.sendintr()
        self.answer()
        return line


def python(folder: Path) -> Session:
    """Python at the prompt of its own, as on any terminal."""
    session = Session(
        ["-q", "-i"], folder, ">>> ", TERM="dumb", INPUTRC="/dev/null", PAGER="cat", PYTHON_BASIC_REPL="1",
        PYTHON_HISTORY=str(folder / "history"), PYTHON_COLORS="0",
    )  # fmt: skip
    session.child.sendline("import sys; sys.ps1 = 'py' + '> '")
    session.prompt = "py> "
    session.answer()
    return session


def shell(folder: Path) -> Session:
    """A shell that knows `allo` only; each command is a process of its own, with the exit code after it."""
    return Session([str(Path(__file__).with_name("shell.py"))], folder, "$ ", TERM="xterm-256color")
