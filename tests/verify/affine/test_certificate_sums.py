"""What certificates say of sums in another order: accepted if it is right, rejected when tampered with."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from allo import customize
from allo.ir.types import float32, int32
from allo.verify.affine import Proof, prove
from allo.verify.certificate import problems
from allo.verify.programs import Program, load

N = 12

type Told = dict[str, Any]


def row(c: float32, A: float32[N, N], x: float32[N], b: float32[N]):
    for i in range(N):
        for j in range(N):
            b[i] += c * A[i, j] * x[j]


def lanes(c: float32, A: float32[N, N], x: float32[N], b: float32[N]):
    for i in range(N):
        total: float32 = 0.0
        for turn in range(3):
            p: float32[4] = 0.0
            for lane in range(4):
                p[lane] = A[i, 4 * turn + lane] * x[4 * turn + lane]
            for lane in range(2):
                p[lane] = p[lane] + p[lane + 2]
            total += p[0] + p[1]
        b[i] += c * total


def proof(reassociate: bool = True) -> tuple[Program, Program, Told]:
    a, b = load(customize(row)), load(customize(lanes))
    found = prove(a, b, reassociate=reassociate)
    assert isinstance(found, Proof) and found.sums
    return a, b, json.loads(found.to_json())


def states(told: Told, side: int) -> list[Any]:
    found: list[Any] = told["sums"][0][2][1 + side][1]
    return found


def matches(told: Told) -> list[Any]:
    found: list[Any] = told["sums"][0][2][3]
    return found


def largest(told: Told, side: int) -> list[Any]:
    """The state of the products of elements of A and x, which is a term."""
    found: list[Any] = max((s for s in states(told, side) if s[2] < 0), key=lambda s: len(s[0]))
    return found


def forget_the_sums(told: Told) -> None:
    told["sums"].clear()


def forget_a_match(told: Told) -> None:
    matches(told).pop()


def match_twice(told: Told) -> None:
    matches(told).append(matches(told)[0])


def match_other_factors(told: Told) -> None:
    longest = max(matches(told), key=lambda m: len(m[2]))
    longest[2] = longest[2][1:] + longest[2][:1]


def match_only_a_part(told: Told) -> None:
    for match in matches(told):
        match[3] = match[3].replace(" : ", " : i0 > 0 and ")


def match_other_iterations(told: Told) -> None:
    """Each product with one of another row."""
    for match in matches(told):
        if len(match[2]) == 3:
            match[3] = "{ [i, 11] -> [[i, j, i, j, i, j] -> [i, j, k, l, m]] : 0 <= i, j, k, l, m < 12 }"


def forget_a_state(told: Told) -> None:
    states(told, 1).remove(next(s for s in states(told, 1) if s[2] >= 0 and s is not states(told, 1)[0]))


def forget_an_iteration(told: Told) -> None:
    state = largest(told, 0)
    state[3] = state[3].replace("<= 11", "<= 10")


def add_a_term_twice(told: Told) -> None:
    states(told, 1).append(largest(told, 1))


def another_sign(told: Told) -> None:
    for side in range(2):
        largest(told, side)[1] = True


def a_sum_is_its_own_term(told: Told) -> None:
    for side in range(2):
        states(told, side)[0][2] = -1


def stop_before_the_terms(told: Told) -> None:
    next(s for s in states(told, 1) if s[2] >= 0 and s is not states(told, 1)[0])[2] = -1


def another_operation(told: Told) -> None:
    told["sums"][0][2][0] = "arith.mulf"


def an_operation_with_an_order(told: Told) -> None:
    told["sums"][0][2][0] = "arith.divf"


def several_sums_at_once(told: Told) -> None:
    """Each iteration of the left sum stands for all of them."""
    told["sums"][0][2][1][0] = "{ [i, 11] -> [k, 11] : 0 <= i, k < 12 }"


TAMPERED = [
    forget_the_sums,
    forget_a_match,
    match_twice,
    match_other_factors,
    match_only_a_part,
    match_other_iterations,
    forget_a_state,
    forget_an_iteration,
    add_a_term_twice,
    another_sign,
    a_sum_is_its_own_term,
    stop_before_the_terms,
    another_operation,
    an_operation_with_an_order,
    several_sums_at_once,
]


@pytest.mark.parametrize("tamper", TAMPERED, ids=lambda f: f.__name__)
def test_tampered_certificates_are_rejected(tamper: Callable[[Told], None]) -> None:
    a, b, told = proof()
    before = json.dumps(told)
    assert problems(before, a, b, reassociate=True) == ""
    tamper(told)
    assert json.dumps(told) != before
    assert problems(json.dumps(told), a, b, reassociate=True) != ""


def test_what_is_right_for_reordered_floats_only_is_rejected_without_them() -> None:
    a, b, told = proof()
    assert problems(json.dumps(told), a, b) == "Wrong: the order of terms of n7 matters"


def test_integers_need_no_permission() -> None:
    def forward(A: int32[N], b: int32[1]):
        for i in range(N):
            b[0] += A[i]

    def backward(A: int32[N], b: int32[1]):
        for i in range(N):
            b[0] += A[N - 1 - i]

    def shorter(A: int32[N], b: int32[1]):
        for i in range(1, N):
            b[0] += A[N - i]

    a, b, other = (load(customize(kernel)) for kernel in (forward, backward, shorter))
    found = prove(a, b)
    assert isinstance(found, Proof) and found.sums
    assert problems(found.to_json(), a, b) == ""
    assert problems(found.to_json(), a, other) != ""
