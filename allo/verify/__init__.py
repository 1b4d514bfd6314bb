"""Verification: whether two programs compute the same, with proofs, and counterexamples that were run."""

from typing import TYPE_CHECKING

from .check import METHODS, check
from .deadline import Deadline
from .mapped import MappedProgram
from .program.programs import Argument, Program, Subject, load, other_interface, other_states
from .result import (
    Counterexample,
    Different,
    Equivalent,
    FirstStep,
    InputValue,
    Mismatch,
    Result,
    Stuck,
    Unknown,
)
from .run.runner import Failed, Ran, Runner

__all__ = [
    "METHODS",
    "Argument",
    "Counterexample",
    "Deadline",
    "Different",
    "Equivalent",
    "Failed",
    "FirstStep",
    "InputValue",
    "MappedProgram",
    "Mismatch",
    "Program",
    "Ran",
    "Result",
    "Runner",
    "Stuck",
    "Subject",
    "Unknown",
    "check",
    "load",
    "other_interface",
    "other_states",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """`from allo.verify import verify` gives `allo.verify`, which a layer above makes."""
        if name != "verify":
            raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
        from ..equivalence import verify

        return verify
