"""Files of library modules, with those that they instantiate."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ...headers import templates_directory
from .catalogue import PARTS, library_module

_FAST = "simulation"  # the folder of models that a machine computes, and of their C++


def library_directory() -> Path:
    """The folder of the library's SystemVerilog."""
    return templates_directory() / "rtl"


def library_files(names: Iterable[str], *, fast: bool = False) -> dict[str, str]:
    """The text of the files of some modules and of all that they need, by file name, what is needed first.

    `fast` takes the models for simulation where there are some: the same bits in the same cycles.
    """
    found: dict[str, str] = {}

    def add(name: str) -> None:
        if f"{name}.sv" in found:
            return
        has_model = fast and name not in PARTS and library_module(name).has_fast_model
        needs = PARTS[name] if name in PARTS else library_module(name).needs
        for needed in ("allo_pipe",) if has_model else needs:
            add(needed)
        folder = library_directory() / _FAST if has_model else library_directory()
        found[f"{name}.sv"] = (folder / f"{name}.sv").read_text()

    for name in names:
        add(name)
    return found


def grid_files(names: Iterable[str]) -> dict[str, str]:
    """The text of modules whose ports are arrays, with those that they need, by file name, what is needed first."""
    found: dict[str, str] = {}

    def add(name: str) -> None:
        for needed in library_module(name).needs:
            add(needed)
        found.setdefault(f"{name}_grid.sv", (library_directory() / _FAST / "grids" / f"{name}.sv").read_text())

    for name in names:
        add(name)
    return found


def simulation_sources(files: Iterable[str]) -> dict[str, str]:
    """The C++ that the fast models among `files` (texts) call, by file name."""
    called = any('import "DPI-C"' in text for text in files)
    return {"allo_float.cpp": (library_directory() / _FAST / "allo_float.cpp").read_text()} if called else {}
