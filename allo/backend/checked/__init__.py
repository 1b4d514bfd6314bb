"""Debug builds of a module: `allo.assert` in front of whatever may go wrong at run time."""

from __future__ import annotations

from mlir import ir

from ...ir.linalg import lower_linalg
from ...ir.module import Module
from ...ir.walk import LOOP_OPERATIONS, entry_block, operations
from .definedness import track_definedness
from .failures import CHECK, MOST_VALUES, REQUIRE, SITE, CheckFailed, Checks, checks_of
from .numbers import guard_numbers
from .subscripts import guard_subscripts
from .writers import track_writers

__all__ = [
    "CHECK",
    "MOST_VALUES",
    "REQUIRE",
    "SITE",
    "CheckFailed",
    "Checks",
    "checks_of",
    "track_writers",
    "with_checks",
]


def with_checks(module: Module) -> Module:
    """A copy of `module` that ends with an error where it would leave an array, read what has no value, or divide an
    integer by zero.

    What a step has made parallel runs in order: of several errors, the first one is told.
    """
    made = module.clone()
    lower_linalg(made)
    for function in made.functions():
        guard_subscripts(function)
        guard_numbers(function)
        _run_in_order(function)
    track_definedness(made)  # last: an element is looked up once its subscripts are known to be inside
    return made


def _run_in_order(function: ir.OpView) -> None:
    entry = entry_block(function)
    for loop in operations(entry, *LOOP_OPERATIONS) if entry is not None else ():
        if "allo.parallel" in loop.attributes:
            del loop.attributes["allo.parallel"]
