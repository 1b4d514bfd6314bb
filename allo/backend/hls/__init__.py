"""The HLS backend: C++ for AMD Vitis HLS, simulated on this machine against our own headers."""

from __future__ import annotations

import shutil
from typing import Any

from ...errors import TargetError
from ...ir.module import Module
from ..manifest import Manifest
from .module import HLSModule
from .project import Project, require_tool

__all__ = ["CODE", "MANIFEST", "HLSModule", "is_available"]

_COMMANDS = {
    "vitis_hls": ("vitis_hls", "vitis-run"),
    "vivado_hls": ("vivado_hls",),
    "ihls": ("i++",),
    "catapult": ("catapult",),
    "tapa": ("tapa",),
}
_LATER = ("cosim", "sw_emu", "hw_emu", "hw", "impl")


def is_available(name: str = "vitis_hls") -> bool:
    """Whether the tool `name` ("vitis_hls", "vivado_hls", ...) can be run here; TargetError for an unknown name."""
    if name not in _COMMANDS:
        raise TargetError(f"there is no HLS tool '{name}'", hint=f"the tools: {', '.join(_COMMANDS)}")
    return any(shutil.which(command) is not None for command in _COMMANDS[name])


def _code(module: Module, mode: str | None, options: dict[str, Any]) -> HLSModule:
    return HLSModule(module)


def _build(module: Module, mode: str | None, options: dict[str, Any]) -> HLSModule:
    if mode in _LATER:
        raise TargetError(
            f"mode '{mode}' is not supported yet",
            hint='use mode="csim" to simulate, "csyn" to write a project',
        )
    folder, configs = options.get("project"), options.get("configs", {})
    if folder is None:
        if mode == "csyn":
            raise TargetError(
                'mode "csyn" writes a project and needs its folder', hint='pass project="folder"'
            )
        if configs:
            raise TargetError("configs are those of a project", hint='pass project="folder"')
        return HLSModule(module, mode=mode)
    project = Project.at(folder, mode, configs)
    built = HLSModule(module, mode=mode, project=project)
    if mode == "csyn":
        require_tool(project)
    return built


CODE = Manifest(
    names=("vhls",),
    emits="HLS C++, as text",
    modes=(),
    options=(),
    missing_tools=lambda: (),
    build=_code,
)
MANIFEST = Manifest(
    names=("vitis_hls",),
    emits="HLS C++ for AMD Vitis HLS, in a project or simulated",
    modes=("csim", "csyn", *_LATER),
    options=("project", "configs"),
    missing_tools=lambda: (),
    build=_build,
)
