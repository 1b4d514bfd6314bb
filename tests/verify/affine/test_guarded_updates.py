"""Sums (products, minima, ...) whose terms stand under conditions on data, taken in another order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import allo
from allo.ir.module import Module
from allo.ir.types import int8, int32, uint8
from allo.verify import Different, Equivalent
from allo.verify.concrete.compare import Equal, compare
from allo.verify.program.programs import load

type Kernel = Callable[..., Any]


def accumulate(A: int32[6], B: int32[6, 6], V: int8[6]):
    for i in range(6):
        for j in range(6):
            if V[j] > 3:
                A[i] += B[i, j] * 3 + V[j]
            else:
                A[i] -= B[j, i]


def multiply(A: int8[6], B: int8[6, 6], V: int8[6]):
    for i in range(6):
        for j in range(6):
            if V[j] > 3:
                A[i] *= B[i, j]


def bits(A: uint8[6], B: uint8[6, 6], V: int8[6]):
    for i in range(6):
        for j in range(6):
            if V[j] > 3:
                A[i] ^= B[i, j]


def greatest(A: int8[6], B: int8[6, 6], V: int8[6]):
    for i in range(6):
        for j in range(6):
            if V[j] > 3 and B[i, j] < 9:
                A[i] = max(A[i], B[i, j])


def least(A: uint8[6], B: uint8[6, 6], V: int8[6]):
    for i in range(6):
        for j in range(6):
            if V[j] > 3:
                A[i] = min(A[i], B[i, j])


@pytest.mark.parametrize("kernel", [accumulate, multiply, bits, greatest, least], ids=lambda k: k.__name__)
def test_terms_under_conditions_are_exchanged(kernel: Kernel) -> None:
    s = allo.customize(kernel)
    s.reorder("j", "i")
    s.split("i", 3)
    s.reorder("i.inner", "i.outer")
    result = s.verify()
    assert isinstance(result, Equivalent)
    assert "of any size" in str(result)


def accumulate_another(A: int32[6], B: int32[6, 6], V: int8[6]):
    for j in range(6):
        for i in range(6):
            if V[j] >= 3:
                A[i] += B[i, j] * 3 + V[j]
            else:
                A[i] -= B[j, i]


def accumulate_the_last(A: int32[6], B: int32[6, 6], V: int8[6]):
    for j in range(6):
        for i in range(6):
            if V[j] > 3:
                A[i] = B[i, j] * 3 + V[j]
            else:
                A[i] -= B[j, i]


@pytest.mark.parametrize("other", [accumulate_another, accumulate_the_last], ids=lambda k: k.__name__)
def test_another_condition_is_found(other: Kernel) -> None:
    assert isinstance(allo.verify(accumulate, other), Different)


def same_element(A: int32[6], B: int32[6, 6], V: int8[6]):
    for i in range(1, 3):
        for j in range(1, 4):
            for k in range(0, 3):
                if V[j] > 3:
                    A[2 * i] += B[k - j + 3, 3 - k] * 3 + V[j]


def test_terms_under_conditions_are_exchanged_where_programs_are_run_on_expressions() -> None:
    s = allo.customize(same_element)
    s.reorder("k", "j", "i")
    assert isinstance(compare(load(same_element), load(s)), Equal)
    assert not isinstance(compare(load(accumulate), load(accumulate_another)), Equal)


NARROW = """module attributes {{allo.top = "f"}} {{
  func.func @f(%A: memref<6xi32>, %B: memref<6xi32>) attributes {{itypes = "ss", otypes = ""}} {{
    %zero = arith.constant 0 : i32
    %three = arith.constant 3 : i32
    affine.for %i = 0 to 6 {{
      affine.for %j = 0 to 1 {{
        %b = affine.load %B[%j] : memref<6xi32>
        %c = arith.cmpi sgt, %b, %three : i32
        %term = arith.select %c, %b, %zero : i32
        {before}
        %old = affine.load %A[%i] : memref<6xi32>
        %sum = arith.addi %old, {term} : i32
        %cut = arith.trunci %sum : i32 to i8
        %new = arith.extsi %cut : i8 to i32
        affine.store %new, %A[%i] : memref<6xi32>
        {after}
      }}
    }}
    return
  }}
}}"""


def test_an_old_value_that_is_cut_is_not_kept() -> None:
    """Where the condition does not hold, one program keeps all bits of the element, and the other one 8 of them."""
    guarded = Module.parse(NARROW.format(before="scf.if %c {", term="%b", after="}"))
    always = Module.parse(NARROW.format(before="", term="%term", after=""))
    assert isinstance(allo.verify(guarded, always), Different)
    assert isinstance(allo.verify(always, guarded), Different)
