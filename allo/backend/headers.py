"""Folders of the templates and headers of HLS projects, in a checkout and in an installed package."""

from __future__ import annotations

from pathlib import Path

from ..errors import InternalError

_PACKAGE = Path(__file__).resolve().parents[1]
# `pip install .` copies `lib/templates` into the package (setup.py).
_PLACES = (_PACKAGE / "_templates", _PACKAGE.parent / "lib" / "templates")


def templates_directory() -> Path:
    """The folder of `hls/`; InternalError if the installation has lost it."""
    for place in _PLACES:
        if (place / "hls").is_dir():
            return place
    raise InternalError(
        f"the templates of the HLS backends are missing: looked for {_PLACES[0]} and {_PLACES[1]}"
    )


def include_directory() -> Path:
    """The folder for `-I` with `ap_int.h`, `ap_fixed.h`, `hls_stream.h` and the other headers of our simulation."""
    return templates_directory() / "hls" / "include"
