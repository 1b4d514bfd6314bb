"""Work without end: `Stuck` says which limit it was, and at which statement."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from allo import customize, grid
from allo.ir.types import float32
from allo.verify.affine import effort, prove
from allo.verify.affine.effort import Effort, OutOfEffort
from allo.verify.program.programs import load
from allo.verify.result import Stuck

N = 200


def lattices(A: float32[N, N], B: float32[N, N]):
    for i0, j0 in grid(20, 20):
        A[2 * i0 + 3 * j0, 5 * i0 + j0] = B[i0, j0]
    for i1, j1 in grid(20, 20):
        A[3 * i1 + j1, 2 * i1 + 5 * j1] = B[i1, j1]
    for i2, j2 in grid(20, 20):
        A[i2 + 4 * j2, 3 * i2 + 2 * j2] = B[i2, j2]
    for i3, j3 in grid(20, 20):
        A[5 * i3 + 2 * j3, i3 + 3 * j3] = B[i3, j3]
    for i4, j4 in grid(20, 20):
        A[4 * i4 + 3 * j4, 2 * i4 + 5 * j4] = B[i4, j4]
    for i5, j5 in grid(20, 20):
        A[3 * i5 + 4 * j5, 5 * i5 + 2 * j5] = B[i5, j5]


def stuck() -> tuple[str, int]:
    """Why there is no proof, and which line of the kernel it was at."""
    found = prove(load(customize(lattices)), load(customize(lattices)), seconds=600.0)
    assert isinstance(found, Stuck) and found.at is not None
    return found.reason, found.at.line - lattices.__code__.co_firstlineno


@pytest.mark.slow
def test_a_step_has_a_limit() -> None:
    assert stuck() == ("a step takes more than 2 million operations of isl", 12)


def test_a_smaller_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effort, "_OF_A_STEP", 100_000)
    assert stuck() == ("a step takes more than 0.1 million operations of isl", 12)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells how much memory a process uses")
def test_memory_has_a_limit() -> None:
    limited = Effort(memory=50_000_000)
    limited.check()
    more = np.ones(20_000_000)
    with pytest.raises(OutOfEffort) as caught:
        limited.check()
    assert len(more) and caught.value.stuck == Stuck("it needs more than the limit of 0.05 GB of memory")
