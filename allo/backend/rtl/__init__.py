"""SystemVerilog of our own: from the schedule of a kernel to hardware that is simulated cycle by cycle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...errors import TargetError
from ...ir.hang import Hang
from ...ir.module import Module
from ...poly.hangs import hang_of
from ...target import Fpga, load_target
from ..external.compiler import compiler_name
from ..manifest import Manifest, ToolPart, flushes
from .interface.settings import settings_of
from .module import RTLModule, SimulationOptions, written_project
from .simulate.tool import find_verilator
from .synthesise.lint import slang_version
from .synthesise.nextpnr import nextpnr_version
from .synthesise.yosys import yosys_version

__all__ = ["MANIFEST", "RTLModule"]
_PROFILE = "rtl"


def _build(module: Module, mode: str | None, options: dict[str, Any]) -> RTLModule:
    device = load_target(options.get("device", "u280"))
    if not isinstance(device, Fpga):
        raise TargetError(f"hardware is made for FPGAs, and '{device.name}' is none", hint='take device="u280"')
    limit = options.get("limit")
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
        raise TargetError(f"limit must be a number of cycles above 0, got {limit!r}")
    seed = options.get("random_state")
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int)):
        raise TargetError(f"random_state must be a whole number, got {seed!r}")
    folder = options.get("project")
    if not isinstance(folder, str | Path | None) or folder == "":
        raise TargetError(f"project must be the path of a folder, got {folder!r}")
    target = device.under(_PROFILE)
    target = target.flushing() if flushes(options) else target
    given = options.get("interface")
    interface = None if given is None else settings_of(given, target)
    hang = hang_of(module)
    if isinstance(hang, Hang):
        raise hang.error()
    chosen = SimulationOptions(limit, seed, options.get("waveform"), interface, options.get("extents"))
    made = RTLModule(module, target, chosen)
    if folder is not None:
        written_project(made, folder)
    return made


def _simulator() -> str:
    return f"Verilator {find_verilator().version}, {compiler_name()}"


def _yosys() -> str:
    return f"Yosys {yosys_version()}"


def _slang() -> str:
    return f"slang {slang_version()}"


def _nextpnr() -> str:
    return f"{_yosys()}, nextpnr {nextpnr_version()}"


MANIFEST = Manifest(
    ("rtl",), (), ("device", "limit", "random_state", "waveform", "project", "interface", "extents",
     "subnormals"), _build,
    (
        ToolPart("calls", _simulator), ToolPart("synthesise()", _yosys), ToolPart("lint()", _slang),
        ToolPart('synthesise(target="ecp5")', _nextpnr),
    ),
)  # fmt: skip
