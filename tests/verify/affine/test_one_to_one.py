"""Sums with other numbers of equal terms: neither the prover nor the check of certificates takes them to be equal."""

import json
from functools import cache
from typing import Any

import pytest

from allo import customize
from allo.ir.types import int8, int32
from allo.verify.affine import Proof, prove
from allo.verify.certificate import problems
from allo.verify.program.programs import Program, load
from allo.verify.result import Mismatch

N = 12


def many(A: int32[1], b: int32[1]):
    for _ in range(N):
        b[0] += A[0]


def many_apart(A: int32[1], b: int32[1]):
    total: int32 = 0
    for _ in range(N):
        total += A[0]
    b[0] += total


def one(A: int32[1], b: int32[1]):
    b[0] += A[0]


def one_apart(A: int32[1], b: int32[1]):
    total: int32 = 0
    total += A[0]
    b[0] += total


@cache
def program(kernel: Any) -> Program:
    return load(customize(kernel))


@pytest.mark.parametrize(("left", "right"), [(many, one_apart), (one, many_apart), (many, one), (one, many)])
def test_the_prover_matches_terms_one_to_one(left: Any, right: Any) -> None:
    assert not isinstance(prove(program(left), program(right)), Proof)


@pytest.mark.parametrize(("left", "right"), [(many, many_apart), (one, one_apart), (many_apart, many)])
def test_as_many_terms_are_equal(left: Any, right: Any) -> None:
    a, b = program(left), program(right)
    found = prove(a, b)
    assert isinstance(found, Proof)
    assert problems(found.to_json(), a, b) == ""


def told(left: Any, right: Any) -> Any:
    found = prove(program(left), program(right))
    assert isinstance(found, Proof)
    return json.loads(found.to_json())


def spliced(left: Any, right: Any, claims: list[Any], matches: list[Any], sums: tuple[str, str]) -> str:
    """A certificate of the left program of one proof and the right program of another one."""
    states, others = left["sums"][0][2][1], right["sums"][0][2][2]
    for side in (states, others):  # one iteration of the sums on both sides
        side[0] = side[0].replace("{ [11] ->", "{ [] ->")
        for state in side[1]:
            state[3] = state[3].replace("{ [11] ->", "{ [] ->")
    outputs = [[f"output {k}", f"output {k}", "{ [0] -> [0] }"] for k in range(2)]
    certificate = {
        "version": left["version"],
        "form": left["form"],
        "programs": [left["programs"][0], right["programs"][1]],
        "sources": [left["sources"][0], right["sources"][1]],
        "claims": [*outputs, *claims],
        "sums": [[*sums, ["", states, others, matches]]],
    }
    return json.dumps(certificate)


def term(side: Any, name: str) -> int:
    """The number of the term that is one value."""
    return next(k for k, state in enumerate(side[1]) if state[2] < 0 and state[0][0][0] == name)


def test_many_terms_are_not_one() -> None:
    several, single = told(many, many_apart), told(one, one_apart)
    left, right = several["sums"][0], single["sums"][0]
    read, other = several["claims"][2][0], single["claims"][2][1]
    last = single["claims"][3][1]
    claims = [[read, other, "{ [i] -> [] : 0 <= i <= 11 }"], ["initial b", last, "{ [0] -> [] }"]]
    matches = [
        [term(left[2][1], read), term(right[2][2], other), [0], "{ [] -> [[i] -> []] : 0 <= i <= 11 }"],
        [term(left[2][1], "initial b"), term(right[2][2], last), [0], "{ [] -> [[0] -> []] }"],
    ]
    certificate = spliced(several, single, claims, matches, (left[0], right[1]))
    found = problems(certificate, program(many), program(one_apart))
    assert found == "Wrong: terms of sums are not matched one to one"


def test_one_term_is_not_many() -> None:
    several, single = told(many, many_apart), told(one, one_apart)
    left, right = single["sums"][0], several["sums"][0]
    read, other = single["claims"][2][0], several["claims"][2][1]
    first, last = single["claims"][3][0], several["claims"][3][1]
    claims = [[read, other, "{ [] -> [i] : 0 <= i <= 11 }"], [first, last, "{ [] -> [] }"]]
    matches = [
        [term(left[2][1], read), term(right[2][2], other), [0], "{ [] -> [[] -> [i]] : 0 <= i <= 11 }"],
        [term(left[2][1], first), term(right[2][2], last), [0], "{ [] -> [[] -> []] }"],
    ]
    certificate = spliced(single, several, claims, matches, (left[0], right[1]))
    found = problems(certificate, program(one), program(many_apart))
    assert found == "Wrong: terms of sums are not matched one to one"


def forwards(A: int8[4], b: int8[1]):
    for i in range(4):
        b[0] += A[i]


def backwards(A: int8[4], b: int8[1]):
    for i in range(4):
        b[0] += A[3 - i]


def without_the_first(A: int8[4], b: int8[1]):
    for i in range(4):
        b[0] += A[3 - i // 2]


def test_sums_of_few_bits_wrap_in_any_order() -> None:
    assert isinstance(prove(program(forwards), program(backwards)), Proof)
    assert not isinstance(prove(program(forwards), program(without_the_first)), Proof)


def subtracted(A: int8[4], b: int8[1]):
    for i in range(4):
        b[0] -= A[i]


def subtracted_backwards(A: int8[4], b: int8[1]):
    for i in range(4):
        b[0] -= A[3 - i]


def test_terms_that_are_subtracted_are_not_those_that_are_added() -> None:
    assert isinstance(prove(program(subtracted), program(subtracted_backwards)), Proof)
    found = prove(program(forwards), program(subtracted_backwards))
    assert isinstance(found, Mismatch) and found.output == "b"
