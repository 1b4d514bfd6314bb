"""Reduction trees: the sums of unrolled copies are balanced, to the last bit where that is no matter of rounding."""

from __future__ import annotations

import re

import numpy as np
import pytest

import allo
from allo.ir.types import Fixed, float32, int8, int16, int32, uint8
from allo.verify import Equivalent
from tests.timing.rewrites.same_bits import MANIFEST


def test_eight_copies_make_seven_sums_in_three_levels(after, told) -> None:
    def kernel(A: int32[4, 8], y: int32[4]):
        for i in range(4):
            for u in range(8):
                y[i] += A[i, u]

    s = allo.customize(kernel)
    s.pipeline("i")
    made = after(s, "reduction-trees")
    text = str(made.module)
    assert re.findall(r"partial_sums\w*\"} : memref<(\d)x", text) == ["8", "4", "2"]
    assert [text.count("arith.addi"), text.count("affine.store %"), text.count("affine.load %arg1")] == [4, 4, 1]
    assert told(made) == ["reduction-trees: 8 values that copies combine with y[i] are combined in a tree"]


@pytest.mark.parametrize("element", [int8, int16, int32, uint8, Fixed(12, 5)])
@pytest.mark.parametrize("count", [2, 3, 7])
def test_the_bits_are_those_of_the_sum_in_order(after, element, count: int) -> None:
    def kernel(A: element[5, count, 2], y: element[5]):
        for i in range(5):
            for u in range(count):
                for v in range(2):
                    y[i] -= A[i, u, v]

    s = allo.customize(kernel)
    s.pipeline("i")
    made = after(s, "reduction-trees")
    assert "partial_sums" in str(made.module)
    draw = np.random.default_rng(count)
    kind = {"int8": np.int8, "int16": np.int16, "int32": np.int32, "uint8": np.uint8}.get(str(element), np.float64)
    A = draw.integers(-100, 100, (5, count, 2)).astype(kind)
    y = draw.integers(-100, 100, 5).astype(kind)
    found = []
    for module in (s.ir, made.module):
        given = y.copy()
        MANIFEST.build(module, None, {})(A, given)
        found.append(given)
    assert np.array_equal(*found)


def floats(A: float32[4, 8], y: float32[4]):
    for i in range(4):
        for u in range(8):
            y[i] += A[i, u]


def test_floats_keep_their_order_unless_asked(after, told) -> None:
    s = allo.customize(floats)
    s.pipeline("i")
    made = after(s, "reduction-trees")
    assert "partial_sums" not in str(made.module)
    assert told(made) == [
        "reduction-trees left it: y[i] is a sum of floats, whose order stays without reassociate=True"
    ]
    assert "partial_sums" in str(after(s, "reduction-trees", reassociate=True).module)


def test_reassociated_floats_are_equal_up_to_rounding(after) -> None:
    s = allo.customize(floats)
    s.pipeline("i")
    made = after(s, "reduction-trees", reassociate=True)
    assert isinstance(allo.verify(s, str(made.module), reassociate=True), Equivalent)


def test_guarded_copies_are_left(after) -> None:
    def kernel(A: int32[4, 8], y: int32[4]):
        for i in range(4):
            for u in range(8):
                if A[i, u] > 3:
                    y[i] += A[i, u]

    s = allo.customize(kernel)
    s.pipeline("i")
    assert "partial_sums" not in str(after(s, "reduction-trees").module)


def test_what_is_read_between_two_copies_is_left(after, told) -> None:
    def kernel(A: int32[4, 8], y: int32[4], z: int32[8]):
        for i in range(4):
            for u in range(8):
                y[i] += A[i, u]
                z[u] = y[i]

    s = allo.customize(kernel)
    s.pipeline("i")
    (record,) = told(after(s, "reduction-trees"))
    assert re.fullmatch(
        r"reduction-trees left it: y\[i\] is used between two copies of its update, by line \d+", record
    )


def test_loops_over_time_add_one_after_the_other(after) -> None:
    def kernel(A: int32[4, 8], y: int32[4]):
        for i in range(4):
            for j in range(8):
                y[i] += A[i, j]

    assert "partial_sums" not in str(after(allo.customize(kernel), "reduction-trees").module)


def test_two_sums_in_one_statement_are_left(after, told) -> None:
    def kernel(A: int32[4, 8], y: int32[4]):
        for i in range(4):
            for u in range(8):
                y[i] = y[i] + A[i, u] + A[u // 2, i]

    s = allo.customize(kernel)
    s.pipeline("i")
    made = after(s, "reduction-trees")
    assert told(made) == [
        "reduction-trees left it: several operations combine y[i] with something in each copy"
    ]


def test_loads_and_stores_by_different_operations_are_no_update() -> None:
    """A module from text may load what its map says, and store at a computed place: once a TypeError."""
    text = """module attributes {allo.top = "f"} {
      func.func @f(%A: memref<8xi32> {allo.name = "A"}, %n: index {allo.name = "n"}) {
        %one = arith.constant 1 : i32
        affine.for %i = 0 to 8 {
          %0 = affine.load %A[3] : memref<8xi32>
          %1 = arith.addi %0, %one : i32
          memref.store %1, %A[%i] : memref<8xi32>
        } {allo.name = "i", allo.nest = "i"}
        return
      }
    }"""
    assert allo.estimate(allo.Schedule.from_mlir(text)).cycles is not None
