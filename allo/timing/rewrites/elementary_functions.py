"""Elementary functions of single floats as the integers, shifts and tables that define their bits."""

from __future__ import annotations

from ...ir.elementary.values import expand
from ...ir.module import Module
from .record import Rewrite

NAME = "allo-elementary-functions"


def elementary_functions(module: Module, name: str) -> list[Rewrite]:
    """Rewrite one function."""
    return [
        Rewrite(NAME, name, f"'{function}' is a polynomial from tables", at)
        for function, at in expand(module, module.function(name))
    ]
