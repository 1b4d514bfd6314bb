"""Designs that are as fast as the same ones written by hand: cycles of the simulation, and the bits of the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.ir.types import float32
from tests.estimate.test_rtl_profile import flat, integers, jacobi, rows

from . import test_flows as flows
from .simulated import assert_as_predicted

DRAW = np.random.default_rng(21)


def reals(*shape: int) -> np.ndarray:
    return DRAW.random(shape).astype(np.float32)


def bytes_of(*shape: int) -> np.ndarray:
    return DRAW.integers(-128, 128, shape).astype(np.int8)


def gemv() -> allo.Schedule:
    """A matrix of GPT-2's width by a vector, in eight lanes, column by column, so that sums do not wait."""
    def product(W: float32[768, 768], x: float32[768], y: float32[768]):
        for j, io in allo.grid(768, 96):
            for i in range(8):
                y[8 * io + i] += W[j, 8 * io + i] * x[j]

    s = allo.customize(product)
    s.pipeline("io")
    s.partition("W", dim=2, factor=8)
    s.partition("y", factor=8)
    return s


@pytest.mark.parametrize(
    ("schedule", "arguments", "cycles"),
    [
        (flat, (reals(64, 64), reals(64, 64), reals(64, 64), np.zeros(64, np.float32)), 32_781),
        (rows, (reals(64, 64), reals(64, 64), reals(64, 64)), 34_689),
        (integers, (bytes_of(64, 64), bytes_of(64, 64), np.zeros((64, 64), np.int32), np.zeros(64, np.int32)), 32_772),
        (jacobi, (reals(30, 30), np.zeros((30, 30), np.float32)), 933),
        (gemv, (reals(768, 768), reals(768), np.zeros(768, np.float32)), 768 * 768 // 8 + 13),
    ],
)
def test_a_result_a_cycle(schedule: Any, arguments: tuple[np.ndarray, ...], cycles: int) -> None:
    made = assert_as_predicted(schedule(), *arguments)
    assert made.cycles == cycles
    assert any(loop.intervals == (1, 1) for loop in made.loops)


@pytest.mark.parametrize(
    ("M", "K", "cycles"),
    [
        (4, 4096, 4110),
        *(pytest.param(M, 64, 64 + 2 * M + 5, marks=pytest.mark.exhaustive) for M in (16, 32, 64)),
        pytest.param(16, 4096, 4133, marks=pytest.mark.exhaustive),
    ],
)
def test_a_systolic_array_is_busy_in_nearly_all_cycles(
    monkeypatch: pytest.MonkeyPatch, M: int, K: int, cycles: int
) -> None:
    made, A, B = systolic(monkeypatch, M, K)
    C = np.zeros((M, M), np.int32)
    made(A, B, C)
    np.testing.assert_array_equal(C, A.astype(np.int32) @ B.astype(np.int32))
    assert made.cycles == made.predicted_cycles == cycles


def systolic(monkeypatch: pytest.MonkeyPatch, M: int, K: int) -> tuple[Any, np.ndarray, np.ndarray]:
    """The array of M x M elements, and matrices for K steps."""
    monkeypatch.setattr(flows, "M", M)
    monkeypatch.setattr(flows, "K", K)
    s = df.customize(flows.systolic)
    flows.steps_of_systolic(s)
    return s.build(target="rtl"), bytes_of(M, K), bytes_of(K, M)
