"""The `allo` command: print, check, apply, draw, estimate and build what is in files."""

from .designs import load
from .main import main

__all__ = ["load", "main"]
