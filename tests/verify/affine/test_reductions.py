"""Sums whose terms come in another order: equal for integers, and for floats if that is allowed."""

from typing import Any

import pytest

import allo
from allo import customize
from allo.ir.types import AlloType, float32, int32
from allo.verify.affine import Proof, prove
from allo.verify.program.programs import load
from allo.verify.result import Mismatch, Stuck

N = 24


def kernels(T: AlloType) -> dict[str, Any]:
    def forward(A: T[N, N], B: T[N, N], C: T[N, N]):
        for i, j, k in allo.grid(N, N, N):
            C[i, j] += A[i, k] * B[k, j]

    def backward(A: T[N, N], B: T[N, N], C: T[N, N]):
        for i, j, k in allo.grid(N, N, N):
            C[i, j] += A[i, N - 1 - k] * B[N - 1 - k, j]

    def strided(A: T[N, N], B: T[N, N], C: T[N, N]):
        for i, j, k1, k2 in allo.grid(N, N, 4, 6):
            C[i, j] += A[i, 4 * k2 + k1] * B[4 * k2 + k1, j]

    def tiled(A: T[N, N], B: T[N, N], C: T[N, N]):
        for ko, i, j in allo.grid(4, N, N):
            part: T = 0
            for k in range(6):
                part += A[i, 6 * ko + k] * B[6 * ko + k, j]
            C[i, j] += part

    def split(A: T[N, N], B: T[N, N], C: T[N, N]):
        for i, j in allo.grid(N, N):
            for k in range(10, N):
                C[i, j] += A[i, k] * B[k, j]
            for k in range(10):
                C[i, j] += A[i, k] * B[k, j]

    def twice(A: T[N, N], B: T[N, N], C: T[N, N]):
        for i, j, k in allo.grid(N, N, N):
            C[i, j] += A[i, k // 2] * B[k // 2, j]

    def short(A: T[N, N], B: T[N, N], C: T[N, N]):
        for i, j, k in allo.grid(N, N, N - 1):
            C[i, j] += A[i, N - 1 - k] * B[N - 1 - k, j]

    def crossed(A: T[N, N], B: T[N, N], C: T[N, N]):
        for i, j, k in allo.grid(N, N, N):
            C[i, j] += A[i, k] * B[N - 1 - k, j]

    made = (forward, backward, strided, tiled, split, twice, short, crossed)
    return {kernel.__name__: kernel for kernel in made}


def answer(T: AlloType, name: str, **options: bool) -> Any:
    named = kernels(T)
    return prove(load(customize(named["forward"])), load(customize(named[name])), **options)


@pytest.mark.parametrize("name", ["backward", "strided", "tiled", "split"])
def test_integers_may_be_added_in_any_order(name: str) -> None:
    found = answer(int32, name)
    assert isinstance(found, Proof) and found.sums


@pytest.mark.parametrize("name", ["backward", "strided", "split"])
def test_floats_only_if_it_is_allowed(name: str) -> None:
    assert isinstance(answer(float32, name), (Mismatch, Stuck))
    assert isinstance(answer(float32, name, reassociate=True), Proof)


@pytest.mark.parametrize("name", ["twice", "short", "crossed"])
@pytest.mark.parametrize("T", [int32, float32], ids=str)
def test_other_terms_are_not_proved(T: AlloType, name: str) -> None:
    assert isinstance(answer(T, name, reassociate=True), (Mismatch, Stuck))


def test_differences_keep_their_order() -> None:
    def forward(A: int32[N], B: int32[1]):
        for i in range(N):
            B[0] = A[i] - B[0]

    def backward(A: int32[N], B: int32[1]):
        for i in range(N):
            B[0] = A[N - 1 - i] - B[0]

    found = prove(load(customize(forward)), load(customize(backward)))
    assert isinstance(found, (Mismatch, Stuck))


def test_a_term_that_is_added_in_every_iteration_counts_each_time() -> None:
    def thrice(A: int32[N], B: int32[1]):
        for _, i in allo.grid(3, N):
            B[0] += A[i]

    def once(A: int32[N], B: int32[1]):
        for i in range(N):
            B[0] += A[N - 1 - i]

    found = prove(load(customize(thrice)), load(customize(once)))
    assert isinstance(found, (Mismatch, Stuck))
