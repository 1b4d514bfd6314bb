"""reshape: the same elements in memory, seen as an array of another shape."""

# ruff: noqa: E501, F821 - golden text is not wrapped; kernels declare arrays without a value

import numpy as np
import pytest
from mlir import ir

import allo
from allo import Schedule, customize
from allo.customize.array.subscripts import divide_first
from allo.ir.context import context
from allo.ir.module import Module
from allo.ir.types import float32, int32

from .checks import assert_faithful, assert_ir, assert_refused, ir_text, outcome, parsed

WEIGHTS = np.arange(24, dtype=np.int32).reshape(4, 6)
MANY = np.arange(160, dtype=np.float32).reshape(8, 20)


def add(A: int32[4, 12], B: int32[4, 12]):
    for i, j in allo.grid(4, 12):
        B[i, j] = A[i, j] + 1


def local(A: int32[4, 12]):
    T: int32[4, 12]
    for i, j in allo.grid(4, 12):
        T[i, j] = A[i, j] * 2
    for i, j in allo.grid(4, 12):
        A[3 - i, j] = T[i, 11 - j]


def gather(A: int32[4, 6], P: int32[4]):
    T: int32[4, 6]
    for i, j in allo.grid(4, 6):
        T[P[i], j] = A[i, j]
    for i, j in allo.grid(4, 6):
        A[i, j] = T[i, j]


def double(X: int32[4, 6]) -> int32[4, 6]:
    Y: int32[4, 6]
    for i, j in allo.grid(4, 6):
        Y[i, j] = X[i, j] * 2
    return Y


def chain(A: int32[4, 6]) -> int32[4, 6]:
    T: int32[4, 6] = double(A)
    U: int32[4, 6] = double(T)
    return U


def weigh(A: int32[4, 6]):
    for i, j in allo.grid(4, 6):
        A[i, j] = A[i, j] * WEIGHTS[i, j]


def weigh_twice(A: int32[4, 6]):
    weigh(A)
    for i, j in allo.grid(4, 6):
        A[i, j] = A[i, j] + WEIGHTS[3 - i, j]


def weigh_many(A: float32[8, 20]):
    for i, j in allo.grid(8, 20):
        A[i, j] = A[i, j] * MANY[i, j]


def operator(A: float32[8, 8], B: float32[8, 8]) -> float32[8, 8]:
    return allo.matmul(A, B)


def run_time_extent(A: int32[...], B: int32[8]):
    for i in range(8):
        B[i] = A[i]


def scalar(A: int32[8]):
    t: int32 = A[0]
    for i in range(8):
        A[i] = t


def test_argument():
    s = customize(add)
    assert s.reshape("B", (4, 3, 4)) is None
    assert_ir(
        s,
        """
        func.func @add(%arg0: memref<4x12xi32> {allo.name = "A"}, %arg1: memref<4x3x4xi32> {allo.name = "B"}) {
          affine.for %arg2 = 0 to 4 {
            affine.for %arg3 = 0 to 12 {
              %0 = affine.load %arg0[%arg2, %arg3] : memref<4x12xi32>
              %1 = arith.extsi %0 : i32 to i33
              %c1_i33 = arith.constant 1 : i33
              %2 = arith.addi %1, %c1_i33 : i33
              %3 = arith.trunci %2 : i33 to i32
              affine.store %3, %arg1[%arg2, %arg3 floordiv 4, %arg3 mod 4] : memref<4x3x4xi32>
            } {allo.name = "j"}
          } {allo.name = "i", allo.nest = "S_i_j_0"}
          return
        }
        """,
    )
    assert str(s.steps[0]) == 's.reshape("add:B", shape=[4, 3, 4])'


def test_argument_has_the_new_shape_in_python():
    s = customize(add)
    s.reshape("A", [48])
    s.reshape("B", (6, 8))
    a = np.arange(48, dtype=np.int32)
    b = np.zeros((6, 8), np.int32)
    s.build()(a, b)
    np.testing.assert_array_equal(b, a.reshape(6, 8) + 1)


@pytest.mark.parametrize(
    "shape", [(48,), (2, 24), (4, 3, 4), (16, 3), (6, 8), (1, 48, 1), (3, 16), (4, 1, 12)]
)
def test_local_array(shape):
    s = customize(local)
    s.reshape("T", shape)
    assert f"memref<{'x'.join(map(str, shape))}xi32>" in ir_text(s)
    assert_faithful(local, s)


def test_subscripts_computed_at_run_time():
    s = customize(gather)
    s.reshape("T", (2, 12))
    assert_ir(
        s,
        """
        func.func @gather(%arg0: memref<4x6xi32> {allo.name = "A"}, %arg1: memref<4xi32> {allo.name = "P"}) {
          %alloc = memref.alloc() {allo.name = "T"} : memref<2x12xi32>
          affine.for %arg2 = 0 to 4 {
            affine.for %arg3 = 0 to 6 {
              %0 = affine.load %arg0[%arg2, %arg3] : memref<4x6xi32>
              %1 = affine.load %arg1[%arg2] : memref<4xi32>
              %2 = arith.index_cast %1 : i32 to index
              %c2 = arith.constant 2 : index
              %3 = arith.divui %2, %c2 : index
              %c2_0 = arith.constant 2 : index
              %4 = arith.remui %2, %c2_0 : index
              %c6 = arith.constant 6 : index
              %5 = arith.muli %4, %c6 : index
              %6 = arith.addi %5, %arg3 : index
              memref.store %0, %alloc[%3, %6] : memref<2x12xi32>
            } {allo.name = "j"}
          } {allo.name = "i", allo.nest = "S_i_j_0"}
          affine.for %arg2 = 0 to 4 {
            affine.for %arg3 = 0 to 6 {
              %0 = affine.load %alloc[%arg2 floordiv 2, %arg2 * 6 + %arg3 - (%arg2 floordiv 2) * 12] : memref<2x12xi32>
              affine.store %0, %arg0[%arg2, %arg3] : memref<4x6xi32>
            } {allo.name = "j"}
          } {allo.name = "i", allo.nest = "S_i_j_1"}
          return
        }
        """,
    )
    a, b = np.arange(24, dtype=np.int32).reshape(4, 6), np.arange(24, dtype=np.int32).reshape(4, 6)
    order = np.array([2, 0, 3, 1], np.int32)
    s.build()(a, order)
    customize(gather).build()(b, order)
    np.testing.assert_array_equal(a, b)


def test_array_in_several_functions():
    s = customize(chain)
    s.reshape("T", (24,))
    assert "(memref<24xi32>) -> memref<24xi32>" in ir_text(s)
    a = np.arange(24, dtype=np.int32)
    np.testing.assert_array_equal(s.build()(a), a * 4)


def test_constant_that_two_functions_use():
    s = customize(weigh_twice)
    s.reshape("WEIGHTS", (12, 2))
    assert str(s.module).count("memref.get_global @weigh_WEIGHTS : memref<12x2xi32>") == 2
    assert_faithful(weigh_twice, s)


def test_constant_that_prints_as_bytes():
    s = customize(weigh_many)
    s.reshape("MANY", (160,))
    assert_faithful(weigh_many, s)


def test_local_array_and_parallel_loop():
    s = customize(local)
    s.parallel("S_i_j_0.i")
    s.reshape("T", (8, 6))
    assert_faithful(local, s)


def test_printed_module_parses_and_gives_the_same():
    s = customize(weigh_twice)
    s.reshape("WEIGHTS", (3, 8))
    again = Schedule(Module.parse(str(s.module)))
    assert str(again.module) == str(s.module)
    np.testing.assert_array_equal(outcome(again, weigh_twice)[0], outcome(s, weigh_twice)[0])


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("(d0 mod 4) floordiv 2", "(d0 floordiv 2) mod 2"),
        ("(d0 mod 4) floordiv 3", "(d0 mod 4) floordiv 3"),
        ("((d0 mod 24) mod 6) floordiv 3 + d0 ceildiv 2", "(d0 floordiv 3) mod 2 + d0 ceildiv 2"),
        ("((d0 mod 8) floordiv 2) floordiv 2", "((d0 floordiv 2) floordiv 2) mod 2"),
    ],
)
def test_remainders_are_divided_first(text, wanted):
    parsed_map = ir.AffineMapAttr(ir.Attribute.parse(f"affine_map<(d0) -> ({text})>", context())).value
    assert str(divide_first(parsed_map)) == f"(d0) -> ({wanted})"


@pytest.mark.parametrize(
    ("kind", "factor", "shape", "wanted"),
    [
        ("cyclic", 4, (4, 3, 4), "[none, none, complete]"),
        ("cyclic", 6, (2, 2, 6, 2), "[none, none, cyclic 3, complete]"),
        ("block", 3, (4, 3, 4), "[none, complete, none]"),
        ("cyclic", 4, (48,), "[cyclic 4]"),
        ("complete", 0, (8, 6), "[cyclic 2, complete]"),
    ],
)
def test_banks_stay(kind, factor, shape, wanted):
    s = customize(local)
    s.partition("T", allo.Partition(kind), dim=2, factor=factor)
    s.reshape("T", shape)
    assert f"memref<{'x'.join(map(str, shape))}xi32, #allo.partition<{wanted}>>" in ir_text(s)
    assert_faithful(local, s)


def test_a_new_shape_can_be_divided_anew():
    s = customize(add)
    s.partition("A", dim=2, factor=2)
    s.reshape("A", (4, 3, 4))
    s.partition("A", dim=2)
    s.partition("A", dim=3, factor=4)
    assert "memref<4x3x4xi32, #allo.partition<[none, complete, complete]>>" in ir_text(s)
    with pytest.raises(allo.ScheduleError, match="dimension 2 of 'A' is asked to be cyclic 2 here, but complete"):
        s.partition("A", dim=2, factor=2)


@pytest.mark.parametrize(
    ("kind", "factor", "shape", "wanted"),
    [
        ("cyclic", 5, (12, 4), "[cyclic 3, complete]"),
        ("cyclic", 5, (2, 24), "[none, cyclic 12]"),
        ("cyclic", 8, (8, 6), "[cyclic 2, complete]"),
        ("block", 5, (4, 3, 4), "[none, complete, complete]"),
    ],
)
def test_banks_that_are_no_partition_of_the_new_shape_stay_apart(kind, factor, shape, wanted):
    s = customize(local)
    s.partition("T", allo.Partition(kind), dim=2, factor=factor)
    s.reshape("T", shape)
    assert f"memref<{'x'.join(map(str, shape))}xi32, #allo.partition<{wanted}>>" in ir_text(s)
    assert_faithful(local, s)


def declared():
    return parsed(
        """
        module attributes {allo.top = "g"} {
          func.func private @f(memref<2x2xi32>)
          func.func @g(%A: memref<2x2xi32> {allo.name = "A"}) {
            call @f(%A) : (memref<2x2xi32>) -> ()
            return
          }
        }
        """
    )


def copied():
    return parsed(
        """
        module attributes {allo.top = "g"} {
          func.func @g(%A: memref<2x2xi32> {allo.name = "A"}, %B: memref<2x2xi32> {allo.name = "B"}) {
            memref.copy %A, %B : memref<2x2xi32> to memref<2x2xi32>
            return
          }
        }
        """
    )


def test_other_number_of_elements():
    assert_refused(
        """
        reshape: 'A' of shape [4, 12] has 48 elements, and shape [4, 10] has 40
          note: 'A' is declared here
            File, line N, column 9
              def add(A: int32[4, 12], B: int32[4, 12]):
                      ^
        """,
        customize(add),
        "reshape",
        "A",
        (4, 10),
    )


def test_extent_below_one():
    assert_refused(
        """
        reshape: a shape is one or more extents of at least 1, got [-4, -12]
          note: 'A' is declared here
            File, line N, column 9
              def add(A: int32[4, 12], B: int32[4, 12]):
                      ^
        """,
        customize(add),
        "reshape",
        "A",
        (-4, -12),
    )


def test_shape_that_is_no_list():
    assert_refused(
        """
        reshape: shape must be a list or a tuple, got 48
        """,
        customize(add),
        "reshape",
        "A",
        48,
    )


def test_extent_that_is_no_integer():
    assert_refused(
        """
        reshape: each of shape must be an integer, got 4.0
        """,
        customize(add),
        "reshape",
        "A",
        (4.0, 12),
    )


def test_scalar():
    assert_refused(
        """
        reshape: 't' is a scalar and has no shape
          note: 't' is declared here
            File, line N, column 5
              t: int32 = A[0]
              ^
        """,
        customize(scalar),
        "reshape",
        "t",
        (1,),
    )


def test_run_time_extent():
    assert_refused(
        """
        reshape: 'A' has an extent that is known at run time only
          note: 'A' is declared here
            File, line N, column 21
              def run_time_extent(A: int32[...], B: int32[8]):
                                  ^
          hint: declare the argument with all extents
        """,
        customize(run_time_extent),
        "reshape",
        "A",
        (4, 2),
    )


def test_banks_of_too_many_elements():
    def large(A: int32[2048, 4096]):
        A[0, 0] = 1

    s = customize(large)
    s.partition("A", dim=2, factor=5)
    assert_refused(
        """
        reshape: 'A' is partitioned, [none, cyclic 5], no partition of shape [8388608] has the same banks, and it has too many elements to find one that keeps them apart
          note: 'A' is declared here
            File, line N, column 15
              def large(A: int32[2048, 4096]):
                        ^
          note: the earlier step, s.partition("large:A", dim=2, factor=5), is here
            File, line N
              s.partition("A", dim=2, factor=5)
          hint: reshape first, then partition
        """,
        s,
        "reshape",
        "A",
        (8388608,),
    )


def test_function_without_a_body():
    assert_refused(
        """
        reshape: 'A' cannot be reshaped: 'f', which it is passed to, has no body here
          note: the statement is here
            File, line N, column 13
        """,
        declared(),
        "reshape",
        "A",
        (4,),
    )


def test_operator_on_the_whole_array():
    assert_refused(
        """
        reshape: 'A' cannot be reshaped: a statement uses it as a whole (linalg.matmul)
          note: the statement is here
            File, line N, column 12
              return allo.matmul(A, B)
                     ^
          hint: allo.customize(kernel, lower_linalg=True) makes loops of it
        """,
        customize(operator),
        "reshape",
        "A",
        (4, 16),
    )


def test_use_as_a_whole():
    assert_refused(
        """
        reshape: 'A' cannot be reshaped: a statement uses it as a whole (memref.copy)
          note: the statement is here
            File, line N, column 13
        """,
        copied(),
        "reshape",
        "A",
        (4,),
    )
