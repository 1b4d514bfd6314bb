"""A shell for `allo`: it has loaded the command, and forks for each line, which costs no second of imports."""

from __future__ import annotations

import os
import shlex
import signal
import sys

from allo.cli import main


def run(line: str) -> int:
    """The exit code of `NAME=VALUE ... allo ...` in a process of its own."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    words = shlex.split(line)
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        os.environ[name] = value
    assert words.pop(0) == "allo"
    if ">" in words:
        target = words[words.index(">") + 1]
        del words[words.index(">") :]
        os.dup2(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
    sys.argv = ["allo", *words]
    try:
        code = main()
    except SystemExit as end:  # of shell completion
        code = end.code if isinstance(end.code, int) else 1
    sys.stdout.flush()
    os._exit(code)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        print("$ ", end="", flush=True)
        given = sys.stdin.readline()
        if not given:
            break
        if given.strip():
            print(f"[exit code {run(given)}]", flush=True)
