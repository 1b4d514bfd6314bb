"""unfold: loops become processing elements if these are independent of each other."""

# ruff: noqa: B007, E501, F821 - golden text is not wrapped; kernels declare arrays without a value

from textwrap import dedent

import numpy as np
import pytest

import allo
from allo import customize
from allo.backend.instantiate import instantiate
from allo.customize import Nest, Schedule
from allo.errors import TargetError
from allo.ir.types import index, int32

from .checks import assert_equal, assert_faithful, assert_ir, assert_refused, ir_text, outcome, refusal


def gemm(A: int32[4, 6], B: int32[6, 3], C: int32[4, 3]):
    for i, j in allo.grid(4, 3, name="PE"):
        for k in range(6):
            C[i, j] += A[i, k] * B[k, j]


def heat(A: int32[8]):
    for t in range(3):
        for i in range(1, 7):
            A[i] = A[i] + A[i - 1]


def bounds(A: int32[8, 8]):
    for i in range(8):
        for j in range(i):
            A[i, j] = 0


def strided(A: int32[9], B: int32[9]):
    for i in range(1, 9, 3):
        B[i] = A[i] + 1


def indirect(A: int32[8], P: int32[8]):
    for i in range(8):
        A[P[i]] = i


def element(A: int32[4], B: int32[4], i: index):
    B[i] = A[i] * 2


def elements(A: int32[4], B: int32[4]):
    for i in allo.grid(4, name="PE"):
        element(A, B, i)


def test_loops_are_marked():
    s = customize(gemm)
    assert s.unfold("PE", axes=[0, 1]) == Nest("gemm", "PE")
    assert_ir(
        s,
        """
        func.func @gemm(%arg0: memref<4x6xi32> {allo.name = "A"}, %arg1: memref<6x3xi32> {allo.name = "B"}, %arg2: memref<4x3xi32> {allo.name = "C"}) {
          affine.for %arg3 = 0 to 4 {
            affine.for %arg4 = 0 to 3 {
              affine.for %arg5 = 0 to 6 {
                %0 = affine.load %arg2[%arg3, %arg4] : memref<4x3xi32>
                %1 = arith.extsi %0 : i32 to i65
                %2 = affine.load %arg0[%arg3, %arg5] : memref<4x6xi32>
                %3 = arith.extsi %2 : i32 to i64
                %4 = affine.load %arg1[%arg5, %arg4] : memref<6x3xi32>
                %5 = arith.extsi %4 : i32 to i64
                %6 = arith.muli %3, %5 : i64
                %7 = arith.extsi %6 : i64 to i65
                %8 = arith.addi %1, %7 : i65
                %9 = arith.trunci %8 : i65 to i32
                affine.store %9, %arg2[%arg3, %arg4] : memref<4x3xi32>
              } {allo.name = "k"}
            } {allo.name = "j", allo.spatial}
          } {allo.name = "i", allo.nest = "PE", allo.spatial}
          return
        }
        """,
    )
    assert str(s.get_loops()) == "gemm\n  PE:\n    i  (spatial)\n      j  (spatial)\n        k"
    assert_faithful(gemm, s)


def test_the_name_of_the_paper_and_a_handle():
    s = customize(gemm)
    s.unfold(s.get_loops().PE, axis=[1])
    assert str(s.steps[0]) == 's.unfold("gemm:PE", axis=[1])'
    assert_faithful(gemm, s)


def test_one_axis_needs_no_list():
    s = customize(gemm)
    s.unfold("PE", 0)
    assert str(s.get_loops()).splitlines()[2] == "    i  (spatial)"
    assert_faithful(gemm, s)


def test_every_element_becomes_a_function():
    s = customize(gemm)
    s.unfold("PE", axes=[0, 1])
    made = Schedule(instantiate(s.ir))
    names = [f.name.value for f in made.ir.functions()]
    assert names == [*(f"PE_{i}_{j}" for i in range(4) for j in range(3)), "gemm"]
    assert_ir(
        made,
        """
        func.func @PE_1_2(%arg0: memref<4x3xi32> {allo.name = "C"}, %arg1: memref<4x6xi32> {allo.name = "A"}, %arg2: memref<6x3xi32> {allo.name = "B"}) {
          affine.for %arg3 = 0 to 6 {
            %0 = affine.load %arg0[1, 2] : memref<4x3xi32>
            %1 = arith.extsi %0 : i32 to i65
            %2 = affine.load %arg1[1, %arg3] : memref<4x6xi32>
            %3 = arith.extsi %2 : i32 to i64
            %4 = affine.load %arg2[%arg3, 2] : memref<6x3xi32>
            %5 = arith.extsi %4 : i32 to i64
            %6 = arith.muli %3, %5 : i64
            %7 = arith.extsi %6 : i64 to i65
            %8 = arith.addi %1, %7 : i65
            %9 = arith.trunci %8 : i65 to i32
            affine.store %9, %arg0[1, 2] : memref<4x3xi32>
          } {allo.name = "k"}
          return
        }
        """,
        "PE_1_2",
    )
    assert_equal(outcome(made, gemm), outcome(s, gemm))


def test_positions_of_a_strided_loop():
    s = customize(strided)
    s.unfold("S_i_0", axes=[0])
    made = Schedule(instantiate(s.ir))
    assert [f.name.value for f in made.ir.functions()] == ["S_i_0_0", "S_i_0_1", "S_i_0_2", "strided"]
    assert "[7]" in ir_text(made, "S_i_0_2")
    assert_equal(outcome(made, strided), outcome(s, strided))


def test_a_loop_that_is_no_element_stays_in_each():
    s = customize(gemm)
    s.unfold("PE", axes=[1])
    made = Schedule(instantiate(s.ir))
    assert [f.name.value for f in made.ir.functions()] == ["PE_0", "PE_1", "PE_2", "gemm"]
    assert_equal(outcome(made, gemm), outcome(s, gemm))


def test_a_callee_that_gets_the_position_becomes_elements():
    s = customize(elements)
    s.unfold("PE", axes=[0])
    made = Schedule(instantiate(s.ir))
    assert [f.name.value for f in made.ir.functions()] == ["element_0", "element_1", "element_2", "element_3", "elements"]
    assert_equal(outcome(made, elements), outcome(s, elements))


def test_elements_with_registers_of_their_own_share_a_function():
    s = customize(elements)
    s.unfold("PE", axes=[0])
    s.partition(s.A)
    s.partition(s.B)
    assert [f.name.value for f in instantiate(s.ir).functions()] == ["element_0", "elements"]
    code = s.build(target="vhls").hls_code
    assert "void element_0(const int32_t &A, int32_t &B)" in code and "element_0(A[3], B[3]);" in code
    assert "allocation" not in code
    A, B = np.arange(4, dtype=np.int32), np.zeros(4, np.int32)
    s.build(target="vitis_hls", mode="csim")(A, B)
    assert B.tolist() == [0, 2, 4, 6]


def decided(A: int32[6], B: int32[6]):
    for i in allo.grid(6, name="PE"):
        if i < 2:
            B[i] = A[i] + 1
        elif i > 4:
            B[i] = A[5 - i]
        else:
            B[i] = A[i] * i


def test_decisions_and_numbers_of_the_position_make_classes():
    s = customize(decided)
    s.unfold("PE", axes=[0])
    s.partition(s.A)
    s.partition(s.B)
    names = [f.name.value for f in instantiate(s.ir).functions()]
    assert names == ["PE_0", "PE_2", "PE_3", "PE_4", "PE_5", "decided"]
    A, B = np.arange(3, 9, dtype=np.int32), np.zeros(6, np.int32)
    s.build(target="vitis_hls", mode="csim")(A, B)
    assert B.tolist() == [4, 5, 10, 18, 28, 3]


def doubled(A: int32[4], B: int32[4], i: index):
    total: int32[2]
    for k in range(2):
        total[k] = A[i]
    B[i] = total[0] + total[1]


def nested(A: int32[4], B: int32[4], i: index):
    doubled(A, B, i)


def callers(A: int32[4], B: int32[4], C: int32[4]):
    for i in allo.grid(4, name="PE"):
        nested(A, B, i)
    for j in range(4):
        nested(B, C, j)


def test_a_function_of_elements_stays_for_other_callers():
    s = customize(callers)
    s.unfold("PE", axes=[0])
    s.partition(s.A)
    s.partition(s.B)
    assert [f.name.value for f in instantiate(s.ir).functions()] == ["doubled", "nested", "nested_0", "callers"]
    A, B, C = np.arange(4, dtype=np.int32), np.zeros(4, np.int32), np.zeros(4, np.int32)
    s.build(target="vitis_hls", mode="csim")(A, B, C)
    assert B.tolist() == [0, 2, 4, 6] and C.tolist() == [0, 4, 8, 12]


def test_the_text_does_not_grow_with_the_elements():
    def many(A: int32[64, 64], B: int32[64, 64]):
        for i, j in allo.grid(64, 64, name="PE"):
            B[i, j] = A[i, j] + 1

    s = customize(many)
    s.unfold("PE", axes=[0, 1])
    assert len(str(s.module).splitlines()) < 20
    A, B = np.ones((64, 64), np.int32), np.zeros((64, 64), np.int32)
    s.build()(A, B)
    assert (B == 2).all()


def test_elements_that_depend_on_each_other():
    assert_refused(
        """
        unfold: the processing elements of nest 'S_t_0' are not independent: the statement at line N reads A[i - 1] and writes A[i]: iteration (t=0, i=2) must run before iteration (t=1, i=1)
          note: the statement is here
            File, line N, column 27
              A[i] = A[i] + A[i - 1]
                            ^
          note: the statement is here
            File, line N, column 13
              A[i] = A[i] + A[i - 1]
              ^
        """,
        customize(heat),
        "unfold",
        "S_t_0",
        axes=[1],
    )


def test_elements_that_write_the_same_place():
    s = customize(gemm)
    s.reorder("k", "i", "j")
    assert_refused(
        """
        unfold: the processing elements of nest 'PE' are not independent: the statement at line N reads C[i, j] and writes C[i, j]: iteration (k=0, i=0, j=0) must run before iteration (k=1, i=0, j=0)
          note: the statement is here
            File, line N, column 13
              C[i, j] += A[i, k] * B[k, j]
              ^
        """,
        s,
        "unfold",
        "PE",
        axes=[0],
    )


def test_what_cannot_be_decided():
    s = customize(indirect)
    assert_refused(
        """
        unfold: the processing elements of nest 'S_i_0' are not independent, because it cannot be decided: the statement at line N writes A[?], but it has a subscript that is not affine
          note: the statement is here
            File, line N, column 9
              A[P[i]] = i
              ^
          hint: if you know that it is safe, pass assume_safe=True
        """,
        s,
        "unfold",
        "S_i_0",
        axes=[0],
    )
    s.unfold("S_i_0", axes=[0], assume_safe=True)


def test_no_loops():
    assert_refused(
        """
        unfold: no loops are given
          hint: write s.unfold("gemm:PE", axes=[0])
        """,
        customize(gemm),
        "unfold",
        "PE",
    )


def test_two_names_of_one_parameter():
    assert_refused(
        """
        unfold: axes= and axis= are two names of one parameter
          hint: give one of them
        """,
        customize(gemm),
        "unfold",
        "PE",
        axes=[0],
        axis=[1],
    )


def test_an_axis_twice():
    assert_refused(
        """
        unfold: an axis is given twice in [0, 0]
        """,
        customize(gemm),
        "unfold",
        "PE",
        axes=[0, 0],
    )


def test_an_axis_that_is_not_there():
    assert_refused(
        """
        unfold: nest 'PE' has no axis 3 that could be unfolded
          note: loop 'i' is here
            File, line N, column 5
              for i, j in allo.grid(4, 3, name="PE"):
              ^
          hint: its perfectly nested loops are 0 (i), 1 (j), 2 (k)
        """,
        customize(gemm),
        "unfold",
        "PE",
        axes=[3],
    )


def test_bounds_that_are_not_constant():
    assert_refused(
        """
        unfold: the bounds of loop 'j' are not constants, so it has no fixed number of processing elements
          note: loop 'j' is here
            File, line N, column 9
              for j in range(i):
              ^
        """,
        customize(bounds),
        "unfold",
        "S_i_0",
        axes=[1],
    )


def test_a_loop_that_is_annotated():
    s = customize(gemm)
    s.unroll("j")
    assert_refused(
        """
        unfold: loop 'j' is annotated with unroll=0
          note: loop 'j' is here
            File, line N, column 5
              for i, j in allo.grid(4, 3, name="PE"):
              ^
        """,
        s,
        "unfold",
        "PE",
        axes=[1],
    )


def test_a_nest_that_is_not_there():
    assert_refused(
        """
        unfold: there is no loop nest 'pe'
          hint: the names are PE
        """,
        customize(gemm),
        "unfold",
        "pe",
        axes=[1],
    )


def test_an_unfolded_loop_keeps_its_structure():
    s = customize(gemm)
    s.unfold("PE", axes=[0])
    assert_refused(
        """
        split: loop 'i' is annotated with spatial
          note: loop 'i' is here
            File, line N, column 5
              for i, j in allo.grid(4, 3, name="PE"):
              ^
          hint: change the structure of the loop first, then annotate the new loops
        """,
        s,
        "split",
        "i",
        2,
    )


def rows(A: int32[3, 4], B: int32[3, 4]):
    T: int32[3, 4]
    for i in range(3):
        for j in range(4):
            T[i, j] = A[i, j] * 2
    for u in range(3):
        for v in range(4):
            B[u, v] = T[u, v] + 1


def test_nothing_gets_between_the_loops_of_elements():
    s = customize(rows)
    s.unfold("S_i_0", axes=[1])
    assert_refused(
        """
        buffer_at: nest 'S_i_0' would no longer have processing elements: each element of loop 'j' would do what stands beside it in 'i'
          note: this is in the way
            File, line N, column 5
              for i in range(3):
              ^
          hint: take this step first, then unfold
        """,
        s,
        "buffer_at",
        "T",
        axis="i",
    )


def test_places_of_elements_stay_constants():
    s = customize(rows)
    s.unfold("S_i_0", axes=[0])
    s.split("v", 3)
    assert_refused(
        """
        compute_at: nest 'S_u_1' would no longer have processing elements: the bounds of loop 'i' are not constants, and so are the places of its elements
          note: this is in the way
            File, line N, column 5
              for i in range(3):
              ^
          hint: take this step first, then unfold
        """,
        s,
        "compute_at",
        "i",
        "v.inner",
    )


def test_elements_with_unknown_places_are_not_hardware():
    text = """module attributes {allo.top = "f"} {
      func.func @f(%A: memref<4x4xi32> {allo.name = "A"}) {
        %c = arith.constant 7 : i32
        affine.for %i = 0 to 4 {
          affine.for %j = affine_map<(d0) -> (d0)>(%i) to affine_map<(d0) -> (d0 + 1)>(%i) {
            affine.store %c, %A[%i, %j] : memref<4x4xi32>
          } {allo.name = "j", allo.spatial}
        } {allo.name = "i", allo.nest = "S"}
        return
      } }"""
    with pytest.raises(TargetError) as caught:
        Schedule.from_mlir(text).build(target="vhls")
    assert str(caught.value) == (
        "File \"-\", line 5, column 11: nest 'S' has no processing elements: the bounds of loop 'j' are not constants, and so are the places of its elements\n"
        "  hint: unfold loops with constant bounds and with nothing between them"
    )


@pytest.mark.parametrize("axes", [[0], [1], [0, 1]])
@pytest.mark.parametrize("arrays", ["A", "C", "CA"])
def test_elements_make_the_copies_of_an_outer_loop(arrays, axes):
    s = customize(gemm)
    for array in arrays:
        s.buffer_at(array, "i")
    s.unfold("PE", axes=axes)
    assert s.pseudocode().count("# spatial") == len(axes)
    assert_faithful(gemm, s)
    assert s.verify()


def test_copies_of_an_outer_loop_in_elements():
    s = customize(gemm)
    s.buffer_at("A", "i")
    s.buffer_at("C", "i")
    s.unfold("PE", axes=[0, 1])
    assert s.pseudocode() == dedent(
        """\
        def gemm(A: int32[4, 6], B: int32[6, 3], C: int32[4, 3]):
            for i in range(4, name="PE"):  # spatial
                for j in range(3):  # spatial
                    buf_C: int32[3]
                    buf_A: int32[6]
                    buf_C[j] = C[i, j]
                    for k_init in range(6):
                        buf_A[k_init] = A[i, k_init]
                    for k in range(6):
                        buf_C[j] += buf_A[k] * B[k, j]
                    C[i, j] = buf_C[j]"""
    )
    s.relay("buf_A", "PE", axis=1, depth=2)
    assert_faithful(gemm, s)


def test_a_value_between_the_loops_that_elements_would_share():
    def prefix(A: int32[4, 6], C: int32[4, 6]):
        for i in range(4, name="PE"):
            t: int32 = 0
            for j in range(6):
                t += A[i, j]
                C[i, j] = t

    assert_refused(
        """
        unfold: nest 'PE' has no axis 1 that could be unfolded
          note: loop 'i' is here
            File, line N, column 9
              for i in range(4, name="PE"):
              ^
          hint: its perfectly nested loops are 0 (i)
        """,
        customize(prefix),
        "unfold",
        "PE",
        axes=[1],
    )


def test_a_loop_under_a_condition_is_no_axis():
    def halves(A: int32[4, 6], C: int32[4, 6]):
        for i in range(4, name="PE"):
            C[i, 0] = 1
            if i > 1:
                for j in range(6):
                    C[i, j] = A[i, j]

    message = refusal(customize(halves), "unfold", "PE", axes=[1])
    assert message.startswith("unfold: nest 'PE' has no axis 1 that could be unfolded")
