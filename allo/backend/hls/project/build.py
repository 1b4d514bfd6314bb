"""Build for a target that is a flow of a vendor's tool."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ....errors import TargetError
from ....ir.module import Module
from ...external.compiler import compiler_name
from ...manifest import Manifest, ToolPart, seconds
from ...open_arrays import check_open_arrays, has_open_arrays
from ..csim.module import HLSModule
from ..interface.settings import settings_of
from ..requested import OPTION, rewritten
from .files import Project
from .flows import FLOWS, Mode, ToolFlow
from .module import ProjectModule
from .vendors import OTHER_FLOWS


def _build(flow: ToolFlow, module: Module, mode: str | None, options: dict[str, Any]) -> HLSModule:
    folder, configs = options.get("project"), options.get("configs", {})
    if not isinstance(configs, dict):
        raise TargetError(f"configs must be a dict, got {configs!r}")
    if not isinstance(folder, str | Path | None) or folder == "":
        raise TargetError(f"project must be the path of a folder, got {folder!r}")
    of_simulation: dict[str, Any] = {name: bool(options.get(name, False)) for name in ("check", "unbounded")}
    of_simulation["timeout"] = seconds(options)
    for name, wanted in of_simulation.items():
        if wanted and mode != "csim":
            raise TargetError(
                f"{name}={wanted} is for simulations, and {f"mode '{mode}'" if mode else 'text alone'} is none",
                hint='build with mode="csim"',
            )
    settings = settings_of(configs, flow.default_device, flow.families, flow.settings)
    if settings.operators and "operators.tcl" not in flow.files:
        raise TargetError(
            f"{flow.tool} does not choose implementations of operators", hint="leave out configs['operators']"
        )
    if folder is None and mode not in (None, "csim"):
        raise TargetError(
            f'mode "{mode}" writes a project and needs its folder', hint='pass project="folder"'
        )
    settings = replace(settings, copies=options.get("wrap_io", True))
    if folder is not None:
        check_open_arrays(module, False)
    emitted = rewritten(module, options)
    if folder is None and (has_open_arrays(module) or not flow.has_interface):
        made = HLSModule(emitted, mode=mode, vendor=flow.vendor, **of_simulation)
    else:
        project = None if folder is None else Project.at(folder, flow, mode, settings)
        made = ProjectModule(emitted, flow, mode, settings, project, **of_simulation)
    return made.made_by(partial(_build_for, flow.target, module, mode, options))


def _build_for(target: str, module: Module, mode: str | None, options: dict[str, Any]) -> HLSModule:
    """A flow has functions of its own, which no pickle holds; its name has none."""
    flow = next(flow for flow in (*FLOWS, *OTHER_FLOWS) if flow.target == target)
    return _build(flow, module, mode, options)


def _tools(name: str, mode: Mode) -> str:
    """The tools of a mode; that of the simulation here is a compiler."""
    if name == "csim":
        return compiler_name()
    return ", ".join(dict.fromkeys(step.require() for step in (*mode.build, *mode.call)))


def _manifest(flow: ToolFlow) -> Manifest:
    return Manifest(
        names=(flow.target,),
        modes=tuple(flow.modes),
        options=("project", "configs", "check", "unbounded", "timeout", "wrap_io", OPTION),
        build=partial(_build, flow),
        parts=tuple(ToolPart(name, partial(_tools, name, flow.modes[name])) for name in flow.modes),
        own_banks=flow.vendor.canonical,
    )


PROJECTS = tuple(_manifest(flow) for flow in (*FLOWS, *OTHER_FLOWS))
