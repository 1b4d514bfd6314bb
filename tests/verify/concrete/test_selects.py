"""Choices on data in computation graphs: what is known inside of them, and bits of words that are chosen."""

from __future__ import annotations

from typing import Any

import pytest

import allo
from allo.ir.types import float16, float32, float64, int32
from allo.verify import load
from allo.verify.concrete import Equal, compare
from allo.verify.concrete.engine import ExpressionGraph
from allo.verify.concrete.operators import BIT, F32, OpKind, ScalarOperator, ScalarType, select_of
from allo.verify.result import Mismatch

INT = ScalarType(0, 32)


def test_no_memory_for_a_graph() -> None:
    with pytest.raises(MemoryError, match=r"^no memory for 1,125,899,906,842,624 expressions$"):
        ExpressionGraph(1 << 50)


def test_a_condition_inside_of_itself_is_known() -> None:
    graph = ExpressionGraph(1000)
    condition, other, a, b, c = (
        graph.node(ScalarOperator("input", OpKind.LEAF, 0, scalar, str(k), extra=k), 0, 0)
        for k, scalar in enumerate((BIT, BIT, INT, INT, INT))
    )
    inner = graph.node(select_of(INT), condition, a, b)
    assert graph.node(select_of(INT), condition, inner, c) == graph.node(select_of(INT), condition, a, c)
    assert graph.node(select_of(INT), condition, c, inner) == graph.node(select_of(INT), condition, c, b)
    assert graph.node(select_of(INT), condition, a, inner) == inner
    assert graph.node(select_of(INT), other, inner, c) != graph.node(select_of(INT), other, a, c)


def test_sums_and_products_that_leave_a_float_as_it_is() -> None:
    graph = ExpressionGraph(1000)
    x = graph.node(ScalarOperator("input", OpKind.LEAF, 0, F32, "x"), 0, 0)
    add, subtract, multiply = (
        ScalarOperator(f"arith.{name}", kind, 2, F32, "f32 f32 f32", name != "subf")
        for name, kind in (("addf", OpKind.ADDF), ("subf", OpKind.SUBF), ("mulf", OpKind.MULF))
    )
    zero, negative_zero, one = (graph.constant(F32, bits) for bits in (0, 1 << 31, 0x3F800000))
    for same in (
        graph.node(subtract, x, zero),
        graph.node(add, x, negative_zero),
        graph.node(add, negative_zero, x),
        graph.node(multiply, x, one),
        graph.node(multiply, one, x),
    ):
        assert same == x
    for other in (
        graph.node(add, x, zero),
        graph.node(subtract, x, negative_zero),
        graph.node(subtract, zero, x),
        graph.node(multiply, x, zero),
        graph.node(multiply, x, graph.constant(F32, 0xBF800000)),
        graph.node(multiply, x, graph.constant(F32, 1)),
    ):
        assert other != x


@pytest.mark.parametrize("T", [float16, float32, float64], ids=str)
def test_one_of_each_float(T: Any) -> None:
    def copied(x: T[2], y: T[2]):
        for i in range(2):
            y[i] = x[i]

    def scaled(x: T[2], y: T[2]):
        for i in range(2):
            y[i] = x[i] * 1

    def doubled(x: T[2], y: T[2]):
        for i in range(2):
            y[i] = x[i] * 2

    assert isinstance(compare(load(copied), load(scaled)), Equal)
    assert isinstance(compare(load(copied), load(doubled)), Mismatch)


def kernel(A: int32[6, 6], B: int32[6, 6]):
    L: int32[6, 6] = 0
    for i in range(4):
        L[i, i] = 7
        for j in range(2):
            if B[i, j] > 3:
                L[5 - i, i + j] += A[j, i]
    for p, q in allo.grid(6, 6):
        B[p, q] += 5 * L[p, q]


def wrong(A: int32[6, 6], B: int32[6, 6]):
    L: int32[6, 6] = 0
    for i in range(4):
        L[i, i] = 7
        for j in range(2):
            if B[i, j] > 3:
                L[5 - i, i + 1 - j] += A[j, i]
    for p, q in allo.grid(6, 6):
        B[p, q] += 5 * L[p, q]


def packed(of: Any) -> allo.Schedule:
    s = allo.customize(of)
    s.pack("L", dim=2, factor=3)
    s.pack("L", dim=1, factor=3)
    return s


def test_parts_of_words_that_are_changed_on_a_condition() -> None:
    first = load(kernel)
    found = compare(first, load(packed(kernel), like=first))
    assert isinstance(found, Equal) and found.solved == 0  # no bit of 288 is left to the solver
    assert isinstance(compare(first, load(packed(wrong), like=first)), Mismatch)


def rewritten_corner(B: int32[6, 6], last: int32):
    L: int32[6, 6] = 0
    for t in range(300):
        L[5, 5] = t + last
    for p, q in allo.grid(6, 6):
        B[p, q] += 5 * L[p, q]


def another_corner(B: int32[6, 6], last: int32):
    L: int32[6, 6] = 0
    for t in range(300):
        L[5, 4] = t + last
    for p, q in allo.grid(6, 6):
        B[p, q] += 5 * L[p, q]


def test_parts_of_words_behind_many_writes() -> None:
    """More than the 256 levels that a look into a word may branch."""
    first = load(rewritten_corner)
    found = compare(first, load(packed(rewritten_corner), like=first))
    assert isinstance(found, Equal) and found.solved == 0
    assert isinstance(compare(first, load(packed(another_corner), like=first)), Mismatch)
