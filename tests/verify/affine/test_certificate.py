"""Certificates: written by proofs, accepted by the independent checker, rejected when tampered with."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import allo
from allo import Schedule, customize
from allo.ir.types import int8, int16
from allo.verify.affine import Proof, prove
from allo.verify.certificate import problems
from allo.verify.programs import Program, load

from .programs import mutant
from .test_gemm import product, systolic, tiled


def proof(steps: Callable[[Schedule], Any], n: int = 64) -> tuple[Program, Program, dict[str, Any]]:
    s = customize(product(n))
    steps(s)
    a, b = load(customize(product(n))), load(s)
    found = prove(a, b)
    assert isinstance(found, Proof)
    return a, b, json.loads(found.to_json())


@pytest.mark.parametrize("steps", [tiled, systolic], ids=lambda f: f.__name__)
def test_certificates_pass(steps: Callable[[Schedule], Any]) -> None:
    a, b, told = proof(steps)
    assert problems(json.dumps(told), a, b) == ""


def largest(told: dict[str, Any]) -> list[Any]:
    """The obligation on the sums, which recurs."""
    found: list[Any] = max(told["obligations"], key=lambda o: sum(map(len, o[2])))
    return found


def drop_an_obligation(told: dict[str, Any]) -> None:
    told["obligations"].remove(largest(told))


def narrow_a_relation(told: dict[str, Any]) -> None:
    pair = largest(told)
    pair[2] = [text.replace("63", "62") for text in pair[2]]


def relate_other_iterations(told: dict[str, Any]) -> None:
    pair = largest(told)
    pair[2] = [text.replace("-> [", "-> [1 + ", 1) for text in pair[2]]


def equal_pairs_of_other_nodes(told: dict[str, Any]) -> None:
    first, second = told["obligations"][3:5]
    first[0], second[0] = second[0], first[0]


def forget_a_source(told: dict[str, Any]) -> None:
    max(told["origins"][1].values(), key=len).pop()


def claim_another_source(told: dict[str, Any]) -> None:
    for found in told["origins"][1].values():
        for origin in found:
            origin[1] = origin[1].replace("-1 +", "-2 +")


def claim_that_nothing_was_written(told: dict[str, Any]) -> None:
    for found in told["origins"][1].values():
        if len(found) == 1 and found[0][0]:
            found[0][0] = ""


def no_json(told: dict[str, Any]) -> None:
    told.clear()


TAMPERED = [
    drop_an_obligation,
    narrow_a_relation,
    relate_other_iterations,
    equal_pairs_of_other_nodes,
    forget_a_source,
    claim_another_source,
    claim_that_nothing_was_written,
    no_json,
]


@pytest.mark.parametrize("tamper", TAMPERED, ids=lambda f: f.__name__)
def test_tampered_certificates_are_rejected(tamper: Callable[[dict[str, Any]], None]) -> None:
    a, b, told = proof(tiled)
    before = json.dumps(told)
    tamper(told)
    assert json.dumps(told) != before
    assert problems(json.dumps(told), a, b) != ""


def test_tokens_in_another_order_are_rejected() -> None:
    a, b, told = proof(systolic, 4)
    for found in told["origins"][1].values():
        for origin in found:
            origin[1] = origin[1].replace("-> [i2, i0]", "-> [3 - i2, i0]").replace("i2, i0] :", "3 - i2, i0] :")
    assert "token" in problems(json.dumps(told), a, b)


def test_certificate_of_another_program_is_rejected() -> None:
    a, b, told = proof(tiled)
    other = mutant(b, "arith.addf", "arith.subf")
    assert problems(json.dumps(told), a, other) != ""


def test_words_are_checked_too() -> None:
    def kernel(A: int8[8, 4], B: int8[8, 4]):
        for i, j in allo.grid(8, 4):
            B[i, j] = A[i, 3 - j] + 1

    s = customize(kernel)
    s.pack(s.B, dim=1, factor=2)
    a, b = load(customize(kernel)), load(s)
    found = prove(a, b)
    assert isinstance(found, Proof) and problems(found.to_json(), a, b) == ""


def test_operands_may_change_places() -> None:
    def left(A: int16[9], B: int16[9]):
        for i in range(9):
            B[i] = A[i] * 3 + A[8 - i]

    def right(A: int16[9], B: int16[9]):
        for i in range(9):
            B[i] = A[8 - i] + 3 * A[i]

    a, b = load(customize(left)), load(customize(right))
    found = prove(a, b)
    assert isinstance(found, Proof) and problems(found.to_json(), a, b) == ""
