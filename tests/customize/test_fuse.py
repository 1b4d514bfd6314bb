"""fuse: perfectly nested loops, or loops in a row, as one."""

# ruff: noqa: E501 - golden text is not wrapped

from textwrap import dedent

import allo
from allo import customize
from allo.customize import Loop
from allo.ir.types import int32

from .checks import assert_faithful, assert_ir, assert_refused, assert_same_meaning, parsed


def add(A: int32[4, 6], B: int32[4, 6]):
    for i, j in allo.grid(4, 6):
        B[i, j] = A[i, j] + i


def cube(A: int32[3, 4, 5]):
    for i, j, k in allo.grid(3, 4, 5):
        A[i, j, k] += i * 20 + j * 5 + k


def steps(A: int32[8, 8]):
    for i in range(1, 8, 3):
        for j in range(2, 7, 2):
            A[i, j] += 1


def triangle(A: int32[8, 8]):
    for i in range(8):
        for j in range(i):
            A[i, j] += i


def row(A: int32[8, 8]):
    for i in range(8):
        A[i, 0] = 0
        for j in range(1, 8):
            A[i, j] = A[i, j - 1] + 1


def never(A: int32[8, 8]):
    for i in range(3):
        for j in range(2, 2):
            A[i, j] = 1


def named(A: int32[4, 4, 2]):
    for i, j, i_j_fused in allo.grid(4, 4, 2):
        A[i, j, i_j_fused] += 1


def two(A: int32[8, 8], B: int32[8, 8]):
    for i, j in allo.grid(8, 8):
        A[i, j] += 1
    for m, n in allo.grid(8, 8):
        B[m, n] += 1


def row_of_loops(A: int32[16], B: int32[16], C: int32[16], D: int32[16]):
    for i in range(16):
        t: int32 = A[i]
        B[i] = t + 1
    for i in range(12):
        t: int32 = B[i]
        C[i] = t * 2
    for k in range(2, 12, 2):
        D[k] = A[k] * 3


def rows_of_triangles(A: int32[8, 8], B: int32[8, 8], C: int32[8, 8]):
    for i in range(8):
        for j in range(i, 8):
            B[i, j] = A[i, j] + 1
        for j in range(i, 8):
            C[i, j] = A[i, j] * B[i, j]
        for k in range(i):
            C[i, k] = 0


def backwards(A: int32[16], B: int32[16], C: int32[16]):
    for i in range(16):
        B[i] = A[i] + 1
    for j in range(16):
        C[j] = B[15 - j] * 2


def in_between(A: int32[16], B: int32[16], C: int32[16]):
    for i in range(16):
        A[i] = 1
    B[0] = A[0]
    for j in range(16):
        C[j] = B[j] * 2


def test_two_loops():
    s = customize(add)
    assert s.fuse("i", "j") == Loop("add", "S_i_j_0", "i_j_fused")
    assert_ir(
        s,
        """
        func.func @add(%arg0: memref<4x6xi32> {allo.name = "A"}, %arg1: memref<4x6xi32> {allo.name = "B"}) {
          affine.for %arg2 = 0 to 24 {
            %0 = affine.apply affine_map<(d0) -> (d0 floordiv 6)>(%arg2)
            %1 = affine.load %arg0[%arg2 floordiv 6, %arg2 mod 6] : memref<4x6xi32>
            %2 = arith.extsi %1 : i32 to i33
            %3 = arith.index_cast %0 : index to i33
            %4 = arith.addi %2, %3 : i33
            %5 = arith.trunci %4 : i33 to i32
            affine.store %5, %arg1[%arg2 floordiv 6, %arg2 mod 6] : memref<4x6xi32>
          } {allo.name = "i_j_fused", allo.nest = "S_i_j_0", allo.scheduled}
          return
        }
        """,
    )
    assert_faithful(add, s)


def test_three_loops():
    s = customize(cube)
    s.fuse("i", "j", "k")
    assert_ir(
        s,
        """
        func.func @cube(%arg0: memref<3x4x5xi32> {allo.name = "A"}) {
          affine.for %arg1 = 0 to 60 {
            %0 = affine.apply affine_map<(d0) -> (d0 floordiv 20)>(%arg1)
            %1 = affine.apply affine_map<(d0) -> ((d0 floordiv 5) mod 4)>(%arg1)
            %2 = affine.apply affine_map<(d0) -> (d0 mod 5)>(%arg1)
            %3 = affine.load %arg0[%arg1 floordiv 20, (%arg1 floordiv 5) mod 4, %arg1 mod 5] : memref<3x4x5xi32>
            %4 = arith.extsi %3 : i32 to i40
            %5 = arith.index_cast %0 : index to i37
            %c20_i37 = arith.constant 20 : i37
            %6 = arith.muli %5, %c20_i37 : i37
            %7 = arith.extsi %6 : i37 to i38
            %8 = arith.index_cast %1 : index to i35
            %c5_i35 = arith.constant 5 : i35
            %9 = arith.muli %8, %c5_i35 : i35
            %10 = arith.extsi %9 : i35 to i38
            %11 = arith.addi %7, %10 : i38
            %12 = arith.extsi %11 : i38 to i39
            %13 = arith.index_cast %2 : index to i39
            %14 = arith.addi %12, %13 : i39
            %15 = arith.extsi %14 : i39 to i40
            %16 = arith.addi %4, %15 : i40
            %17 = arith.trunci %16 : i40 to i32
            affine.store %17, %arg0[%arg1 floordiv 20, (%arg1 floordiv 5) mod 4, %arg1 mod 5] : memref<3x4x5xi32>
          } {allo.name = "i_j_k_fused", allo.nest = "S_i_j_k_0", allo.scheduled}
          return
        }
        """,
    )
    assert_faithful(cube, s)


def test_bounds_and_steps():
    s = customize(steps)
    s.fuse("i", "j")
    assert_ir(
        s,
        """
        func.func @steps(%arg0: memref<8x8xi32> {allo.name = "A"}) {
          affine.for %arg1 = 0 to 9 {
            %0 = affine.load %arg0[(%arg1 floordiv 3) * 3 + 1, %arg1 * 2 - (%arg1 floordiv 3) * 6 + 2] : memref<8x8xi32>
            %1 = arith.extsi %0 : i32 to i33
            %c1_i33 = arith.constant 1 : i33
            %2 = arith.addi %1, %c1_i33 : i33
            %3 = arith.trunci %2 : i33 to i32
            affine.store %3, %arg0[(%arg1 floordiv 3) * 3 + 1, %arg1 * 2 - (%arg1 floordiv 3) * 6 + 2] : memref<8x8xi32>
          } {allo.name = "i_j_fused", allo.nest = "S_i_0", allo.scheduled}
          return
        }
        """,
    )
    assert_faithful(steps, s)


def test_inner_loops_of_a_nest():
    s = customize(cube)
    s.fuse("j", "k")
    assert [loop.name for loop in s.get_loops()["S_i_j_k_0"]] == ["i", "j_k_fused"]
    assert_faithful(cube, s)


def test_split_and_fused_again():
    s = customize(add)
    outer, _ = s.split("j", 4)
    s.fuse("i", outer)
    assert [loop.name for loop in s.get_loops()["S_i_j_0"]] == ["i_j.outer_fused", "j.inner"]
    assert_faithful(add, s)


def test_loops_that_never_run():
    s = customize(never)
    s.fuse("i", "j")
    assert "affine.for %arg1 = 0 to 0" in str(s.module)
    assert_faithful(never, s)


def test_one_loop():
    assert_refused("fuse: at least two loops are needed, got 1", customize(add), "fuse", "i")


def test_loops_in_the_wrong_order():
    assert_refused(
        """
        fuse: the loops are not given from the outermost to the innermost
          hint: write s.fuse("i", "j")
        """,
        customize(cube),
        "fuse",
        "j",
        "i",
    )


def test_loop_between():
    assert_refused(
        """
        fuse: loops 'i' and 'k' are not directly nested: 'j' is between them
          note: loop 'j' is here
            File, line N, column 5
              for i, j, k in allo.grid(3, 4, 5):
              ^
        """,
        customize(cube),
        "fuse",
        "i",
        "k",
    )


def test_loop_given_twice():
    assert_refused(
        """
        fuse: loop 'i' is given twice
          note: loop 'i' is here
            File, line N, column 5
              for i, j, k in allo.grid(3, 4, 5):
              ^
        """,
        customize(cube),
        "fuse",
        "i",
        "i",
    )


def test_statement_between():
    assert_refused(
        """
        fuse: loop 'j' is not perfectly nested in 'i'
          note: this statement stands between them
            File, line N, column 9
              A[i, 0] = 0
              ^
          note: loop 'j' is here
            File, line N, column 9
              for j in range(1, 8):
              ^
          hint: move the statements between them into a loop nest of their own
        """,
        customize(row),
        "fuse",
        "i",
        "j",
    )


def test_loops_of_different_nests():
    assert_refused(
        """
        fuse: loops 'n' and 'j' are not nested in each other
          note: loop 'n' is here
            File, line N, column 5
              for m, n in allo.grid(8, 8):
              ^
          note: loop 'j' is here
            File, line N, column 5
              for i, j in allo.grid(8, 8):
              ^
        """,
        customize(two),
        "fuse",
        "j",
        "n",
    )


def test_bounds_that_are_not_constants():
    assert_refused(
        """
        fuse: the bounds of loop 'j' are not constants
          note: loop 'j' is here
            File, line N, column 9
              for j in range(i):
              ^
        """,
        customize(triangle),
        "fuse",
        "i",
        "j",
    )


def test_pipelined_loop():
    s = customize(add)
    s.pipeline("j")
    assert_refused(
        """
        fuse: loop 'j' is annotated with pipeline=1
          note: loop 'j' is here
            File, line N, column 5
              for i, j in allo.grid(4, 6):
              ^
          hint: change the structure of the loop first, then annotate the new loops
        """,
        s,
        "fuse",
        "i",
        "j",
    )


def test_name_that_is_taken():
    assert_refused(
        """
        fuse: the nest 'S_i_j_i_j_fused_0' already has a loop 'i_j_fused'
          note: loop 'i' is here
            File, line N, column 5
              for i, j, i_j_fused in allo.grid(4, 4, 2):
              ^
        """,
        customize(named),
        "fuse",
        "i",
        "j",
    )


def test_more_iterations_than_64_bits_count():
    s = parsed(
        """
        module attributes {allo.top = "f"} {
          func.func @f() {
            affine.for %i = 0 to 4294967296 {
              affine.for %j = 0 to 4294967296 { } {allo.name = "j"}
            } {allo.name = "i", allo.nest = "S_i_0"}
            return
          }
        }
        """
    )
    assert_refused(
        """
        fuse: the fused loop would have 18446744073709551616 iterations, more than 64 bits can count
        """,
        s,
        "fuse",
        "i",
        "j",
    )


def test_tail_of_a_split_between_moves_inwards():
    s = customize(add)
    _, inner = s.split("i", 3)
    s.fuse(inner, "j")
    assert str(s.get_loops()) == "add\n  S_i_j_0:\n    i.outer\n      i.inner_j_fused"
    assert_faithful(add, s)


def test_loops_in_a_row():
    s = customize(row_of_loops)
    assert s.fuse("S_i_0.i", "S_i_1.i", "k") == Loop("row_of_loops", "S_k_2", "i_i_k_fused")
    assert s.pseudocode().replace("i_i_k_fused", "f") == dedent(
        """\
        def row_of_loops(A: int32[16], B: int32[16], C: int32[16], D: int32[16]):
            for f in range(16):
                t: int32
                t = A[f]
                B[f] = t + 1
                if f <= 11:
                    t_1: int32
                    t_1 = B[f]
                    C[f] = t_1 * 2
                if f <= 4:
                    D[2 * f + 2] = A[2 * f + 2] * 3"""
    )
    assert_faithful(row_of_loops, s)
    assert s.verify()


def test_loops_in_a_row_inside_of_another():
    s = customize(rows_of_triangles)
    s.fuse("j", "j_1")
    assert_ir(
        s,
        """
        func.func @rows_of_triangles(%arg0: memref<8x8xi32> {allo.name = "A"}, %arg1: memref<8x8xi32> {allo.name = "B"}, %arg2: memref<8x8xi32> {allo.name = "C"}) {
          affine.for %arg3 = 0 to 8 {
            affine.for %arg4 = affine_map<(d0) -> (d0)>(%arg3) to 8 {
              %0 = affine.load %arg0[%arg3, %arg4] : memref<8x8xi32>
              %1 = arith.extsi %0 : i32 to i33
              %c1_i33 = arith.constant 1 : i33
              %2 = arith.addi %1, %c1_i33 : i33
              %3 = arith.trunci %2 : i33 to i32
              affine.store %3, %arg1[%arg3, %arg4] : memref<8x8xi32>
              %4 = affine.load %arg0[%arg3, %arg4] : memref<8x8xi32>
              %5 = arith.extsi %4 : i32 to i64
              %6 = affine.load %arg1[%arg3, %arg4] : memref<8x8xi32>
              %7 = arith.extsi %6 : i32 to i64
              %8 = arith.muli %5, %7 : i64
              %9 = arith.trunci %8 : i64 to i32
              affine.store %9, %arg2[%arg3, %arg4] : memref<8x8xi32>
            } {allo.name = "j_j_1_fused"}
            affine.for %arg4 = 0 to affine_map<(d0) -> (d0)>(%arg3) {
              %c0_i32 = arith.constant 0 : i32
              affine.store %c0_i32, %arg2[%arg3, %arg4] : memref<8x8xi32>
            } {allo.name = "k"}
          } {allo.name = "i", allo.nest = "S_i_0", allo.scheduled}
          return
        }
        """,
    )
    assert_faithful(rows_of_triangles, s)


def test_nests_level_by_level():
    s = customize(two)
    outer = s.fuse("i", "m")
    inner = s.fuse("j", "n")
    s.fuse(outer, inner)
    assert "for i_m_fused_j_n_fused_fused in range(64):" in s.pseudocode()
    assert_faithful(two, s)


def test_composition_of_loops_in_a_row():
    def caller(A: int32[16], B: int32[16], C: int32[16], D: int32[16]):
        row_of_loops(A, B, C, D)

    part, s = customize(row_of_loops), customize(caller)
    part.fuse("S_i_0.i", "S_i_1.i")
    s.compose(part)
    assert "i_i_fused" in s.pseudocode()
    assert_same_meaning(caller, s)


def test_dependence_that_would_be_turned_around():
    assert_refused(
        """
        fuse: loops 'i' and 'j' cannot be fused: the statement at line N writes B[i] and the statement at line N reads B[-j + 15]: iteration (i=8) must run before iteration (j=7)
          note: the statement is here
            File, line N, column 9
              B[i] = A[i] + 1
              ^
          note: the statement is here
            File, line N, column 16
              C[j] = B[15 - j] * 2
                     ^
        """,
        customize(backwards),
        "fuse",
        "i",
        "j",
    )


def test_statement_between_loops_in_a_row_that_depends_on_the_first():
    assert_refused(
        """
        fuse: loops 'i' and 'j' cannot be fused: the statement at line N writes A[i] and the statement at line N reads A[0]: iteration (i=0) must run before the second
          note: the statement is here
            File, line N, column 9
              A[i] = 1
              ^
          note: the statement is here
            File, line N, column 12
              B[0] = A[0]
                     ^
        """,
        customize(in_between),
        "fuse",
        "i",
        "j",
    )


def test_order_of_loops_in_a_row():
    assert_refused(
        """
        fuse: the loops are not given in the order of the text
          hint: write s.fuse("i", "m")
        """,
        customize(two),
        "fuse",
        "m",
        "i",
    )


def test_loops_in_a_row_of_other_bounds():
    assert_refused(
        """
        fuse: loops 'j' and 'k' have different bounds, which are not all constants
          note: loop 'j' is here
            File, line N, column 9
              for j in range(i, 8):
              ^
          note: loop 'k' is here
            File, line N, column 9
              for k in range(i):
              ^
          hint: fuse loops that run over the same iterations
        """,
        customize(rows_of_triangles),
        "fuse",
        "j",
        "k",
    )
