"""Decides which files a project for a vendor's tool has, and which folders it may write to."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import TargetError, ToolError, nearest
from .emit import Emitted, template

MARKER = ".allo-project"
_DEFAULTS: dict[str, Any] = {"part": "xcu280-fsvh2892-2L-e", "frequency": 300.0}


def header_text(emitted: Emitted) -> str:
    """`kernel.h`: the types and the prototype of the entry."""
    return f"#pragma once\n\n{emitted.preamble.rstrip()}\n\n{emitted.prototype};\n"


def kernel_text(emitted: Emitted) -> str:
    """`kernel.cpp`: the code, with the types in `kernel.h`."""
    rest = emitted.code.removeprefix(emitted.preamble.rstrip()).lstrip("\n")
    return f'#include "kernel.h"\n\n{rest}'


@dataclass(frozen=True, slots=True)
class Project:
    """A folder for `mode`; made if it does not exist, refused if it holds what is not ours."""

    folder: Path
    mode: str | None
    part: str
    frequency: float

    @classmethod
    def at(cls, folder: str | Path, mode: str | None, configs: dict[str, Any]) -> Project:
        """Raises TargetError for a folder that is not ours, and for settings that do not exist."""
        for name in configs:
            if name not in _DEFAULTS:
                known = ", ".join(_DEFAULTS)
                raise TargetError(
                    f"there is no setting '{name}' in configs",
                    hint=nearest(name, _DEFAULTS) or f"the settings: {known}",
                )
        chosen = {**_DEFAULTS, **configs}
        if not isinstance(chosen["part"], str) or not chosen["part"]:
            raise TargetError(f"configs['part'] must be the name of a device, got {chosen['part']!r}")
        frequency = chosen["frequency"]
        if isinstance(frequency, bool) or not isinstance(frequency, int | float) or not frequency > 0:
            raise TargetError(f"configs['frequency'] must be a positive number of MHz, got {frequency!r}")
        path = Path(folder).resolve()
        if path.exists() and not path.is_dir():
            raise TargetError(
                f"the project folder {folder} is a file", hint="name a folder that does not exist yet"
            )
        if path.exists() and any(path.iterdir()) and not (path / MARKER).exists():
            raise TargetError(
                f"the folder {folder} exists and is no project of allo; nothing is written to it",
                hint="name a folder that does not exist yet, or an empty one",
            )
        return cls(path, mode, chosen["part"], float(frequency))

    def write(self, emitted: Emitted) -> None:
        """The files; those of an earlier build are replaced."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / MARKER).write_text("written by allo; a build replaces its files\n")
        (self.folder / "kernel.cpp").write_text(kernel_text(emitted))
        (self.folder / "kernel.h").write_text(header_text(emitted))
        if self.mode != "csim":
            for name in ("csyn.tcl", "Makefile"):
                (self.folder / name).write_text(self._filled(template(f"vitis/{name}"), emitted.top))

    def _filled(self, text: str, top: str) -> str:
        period = f"{1000 / self.frequency:.6g}"
        for name, value in (("TOP", top), ("PART", self.part), ("PERIOD", period)):
            text = text.replace(f"@{name}@", value)
        return text


def require_tool(project: Project) -> None:
    """Raises ToolError that says what to run: synthesis is not started from here."""
    command = f"make -C {project.folder} csyn"
    if shutil.which("vitis_hls") is None and shutil.which("vitis-run") is None:
        raise ToolError(
            f"the project is written to {project.folder}, but Vitis HLS is not installed here (no command 'vitis_hls')",
            hint=f"run `{command}` on a machine that has it",
        )
    raise ToolError(
        f"the project is written to {project.folder}; Vitis HLS is installed, but its runs are not started by allo yet",
        hint=f"run `{command}`",
    )
