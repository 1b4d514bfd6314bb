"""Folders in which descriptions of hardware are found."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
# `pip install .` copies `targets` into the package (setup.py).
PLACES = (_PACKAGE / "_targets", _PACKAGE.parent / "targets")
