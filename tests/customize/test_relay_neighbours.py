"""relay along an axis of processing elements: the first one is loaded, the others get from their neighbour."""

# ruff: noqa: E501, F821 - golden text is not wrapped; kernels declare arrays without a value

import allo
from allo import customize
from allo.ir.types import int32

from .checks import assert_faithful, assert_ir, assert_refused, ir_text


def scale(A: int32[6], B: int32[4, 6]):
    for p in range(4, name="PE"):
        for k in range(6):
            B[p, k] = A[k] * p


def outer(A: int32[3, 6], B: int32[4, 6], C: int32[3, 4]):
    for i, j in allo.grid(3, 4, name="PE"):
        for k in range(6):
            C[i, j] += A[i, k] * B[j, k]


def used_twice(A: int32[6], B: int32[4, 6]):
    for p in range(4, name="PE"):
        for k in range(6):
            for m in range(2):
                B[p, k] += A[5 - k] * m


def over_time(A: int32[3, 6], B: int32[4, 6]):
    for t in range(3, name="PE"):
        for p in range(4):
            for k in range(6):
                B[p, k] += A[t, k] * p


def own_data(A: int32[4, 6], B: int32[4, 6]):
    for p in range(4, name="PE"):
        for k in range(6):
            B[p, k] = A[p, k] + 1


def own_window(A: int32[9], B: int32[4, 6]):
    for p in range(4, name="PE"):
        for k in range(6):
            B[p, k] = A[p + k]


def shifted(A: int32[8], B: int32[4]):
    for p in range(4, name="PE"):
        X: int32[8]
        for k in range(8):
            X[k] = A[k]
        for k in range(8):
            B[p] += X[k]
        A[p] = 0


def computed(A: int32[4, 6], B: int32[4, 6]):
    for p in range(4, name="PE"):
        t: int32 = A[p, 0]
        X: int32[6]
        for k in range(6):
            X[k] = t
        for k in range(6):
            B[p, k] = X[k]


def disjoint(A: int32[8], B: int32[4]):
    for p in range(4, name="PE"):
        X: int32[4]
        for k in range(4):
            X[k] = A[k]
        for k in range(4):
            B[p] += X[k]
        A[p + 4] = 0


def from_zero(A: int32[6], B: int32[4, 6]):
    for p in range(4, name="PE"):
        X: int32[6] = 0
        for k in range(6):
            X[k] += A[k]
        for k in range(6):
            B[p, k] = X[k]


def accumulated(A: int32[6], B: int32[4, 6]):
    for p in range(4, name="PE"):
        X: int32[6]
        for k in range(6):
            X[k] = A[k]
        for k in range(6):
            X[k] += A[5 - k]
        for k in range(6):
            B[p, k] = X[k]


def conditional(A: int32[6], B: int32[4, 6]):
    for p in range(4, name="PE"):
        X: int32[6]
        for k in range(6):
            if k > 2:
                X[k] = A[k]
            else:
                X[k] = 0
        for k in range(6):
            B[p, k] = X[k]


def test_elements_pass_on_what_they_get():
    s = customize(scale)
    buffer = s.buffer_at(s.A, axis="p")
    s.relay(buffer, s.unfold("PE", axes=[0]), axis=0, depth=2)
    assert_ir(
        s,
        """
        func.func @scale(%arg0: memref<6xi32> {allo.name = "A"}, %arg1: memref<4x6xi32> {allo.name = "B"}) attributes {allo.dataflow} {
          %alloc = memref.alloc() {allo.name = "fifo_buf_A"} : memref<4x!allo.stream<i32, 2>>
          affine.for %arg2 = 0 to 6 {
            %0 = affine.load %arg0[%arg2] : memref<6xi32>
            %1 = affine.load %alloc[0] : memref<4x!allo.stream<i32, 2>>
            allo.stream_put %1, %0 : !allo.stream<i32, 2>
          } {allo.name = "k_init", allo.nest = "load_buf_A"}
          affine.for %arg2 = 0 to 4 {
            affine.for %arg3 = 0 to 6 {
              %0 = affine.load %alloc[%arg2] : memref<4x!allo.stream<i32, 2>>
              %1 = allo.stream_get %0 : !allo.stream<i32, 2>
              affine.if affine_set<(d0) : (-d0 + 2 >= 0)>(%arg2) {
                %6 = affine.load %alloc[%arg2 + 1] : memref<4x!allo.stream<i32, 2>>
                allo.stream_put %6, %1 : !allo.stream<i32, 2>
              }
              %2 = arith.extsi %1 : i32 to i64
              %3 = arith.index_cast %arg2 : index to i64
              %4 = arith.muli %2, %3 : i64
              %5 = arith.trunci %4 : i64 to i32
              affine.store %5, %arg1[%arg2, %arg3] : memref<4x6xi32>
            } {allo.name = "k"}
          } {allo.name = "p", allo.nest = "PE", allo.scheduled, allo.spatial}
          return
        }
        """,
    )
    assert str(s.steps[-1]) == 's.relay("scale:buf_A", dst="scale:PE", axis=0, depth=2)'
    assert_faithful(scale, s)


def test_two_directions():
    s = customize(outer)
    a, b = s.buffer_at(s.A, axis="j"), s.buffer_at(s.B, axis="j")
    s.unfold("PE", axes=[0, 1])
    s.relay(a, "PE", axis=1)
    s.relay(b, "PE", axis=0)
    assert "buf_A" not in s.buffers and "buf_B" not in s.buffers
    assert_faithful(outer, s)


def test_the_array_stays_if_elements_are_used_in_another_order():
    s = customize(used_twice)
    buffer = s.buffer_at(s.A, axis="p")
    s.unfold("PE", axes=[0])
    s.relay(buffer, "PE", axis=0)
    assert_ir(
        s,
        """
        func.func @used_twice(%arg0: memref<6xi32> {allo.name = "A"}, %arg1: memref<4x6xi32> {allo.name = "B"}) attributes {allo.dataflow} {
          %alloc = memref.alloc() {allo.name = "fifo_buf_A"} : memref<4x!allo.stream<i32, 6>>
          affine.for %arg2 = 0 to 6 {
            %0 = affine.load %arg0[%arg2] : memref<6xi32>
            %1 = affine.load %alloc[0] : memref<4x!allo.stream<i32, 6>>
            allo.stream_put %1, %0 : !allo.stream<i32, 6>
          } {allo.name = "k_init", allo.nest = "load_buf_A"}
          affine.for %arg2 = 0 to 4 {
            %alloc_0 = memref.alloc() {allo.name = "buf_A"} : memref<6xi32>
            affine.for %arg3 = 0 to 6 {
              %0 = affine.load %alloc[%arg2] : memref<4x!allo.stream<i32, 6>>
              %1 = allo.stream_get %0 : !allo.stream<i32, 6>
              affine.if affine_set<(d0) : (-d0 + 2 >= 0)>(%arg2) {
                %2 = affine.load %alloc[%arg2 + 1] : memref<4x!allo.stream<i32, 6>>
                allo.stream_put %2, %1 : !allo.stream<i32, 6>
              }
              affine.store %1, %alloc_0[%arg3] : memref<6xi32>
            } {allo.name = "k_init"}
            affine.for %arg3 = 0 to 6 {
              affine.for %arg4 = 0 to 2 {
                %0 = affine.load %arg1[%arg2, %arg3] : memref<4x6xi32>
                %1 = arith.extsi %0 : i32 to i65
                %2 = affine.load %alloc_0[-%arg3 + 5] : memref<6xi32>
                %3 = arith.extsi %2 : i32 to i64
                %4 = arith.index_cast %arg4 : index to i64
                %5 = arith.muli %3, %4 : i64
                %6 = arith.extsi %5 : i64 to i65
                %7 = arith.addi %1, %6 : i65
                %8 = arith.trunci %7 : i65 to i32
                affine.store %8, %arg1[%arg2, %arg3] : memref<4x6xi32>
              } {allo.name = "m"}
            } {allo.name = "k"}
          } {allo.name = "p", allo.nest = "PE", allo.scheduled, allo.spatial}
          return
        }
        """,
    )
    assert_faithful(used_twice, s)


def test_a_loop_over_time_repeats_the_load():
    s = customize(over_time)
    buffer = s.buffer_at(s.A, axis="p")
    s.unfold("PE", axes=[1])
    s.relay(buffer, "PE", axis=1)
    loops = str(s.get_loops()).splitlines()
    assert loops[1:4] == ["  load_buf_A:", "    t", "      k_init"]
    assert_faithful(over_time, s)


def test_one_axis_of_two():
    s = customize(outer)
    a = s.buffer_at(s.A, axis="j")
    s.unfold("PE", axes=[1])
    s.relay(a, "PE", axis=1)
    assert "memref<4x!allo.stream<i32, 6>>" in ir_text(s)
    assert_faithful(outer, s)


def test_data_that_differ_along_the_axis():
    s = customize(own_data)
    buffer = s.buffer_at(s.A, axis="p")
    s.unfold("PE", axes=[0])
    assert_refused(
        """
        relay: the processing elements along 'p' fill 'buf_A' with different data: A[p, k_init]
          note: the statement is here
            File, line N, column 5
              for p in range(4, name="PE"):
              ^
          note: loop 'p' is here
            File, line N, column 5
              for p in range(4, name="PE"):
              ^
          hint: pass on what does not depend on that loop
        """,
        s,
        "relay",
        buffer,
        "PE",
        axis=0,
    )


def test_windows_that_move_along_the_axis():
    s = customize(own_window)
    buffer = s.buffer_at(s.A, axis="p")
    s.unfold("PE", axes=[0])
    assert_refused(
        """
        relay: the processing elements along 'p' fill 'buf_A' with different data: A[p + k_init]
          note: the statement is here
            File, line N, column 5
              for p in range(4, name="PE"):
              ^
          note: loop 'p' is here
            File, line N, column 5
              for p in range(4, name="PE"):
              ^
          hint: pass on what does not depend on that loop
        """,
        s,
        "relay",
        buffer,
        "PE",
        axis=0,
    )


def test_elements_that_change_the_data_of_others():
    s = customize(shifted)
    assert_refused(
        """
        unfold: the processing elements of nest 'PE' are not independent: the statement at line N reads A[k] and the statement at line N writes A[p]: iteration (p=0, k=1) must run before iteration (p=1)
          note: the statement is here
            File, line N, column 20
              X[k] = A[k]
                     ^
          note: the statement is here
            File, line N, column 9
              A[p] = 0
              ^
        """,
        s,
        "unfold",
        "PE",
        axes=[0],
    )


def test_data_that_an_element_computes():
    s = customize(computed)
    s.unfold("PE", axes=[0])
    assert_refused(
        """
        relay: nest 'k' fills 'X' with what the processing element has computed
          note: the statement is here
            File, line N, column 20
              X[k] = t
                     ^
          hint: pass on what comes from outside of the nest
        """,
        s,
        "relay",
        "X",
        "PE",
        axis=0,
    )


def test_a_fill_that_is_no_copy():
    s = customize(conditional)
    s.unfold("PE", axes=[0])
    assert_refused(
        """
        relay: nest 'k' is not a plain copy into 'X': loops around one assignment
          note: nest 'k' is here
            File, line N, column 9
              for k in range(6):
              ^
        """,
        s,
        "relay",
        "X",
        "PE",
        axis=0,
    )


def test_a_nest_that_is_not_unfolded():
    s = customize(scale)
    buffer = s.buffer_at(s.A, axis="p")
    assert_refused(
        """
        relay: nest 'PE' is not unfolded, so it has no neighbours
          note: loop 'p' is here
            File, line N, column 5
              for p in range(4, name="PE"):
              ^
          hint: unfold it first: s.unfold("scale:PE", axes=[0])
        """,
        s,
        "relay",
        buffer,
        "PE",
        axis=0,
    )


def test_an_axis_that_is_not_unfolded():
    s = customize(outer)
    buffer = s.buffer_at(s.A, axis="j")
    s.unfold("PE", axes=[1])
    assert_refused(
        """
        relay: axis 0 of nest 'PE' is not unfolded
          note: loop 'i' is here
            File, line N, column 5
              for i, j in allo.grid(3, 4, name="PE"):
              ^
          hint: its unfolded axes are 1 (j)
        """,
        s,
        "relay",
        buffer,
        "PE",
        axis=0,
    )


def test_an_array_of_all_elements():
    s = customize(scale)
    s.unfold("PE", axes=[0])
    assert_refused(
        """
        relay: 'A' is not a local array, and only an array that is made in the module can become a FIFO
          note: 'A' is declared here
            File, line N, column 11
              def scale(A: int32[6], B: int32[4, 6]):
                        ^
        """,
        s,
        "relay",
        "A",
        "PE",
        axis=0,
    )


def test_a_local_array_of_all_elements():
    s = customize(outer)
    buffer = s.buffer_at(s.A, axis="i")
    s.unfold("PE", axes=[0])
    assert_refused(
        """
        relay: the processing elements along 'i' fill 'buf_A' with different data: A[i, k_init]
          note: the statement is here
            File, line N, column 5
              for i, j in allo.grid(3, 4, name="PE"):
              ^
          note: loop 'i' is here
            File, line N, column 5
              for i, j in allo.grid(3, 4, name="PE"):
              ^
          hint: pass on what does not depend on that loop
        """,
        s,
        "relay",
        buffer,
        "PE",
        axis=0,
    )


def test_a_function_has_no_axis():
    s = customize(conditional)
    assert_refused(
        """
        relay: axis= needs an unfolded loop nest as destination, got function 'conditional'
        """,
        s,
        "relay",
        "X",
        "conditional",
        axis=0,
    )


def test_data_from_an_array_that_the_nest_writes():
    s = customize(disjoint)
    s.unfold("PE", axes=[0])
    assert_refused(
        """
        relay: the nest writes 'A', so what one processing element has read may be old when the next one gets it
          note: A[k] is read here
            File, line N, column 20
              X[k] = A[k]
                     ^
          note: A[p + 4] is written here
            File, line N, column 9
              A[p + 4] = 0
              ^
        """,
        s,
        "relay",
        "X",
        "PE",
        axis=0,
    )


def test_an_array_that_is_written_by_two_statements():
    s = customize(accumulated)
    s.unfold("PE", axes=[0])
    assert_refused(
        """
        relay: 'X' is not filled once and then read: it is written by nest 'k' and nest 'k_1'
          note: nest 'k' is here
            File, line N, column 9
              for k in range(6):
              ^
          note: nest 'k_1' is here
            File, line N, column 9
              for k in range(6):
              ^
          note: 'X' is declared here
            File, line N, column 9
              X: int32[6]
              ^
        """,
        s,
        "relay",
        "X",
        "PE",
        axis=0,
    )


def test_first_values_that_are_a_constant():
    s = customize(from_zero)
    s.unfold("PE", axes=[0])
    s.relay("X", "PE", axis=0)
    assert "X_init" not in ir_text(s)
    assert_faithful(from_zero, s)
