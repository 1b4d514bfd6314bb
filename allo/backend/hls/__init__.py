"""The HLS backend: C++ for AMD Vitis HLS, simulated on this machine against our own headers."""

from __future__ import annotations

import shutil
from dataclasses import replace
from functools import partial
from typing import Any

from ...errors import TargetError
from ...ir.module import Module
from ..manifest import Manifest
from .csim.module import HLSModule
from .project.build import PROJECTS
from .requested import OPTION, rewritten
from .text.vendor import VITIS
from .vendors.xls import XLS

__all__ = ["CODE", "PROJECTS", "HLSModule", "is_available"]

_COMMANDS = {
    "vitis_hls": ("vitis_hls", "vitis-run"),
    "vivado_hls": ("vivado_hls",),
    "ihls": ("i++",),
    "catapult": ("catapult",),
    "tapa": ("tapa",),
}


# The entry of code as text is that of the kernel; a project has one of its own, whose ports have depths.
_ENTRY = replace(VITIS, array_port="#pragma HLS interface ap_memory port={name} depth={depth}")


def is_available(name: str = "vitis_hls") -> bool:
    """Whether the tool `name` ("vitis_hls", "vivado_hls", ...) can be run here; TargetError for an unknown name."""
    if name not in _COMMANDS:
        raise TargetError(f"there is no HLS tool '{name}'", hint=f"the tools: {', '.join(_COMMANDS)}")
    return any(shutil.which(command) is not None for command in _COMMANDS[name])


def _code(target: str, module: Module, mode: str | None, options: dict[str, Any]) -> HLSModule:
    made = HLSModule(rewritten(module, options), vendor=_VENDORS[target])
    return made.made_by(partial(_code, target, module, mode, options))


_VENDORS = {"vhls": _ENTRY, "xls": XLS}
_VIVADO = next(manifest for manifest in PROJECTS if "vivado_hls" in manifest.names)


def _vivado(module: Module, mode: str | None, options: dict[str, Any]) -> HLSModule:
    """`"vhls"`: the text of the kernel, or what `"vivado_hls"` makes if a mode or a project is given."""
    is_text = mode is None and options.keys() <= {OPTION}
    made: HLSModule = (_code("vhls", module, mode, options) if is_text else _VIVADO.build(module, mode, options))
    return made


CODE = (
    Manifest(
        ("vhls",),
        _VIVADO.modes,
        _VIVADO.options,
        build=_vivado,
        own_banks=_ENTRY.canonical,
    ),
    Manifest(
        ("xls",),
        modes=(),
        options=(OPTION,),
        build=partial(_code, "xls"),
        own_banks=XLS.canonical,
    ),
)
