"""The schedule language: primitives that rewrite a module step by step, each checked first."""

from .partition import Partition
from .schedule import Schedule, customize
from .step.handles import Buffer, Function, Loop, Nest
from .step.record import Step

__all__ = ["Buffer", "Function", "Loop", "Nest", "Partition", "Schedule", "Step", "customize"]
