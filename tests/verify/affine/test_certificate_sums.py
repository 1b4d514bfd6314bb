"""What certificates say of sums in another order: accepted if it is right, rejected when tampered with."""

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from allo import customize
from allo.ir.types import float32, int32
from allo.verify.affine import Proof, prove
from allo.verify.certificate import problems
from allo.verify.program.programs import Program, load

from .test_products import masked

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


@cache
def proved() -> tuple[Program, Program, str]:
    a, b = load(customize(row)), load(customize(lanes))
    found = prove(a, b, reassociate=True)
    assert isinstance(found, Proof) and found.sums
    return a, b, found.to_json()


def proof() -> tuple[Program, Program, Told]:
    a, b, text = proved()
    return a, b, json.loads(text)


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


def match_another_term(told: Told) -> None:
    """The products with the elements of b."""
    first, second = matches(told)
    first[1], second[1] = second[1], first[1]


TAMPERED: dict[Callable[[Told], None], str] = {
    forget_the_sums: "Wrong: nothing shows that output 2 and output 2 are equal where it is claimed",
    forget_a_match: "Wrong: a term of a sum is not matched once",
    match_twice: "Wrong: a term of a sum is not matched once",
    match_other_factors: "Wrong: nothing shows that argument 0 and n11 are equal where it is needed",
    match_only_a_part: "Wrong: a term of a sum is not matched once",
    match_other_iterations: "Wrong: terms of sums are not matched one to one",
    forget_a_state: "Wrong: the certificate does not tell all terms of n32",
    forget_an_iteration: "Wrong: the terms told of n7 are not those of its operands",
    add_a_term_twice: "Wrong: the terms told of n32 are not those of its operands",
    another_sign: "Wrong: the certificate does not tell all terms of n7",
    a_sum_is_its_own_term: "Wrong: n7 is said to be its own term, or an iteration of both sums is not one of each",
    stop_before_the_terms: "Wrong: the terms told of n32 are not those of its operands",
    another_operation: "Wrong: n7 cannot be taken apart",
    an_operation_with_an_order: "Wrong: `arith.divf` has an order",
    match_another_term: "Wrong: two terms of sums are different",
    several_sums_at_once: "Wrong: n7 is said to be its own term, or an iteration of both sums is not one of each",
}


@pytest.mark.parametrize("tamper", TAMPERED, ids=lambda f: f.__name__)
def test_tampered_certificates_are_rejected(tamper: Callable[[Told], None]) -> None:
    a, b, told = proof()
    before = json.dumps(told)
    assert problems(before, a, b, reassociate=True) == ""
    tamper(told)
    assert json.dumps(told) != before
    assert problems(json.dumps(told), a, b, reassociate=True) == TAMPERED[tamper]


def test_what_is_right_for_reordered_floats_only_is_rejected_without_them() -> None:
    a, b, told = proof()
    assert problems(json.dumps(told), a, b) == "Wrong: the order of terms of n7 matters"


def test_a_term_that_is_added_several_times_is_rejected() -> None:
    def first(A: int32[1], b: int32[1]):
        for _ in range(N):
            b[0] += A[0]

    def last(A: int32[1], b: int32[1]):
        total: int32 = 0
        for _ in range(N):
            total += A[0]
        b[0] += total

    a, b = load(customize(first)), load(customize(last))
    found = prove(a, b)
    assert isinstance(found, Proof)
    told = json.loads(found.to_json())
    for state in states(told, 0):
        if state[2] < 0 and state[0][0][0] != "initial b":
            state[2] = 0  # all of these reads see one element
    assert problems(json.dumps(told), a, b) == "Wrong: a term is added more than once"


def test_a_factor_of_zero_must_have_a_value() -> None:
    a, b, _ = (load(customize(kernel)) for kernel in masked(float32))
    found = prove(a, b, reassociate=True)
    assert isinstance(found, Proof)
    told = json.loads(found.to_json())
    assert problems(json.dumps(told), a, b, reassociate=True) == ""
    told["claims"] = [one for one in told["claims"] if one[0] != "a value"]
    wrong = "Wrong: nothing shows that a value and {} are equal where it is needed"
    assert problems(json.dumps(told), a, b, reassociate=True) == wrong.format("n13")


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
