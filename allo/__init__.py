"""Allo: plain Python kernels, schedules that rewrite them step by step, backends that run them."""

from . import errors
from .build import build
from .customize import Partition, Schedule, customize
from .errors import AlloError, KernelError, ScheduleError
from .frontend.dsl import (
    cos,
    exp,
    grid,
    log,
    log2,
    log10,
    meta_elif,
    meta_else,
    meta_for,
    meta_if,
    power,
    reduction,
    sin,
    sqrt,
    tan,
    tanh,
)
from .frontend.interpret import interpret

__all__ = [
    "AlloError",
    "KernelError",
    "Partition",
    "Schedule",
    "ScheduleError",
    "build",
    "cos",
    "customize",
    "errors",
    "exp",
    "grid",
    "interpret",
    "log",
    "log2",
    "log10",
    "meta_elif",
    "meta_else",
    "meta_for",
    "meta_if",
    "power",
    "reduction",
    "sin",
    "sqrt",
    "tan",
    "tanh",
]
