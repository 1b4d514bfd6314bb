"""partition: the layout in the type of a buffer; values stay."""

# ruff: noqa: E501, F821 - golden text is not wrapped; kernels declare arrays without a value

import itertools

import numpy as np
import pytest
from mlir import ir

import allo
from allo import LayoutConflict, Partition, Schedule, customize
from allo.customize.step.resolve import find_buffer
from allo.ir.module import Module
from allo.ir.types import int32

from .checks import assert_equal, assert_faithful, assert_ir, assert_refused, outcome, parsed, refusal

WEIGHTS = np.arange(8, dtype=np.int32)


def add(A: int32[4, 8], B: int32[4, 8]):
    for i, j in allo.grid(4, 8):
        B[i, j] = A[i, j] + 1


def local(A: int32[8]):
    T: int32[8, 2]
    for i in range(8):
        T[i, 0] = A[i]
        T[i, 1] = A[i] * 2
    for i in range(8):
        A[i] = T[7 - i, 1]


def weigh(A: int32[8]):
    for i in range(8):
        A[i] = A[i] * WEIGHTS[i]


def weigh_twice(A: int32[8]):
    weigh(A)
    for i in range(8):
        A[i] = A[i] + WEIGHTS[i]


def made(A: int32[8]) -> int32[8]:
    B: int32[8]
    for i in range(8):
        B[i] = A[i]
    return B


def uses_made(A: int32[8]):
    C: int32[8] = made(A)
    for i in range(8):
        A[i] = C[i]


def scalar(A: int32[8]):
    t: int32 = A[0]
    for i in range(8):
        A[i] = t


def test_argument():
    s = customize(add)
    assert s.partition("A", Partition.Cyclic, dim=2, factor=4) is None
    assert_ir(
        s,
        """
        func.func @add(%arg0: memref<4x8xi32, #allo.partition<[none, cyclic 4]>> {allo.name = "A"}, %arg1: memref<4x8xi32> {allo.name = "B"}) {
          affine.for %arg2 = 0 to 4 {
            affine.for %arg3 = 0 to 8 {
              %0 = affine.load %arg0[%arg2, %arg3] : memref<4x8xi32, #allo.partition<[none, cyclic 4]>>
              %1 = arith.extsi %0 : i32 to i33
              %c1_i33 = arith.constant 1 : i33
              %2 = arith.addi %1, %c1_i33 : i33
              %3 = arith.trunci %2 : i33 to i32
              affine.store %3, %arg1[%arg2, %arg3] : memref<4x8xi32>
            } {allo.name = "j"}
          } {allo.name = "i", allo.nest = "S_i_j_0"}
          return
        }
        """,
    )
    assert str(s.steps[0]) == 's.partition("add:A", partition_type=Partition.Cyclic, dim=2, factor=4)'
    assert_faithful(add, s)


def test_local_array():
    s = customize(local)
    s.partition("T", Partition.Block, dim=1, factor=3)
    assert_ir(
        s,
        """
        func.func @local(%arg0: memref<8xi32> {allo.name = "A"}) {
          %alloc = memref.alloc() {allo.name = "T"} : memref<8x2xi32, #allo.partition<[block 3, none]>>
          affine.for %arg1 = 0 to 8 {
            %0 = affine.load %arg0[%arg1] : memref<8xi32>
            affine.store %0, %alloc[%arg1, 0] : memref<8x2xi32, #allo.partition<[block 3, none]>>
            %1 = affine.load %arg0[%arg1] : memref<8xi32>
            %2 = arith.extsi %1 : i32 to i34
            %c2_i34 = arith.constant 2 : i34
            %3 = arith.muli %2, %c2_i34 : i34
            %4 = arith.trunci %3 : i34 to i32
            affine.store %4, %alloc[%arg1, 1] : memref<8x2xi32, #allo.partition<[block 3, none]>>
          } {allo.name = "i", allo.nest = "S_i_0"}
          affine.for %arg1 = 0 to 8 {
            %0 = affine.load %alloc[-%arg1 + 7, 1] : memref<8x2xi32, #allo.partition<[block 3, none]>>
            affine.store %0, %arg0[%arg1] : memref<8xi32>
          } {allo.name = "i", allo.nest = "S_i_1"}
          return
        }
        """,
    )
    assert_faithful(local, s)


def test_constant():
    s = customize(weigh)
    s.partition("WEIGHTS", dim=1)
    assert (
        'memref.global "private" constant @weigh_WEIGHTS : memref<8xi32, #allo.partition<[complete]>>'
        in str(s.module)
    )
    assert_ir(
        s,
        """
        func.func @weigh(%arg0: memref<8xi32> {allo.name = "A"}) {
          %0 = memref.get_global @weigh_WEIGHTS : memref<8xi32, #allo.partition<[complete]>> {allo.name = "WEIGHTS"}
          affine.for %arg1 = 0 to 8 {
            %1 = affine.load %arg0[%arg1] : memref<8xi32>
            %2 = arith.extsi %1 : i32 to i64
            %3 = affine.load %0[%arg1] : memref<8xi32, #allo.partition<[complete]>>
            %4 = arith.extsi %3 : i32 to i64
            %5 = arith.muli %2, %4 : i64
            %6 = arith.trunci %5 : i64 to i32
            affine.store %6, %arg0[%arg1] : memref<8xi32>
          } {allo.name = "i", allo.nest = "S_i_0"}
          return
        }
        """,
    )
    assert_faithful(weigh, s)


def test_all_dimensions():
    s = customize(add)
    s.partition(s.A)
    s.partition(s.B, Partition.Block, factor=2)
    text = str(s.module)
    assert "memref<4x8xi32, #allo.partition<[complete, complete]>>" in text
    assert "memref<4x8xi32, #allo.partition<[block 2, block 2]>>" in text
    assert_faithful(add, s)


def test_one_dimension_after_the_other():
    s = customize(add)
    s.partition("A", dim=1)
    s.partition("A", dim=2, factor=2)
    assert "memref<4x8xi32, #allo.partition<[complete, cyclic 2]>>" in str(s.module)
    assert_faithful(add, s)


def test_buffer_of_buffer_at():
    s = customize(add)
    s.partition(s.buffer_at("B", "i"), factor=2)
    assert 'memref.alloc() {allo.name = "buf_B"} : memref<8xi32, #allo.partition<[cyclic 2]>>' in str(
        s.module
    )
    assert_faithful(add, s)


def test_array_partitioned_before_buffer_at():
    s = customize(add)
    s.partition("B", dim=2)
    s.buffer_at("B", "i")
    assert 'memref.alloc() {allo.name = "buf_B"} : memref<8xi32>' in str(s.module)
    assert_faithful(add, s)


def test_printed_module_parses_and_gives_the_same():
    for kernel, buffer in ((add, "A"), (local, "T"), (weigh, "WEIGHTS")):
        s = customize(kernel)
        s.partition(buffer)
        again = Schedule(Module.parse(str(s.module)))
        assert str(again.module) == str(s.module)
        assert_equal(outcome(again, kernel), outcome(s, kernel))


def test_dimension_that_the_array_has_not():
    for dim in (-1, 3):
        assert_refused(
            f"""
            partition: dim must be from 0 to 2 for 'A' of 2 dimensions, got {dim}
              note: 'A' is declared here
                File, line N, column 9
                  def add(A: int32[4, 8], B: int32[4, 8]):
                          ^
            """,
            customize(add),
            "partition",
            "A",
            dim=dim,
        )


def test_scalar():
    assert_refused(
        """
        partition: 't' is a scalar and has no dimension to divide
          note: 't' is declared here
            File, line N, column 5
              t: int32 = A[0]
              ^
        """,
        customize(scalar),
        "partition",
        "t",
    )


def test_factor_for_complete():
    assert_refused(
        """
        partition: a complete partition has no factor, got 2
          note: 'A' is declared here
            File, line N, column 9
              def add(A: int32[4, 8], B: int32[4, 8]):
                      ^
          hint: drop factor=
        """,
        customize(add),
        "partition",
        "A",
        Partition.Complete,
        dim=1,
        factor=2,
    )


def test_factor_below_two():
    assert_refused(
        """
        partition: a block partition needs a factor of at least 2, got 1
          note: 'A' is declared here
            File, line N, column 9
              def add(A: int32[4, 8], B: int32[4, 8]):
                      ^
        """,
        customize(add),
        "partition",
        "A",
        Partition.Block,
        dim=1,
        factor=1,
    )
    assert_refused(
        """
        partition: a cyclic partition needs a factor of at least 2, got 0
          note: 'A' is declared here
            File, line N, column 9
              def add(A: int32[4, 8], B: int32[4, 8]):
                      ^
        """,
        customize(add),
        "partition",
        "A",
        Partition.Cyclic,
        dim=1,
    )


def test_factor_above_the_extent():
    assert_refused(
        """
        partition: factor 5 is larger than the extent 4 of dimension 1
          note: 'A' is declared here
            File, line N, column 9
              def add(A: int32[4, 8], B: int32[4, 8]):
                      ^
        """,
        customize(add),
        "partition",
        "A",
        dim=0,
        factor=5,
    )


def test_two_requests_for_one_dimension_contradict():
    s = customize(add)
    s.partition("A", dim=2, factor=4)
    message = """
        partition: dimension 2 of 'A' is asked to be complete here, but cyclic 4 by an earlier step
          note: 'A' is declared here
            File, line N, column 9
              def add(A: int32[4, 8], B: int32[4, 8]):
                      ^
          note: the earlier step, s.partition("add:A", dim=2, factor=4), is here
            File, line N
              s.partition("A", dim=2, factor=4)
          hint: drop one of the two steps; only requests for different arrays that calls join are combined
        """
    assert_refused(message, s, "partition", "A", dim=2)
    assert_refused(message, s, "partition", "A")
    with pytest.raises(LayoutConflict):
        s.partition("A", dim=2, factor=2)
    s.partition("A", dim=2, factor=4)
    assert "#allo.partition<[none, cyclic 4]>" in str(s.module)


def test_as_many_banks_as_elements_are_complete():
    s = customize(add)
    s.partition("A", dim=1, factor=4)
    s.partition("A", dim=1)
    assert "#allo.partition<[complete, none]>" in str(s.module)


def types_of(schedule):
    return {name: str(find_buffer(schedule.ir, handle).type) for name, handle in schedule.buffers.items() if ":" in name}


def test_layout_travels_into_a_callee():
    s = customize(weigh_twice)
    s.partition("A", factor=2)
    assert types_of(s)["weigh:A"] == types_of(s)["weigh_twice:A"] == "memref<8xi32, #allo.partition<[cyclic 2]>>"
    assert types_of(s)["weigh:WEIGHTS"] == "memref<8xi32>"
    assert_faithful(weigh_twice, s)


def test_layout_travels_to_the_callers():
    s = customize(weigh_twice)
    s.partition("weigh:A", Partition.Block, factor=2)
    assert types_of(s)["weigh_twice:A"] == "memref<8xi32, #allo.partition<[block 2]>>"
    assert_faithful(weigh_twice, s)


def test_layout_travels_through_results():
    for buffer in ("made:B", "C"):
        s = customize(uses_made)
        s.partition(buffer)
        assert types_of(s)["made:B"] == types_of(s)["uses_made:C"] == "memref<8xi32, #allo.partition<[complete]>>"
        assert types_of(s)["made:A"] == "memref<8xi32>"
        assert_faithful(uses_made, s)
    s = customize(made)
    s.partition("B", factor=2)
    assert_faithful(made, s)


def test_layout_travels_to_all_uses_of_a_constant():
    for buffer in ("WEIGHTS", "weigh:WEIGHTS"):
        s = customize(weigh_twice)
        s.partition(buffer, factor=4)
        assert "constant @weigh_WEIGHTS : memref<8xi32, #allo.partition<[cyclic 4]>>" in str(s.module)
        assert types_of(s)["weigh:WEIGHTS"] == types_of(s)["weigh_twice:WEIGHTS"]
        assert_faithful(weigh_twice, s)


def test_requests_that_meet_in_one_array():
    s = customize(weigh_twice)
    s.partition("A", Partition.Cyclic, factor=4)
    s.partition("weigh:A", Partition.Block, factor=2)
    assert types_of(s)["weigh:A"] == types_of(s)["weigh_twice:A"] == "memref<8xi32, #allo.partition<[complete]>>"
    assert_faithful(weigh_twice, s)


def test_order_of_requests_is_of_no_matter():
    requests = [("weigh:A", Partition.Cyclic, 2), ("A", Partition.Cyclic, 4), ("WEIGHTS", Partition.Block, 2)]
    texts = set()
    for order in itertools.permutations(requests):
        s = customize(weigh_twice)
        for buffer, kind, factor in order:
            s.partition(buffer, kind, factor=factor)
        texts.add(str(s.module))
    assert len(texts) == 1


def test_sides_of_a_call_that_disagree_are_no_module():
    s = customize(weigh_twice)
    text = str(s.module).replace("func.func @weigh(%arg0: memref<8xi32>", "func.func @weigh(%arg0: memref<8xi32, #allo.partition<[complete]>>")
    with pytest.raises(ir.MLIRError, match="operand type mismatch"):
        Module.parse(text.replace("%arg0[%arg1] : memref<8xi32>", "%arg0[%arg1] : memref<8xi32, #allo.partition<[complete]>>", 2))


def test_function_without_a_body():
    s = parsed(
        """
        module attributes {allo.top = "g"} {
          func.func private @f() -> memref<8xi32>
          func.func @g() {
            %0 = call @f() {allo.name = "R"} : () -> memref<8xi32>
            return
          }
        }
        """
    )
    assert_refused(
        """
        partition: 'R' goes to or comes from 'f', whose body is not in the module, so that its layout cannot change there
          note: 'R' is declared here
            File, line N, column 18
          note: the call is here
            File, line N, column 18
          hint: copy the array to a local one, and partition that
        """,
        s,
        "partition",
        "R",
    )


def test_extent_known_at_run_time_in_a_callee():
    def inner(A: int32[...]):
        A[0] = 1

    def outer(A: int32[8]):
        inner(A)

    s = customize(outer)
    assert refusal(s, "partition", "A").splitlines()[0] == (
        "partition: 'A' is also 'inner:A', whose extent of dimension 1 is known at run time only"
    )


def test_type_that_is_no_partition():
    message = "partition: partition_type must be one of Partition.Complete, Partition.Block, Partition.Cyclic, got 'Block'"
    assert_refused(message, customize(add), "partition", "A", "Block", factor=2)


def test_several_dimensions_at_once():
    s = customize(add)
    s.partition(s.A, dim=[2, 1])
    other = customize(add)
    other.partition(other.A, dim=0)
    assert str(s.module) == str(other.module)
    assert str(s.steps[0]) == 's.partition("add:A", dim=[2, 1])'
