"""Rewrites that a user asks for by name before C++ is emitted."""

from __future__ import annotations

from typing import Any

from ...errors import TargetError
from ...ir.module import Module
from ...target import Fpga, load_target
from ...timing.rewrites import RewriteOptions, prepared

OPTION = "rewrites"


def rewritten(module: Module, options: dict[str, Any]) -> Module:
    """The module after the rewrites that the options of a build name; the module itself if they name none.

    Raises TargetError for what is no list of names of rewrites.
    """
    names = options.get(OPTION, ())
    if not names:
        return module
    if options.get("check", False):
        raise TargetError(
            "checks are of the kernel as it is written, and rewrites compute what its branches do not",
            hint="leave out check=True or rewrites",
        )
    device = load_target("u280")  # whose prices decide which products by constants become sums
    return prepared(module, RewriteOptions(target=device if isinstance(device, Fpga) else None), names).module
