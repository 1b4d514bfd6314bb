"""Maxima of elements that are such maxima themselves, in another order: a table is filled row by row."""

# ruff: noqa: F821 - kernels declare arrays without a value

from functools import cache
from typing import Any

import pytest

from allo import customize
from allo.ir.types import int32
from allo.verify.affine import Proof, prove
from allo.verify.certificate import problems
from allo.verify.program.programs import Program, load

N = 12


def pieces(table: int32[N, N]):
    """The best of a piece: that of it without an end, or of its two parts."""
    for i in range(N - 1, -1, -1):
        for j in range(i + 1, N):
            table[i, j] = max(table[i, j], table[i, j - 1])
            table[i, j] = max(table[i, j], table[i + 1, j])
            for k in range(i + 1, j):
                parts: int32 = table[i, k] + table[k + 1, j]
                table[i, j] = max(table[i, j], parts)


def ends_last(table: int32[N, N]):
    for i in range(N - 1, -1, -1):
        for j in range(i + 1, N):
            table[i, j] = max(table[i, j], table[i + 1, j])
            for k in range(i + 1, j):
                parts: int32 = table[i, k] + table[k + 1, j]
                table[i, j] = max(table[i, j], parts)
            table[i, j] = max(table[i, j], table[i, j - 1])


def by_rows(table: int32[N, N]):
    """Each row is kept apart; an element is added to the pieces behind it as soon as it is known."""
    below: int32[N]
    for back in range(N):
        row: int32[N]
        for j in range(N):
            row[j] = table[N - 1 - back, j]
        for j1 in range(N - back, N):
            if j1 == N - back:
                row[j1] = max(row[j1], table[N - 1 - back, j1 - 1])
            row[j1] = max(row[j1], below[j1])
        for k in range(N - back, N - 1):
            known: int32 = row[k]
            for j2 in range(k + 1, N):
                found: int32 = row[j2]
                if j2 == k + 1:
                    found = max(found, known)
                parts: int32 = known + table[k + 1, j2]
                row[j2] = max(found, parts)
        for j3 in range(N):
            table[N - 1 - back, j3] = row[j3]
            below[j3] = row[j3]


def missing(table: int32[N, N]):
    for i in range(N - 1, -1, -1):
        for j in range(i + 1, N):
            table[i, j] = max(table[i, j], table[i + 1, j])
            for k in range(i + 1, j - 1):
                parts: int32 = table[i, k] + table[k + 1, j]
                table[i, j] = max(table[i, j], parts)
            table[i, j] = max(table[i, j], table[i, j - 1])


def without_an_end(table: int32[N, N]):
    for i in range(N - 1, -1, -1):
        for j in range(i + 1, N):
            for k in range(i + 1, j):
                parts: int32 = table[i, k] + table[k + 1, j]
                table[i, j] = max(table[i, j], parts)
            table[i, j] = max(table[i, j], table[i, j - 1])


def off_by_one(table: int32[N, N]):
    for i in range(N - 1, -1, -1):
        for j in range(i + 1, N):
            table[i, j] = max(table[i, j], table[i + 1, j])
            for k in range(i + 1, j):
                parts: int32 = table[i, k] + table[k, j]
                table[i, j] = max(table[i, j], parts)
            table[i, j] = max(table[i, j], table[i, j - 1])


def other_end(table: int32[N, N]):
    """An element that is no term itself, but one of whose terms are."""
    for i in range(N - 1, -1, -1):
        for j in range(i + 1, N):
            table[i, j] = max(table[i, j], table[i + 1, j])
            for k in range(i + 1, j):
                parts: int32 = table[i, k] + table[k + 1, j]
                table[i, j] = max(table[i, j], parts)
            table[i, j] = max(table[i, j], table[i + 1, j - 1])


def smallest(table: int32[N, N]):
    for i in range(N - 1, -1, -1):
        for j in range(i + 1, N):
            table[i, j] = max(table[i, j], table[i + 1, j])
            for k in range(i + 1, j):
                parts: int32 = table[i, k] + table[k + 1, j]
                table[i, j] = max(table[i, j], parts)
            table[i, j] = min(table[i, j], table[i, j - 1])


@cache
def proved(kernel: Any) -> tuple[Program, Program, Proof]:
    """Two programs that are the same, and the proof."""
    a, b = load(customize(pieces)), load(customize(kernel))
    found = prove(a, b)
    assert isinstance(found, Proof)
    return a, b, found


@pytest.mark.parametrize("kernel", [ends_last, by_rows], ids=lambda f: f.__name__)
def test_elements_that_are_maxima_are_terms(kernel: Any) -> None:
    a, b, found = proved(kernel)
    assert found.sums
    assert problems(found.to_json(), a, b) == ""


NEAR = [missing, without_an_end, off_by_one, other_end, smallest]


@pytest.mark.parametrize("kernel", NEAR, ids=lambda f: f.__name__)
def test_other_terms_are_not_proved(kernel: Any) -> None:
    a, b = load(customize(pieces)), load(customize(kernel))
    assert not isinstance(prove(a, b), Proof)


@pytest.mark.parametrize("kernel", NEAR, ids=lambda f: f.__name__)
def test_a_proof_of_another_program_is_rejected(kernel: Any) -> None:
    a, _, found = proved(ends_last)
    assert problems(found.to_json(), a, load(customize(kernel))) != ""
