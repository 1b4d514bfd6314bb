"""Sums of products: factors are multiplied out, zeros and ones do not count; exact for integers, else on request."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable
from typing import Any

import pytest

from allo import customize
from allo.ir.types import AlloType, float32, int8, int32
from allo.verify.affine import Proof, prove
from allo.verify.certificate import problems
from allo.verify.program.programs import load
from allo.verify.result import Mismatch, Stuck

N = 20

type Kernel = Callable[..., Any]


def answer(first: Kernel, second: Kernel, **options: Any) -> Any:
    a, b = load(customize(first)), load(customize(second))
    found = prove(a, b, **options)
    if isinstance(found, Proof):
        assert problems(found.to_json(), a, b, reassociate=options.get("reassociate", False)) == ""
    return found


def is_proved(first: Kernel, second: Kernel) -> bool:
    found = answer(first, second, reassociate=True)
    assert isinstance(found, (Proof, Mismatch, Stuck))
    return isinstance(found, Proof)


def scaled(T: AlloType) -> dict[str, Kernel]:
    """b += c * sum of A[i] * x[i], in several ways."""

    def inside(c: T, A: T[N], x: T[N], b: T[1]):
        for i in range(N):
            b[0] += c * A[i] * x[i]

    def outside(c: T, A: T[N], x: T[N], b: T[1]):
        total: T = 0
        for i in range(N):
            total += A[i] * x[i]
        b[0] += c * total

    def scaled_before(c: T, A: T[N], x: T[N], b: T[1]):
        y: T[N] = 0
        for i in range(N):
            y[i] = x[i] * c
        for i in range(N):
            b[0] += A[N - 1 - i] * y[N - 1 - i]

    def twice(c: T, A: T[N], x: T[N], b: T[1]):
        total: T = 0
        for i in range(N):
            total += A[i] * x[i]
        b[0] += c * (c * total)

    def forgotten(c: T, A: T[N], x: T[N], b: T[1]):
        total: T = 0
        for i in range(N):
            total += A[i] * x[i]
        b[0] += total

    def not_all(c: T, A: T[N], x: T[N], b: T[1]):
        total: T = 0
        for i in range(1, N):
            total += A[i] * x[i]
        b[0] += c * total + A[0] * x[0]

    made = (inside, outside, scaled_before, twice, forgotten, not_all)
    return {kernel.__name__: kernel for kernel in made}


@pytest.mark.parametrize("name", ["outside", "scaled_before"])
@pytest.mark.parametrize("T", [int32, float32], ids=str)
def test_a_factor_of_a_sum_is_one_of_its_terms(T: AlloType, name: str) -> None:
    kernels = scaled(T)
    assert is_proved(kernels["inside"], kernels[name]) and is_proved(kernels[name], kernels["inside"])


@pytest.mark.parametrize("name", ["twice", "forgotten", "not_all"])
@pytest.mark.parametrize("T", [int32, float32], ids=str)
def test_other_factors_are_not_proved(T: AlloType, name: str) -> None:
    kernels = scaled(T)
    assert not is_proved(kernels["inside"], kernels[name]) and not is_proved(kernels[name], kernels["inside"])


def test_floats_are_not_multiplied_out_unless_it_is_allowed() -> None:
    kernels = scaled(float32)
    assert not isinstance(answer(kernels["inside"], kernels["outside"]), Proof)


def test_a_product_of_two_sums() -> None:
    def together(A: int32[N], x: int32[N], b: int32[1]):
        for i in range(N):
            for j in range(N):
                b[0] += A[i] * x[j]

    def apart(A: int32[N], x: int32[N], b: int32[1]):
        first: int32 = 0
        second: int32 = 0
        for i in range(N):
            first += A[i]
            second += x[N - 1 - i]
        b[0] += second * first

    def one_less(A: int32[N], x: int32[N], b: int32[1]):
        first: int32 = 0
        second: int32 = 0
        for i in range(N):
            first += A[i]
        for i in range(N - 1):
            second += x[i]
        b[0] += second * first

    assert is_proved(together, apart) and not is_proved(together, one_less)


def test_differences_are_sums() -> None:
    def one_by_one(A: float32[N], b: float32[1]):
        for i in range(N):
            b[0] -= A[i]

    def at_once(A: float32[N], b: float32[1]):
        total: float32 = 0.0
        for i in range(N):
            total += A[N - 1 - i]
        b[0] = b[0] - total

    def added(A: float32[N], b: float32[1]):
        total: float32 = 0.0
        for i in range(N):
            total += A[N - 1 - i]
        b[0] = b[0] + total

    assert is_proved(one_by_one, at_once) and not is_proved(one_by_one, added)


def lanes(T: AlloType) -> tuple[Kernel, Kernel, Kernel]:
    def row(A: T[8, 32], b: T[8]):
        for i in range(8):
            for j in range(32):
                b[i] += A[i, j]

    def tree(A: T[8, 32], b: T[8]):
        for i in range(8):
            for turn in range(4):
                p: T[8] = 0
                for lane in range(8):
                    p[lane] = A[i, 8 * turn + lane]
                for lane in range(4):
                    p[lane] = p[lane] + p[lane + 4]
                for lane in range(2):
                    p[lane] = p[lane] + p[lane + 2]
                b[i] += p[0] + p[1]

    def crooked(A: T[8, 32], b: T[8]):
        for i in range(8):
            for turn in range(4):
                p: T[8] = 0
                for lane in range(8):
                    p[lane] = A[i, 8 * turn + lane]
                for lane in range(4):
                    p[lane] = p[lane] + p[lane + 4]
                for lane in range(2):
                    p[lane] = p[lane] + p[lane + 1]
                b[i] += p[0] + p[1]

    return row, tree, crooked


@pytest.mark.parametrize("T", [int8, float32], ids=str)
def test_trees(T: AlloType) -> None:
    row, tree, crooked = lanes(T)
    assert is_proved(row, tree) and not is_proved(row, crooked)


def masked(T: AlloType) -> tuple[Kernel, Kernel, Kernel]:
    def triangle(A: T[N, N], x: T[N], b: T[N]):
        for i in range(N):
            for j in range(i + 1):
                b[i] += A[i, j] * x[j]

    def with_zeros(A: T[N, N], x: T[N], b: T[N]):
        for i in range(N):
            row: T[N] = 0
            for j in range(i + 1):
                row[j] = A[i, j]
            for j in range(N):
                b[i] += row[j] * x[j]

    def without_values(A: T[N, N], x: T[N], b: T[N]):
        for i in range(N):
            row: T[N] = 0
            y: T[N]
            for j in range(i + 1):
                row[j] = A[i, j]
                y[j] = x[j]
            for j in range(N):
                b[i] += row[j] * y[j]

    return triangle, with_zeros, without_values


@pytest.mark.parametrize("T", [int32, float32], ids=str)
def test_products_with_a_zero_do_not_count(T: AlloType) -> None:
    triangle, with_zeros, _ = masked(T)
    assert is_proved(triangle, with_zeros)


def test_a_float_without_a_value_is_no_factor_of_a_zero() -> None:
    triangle, _, without_values = masked(float32)
    assert not is_proved(triangle, without_values)
    exact, _, for_integers = masked(int32)
    assert is_proved(exact, for_integers)


def test_a_term_may_not_be_counted_twice() -> None:
    def doubled(A: int32[N], b: int32[1]):
        total: int32 = 0
        for i in range(N):
            total += A[i]
        b[0] = total + total

    def once(A: int32[N], b: int32[1]):
        total: int32 = 0
        for i in range(N):
            total += A[N - 1 - i]
        b[0] = total

    assert not is_proved(doubled, once) and not is_proved(once, doubled)


def test_the_answer_names_the_limit() -> None:
    row, tree, _ = lanes(float32)
    found = answer(row, tree, reassociate=True, seconds=0.001)
    assert isinstance(found, Stuck)
    assert found.reason == "not decided within 0.001 s; a longer `timeout` gives it more"
    assert is_proved(row, tree)  # no limit is left behind


def stencil(turned: bool) -> Kernel:
    def forward(A: float32[N], B: float32[N]):
        for _ in range(6):
            for i in range(1, N - 1):
                B[i] = (A[i - 1] + A[i] + A[i + 1]) / 3.0
            for i1 in range(1, N - 1):
                A[i1] = (B[i1 - 1] + B[i1] + B[i1 + 1]) / 3.0

    def turned_around(A: float32[N], B: float32[N]):
        for _ in range(6):
            for i in range(1, N - 1):
                B[i] = (A[i + 1] + A[i - 1] + A[i]) / 3.0
            for i1 in range(1, N - 1):
                A[i1] = (B[i1 + 1] + B[i1 - 1] + B[i1]) / 3.0

    return turned_around if turned else forward


@pytest.mark.slow
def test_stencils_with_their_terms_in_another_order() -> None:
    def wider(A: float32[N], B: float32[N]):
        for _ in range(6):
            for i in range(1, N - 1):
                B[i] = (A[i + 1] + A[i - 1] + A[i]) / 3.0
            for i1 in range(1, N - 1):
                A[i1] = (B[i1 + 1] + B[i1 - 1] + B[i1 - 1]) / 3.0

    assert is_proved(stencil(False), stencil(True)) and not is_proved(stencil(False), wider)
