"""Counts of a design, kept by the hash of its text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from ....messages import working
from ...external.compiler import kept
from ..library import library_directory
from .counts import Utilization, utilization
from .yosys import reading, run_yosys, yosys_version

_KEPT = "rtl"  # the folder of the cache
_COUNTED = "cells.json"


def synthesised(files: Mapping[str, str], top: str) -> Utilization:
    """What the module `top` takes of an UltraScale+ device, its ports as pins; ToolError with what Yosys says."""
    recipe = (library_directory() / "synthesise" / "ultrascale.ys").read_text()
    parts = [yosys_version(), recipe, top, *(text for file in files.items() for text in file)]
    key = sha256("\0".join(f"{len(part)}:{part}" for part in parts).encode()).hexdigest()[:32]

    def make(place: Path) -> None:
        folder = place.parent
        for name, text in files.items():
            (folder / name).write_text(text)
        lines = [line.replace("TOP", top) for line in recipe.splitlines() if line and line[0] != "#"]
        commands = [reading(list(files), top), *lines, f"tee -q -o {_COUNTED} stat -json"]
        with working(f"synthesising '{top}'"):
            run_yosys(commands, folder, f"the design '{top}'")
        place.write_text(json.dumps(json.loads((folder / _COUNTED).read_text())["design"]["num_cells_by_type"]))

    return utilization(json.loads(kept(_KEPT, f"{key}.json", make).read_text()))
