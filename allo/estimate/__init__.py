"""The estimator: static scheduling of a module for a target, with reasons."""

from ..timing.control.timeline import StageLink, Stall, Timeline, TimelinePart
from ..timing.reason import Reason
from .estimate import estimate
from .report.result import Advice, Burst, Estimate, FunctionEstimate, LoopEstimate, Resources
from .report.stages import StageEstimate

__all__ = [
    "Advice",
    "Burst",
    "Estimate",
    "FunctionEstimate",
    "LoopEstimate",
    "Reason",
    "Resources",
    "StageEstimate",
    "StageLink",
    "Stall",
    "Timeline",
    "TimelinePart",
    "estimate",
]
