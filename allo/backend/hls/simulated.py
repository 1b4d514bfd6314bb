"""Decides which vendors' code is written and simulated here without a project."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...ir.module import Module
from ..manifest import Manifest
from .catapult import CATAPULT
from .intel import INTEL
from .module import HLSModule
from .tapa import TAPA
from .vendor import Vendor


def _build(vendor: Vendor, module: Module, mode: str | None, options: dict[str, Any]) -> HLSModule:
    return HLSModule(module, mode=mode, vendor=vendor)


def _manifest(target: str, vendor: Vendor) -> Manifest:
    return Manifest(
        names=(target,),
        emits=f"HLS C++ for {vendor.name}, as text or simulated",
        modes=("csim",),
        options=(),
        missing_tools=lambda: (),
        build=partial(_build, vendor),
    )


SIMULATED = tuple(
    _manifest(target, vendor) for target, vendor in (("ihls", INTEL), ("catapult", CATAPULT), ("tapa", TAPA))
)
