"""Handles of arrays by the names that published Allo gives them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..absent import Absent
from ..customize.step.handles import Buffer
from ..frontend.read.source import free_names

__all__ = ["MockArg", "MockBuffer", "MockConstant", "get_global_vars"]

MockBuffer = Buffer  # MockBuffer("gemm", "C") is what s.buffers["gemm:C"] is
_VALUES = "primitives take names and handles: s.C, \"gemm:C\""
MockArg = Absent("allo.ir.utils.MockArg", _VALUES)
MockConstant = Absent("allo.ir.utils.MockConstant", _VALUES)


def get_global_vars(kernel: Callable[..., Any]) -> dict[str, Any]:
    """What the free names of a kernel mean."""
    return dict(free_names(kernel))  # type: ignore[arg-type]
