"""Registry of the backends, by their manifests."""

from __future__ import annotations

from collections.abc import Iterator

from .cpu import MANIFEST as CPU
from .manifest import Manifest


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
