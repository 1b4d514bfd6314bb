"""Arrays of AMD NPUs: dataflow programs mapped on cores, as MLIR-AIE text and on a model of the array."""

from __future__ import annotations

import shutil
from typing import Any

from ...errors import TargetError, nearest
from ...ir.module import Module
from ..manifest import Manifest
from .device import array_of
from .module import AIEModule
from .text import RELEASES

__all__ = ["MANIFEST", "AIEModule", "is_available"]

_NEEDS_DEVICE = ("profile", "trace")
_OF_THOSE = ("warmup", "num_iters", "trace_size")  # say how often and how much; nothing without those


def is_available() -> bool:
    """Whether the compiler of MLIR-AIE and the run time of devices are on this machine: calls run on the model if not,
    and also if so, since nobody has tried them with it."""
    return shutil.which("aiecc.py") is not None and shutil.which("xrt-smi") is not None


def _build(module: Module, mode: str | None, options: dict[str, Any]) -> AIEModule:
    for name in _NEEDS_DEVICE:
        if options.get(name):
            raise TargetError(
                f"{name}= measures on a device, and calls run on the model of the array, which has no clock",
                hint=f"leave {name} out",
            )
    release = options.get("dialect", "current")
    if release not in RELEASES:
        known = ", ".join(RELEASES)
        raise TargetError(
            f"dialect must be a release of MLIR-AIE that texts are written for, {known}; got {release!r}",
            hint=nearest(str(release), RELEASES),
        )
    return AIEModule(
        module, array_of(options.get("device_type", "npu1")), options.get("mapping_primitives", ()),
        RELEASES[release], options.get("project"),
    )  # fmt: skip


MANIFEST = Manifest(
    names=("aie", "npu-model"),
    modes=(),
    options=("project", "mapping_primitives", "device_type", "dialect", *_NEEDS_DEVICE, *_OF_THOSE),
    missing_tools=lambda: (),
    build=_build,
)
