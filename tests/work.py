"""Measures the cost of a call without a clock."""

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import allo

PACKAGE = str(Path(allo.__file__).parent)


def calls_of(action: Callable[[], object]) -> int:
    """How many functions of the library `action` calls: no other process changes that, nor garbage of other tests."""
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call" and frame.f_code.co_filename.startswith(PACKAGE)

    before, collects = sys.getprofile(), gc.isenabled()
    gc.collect()
    gc.disable()
    sys.setprofile(count)
    try:
        action()
    finally:
        sys.setprofile(before)
        if collects:
            gc.enable()
    return calls
