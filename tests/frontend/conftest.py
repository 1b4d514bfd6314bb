"""Runs one kernel in every way there is, and compares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import allo


def _run(callable_: Callable[..., Any], arguments: tuple[Any, ...]) -> list[Any]:
    """What a call returns and leaves in its arrays."""
    own = [value.copy() if isinstance(value, np.ndarray) else value for value in arguments]
    result = callable_(*own)
    results = list(result) if isinstance(result, tuple) else [result]
    return [*results, *(value for value in own if isinstance(value, np.ndarray))]


@pytest.fixture
def agree() -> Callable[..., Any]:
    """`agree(kernel, *arguments)`: machine code equals `allo.interpret`, and with `plain=True` the function itself.

    Returns the results of the machine code, followed by its arrays.
    """

    def run(kernel: Callable[..., Any], *arguments: Any, plain: bool = False) -> list[Any]:
        found = _run(allo.customize(kernel).build(), arguments)
        for reference in (allo.interpret(kernel), kernel)[: 2 if plain else 1]:
            for got, wanted in zip(found, _run(reference, arguments), strict=True):
                np.testing.assert_array_equal(got, wanted)
        return found

    return run
