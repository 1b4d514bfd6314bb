"""The estimator: static scheduling of a module for a target, with reasons."""

from .estimate import estimate
from .report.result import Advice, Burst, Estimate, FunctionEstimate, LoopEstimate, Reason, Resources
from .report.timeline import StageLink, Stall, Timeline, TimelinePart

__all__ = [
    "Advice",
    "Burst",
    "Estimate",
    "FunctionEstimate",
    "LoopEstimate",
    "Reason",
    "Resources",
    "StageLink",
    "Stall",
    "Timeline",
    "TimelinePart",
    "estimate",
]
