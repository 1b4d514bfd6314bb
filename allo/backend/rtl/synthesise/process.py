"""Python in a process of its own, for tools that may end the process that they are in."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from ....errors import ToolError

_LAST = 30  # lines of what a tool says


def run_python(
    program: str, arguments: Sequence[str], folder: Path, refusal: str, *,
    said: str = "", environment: Mapping[str, str] | None = None,
) -> str:  # fmt: skip
    """What a program prints, run in `folder` with `said` as its input; ToolError with `refusal` and the last lines."""
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], input=said, cwd=folder, capture_output=True, text=True,
        errors="replace", check=False, env={**os.environ, **(environment or {})},
    )  # fmt: skip
    if done.returncode:
        last = (done.stdout + done.stderr).rstrip().splitlines()[-_LAST:]
        raise ToolError("\n".join([f"{refusal}:", *last]))
    return done.stdout
