"""Doors of a dataflow design: simulator, reference semantics, C simulation and the verifier show the same bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import allo
import allo.dataflow as df
from tests.published.doors import Ran, assert_same, ran, through_doors


def through(region: Callable[..., Any], *arguments: Any, instantiate: Any = None, csim: bool = True) -> Ran:
    """What a region gives, which is the same in the simulator, as reference, in C simulation and for the verifier."""
    s = df.customize(region, instantiate=instantiate)
    seen = through_doors(s, *arguments, csim=csim)
    assert_same(seen, ran(allo.interpret(region, instantiate=instantiate), arguments))
    return seen
