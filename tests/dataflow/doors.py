"""Doors of a dataflow design: simulator, reference semantics, C simulation and the verifier show the same bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import allo
import allo.dataflow as df
from tests.published.doors import Ran, assert_same, ran, through_doors

# C++ takes a second to compile: where others show the same, only the slow test simulates it
in_c = pytest.mark.parametrize("csim", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["", "csim"])


def through(region: Callable[..., Any], *arguments: Any, instantiate: Any = None, csim: bool = True) -> Ran:
    """What a region gives, which is the same in the simulator, as reference, in C simulation and for the verifier."""
    s = df.customize(region, instantiate=instantiate)
    seen = through_doors(s, *arguments, csim=csim)
    assert_same(seen, ran(allo.interpret(region, instantiate=instantiate), arguments))
    return seen
