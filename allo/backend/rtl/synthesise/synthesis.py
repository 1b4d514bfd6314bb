"""Counts of a design, kept by the hash of its text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from ....messages import working
from ...external.compiler import kept
from ..library import library_directory
from .clock import clock_of
from .counts import Utilization, utilization
from .yosys import reading, run_yosys, yosys_version

_KEPT = "rtl"  # the folder of the cache
_COUNTED, _NETLIST = "cells.json", "netlist.json"
_MODEL = "2"  # of the clock: another number for each change of what clock.py makes of a netlist


def synthesised(files: Mapping[str, str], top: str) -> Utilization:
    """What the module `top` takes of an UltraScale+ device, its ports as pins; ToolError with what Yosys says."""
    return utilization(**_synthesis(files, top, is_whole=True))


def synthesised_around(files: Mapping[str, str], top: str, boxes: Mapping[str, Utilization]) -> Utilization:
    """The same, where modules without a body, the `boxes`, take what is said of them each time that they are there."""
    found = _synthesis(files, top, is_whole=False)
    rest = utilization({cell: count for cell, count in found["cells"].items() if cell not in boxes})
    for name, taken in boxes.items():
        rest = rest.plus(taken, found["cells"].get(name, 0))
    return rest


def _synthesis(files: Mapping[str, str], top: str, *, is_whole: bool) -> dict[str, Any]:
    """The number of `cells` by type and, of a design that `is_whole`, its `clock`."""
    folder = library_directory() / "synthesise"
    recipe, table = ((folder / name).read_text() for name in ("ultrascale.ys", "ultrascale.toml"))
    parts = [yosys_version(), recipe, table, _MODEL, top, *(text for file in files.items() for text in file)]
    parts += [] if is_whole else ["around boxes"]
    key = sha256("\0".join(f"{len(part)}:{part}" for part in parts).encode()).hexdigest()[:32]

    def make(place: Path) -> None:
        folder = place.parent
        for name, text in files.items():
            (folder / name).write_text(text)
        lines = [line.replace("TOP", top) for line in recipe.splitlines() if line and line[0] != "#"]
        commands = [reading(list(files), top), *lines, f"tee -q -o {_COUNTED} stat -json"]
        commands += [f"select {top}", f"write_json -selected {_NETLIST}"] if is_whole else []
        with working(f"synthesising '{top}'"):
            run_yosys(commands, folder, f"the design '{top}'")
        cells = json.loads((folder / _COUNTED).read_text())["design"]["num_cells_by_type"]
        found = {"cells": cells}
        if is_whole:
            found["clock"] = clock_of(json.loads((folder / _NETLIST).read_text()), top)
        place.write_text(json.dumps(found))

    made: dict[str, Any] = json.loads(kept(_KEPT, f"{key}.json", make).read_text())
    return made
