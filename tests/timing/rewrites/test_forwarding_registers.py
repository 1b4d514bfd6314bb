"""Forwarding registers: what was stored a constant number of iterations before does not come from memory."""

from __future__ import annotations

import numpy as np
import pytest

import allo
from allo.ir.types import float32
from tests.timing.rewrites.same_bits import MANIFEST


def recurrence(distance: int, step: int = 1):
    def kernel(A: float32[32], B: float32[32]):
        for i in range(8, 30, step):
            A[i] = A[i - distance * step] * 0.5 + B[i]

    return kernel


@pytest.mark.parametrize(("distance", "step"), [(1, 1), (2, 1), (3, 1), (1, 3), (2, 3)])
def test_values_of_earlier_iterations(after, distance: int, step: int) -> None:
    s = allo.customize(recurrence(distance, step))
    made = after(s, "forwarding-registers", "compose-affine", depth=3)
    loop = str(made.module).split("affine.for")[1]
    assert "affine.load %arg0" not in loop and str(made.module).count("memref.alloc") == distance
    draw = np.random.default_rng(distance)
    A, B = (draw.random(32).astype(np.float32) for _ in range(2))
    found = []
    for module in (s.ir, made.module):
        given = A.copy()
        MANIFEST.build(module, None, {"contract": False})(given, B)
        found.append(given)
    assert np.array_equal(*found)


def test_only_as_deep_as_asked(after, told) -> None:
    made = after(allo.customize(recurrence(3)), "forwarding-registers", depth=2)
    assert "memref.alloc" not in str(made.module)
    assert told(made) == [
        "forwarding-registers left it: A[i - 3] was stored 3 iterations before, more than the 2 asked for"
    ]


def test_longer_than_the_loop(after, told) -> None:
    def kernel(A: float32[32]):
        for i in range(8, 10):
            A[i] = A[i - 3] * 0.5

    assert told(after(allo.customize(kernel), "forwarding-registers", depth=4)) == []


def test_a_loop_in_a_pipeline_stays_in_it(after, told) -> None:
    def kernel(A: float32[8, 8]):
        for i in range(8):
            for j in range(1, 8):
                A[i, j] = A[i, j - 1] * 0.5

    s = allo.customize(kernel)
    s.pipeline("j")
    assert told(after(s, "forwarding-registers", depth=4)) == []
    assert len(told(after(allo.customize(kernel), "forwarding-registers", depth=4))) == 1


def test_another_store_that_may_be_the_element(after, told) -> None:
    def kernel(A: float32[32], B: float32[32]):
        for i in range(1, 16):
            A[i] = A[i - 1] * 0.5
            A[2 * i] = B[i]

    assert told(after(allo.customize(kernel), "forwarding-registers", depth=4)) == []
