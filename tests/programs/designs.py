"""What every design is asked: the results of its kernel, a proof of that, and steps that make the module again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from textwrap import dedent
from typing import Any

import numpy as np

import allo
from allo.testing import assert_equivalent

type Kernel = Callable[..., Any]


def results(run: Callable[..., Any], arguments: Sequence[Any]) -> list[Any]:
    """The arguments after a call; those given stay as they are."""
    copies = [argument.copy() if isinstance(argument, np.ndarray) else argument for argument in arguments]
    run(*copies)
    return copies


def assert_same_results(s: allo.Schedule, kernel: Kernel, arguments: Sequence[Any]) -> None:
    """The design gives what the kernel without a schedule gives, bit for bit."""
    wanted = results(allo.customize(kernel).build(), arguments)
    for found, expected in zip(results(s.build(), arguments), wanted, strict=True):
        np.testing.assert_array_equal(found, expected)


def assert_steps_make_it_again(s: allo.Schedule, kernel: Kernel) -> None:
    """Its steps, printed and read, and as operations of MLIR, give the same module."""
    fresh = allo.customize(kernel)
    fresh.replay(str(s.steps))
    assert str(fresh.module) == str(s.module)
    again = allo.Schedule.from_mlir(s.to_mlir())
    assert str(again.module) == str(s.module) and str(again.steps) == str(s.steps)


def assert_design(s: allo.Schedule, kernel: Kernel, arguments: Sequence[Any]) -> None:
    """All of the above, and that it is proven to compute what the kernel does."""
    assert_same_results(s, kernel, arguments)
    assert_equivalent(kernel, s)
    assert_steps_make_it_again(s, kernel)


def assert_loops(s: allo.Schedule, golden: str, function: str | None = None) -> None:
    assert str(s.get_loops(function)).strip() == dedent(golden).strip()


def assert_pseudocode(s: allo.Schedule, golden: str) -> None:
    assert s.pseudocode().strip() == dedent(golden).strip()
