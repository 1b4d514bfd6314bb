"""Library of SystemVerilog modules: what each is called, its parameters, ports and latency, and its files."""

from .catalogue import MODULES, UNITS, library_module
from .described import FloatFormat, LibraryModule, LibraryPort
from .files import grid_files, library_directory, library_files, simulation_sources

__all__ = [
    "MODULES",
    "UNITS",
    "FloatFormat",
    "LibraryModule",
    "LibraryPort",
    "grid_files",
    "library_directory",
    "library_files",
    "library_module",
    "simulation_sources",
]
