"""The estimator: static scheduling of a module for a target, with reasons."""

from .estimate import estimate
from .report.result import Estimate, FunctionEstimate, LoopEstimate, Reason, Resources, Transfer

__all__ = [
    "Estimate",
    "FunctionEstimate",
    "LoopEstimate",
    "Reason",
    "Resources",
    "Transfer",
    "estimate",
]
