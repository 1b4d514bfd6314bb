"""Registry of the backends, by their manifests."""

from __future__ import annotations

from collections.abc import Iterator

from .cpu import MANIFEST as CPU
from .manifest import Manifest

_ARRAYS = ("aie", "npu-model", "aie-mlir")  # names that are asked for without loading the backends for FPGAs


def backends() -> Iterator[Manifest]:
    """All backends, that of the CPU first; the others are loaded when someone asks for more than it."""
    yield CPU
    from .hls import CODE, PROJECTS

    yield from CODE
    yield from PROJECTS
    from .rtl import MANIFEST as RTL

    yield RTL
    from .aie import MANIFEST as AIE

    yield AIE


def backend_called(name: object) -> Manifest | None:
    """The backend with a name, the only one that is loaded for an array; None if there is none."""
    if name in _ARRAYS:
        from .aie import MANIFEST as AIE

        return AIE
    return next((backend for backend in backends() if name in backend.names), None)
