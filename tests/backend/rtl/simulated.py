"""Kernels in simulated hardware beside the CPU: the same bits, and the cycles that were predicted."""

from __future__ import annotations

from typing import Any

import numpy as np

import allo
from allo.backend.rtl import RTLModule


def copied(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments)


def bits(value: Any) -> bytes:
    return np.asarray(value).tobytes()


def assert_as_predicted(s: allo.Schedule, *arguments: Any, **options: Any) -> RTLModule:
    """Run a schedule in hardware and on the CPU; all arguments and results are equal bit by bit."""
    built = s.build(target="rtl", **options)
    assert isinstance(built, RTLModule)
    assert_in_hardware(s, built, *arguments)
    return built


def assert_in_hardware(s: allo.Schedule, built: RTLModule, *arguments: Any, on_cpu: Any = None) -> None:
    """The same of a schedule that is built already; loops run when the schedule says."""
    wanted = copied(arguments)
    found_result, wanted_result = built(*arguments), (on_cpu or s.build())(*wanted)
    assert bits(found_result) == bits(wanted_result)
    for found, one in zip(arguments, wanted, strict=True):
        assert bits(found) == bits(one)
    assert built.predicted_cycles in (None, built.cycles)
    for loop in built.loops:
        assert loop.as_scheduled, f"{loop}, not {loop.scheduled}"
