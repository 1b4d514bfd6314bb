"""Yosys in a process of its own, as an error of its ends the process that it is in."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Sequence
from pathlib import Path

from ....errors import ToolError
from .process import run_python

_RUN = """
import sys
from pyosys import libyosys
design = libyosys.Design()
for line in sys.stdin.read().splitlines():
    libyosys.run_pass(line, design)
"""


def is_available() -> bool:
    """Whether Yosys is installed."""
    return importlib.util.find_spec("pyosys") is not None


def yosys_version() -> str:
    """The version of Yosys; ToolError if there is none."""
    if not is_available():
        raise ToolError("synthesis needs Yosys, and it is not installed", hint="pip install allo[synth]")
    return importlib.metadata.version("pyosys")


def run_yosys(commands: Sequence[str], folder: Path, what: str) -> str:
    """What Yosys says of some commands, run in `folder`; ToolError with the last of it if it fails."""
    yosys_version()
    return run_python(_RUN, (), folder, f"Yosys does not synthesise {what}", said="\n".join(commands))


def reading(files: Sequence[str], top: str, defines: Sequence[str] = (), **parameters: int | str) -> str:
    """The command that reads SystemVerilog; one thread, as more cannot be made everywhere."""
    words = [*(f"-D {name}" for name in defines), *(f"-G {name}={value}" for name, value in parameters.items())]
    return " ".join(["read_slang -j 1", f"--top {top}", *words, *files])
