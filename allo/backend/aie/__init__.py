"""Arrays of AMD NPUs: dataflow programs mapped on cores, as MLIR-AIE text and on a model of the array."""

from __future__ import annotations

import shutil
from typing import Any

from ...errors import TargetError, ToolError, nearest
from ...ir.module import Module
from ..manifest import Manifest, ToolPart
from .device import array_of
from .module import AIEModule
from .text import RELEASES
from .timed import kernels_of

__all__ = ["MANIFEST", "AIEModule", "is_available"]

_TRACED = "top.prj"  # the project that a trace is in, as in published Allo, if no other is named
_LAYOUTS = ("dma", "cores")  # what moves blocks of matrices into the order of kernels
_OF_DEVICES = ("warmup", "num_iters", "trace_size")  # say how often, and how much, a device measures


def is_available() -> bool:
    """Whether the compiler of MLIR-AIE and the run time of devices are on this machine: calls run on the model if not,
    and also if so, since nobody has tried them with it."""
    return shutil.which("aiecc.py") is not None and shutil.which("xrt-smi") is not None


def _build(module: Module, mode: str | None, options: dict[str, Any]) -> AIEModule:
    project = options.get("project", _TRACED if options.get("trace") else None)
    release = options.get("dialect", "current")
    if release not in RELEASES:
        known = ", ".join(RELEASES)
        raise TargetError(
            f"dialect must be a release of MLIR-AIE that texts are written for, {known}; got {release!r}",
            hint=nearest(str(release), RELEASES),
        )
    layouts = options.get("layouts", "dma")
    if layouts not in _LAYOUTS:
        raise TargetError(
            f"layouts must be 'dma' or 'cores', which puts blocks of matrices in the order of kernels; got {layouts!r}",
            hint=nearest(str(layouts), _LAYOUTS),
        )
    made = AIEModule(
        module, array_of(options.get("device_type", "npu1")), options.get("mapping_primitives", ()),
        RELEASES[release], project, bool(options.get("profile")),
        options.get("cycles"), kernels_of(options.get("kernels", "scalar")), layouts == "dma",
    )  # fmt: skip
    if options.get("trace") and made.project is not None:
        made.timed().save(str(made.project / "trace.json"))
    return made


def _tools() -> str:
    if not is_available():
        raise ToolError("the commands aiecc.py and xrt-smi are not here, and calls run on the model of the array")
    return "aiecc.py and xrt-smi; calls run on the model of the array nevertheless"


MANIFEST = Manifest(
    names=("aie", "npu-model", "aie-mlir"),  # the last is a former name of the first
    modes=(),
    options=("project", "mapping_primitives", "device_type", "dialect", "profile", "trace", "cycles", "kernels",
             "layouts", *_OF_DEVICES),
    build=_build,
    parts=(ToolPart("devices", _tools),),
)
