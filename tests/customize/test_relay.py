"""relay between loop nests and functions: FIFOs where each element is written once, read once, in one order."""

# ruff: noqa: E501, F821 - golden text is not wrapped; kernels declare arrays without a value

import pytest

import allo
from allo import ScheduleError, customize
from allo.ir.types import int32

from .checks import assert_equal, assert_faithful, assert_ir, assert_refused, ir_text, outcome


def stages(A: int32[4, 3], B: int32[4, 3]):
    C: int32[4, 3]
    for i, j in allo.grid(4, 3, name="produce"):
        C[i, j] = A[i, j] + 1
    for i, j in allo.grid(4, 3, name="consume"):
        B[i, j] = C[i, j] * C[i, j]


def first_values(A: int32[4, 3], B: int32[4, 3]):
    C: int32[4, 3] = 0
    for i, j in allo.grid(4, 3, name="produce"):
        C[i, j] = A[i, j] + 1
    for i, j in allo.grid(4, 3, name="consume"):
        B[i, j] = C[i, j] * 2


def gemm1(A: int32[4, 5], B: int32[5, 6], C: int32[4, 6]):
    for i, j in allo.grid(4, 6):
        C[i, j] = 0
        for k in range(5):
            C[i, j] += A[i, k] * B[k, j]


def gemm2(C: int32[4, 6], D: int32[6, 3], E: int32[4, 3]):
    for i, j in allo.grid(4, 3):
        for k in range(6):
            E[i, j] += C[i, k] * D[k, j]


def two_mm(A: int32[4, 5], B: int32[5, 6], D: int32[6, 3], E: int32[4, 3]):
    C: int32[4, 6]
    gemm1(A, B, C)
    gemm2(C, D, E)


def fork(A: int32[4], B: int32[4], C: int32[4]):
    T: int32[4]
    for i in range(4, name="source"):
        T[i] = A[i] + 1
    for i in range(4, name="left"):
        B[i] = T[i] * 2
    for i in range(4, name="right"):
        C[i] = T[i] - 2


def join(A: int32[4], B: int32[4], C: int32[4]):
    X: int32[4]
    Y: int32[4]
    for i in range(4, name="left"):
        X[i] = A[i] + 1
    for i in range(4, name="right"):
        Y[i] = B[i] * 2
    for i in range(4, name="sink"):
        C[i] = X[i] * Y[i]


def add1(A: int32[4]) -> int32[4]:
    B: int32[4] = 0
    for i in range(4):
        B[i] = A[i] + 1
    return B


def add2(A: int32[4]) -> int32[4]:
    B: int32[4] = add1(A)
    C: int32[4] = add1(B)
    return C


def product(A: int32[4, 4], B: int32[4, 4], C: int32[4, 4]):
    for i, j in allo.grid(4, 4):
        for k in range(4):
            C[i, j] += A[i, k] * B[k, j]


def starts_with_zero(A: int32[4, 4], B: int32[4, 4], D: int32[4, 4]):
    C: int32[4, 4] = 0
    product(A, B, C)
    product(C, B, D)


def tiles(A: int32[3, 4], B: int32[3, 4]):
    for t in range(3):
        T: int32[4]
        for i in range(4, name="load"):
            T[i] = A[t, i]
        for i in range(4, name="store"):
            B[t, i] = T[i] + t


def evens(A: int32[8], B: int32[8]):
    T: int32[8]
    for i in range(8, name="produce"):
        T[i] = A[i]
    for i in range(4, name="consume"):
        B[i] = T[2 * i]


def missing(A: int32[8], B: int32[8]):
    T: int32[8]
    for i in range(4, name="produce"):
        T[2 * i] = A[i]
    for i in range(8, name="consume"):
        B[i] = T[i]


def overwrites(A: int32[8], B: int32[8]):
    T: int32[8]
    for i in range(8, name="produce"):
        T[i] = A[i]
        T[0] = i
    for i in range(8, name="consume"):
        B[i] = T[i]


def test_nests():
    s = customize(stages)
    s.relay(s.C, "consume", depth=4)
    assert_ir(
        s,
        """
        func.func @stages(%arg0: memref<4x3xi32> {allo.name = "A"}, %arg1: memref<4x3xi32> {allo.name = "B"}) attributes {allo.dataflow} {
          %0 = allo.stream_create {allo.itensor = !allo.itensor<1x1xi32, [4, 3] * [1, 1], (d0, d1) -> (d0, d1)>, allo.name = "fifo_C"} : !allo.stream<i32, 4>
          affine.for %arg2 = 0 to 4 {
            affine.for %arg3 = 0 to 3 {
              %1 = affine.load %arg0[%arg2, %arg3] : memref<4x3xi32>
              %2 = arith.extsi %1 : i32 to i33
              %c1_i33 = arith.constant 1 : i33
              %3 = arith.addi %2, %c1_i33 : i33
              %4 = arith.trunci %3 : i33 to i32
              allo.stream_put %0, %4 : !allo.stream<i32, 4>
            } {allo.name = "j"}
          } {allo.name = "i", allo.nest = "produce"}
          affine.for %arg2 = 0 to 4 {
            affine.for %arg3 = 0 to 3 {
              %1 = allo.stream_get %0 : !allo.stream<i32, 4>
              %2 = arith.extsi %1 : i32 to i64
              %3 = arith.extsi %1 : i32 to i64
              %4 = arith.muli %2, %3 : i64
              %5 = arith.trunci %4 : i64 to i32
              affine.store %5, %arg1[%arg2, %arg3] : memref<4x3xi32>
            } {allo.name = "j"}
          } {allo.name = "i", allo.nest = "consume"}
          return
        }
        """,
    )
    assert str(s.steps[0]) == 's.relay("stages:C", dst="stages:consume", depth=4)'
    assert_faithful(stages, s)


def test_functions_of_the_paper():
    s = customize(two_mm)
    s.buffer_at("gemm1:C", axis="gemm1:j")
    s.reorder("gemm2:k", "gemm2:j")
    s.to(s.C, "gemm2")
    assert_ir(
        s,
        """
        func.func @two_mm(%arg0: memref<4x5xi32> {allo.name = "A"}, %arg1: memref<5x6xi32> {allo.name = "B"}, %arg2: memref<6x3xi32> {allo.name = "D"}, %arg3: memref<4x3xi32> {allo.name = "E"}) attributes {allo.dataflow} {
          %0 = allo.stream_create {allo.name = "fifo_C"} : !allo.stream<i32, 24>
          call @gemm1(%arg0, %arg1, %0) : (memref<4x5xi32>, memref<5x6xi32>, !allo.stream<i32, 24>) -> ()
          call @gemm2(%0, %arg2, %arg3) : (!allo.stream<i32, 24>, memref<6x3xi32>, memref<4x3xi32>) -> ()
          return
        }
        """,
    )
    assert_ir(
        s,
        """
        func.func @gemm2(%arg0: !allo.stream<i32, 24> {allo.name = "C"}, %arg1: memref<6x3xi32> {allo.name = "D"}, %arg2: memref<4x3xi32> {allo.name = "E"}) {
          affine.for %arg3 = 0 to 4 {
            affine.for %arg4 = 0 to 6 {
              %0 = allo.stream_get %arg0 : !allo.stream<i32, 24>
              affine.for %arg5 = 0 to 3 {
                %1 = affine.load %arg2[%arg3, %arg5] : memref<4x3xi32>
                %2 = arith.extsi %1 : i32 to i65
                %3 = arith.extsi %0 : i32 to i64
                %4 = affine.load %arg1[%arg4, %arg5] : memref<6x3xi32>
                %5 = arith.extsi %4 : i32 to i64
                %6 = arith.muli %3, %5 : i64
                %7 = arith.extsi %6 : i64 to i65
                %8 = arith.addi %2, %7 : i65
                %9 = arith.trunci %8 : i65 to i32
                affine.store %9, %arg2[%arg3, %arg5] : memref<4x3xi32>
              } {allo.name = "j"}
            } {allo.name = "k"}
          } {allo.name = "i", allo.nest = "S_i_j_0", allo.scheduled}
          return
        }
        """,
        "gemm2",
    )
    assert_faithful(two_mm, s)


def test_a_copy_lets_elements_be_used_again():
    s = customize(two_mm)
    s.buffer_at("gemm1:C", axis="gemm1:j")
    s.buffer_at("gemm2:C", axis="gemm2:i")
    s.relay(s.C, "gemm2")
    assert_faithful(two_mm, s)


def test_the_order_bug_of_the_paper():
    s = customize(two_mm)
    s.buffer_at("gemm1:C", axis="gemm1:j")
    s.buffer_at("gemm2:C", axis="gemm2:i")
    s.reorder("gemm1:j", "gemm1:i")
    assert_refused(
        """
        relay: 'C' cannot become a FIFO: C[1, 0] is written before C[0, 1], but read after it
          note: it is written here
            File, line N, column 5
              for i, j in allo.grid(4, 6):
              ^
          note: it is read here
            File, line N, column 5
              for i, j in allo.grid(4, 3):
              ^
          hint: reorder() the loops of one side, or read through a copy made by buffer_at()
        """,
        s,
        "relay",
        "C",
        "gemm2",
    )


def test_the_order_bug_of_the_paper_after_the_relay():
    s = customize(two_mm)
    s.buffer_at("gemm1:C", axis="gemm1:j")
    s.buffer_at("gemm2:C", axis="gemm2:i")
    s.relay(s.C, "gemm2")
    with pytest.raises(ScheduleError, match=r"iteration \(i=0, j=1\) must run before iteration \(i=1, j=0\)"):
        s.reorder("gemm1:j", "gemm1:i")


def test_first_values_that_are_overwritten_go():
    s = customize(first_values)
    s.relay(s.C, "consume")
    assert "C_init" not in ir_text(s)
    assert_faithful(first_values, s)


def test_a_sum_that_starts_with_a_constant():
    s = customize(starts_with_zero)
    s.buffer_at("product:C", axis="product:j")
    s.buffer_at("product:A", axis="product:i")
    s.relay(s.C, "product")
    assert "C_init" not in ir_text(s)
    assert [f.name.value for f in s.ir.functions()] == ["product", "product_1", "starts_with_zero"]
    assert "arith.constant 0 : i32" in ir_text(s, "product_1") and "arith.constant" not in ir_text(s, "product")
    assert_equal(outcome(s, starts_with_zero), outcome(customize(starts_with_zero), starts_with_zero))


def test_a_fork_gets_a_fifo_for_each_end():
    s = customize(fork)
    s.relay(s.T, "left")
    assert "T" in s.buffers
    s.relay(s.T, "right", depth=2)
    assert "T" not in s.buffers
    assert ir_text(s).count("stream_put") == 2
    assert_faithful(fork, s)


def test_a_join_takes_from_several_fifos():
    s = customize(join)
    s.relay(s.X, "sink")
    s.relay(s.Y, "sink")
    s.dataflow("join")
    assert_faithful(join, s)


def test_a_function_called_twice_is_copied():
    s = customize(add2)
    s.relay(s.B, "add1")
    assert [f.name.value for f in s.ir.functions()] == ["add1", "add1_1", "add2"]
    assert_ir(
        s,
        """
        func.func @add2(%arg0: memref<4xi32> {allo.name = "A"}) -> memref<4xi32> attributes {allo.dataflow} {
          %0 = allo.stream_create {allo.name = "fifo_B"} : !allo.stream<i32, 4>
          call @add1_1(%arg0, %0) : (memref<4xi32>, !allo.stream<i32, 4>) -> ()
          %1 = call @add1(%0) {allo.name = "C"} : (!allo.stream<i32, 4>) -> memref<4xi32>
          return %1 : memref<4xi32>
        }
        """,
    )
    assert_equal(outcome(s, add2), outcome(customize(add2), add2))


def test_inside_of_a_loop():
    s = customize(tiles)
    s.relay(s.T, "store")
    assert_faithful(tiles, s)


def test_the_default_depth_is_the_size_of_the_array():
    s = customize(stages)
    s.relay(s.C, "consume")
    assert "!allo.stream<i32, 12>" in ir_text(s)


def test_an_element_that_is_used_again():
    s = customize(two_mm)
    s.buffer_at("gemm1:C", axis="gemm1:j")
    assert_refused(
        """
        relay: 'C' cannot become a FIFO: C[0, 0] is read more than once, but a FIFO gives an element once
          note: it is read here
            File, line N, column 24
              E[i, j] += C[i, k] * D[k, j]
                         ^
          hint: read it once, for example into a copy made by buffer_at() or reuse_at()
        """,
        s,
        "relay",
        "C",
        "gemm2",
    )


def test_elements_that_nobody_reads():
    assert_refused(
        """
        relay: 'T' cannot become a FIFO: T[1] is written but never read, and would stay in it
          note: it is written here
            File, line N, column 9
              T[i] = A[i]
              ^
          note: it is read here
            File, line N, column 16
              B[i] = T[2 * i]
                     ^
          hint: write only what is read
        """,
        customize(evens),
        "relay",
        "T",
        "consume",
    )


def test_elements_that_nobody_writes():
    assert_refused(
        """
        relay: 'T' cannot become a FIFO: T[1] is read but never written
          note: it is read here
            File, line N, column 16
              B[i] = T[i]
                     ^
          note: it is written here
            File, line N, column 9
              T[2 * i] = A[i]
              ^
          hint: write it before, or read only what is written
        """,
        customize(missing),
        "relay",
        "T",
        "consume",
    )


def test_an_element_that_is_written_twice_is_put_when_all_is_done():
    s = customize(overwrites)
    s.relay("T", "consume")
    assert "drain_T" in ir_text(s)
    assert_faithful(overwrites, s)


def test_the_end_that_writes():
    assert_refused(
        """
        relay: nest 'produce' writes 'C', but it is the end of the FIFO that takes elements out
          note: nest 'produce' is here
            File, line N, column 5
              for i, j in allo.grid(4, 3, name="produce"):
              ^
          note: 'C' is declared here
            File, line N, column 5
              C: int32[4, 3]
              ^
        """,
        customize(stages),
        "relay",
        "C",
        "produce",
    )


def test_a_destination_that_does_not_use_it():
    assert_refused(
        """
        relay: 'right' does not use 'X'
          note: 'X' is declared here
            File, line N, column 5
              X: int32[4]
              ^
          hint: it is read by nest 'sink'
        """,
        customize(join),
        "relay",
        "X",
        "right",
    )


def test_a_destination_that_is_not_there():
    assert_refused(
        """
        relay: there is no function or loop nest 'sinks'
          hint: did you mean 'sink'?
        """,
        customize(join),
        "relay",
        "X",
        "sinks",
    )


def test_an_argument():
    assert_refused(
        """
        relay: 'A' is not a local array, and only an array that is made in the module can become a FIFO
          note: 'A' is declared here
            File, line N, column 12
              def stages(A: int32[4, 3], B: int32[4, 3]):
                         ^
        """,
        customize(stages),
        "relay",
        "A",
        "produce",
    )


def own_values(A: int32[8], B: int32[8], C: int32[8]):
    T: int32[8] = 0
    for i in range(8, name="produce"):
        T[i] = A[i] + 1
        C[i] = T[i] * 2
    for i in range(8, name="consume"):
        B[i] = T[i]


def earlier_values(A: int32[8], B: int32[8], C: int32[8]):
    T: int32[8] = 7
    for i in range(8, name="produce"):
        C[i] = T[i] * 2
        T[i] = A[i] + 1
    for i in range(8, name="consume"):
        B[i] = T[i]


@pytest.mark.parametrize("kernel", [own_values, earlier_values])
def test_what_a_producer_reads_is_what_it_would(kernel: object) -> None:
    """First values that are written over, with what the nest itself has written, or in front of that."""
    s = customize(kernel)
    s.relay("T", "consume")
    assert_faithful(kernel, s)


def blocks_of_rows(A: int32[2, 3, 8], B: int32[2, 3, 8]):
    C: int32[2, 3, 8]
    for k, a, b in allo.grid(8, 2, 3, name="produce"):
        C[a, b, k] = A[a, b, k] + 1
    for b, a, k in allo.grid(3, 2, 8, name="consume"):
        B[a, b, k] = C[a, b, k] * 2


def test_banks_along_two_dimensions_are_fifos_in_any_order():
    s = customize(blocks_of_rows)
    s.partition("C", dim=1)
    s.partition("C", dim=2)
    s.relay("C", "consume")
    assert "Stream[int32, 8][2, 3]" in s.pseudocode()
    assert_faithful(blocks_of_rows, s)


def scattered(A: int32[8], P: int32[8], B: int32[8]):
    C: int32[8]
    for i in range(7, name="produce"):
        C[i] = A[i]
        C[P[i]] = C[i] + 1
    for i in range(8, name="consume"):
        B[i] = C[i]


def test_what_is_perhaps_written_is_not_said_to_be_missing():
    with pytest.raises(ScheduleError) as error:
        customize(scattered).relay("C", "consume")
    assert (
        "'C' cannot become a FIFO, because it cannot be decided: the statement at line" in str(error.value)
        and "writes C[?], but it has a subscript that is not affine" in str(error.value)
    )


def test_a_depth_of_nothing():
    assert_refused(
        """
        relay: the depth of a FIFO must be from 1 to 4294967295, got 0
          hint: or leave it out: as many elements as the array has
        """,
        customize(stages),
        "relay",
        "C",
        "consume",
        depth=0,
    )
