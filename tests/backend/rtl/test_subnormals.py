"""Arithmetic without subnormal numbers: on the CPU, in the reference and in hardware, the same bits."""

from __future__ import annotations

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.backend.rtl import RTLModule
from allo.ir.types import Fixed, bfloat16, float16, float32
from allo.target import load_target

from .library import reference
from .library.vectors import float_pairs
from .simulated import bits

N = 512
LEAST = np.finfo(np.float32).smallest_normal


def everything[T](a: T[N], b: T[N], y: T[11, N]):
    for i in range(N):
        y[0, i] = a[i] + b[i]
        y[1, i] = a[i] - b[i]
        y[2, i] = a[i] * b[i]
        y[3, i] = a[i] / b[i]
        y[4, i] = allo.sqrt(a[i])
        y[5, i] = allo.exp(a[i]) * 1.0
        y[6, i] = max(a[i], b[i])  # as it is
        y[7, i] = a[i]
        y[8, i] = a[i] * 1.0  # no product after all passes
        narrow: float16 = b[i]
        y[9, i] = narrow
        y[10, i] = a[i] // b[i]


def fixed_point(a: float16[N], b: float16[N], y: float16[2, N]):
    for i in range(N):
        x: Fixed(32, 30) = a[i]
        y[0, i] = x
        y[1, i] = x + b[i]


def operands(name: str) -> list[np.ndarray]:
    exponent, fraction, _, _ = reference.FORMATS[name]
    pairs = float_pairs(exponent, fraction, 4 * N, 3)
    return [reference.floats(np.concatenate([side[::8], side[-N // 2 :]]), name).copy() for side in pairs]


def same(one: np.ndarray, other: np.ndarray, name: str) -> bool:
    words = [reference.one_nan(reference.words(array), name) for array in (one, other)]
    return bool((words[0] == words[1]).all())


@pytest.mark.parametrize(
    ("kernel", "name"),
    [
        pytest.param(everything, "f32", marks=pytest.mark.slow),
        *(pytest.param(everything, name, marks=pytest.mark.exhaustive) for name in ("f16", "bf16")),
        pytest.param(fixed_point, "f16", marks=pytest.mark.exhaustive),
    ],
)
def test_same_bits_everywhere(kernel: object, name: str) -> None:
    types = [] if kernel is fixed_point else [{"f32": float32, "f16": float16, "bf16": bfloat16}[name]]
    s = allo.customize(kernel, instantiate=types)
    s.pipeline("i")
    a, b = operands(name)
    rows = 2 if kernel is fixed_point else 11
    made = [np.zeros((rows, N), a.dtype) for _ in range(4)]
    s.build(subnormals="flush")(a, b, made[0])
    allo.interpret(kernel, types, subnormals="flush")(a, b, made[1])
    hardware = s.build(target="rtl", subnormals="flush", random_state=1)
    assert isinstance(hardware, RTLModule)
    hardware(a, b, made[2])
    timed = df.build(s, target="simulator", timed=load_target("u280").under("rtl"), subnormals="flush")
    timed(a, b, made[3])
    for found in made[1:]:
        for row in range(rows):
            assert same(found[row], made[0][row], name), row
    assert hardware.cycles == hardware.predicted_cycles == timed.timing.cycles
    assert kernel is fixed_point or same(made[0][7], a, name)  # copies keep them


def products(x: float32[4], y: float32[4]):
    for i in range(4):
        y[i] = x[i] * 0.5


X = np.array([LEAST, 2 * LEAST, -LEAST, LEAST / 4], np.float32)


def test_zeros_in_the_place_of_subnormal_numbers() -> None:
    s = allo.customize(products)
    found = [np.ones(4, np.float32) for _ in range(3)]
    s.build(subnormals="flush")(X, found[0])
    allo.interpret(products, subnormals="flush")(X, found[1])
    s.build()(X, found[2])
    assert bits(found[0]) == bits(found[1]) == bits(np.array([0, LEAST, -0.0, 0], np.float32))
    assert bits(found[2]) == bits(X / np.float32(2))


def test_the_option() -> None:
    s = allo.customize(products)
    for target in ("llvm", "rtl"):
        with pytest.raises(allo.AlloError) as caught:
            s.build(target=target, subnormals="drop")
        assert str(caught.value) == "subnormals must be \"keep\" or \"flush\", got 'drop'"
    with pytest.raises(allo.AlloError) as caught:
        allo.interpret(products, subnormals="drop")
    assert str(caught.value) == "subnormals must be \"keep\" or \"flush\", got 'drop'"
