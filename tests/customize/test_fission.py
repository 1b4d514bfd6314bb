"""fission: statements of a loop as loops of their own."""

# ruff: noqa: E501 - golden text is not wrapped

from allo import customize
from allo.customize import Loop
from allo.ir.types import int32

from .checks import assert_faithful, assert_ir, assert_refused


def sums(A: int32[4, 6], rows: int32[4], columns: int32[6]):
    for i in range(4):
        rows[i] = 0
        for j in range(6):
            rows[i] += A[i, j]
            columns[j] += A[i, j]


def backwards(A: int32[8], B: int32[8]):
    for i in range(1, 8):
        A[i] = B[i - 1] + 1
        B[i] = A[i] * 2


def partly(A: int32[8], B: int32[8], C: int32[8]):
    for i in range(1, 8):
        A[i] = B[i - 1] + 1
        B[i] = A[i] * 2
        C[i] = A[i] + B[i]


def shared(A: int32[8], B: int32[8], C: int32[8]):
    for i in range(8):
        t: int32 = A[i] + 1
        B[i] = t
        C[i] = t * 2


def overwritten(A: int32[9], B: int32[8]):
    for i in range(8):
        B[i] = A[i + 1]
        A[i] = i


def until(A: int32[8], n: int32[1]):
    while n[0] > 0:
        A[n[0] - 1] = 1
        n[0] = n[0] - 1


def test_statements_get_loops_with_free_names():
    s = customize(sums)
    assert s.fission("j") == (Loop("sums", "S_i_0", "j"), Loop("sums", "S_i_0", "j_1"))
    assert s.fission("i") == tuple(Loop("sums", nest, "i") for nest in ("S_i_0", "S_i_0_1", "S_i_0_2"))
    assert_ir(
        s,
        """
        func.func @sums(%arg0: memref<4x6xi32> {allo.name = "A"}, %arg1: memref<4xi32> {allo.name = "rows"}, %arg2: memref<6xi32> {allo.name = "columns"}) {
          affine.for %arg3 = 0 to 4 {
            %c0_i32 = arith.constant 0 : i32
            affine.store %c0_i32, %arg1[%arg3] : memref<4xi32>
          } {allo.name = "i", allo.nest = "S_i_0", allo.scheduled}
          affine.for %arg3 = 0 to 4 {
            affine.for %arg4 = 0 to 6 {
              %0 = affine.load %arg1[%arg3] : memref<4xi32>
              %1 = arith.extsi %0 : i32 to i33
              %2 = affine.load %arg0[%arg3, %arg4] : memref<4x6xi32>
              %3 = arith.extsi %2 : i32 to i33
              %4 = arith.addi %1, %3 : i33
              %5 = arith.trunci %4 : i33 to i32
              affine.store %5, %arg1[%arg3] : memref<4xi32>
            } {allo.name = "j"}
          } {allo.name = "i", allo.nest = "S_i_0_1", allo.scheduled}
          affine.for %arg3 = 0 to 4 {
            affine.for %arg4 = 0 to 6 {
              %0 = affine.load %arg2[%arg4] : memref<6xi32>
              %1 = arith.extsi %0 : i32 to i33
              %2 = affine.load %arg0[%arg3, %arg4] : memref<4x6xi32>
              %3 = arith.extsi %2 : i32 to i33
              %4 = arith.addi %1, %3 : i33
              %5 = arith.trunci %4 : i33 to i32
              affine.store %5, %arg2[%arg4] : memref<6xi32>
            } {allo.name = "j_1"}
          } {allo.name = "i", allo.nest = "S_i_0_2", allo.scheduled}
          return
        }
        """,
    )
    assert_faithful(sums, s)


def test_what_depends_on_later_statements_stays_together():
    s = customize(partly)
    assert len(s.fission("i")) == 2
    assert_faithful(partly, s)


def test_a_value_that_is_overwritten_later_may_be_read_before():
    s = customize(overwritten)
    assert len(s.fission("i")) == 2
    assert_faithful(overwritten, s)


def test_refusals():
    assert_refused(
        """
        fission: the statements of loop 'i' cannot run in loops of their own: the statement at line N writes B[i] and the statement at line N reads B[i - 1]: iteration (i=1) must run before iteration (i=2)
          note: the statement is here
            File, line N, column 9
              B[i] = A[i] * 2
              ^
          note: the statement is here
            File, line N, column 16
              A[i] = B[i - 1] + 1
                     ^
        """,
        customize(backwards), "fission", "i",
    )
    assert_refused(
        """
        fission: the statements of loop 'i' share variables of one iteration, or all use streams
          note: loop 'i' is here
            File, line N, column 5
              for i in range(8):
              ^
          hint: keep variables in arrays with an element for each iteration
        """,
        customize(shared), "fission", "i",
    )
    assert_refused(
        """
        fission: loop 'while' hands on values from one iteration to the next, and cannot run twice
          note: loop 'while' is here
            File, line N, column 5
              while n[0] > 0:
              ^
          hint: write it as a `for` loop over a range, with such values in arrays
        """,
        customize(until), "fission", "while",
    )
    s = customize(sums)
    s.pipeline("j")
    assert_refused(
        """
        fission: loop 'j' is annotated with pipeline=1
          note: loop 'j' is here
            File, line N, column 9
              for j in range(6):
              ^
          hint: change the structure of the loop first, then annotate the new loops
        """,
        s, "fission", "j",
    )
