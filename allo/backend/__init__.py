"""Backends: each a package with one manifest that says how users call it, what it needs and how it builds."""

from importlib import import_module
from typing import TYPE_CHECKING

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Backends that many programs never use are loaded when they are first asked for."""
        if name in ("aie", "external", "hls"):
            return import_module(f".{name}", __name__)  # which also binds the name
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
