"""Schedules of every primitive are proved; hand-made faults in them are not."""

# ruff: noqa: F821 - kernels declare arrays without a value

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import allo
from allo import Partition, Schedule, customize
from allo.ir.types import float32, int8, int32
from allo.verify.affine import Proof, prove
from allo.verify.program.programs import load
from allo.verify.result import Mismatch, Stuck

from .programs import compared, mutant

N = 24


def product(A: float32[N, N], B: float32[N, N], C: float32[N, N]):
    for i, j in allo.grid(N, N, name="PE"):
        for k in range(N):
            C[i, j] += A[i, k] * B[k, j]


def blur(A: float32[N, N], B: float32[N, N], C: float32[N, N]):
    for i, j in allo.grid(N, N - 2):
        B[i, j] = (A[i, j] + A[i, j + 1] + A[i, j + 2]) / 3.0
    for i1, j1 in allo.grid(N - 2, N - 2):
        C[i1, j1] = (B[i1, j1] + B[i1 + 1, j1] + B[i1 + 2, j1]) / 3.0


def heat(A: float32[N], B: float32[N]):
    for t in range(10):  # noqa: B007
        for i in range(1, N - 1):
            B[i] = A[i - 1] + A[i] + A[i + 1]
        for j in range(1, N - 1):
            A[j] = B[j - 1] + B[j] + B[j + 1]


def seidel(A: float32[N, N]):
    for i, j in allo.grid(N - 2, N - 2):
        A[i + 1, j + 1] = A[i, j + 1] + A[i + 1, j] + A[i + 2, j + 1]


def middle(A: int8[N, N], B: int8[N, N]):
    for i, j in allo.grid(N, N):
        t: int8 = A[i, j] if A[i, j] > 3 else A[j, i]
        if t > 7 and i > 2:
            B[i, j] = t
        elif i < j:
            B[i, j] -= t * i


def part(X: float32[N], Y: float32[N]):
    for i in range(N):
        Y[i] = X[i] * 2.0


def calls(X: float32[N], Y: float32[N]):
    T: float32[N] = 0.0
    part(X, T)
    part(T, Y)


def split(s: Schedule) -> None:
    s.reorder(*s.split("j", 5)[::-1])


def fuse(s: Schedule) -> None:
    s.split(s.fuse("i", "j"), 7)


def unroll(s: Schedule) -> None:
    s.unroll("k", 4)


def peel(s: Schedule) -> None:
    s.peel("j", 3)


def skew(s: Schedule) -> None:
    s.skew("i", "j", 2)
    s.reorder("j", "i")


def unfold(s: Schedule) -> None:
    a, b = s.buffer_at(s.A, "j"), s.buffer_at(s.B, "j")
    elements = s.unfold("PE", axis=[0, 1])
    s.relay(a, elements, axis=1, depth=4)
    s.relay(b, elements, axis=0, depth=4)


def reuse(s: Schedule) -> None:
    s.reuse_at(s.A, "j")
    s.reuse_at(s.B, "i1")


def compute_at(s: Schedule) -> None:
    s.compute_at("j", "i1")


def reshape(s: Schedule) -> None:
    s.reshape(s.A, (N * N,))
    s.reshape(s.C, (N // 2, 2 * N))


def pack(s: Schedule) -> None:
    s.pack(s.A, dim=2, factor=4)
    s.pack(s.B, dim=1, factor=2)


def annotate(s: Schedule) -> None:
    s.partition(s.A, Partition.Cyclic, dim=1, factor=4)
    s.pipeline("j")
    s.parallel("i")


def inline(s: Schedule) -> None:
    s.inline("part")


CASES: list[tuple[Callable[..., Any], Callable[[Schedule], Any]]] = [
    *((product, f) for f in (split, fuse, unroll, peel, unfold, reshape, pack, annotate)),
    *((blur, f) for f in (split, reuse, compute_at, reshape)),
    (heat, lambda s: s.reuse_at(s.A, "i")),
    (heat, lambda s: s.split("i", 4)),
    (seidel, skew),
    (seidel, lambda s: s.buffer_at(s.A, "i")),
    (middle, pack),
    (middle, lambda s: s.buffer_at(s.B, "i")),
    (middle, split),
    (calls, inline),
    (calls, lambda s: (s.inline("part"), s.split("S_i_0.i", 4))),
]


@pytest.mark.parametrize("kernel, steps", CASES)
def test_schedules_are_proved(kernel: Callable[..., Any], steps: Callable[[Schedule], Any]) -> None:
    assert isinstance(compared(kernel, steps), Proof)


# -- faults ---------------------------------------------------------------------------------------------


def scheduled(kernel: Callable[..., Any], steps: Callable[[Schedule], Any]) -> tuple[Any, Any]:
    s = customize(kernel)
    steps(s)
    return load(customize(kernel)), load(s)


def tiled(s: Schedule) -> None:
    (i, ii), (j, jj), (k, kk) = s.split("i", 4), s.split("j", 8), s.split("k", 6)
    s.reorder(i, j, k, kk, ii, jj)
    s.buffer_at(s.C, axis=j)
    s.buffer_at(s.B, axis=k)


FAULTS = [
    (product, tiled, "= 0 to 4 {", "= 0 to 3 {"),  # a bound of the outer k
    (product, tiled, "%arg3 * 4 +", "%arg3 * 3 +"),  # a subscript
    (product, tiled, "arith.mulf", "arith.addf"),
    (product, tiled, "arith.addf", "arith.subf"),
    (blur, reuse, "+ 2]", "+ 1]"),
    (blur, reuse, "3.000000e+00", "3.500000e+00"),
    (blur, compute_at, "arith.divf %", "arith.mulf %"),
    (heat, lambda s: s.reuse_at(s.A, "i"), "[2]", "[1]"),
    (seidel, skew, "* -2 + %arg1 + 1]", "* -2 + %arg1]"),
    (middle, split, "arith.subi", "arith.addi"),
    (middle, split, "sgt", "sge"),
]


@pytest.mark.parametrize("kernel, steps, old, new", FAULTS)
def test_faults_are_not_proved(kernel: Any, steps: Any, old: str, new: str) -> None:
    a, b = scheduled(kernel, steps)
    if old not in str(b.module):
        pytest.fail(f"no {old!r} in\n{b.module}")
    assert isinstance(prove(a, mutant(b, old, new)), (Mismatch, Stuck))


def test_operands_of_a_difference_do_not_change_places() -> None:
    def left(A: int32[N], B: int32[N]):
        for i in range(N):
            B[i] = A[i] - A[N - 1 - i]

    def right(A: int32[N], B: int32[N]):
        for i in range(N):
            B[i] = A[N - 1 - i] - A[i]

    found = prove(load(customize(left)), load(customize(right)))
    assert isinstance(found, Mismatch)
    assert (found.output, found.element, found.reason) == ("B", (0,), "reads A[23] instead of A[0]")


def test_a_stale_buffer_differs() -> None:
    def kernel(A: float32[N, N], B: float32[N, N]):
        for i in range(N):
            for j in range(N):
                B[i, j] = A[i, j] + 1.0

    def stale(A: float32[N, N], B: float32[N, N]):
        row: float32[N] = 0.0
        for i in range(N):
            if i < 5:
                for j in range(N):
                    row[j] = A[i, j]
            for j in range(N):
                B[i, j] = row[j] + 1.0

    found = prove(load(customize(kernel)), load(customize(stale)))
    assert isinstance(found, Mismatch)
    i, j = found.element
    assert i >= 5 and found.reason == f"reads A[4, {j}] instead of A[{i}, {j}]"
    assert (found.left, found.right) == (f"(A[{i}, {j}] + 1)", f"(A[4, {j}] + 1)")


def test_unwritten_elements_may_become_anything_but_not_the_other_way() -> None:
    def nothing(A: float32[N], B: float32[N]):
        T: float32[N]
        for i in range(N - 1):
            T[i] = A[i]
        for i in range(N):
            B[i] = T[i]

    def zeros(A: float32[N], B: float32[N]):
        T: float32[N] = 0.0
        for i in range(N - 1):
            T[i] = A[i]
        for i in range(N):
            B[i] = T[i]

    a, b = load(customize(nothing)), load(customize(zeros))
    assert isinstance(prove(a, b), Proof)
    found = prove(b, a)
    assert isinstance(found, Mismatch)
    assert found.element == (N - 1,) and "which nothing has written" in found.reason


def test_elements_that_one_side_leaves_alone_differ() -> None:
    def whole(A: float32[N], B: float32[N]):
        for i in range(N):
            B[i] = A[i]

    def most(A: float32[N], B: float32[N]):
        for i in range(1, N):
            B[i] = A[i]

    found = prove(load(customize(whole)), load(customize(most)))
    assert isinstance(found, Mismatch)
    assert (found.output, found.element, found.reason) == ("B", (0,), "reads B[0] instead of A[0]")
