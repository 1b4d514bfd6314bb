"""What a program computes on expressions is what its machine code computes: graphs evaluated on concrete inputs."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import allo
import polybench
from allo.backend.cpu.module import LLVMModule
from allo.ir.types import Fixed, UInt, bfloat16, float16, float32, index, int1, int8, int32, uint8
from allo.utils import get_np_struct_type
from allo.verify.concrete.engine import ExpressionGraph
from allo.verify.concrete.execute import Outcome, execute
from allo.verify.program.programs import load

from .evaluate import Evaluator, Undefined, bits_of, leaves_of

_BIG = frozenset(
    {"floyd_warshall", "heat_3d", "seidel_2d", "jacobi_2d", "adi", "deriche", "fdtd_2d", "nussinov"}
)


def check(subject: Callable[..., Any] | allo.Schedule, *arguments: Any, sample: int = 200) -> None:
    """Elements of all outputs, as the graph has them, are those that the built kernel leaves, bit by bit."""
    s = subject if isinstance(subject, allo.Schedule) else allo.customize(subject)
    program = load(s)
    graph = ExpressionGraph(2_000_000)
    outcome = execute(graph, program, time.monotonic() + 60)
    assert isinstance(outcome, Outcome), outcome
    kinds = [*(a.type for a in program.arguments), *program.results]
    before = [leaves_of(kind, value) for kind, value in zip(kinds, copy.deepcopy(arguments), strict=False)]
    returned = LLVMModule(s.ir)(*arguments)
    results = () if not program.results else returned if len(program.results) > 1 else (returned,)
    after = dict(
        zip(
            [*(a.name for a in program.arguments), *(f"result {k}" for k in range(len(results)))],
            [*arguments, *results],
            strict=True,
        )
    )
    types = dict(zip(after, kinds, strict=True))
    evaluator, random, compared = Evaluator(graph, before), np.random.default_rng(7), 0
    for output in outcome.outputs:
        wanted = leaves_of(types[output.name], after[output.name])
        places = np.arange(len(wanted))
        if len(places) > sample:
            places = random.choice(places, sample, replace=False)
        for place in places:
            try:
                value = evaluator.value(int(output.ids[place]))
            except Undefined:
                continue
            assert _cut(types[output.name], value) == bits_of(wanted[place]), (output.name, place)
            compared += 1
    assert compared


def _cut(kind: Any, value: Any) -> Any:
    """Of a value in a container, the bits of its type."""
    element = getattr(kind, "element", kind)
    return (
        value & ((1 << element.bits) - 1)
        if isinstance(value, int) and hasattr(element, "bits")
        else bits_of(value)
    )


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] if n in _BIG else []) for n in polybench.NAMES]
)
def test_polybench(name: str) -> None:
    benchmark = polybench.load(name)
    check(benchmark.kernel("MINI"), *benchmark.arguments("MINI"), sample=40)


def test_integers_of_odd_widths_wrap_and_extend() -> None:
    def kernel(A: UInt(5)[16], B: int8[16], C: UInt(11)[16], D: int1[16]):
        for i in range(16):
            C[i] = A[i] * B[i] - (B[i] >> 2) + i * 7
            D[i] = A[i] ^ B[i]

    random = np.random.default_rng(1)
    check(
        kernel,
        random.integers(0, 32, 16).astype(np.uint8),
        random.integers(-128, 128, 16).astype(np.int8),
        np.zeros(16, np.uint16),
        np.zeros(16, np.int8),
    )


def test_division_and_shifts_by_any_amount() -> None:
    def kernel(A: int32[40], B: int8[40], C: int32[40, 6]):
        for i in range(40):
            C[i, 0] = A[i] // B[i]
            C[i, 1] = A[i] % B[i]
            C[i, 2] = A[i] / B[i]
            C[i, 3] = A[i] << B[i]
            C[i, 4] = A[i] >> B[i]
            C[i, 5] = (A[i] // 8) + (A[i] % 8)

    random = np.random.default_rng(2)
    check(
        kernel,
        random.integers(-(2**31), 2**31, 40).astype(np.int32),
        random.integers(-40, 40, 40).astype(np.int8),
        np.zeros((40, 6), np.int32),
    )


def test_wide_integers() -> None:
    def kernel(A: UInt(100)[4], B: UInt(200)[4]):
        for i in range(4):
            B[i] = A[i] * A[i] + (A[3 - i] >> 70)

    A = np.array([1 << 99, 12345, (1 << 100) - 1, 7], dtype=object)
    check(kernel, A, np.zeros(4, get_np_struct_type(200)))


def test_fixed_point_rounds_and_saturates() -> None:
    Q, R = Fixed(16, 8), Fixed(8, 2, rounding="rnd_conv", overflow="sat")

    def kernel(A: Q[32], B: Q[32], C: R[32], D: Q[32]):
        for i in range(32):
            C[i] = A[i] * B[i]
            D[i] = A[i] / B[i] - B[i]

    random = np.random.default_rng(3)
    A, B = (random.integers(-(2**15), 2**15, 32) / 256 for _ in range(2))
    check(kernel, A, B, np.zeros(32), np.zeros(32))


def test_bits_and_slices() -> None:
    def kernel(A: uint8[16], B: uint8[16], C: uint8[16]):
        for i in range(16):
            B[i][0:4] = A[i][4:8]
            B[i][7] = A[i][i % 8]
            C[i] = A[i].reverse()

    random = np.random.default_rng(4)
    check(kernel, *(random.integers(0, 256, 16).astype(np.uint8) for _ in range(3)))


def test_floats_of_all_widths_and_functions() -> None:
    def kernel(A: float32[16], B: float16[16], C: bfloat16[16], D: float32[16]):
        for i in range(16):
            D[i] = allo.exp(A[i]) + allo.sqrt(A[i]) * i
            if D[i] > 3.0:
                D[i] = D[i] - B[i]
            C[i] = A[i] / 3.0

    random = np.random.default_rng(5)
    check(
        kernel,
        random.random(16, np.float32) * 2,
        random.random(16).astype(np.float16),
        np.zeros(16, ml_dtypes.bfloat16),
        np.zeros(16, np.float32),
    )


def test_branches_on_data_write_what_the_taken_one_writes() -> None:
    def kernel(A: int32[12], B: int32[12], n: int32):
        for i in range(12):
            if A[i] > n:
                for k in range(i):
                    B[k] = B[k] + A[i]
                if A[i] % 2 == 0:
                    B[i] = -1
            elif i > 3:
                B[i] = A[i - 1] if A[i] < 0 else A[0]

    random = np.random.default_rng(6)
    check(kernel, random.integers(-9, 9, 12).astype(np.int32), random.integers(-9, 9, 12).astype(np.int32), 2)


def test_subscripts_from_data_select_among_the_elements() -> None:
    def kernel(A: UInt(3)[6], H: int32[8, 2], L: int32[6]):
        for i in range(6):
            H[A[i], i % 2] += i + 1
            L[i] = H[A[5 - i], 1]

    random = np.random.default_rng(7)
    check(
        kernel, random.integers(0, 8, 6).astype(np.uint8), np.zeros((8, 2), np.int32), np.zeros(6, np.int32)
    )


def test_loops_whose_bounds_are_computed_without_data() -> None:
    def kernel(A: int32[10]):
        limits: index[4] = [1, 4, 7, 10]
        first: int32 = 0
        for k in range(4):
            for i in range(first, limits[k]):
                A[i] += k
            first = limits[k]
        while first > 3:
            first = first // 2
            A[first] = -first

    check(kernel, np.arange(10, dtype=np.int32))


def test_streams_in_the_order_of_their_data() -> None:
    def produce(A: float32[8, 4], T: float32[8, 4]):
        for i, j in allo.grid(8, 4):
            T[i, j] = A[i, j] * 2.0

    def consume(T: float32[8, 4], B: float32[8, 4]):
        for i, j in allo.grid(8, 4):
            B[i, j] = T[i, j] + 1.0

    def both(A: float32[8, 4], B: float32[8, 4]):
        T: float32[8, 4] = 0
        produce(A, T)
        consume(T, B)

    s = allo.customize(both)
    s.relay(s.T, "consume")
    assert "stream_put" in str(s.module)
    check(s, np.arange(32, dtype=np.float32).reshape(8, 4), np.zeros((8, 4), np.float32))


WIDE = np.array([1 << 99, 5, (1 << 100) - 1], dtype=object)
BRAIN = np.array([1.5, -2.25, 0.125])


def test_constant_arrays_of_every_width() -> None:
    def kernel(A: UInt(100)[3], B: bfloat16[3], C: UInt(100)[3]):
        wide: UInt(100)[3] = WIDE
        brain: bfloat16[3] = BRAIN
        for i in range(3):
            C[i] = A[i] ^ wide[2 - i]
            B[i] = B[i] + brain[i]

    A = np.array([1, 1 << 99, 3], dtype=object)
    check(kernel, A, np.ones(3, ml_dtypes.bfloat16), np.zeros(3, get_np_struct_type(100)))
