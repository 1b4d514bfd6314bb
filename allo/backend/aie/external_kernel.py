"""Kernels of C++ for AI engines, by the name that published Allo gives them."""

from __future__ import annotations

from ...absent import Absent

__all__ = ["ExternalModule"]

ExternalModule = Absent("allo.backend.aie.external_kernel.ExternalModule", "allo.IPModule makes kernels of C++")
