"""Conditions on loop variables: which values are taken where, and comparisons that the method leaves alone."""

from __future__ import annotations

import itertools

import pytest

from allo import customize
from allo.ir.types import int32, uint8, uint32
from allo.verify.affine import Proof, prove
from allo.verify.program.programs import load
from allo.verify.result import Mismatch, Stuck


def less(A: int32[8], B: int32[8]):
    for i in range(8):
        B[i] = A[i] if i < 5 else 0


def less_or_equal(A: int32[8], B: int32[8]):
    for i in range(8):
        B[i] = A[i] if i <= 4 else 0


def not_greater(A: int32[8], B: int32[8]):
    for i in range(8):
        B[i] = 0 if i > 4 else A[i]


def shifted(A: int32[8], B: int32[8]):
    for i in range(8):
        B[i] = A[i] if i + 3 < 8 else 0


def turned(A: int32[8], B: int32[8]):
    for i in range(8):
        B[i] = A[i] if 5 > i else 0  # noqa: SIM300


def apart(A: int32[8], B: int32[8]):
    for i in range(5):
        B[i] = A[i]
    for j in range(5, 8):
        B[j] = 0


SAME = (less, less_or_equal, not_greater, shifted, turned, apart)


def equal(A: int32[8], B: int32[8]):
    for i in range(8):
        B[i] = A[i] if i == 5 else 0


def unequal(A: int32[8], B: int32[8]):
    for i in range(8):
        B[i] = A[i] if i != 5 else 0


def less_by_one(A: int32[8], B: int32[8]):
    for i in range(8):
        B[i] = A[i] if i < 4 else 0


def greater(A: int32[8], B: int32[8]):
    for i in range(8):
        B[i] = A[i] if i > 4 else 0


def greater_or_equal(A: int32[8], B: int32[8]):
    for i in range(8):
        B[i] = A[i] if i >= 4 else 0


OTHERS = (equal, unequal, less_by_one, greater, greater_or_equal)


def name(kernel):
    return kernel.__name__


@pytest.mark.parametrize(("one", "other"), list(itertools.pairwise((*SAME, less))))
def test_the_same_values_are_taken(one, other):
    assert isinstance(prove(load(customize(one)), load(customize(other))), Proof)


@pytest.mark.parametrize("other", OTHERS, ids=name)
def test_other_values_are_taken(other):
    assert not isinstance(prove(load(customize(less)), load(customize(other))), Proof)
    assert isinstance(prove(load(customize(other)), load(customize(other))), Proof)


def unsigned(A: int32[8], B: int32[8]):
    for i in range(8):
        B[i] = A[i] if uint32(i) < uint32(5) else 0


def unsigned_by_one(A: int32[8], B: int32[8]):
    for i in range(8):
        B[i] = A[i] if uint32(i) < uint32(6) else 0


def test_comparisons_without_a_sign_are_operations_like_others():
    assert isinstance(prove(load(customize(unsigned)), load(customize(unsigned))), Proof)
    assert not isinstance(prove(load(customize(unsigned)), load(customize(less))), Proof)
    assert not isinstance(prove(load(customize(unsigned)), load(customize(unsigned_by_one))), Proof)


def until_the_end(A: int32[8]):
    k: int32 = 0
    while k < 8:
        A[0] = k
        k += 2


def test_a_loop_without_a_count_is_not_understood():
    program = load(customize(until_the_end))
    found = prove(program, program)
    assert isinstance(found, Stuck) and found.reason == "a `while` loop is not understood"


def bits_of_a_choice(A: uint32[8], B: uint32[8], D: int32[8], C: uint8[8]):
    for i in range(8):
        word: uint32 = A[i] if D[i] > 0 else B[i]
        C[i] = word[0:8]


def choice_of_bits(A: uint32[8], B: uint32[8], D: int32[8], C: uint8[8]):
    for i in range(8):
        C[i] = A[i][0:8] if D[i] > 0 else B[i][0:8]


def choice_of_other_bits(A: uint32[8], B: uint32[8], D: int32[8], C: uint8[8]):
    for i in range(8):
        C[i] = A[i][0:8] if D[i] > 0 else B[i][1:9]


def test_bits_of_a_choice_are_a_choice_of_bits():
    word, bits, others = (
        load(customize(k)) for k in (bits_of_a_choice, choice_of_bits, choice_of_other_bits)
    )
    assert isinstance(prove(word, bits), Proof) and isinstance(prove(bits, word), Proof)
    assert not isinstance(prove(word, others), Proof)


def results(A: int32[4], n: int32) -> (int32, int32):
    return A[0] + n, A[1] * n


def other_results(A: int32[4], n: int32) -> (int32, int32):
    return n + A[0], n * A[1]


def swapped_results(A: int32[4], n: int32) -> (int32, int32):
    return A[1] * n, A[0] + n


def test_results_are_compared_in_their_order():
    one, same, other = (load(customize(k)) for k in (results, other_results, swapped_results))
    assert isinstance(prove(one, same), Proof)
    found = prove(one, other)
    assert isinstance(found, Mismatch) and found.output == "result 0"
