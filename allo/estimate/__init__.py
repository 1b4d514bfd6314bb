"""The estimator: static scheduling of a module for a target, with reasons."""

from .estimate import estimate
from .off_chip import DEFAULT_WORD_BITS
from .result import Estimate, FunctionEstimate, LoopEstimate, Reason, Resources, Transfer

__all__ = [
    "DEFAULT_WORD_BITS",
    "Estimate",
    "FunctionEstimate",
    "LoopEstimate",
    "Reason",
    "Resources",
    "Transfer",
    "estimate",
]
