"""inline: the body of a function in the place of its calls, with names that are free there."""

# ruff: noqa: B007, F821 - golden text is not wrapped; kernels declare arrays without a value

import numpy as np
import pytest

from allo import ScheduleError, customize
from allo.ir.types import int32

from .checks import assert_faithful, assert_ir, assert_refused, ir_text, parsed


def scale(X: int32[4], factor: int32) -> int32[4]:
    Y: int32[4]
    for i in range(4):
        t: int32 = X[i]
        Y[i] = t * factor
    return Y


def bump(X: int32[4]):
    for i in range(4):
        X[i] = X[i] + 1


def sums(X: int32[4]) -> (int32, int32):
    a: int32 = 0
    b: int32 = 0
    for i in range(4):
        a += X[i]
        b -= X[i]
    return a, b


def twice(A: int32[4]) -> int32[4]:
    B: int32[4] = scale(A, 3)
    C: int32[4] = scale(B, 2)
    return C


def in_loop(A: int32[4]):
    for i in range(3):
        bump(A)


def two_results(A: int32[4], B: int32[2]):
    a, b = sums(A)
    B[0] = a
    B[1] = b


def clear(X: int32[4], n: int32):
    if n > 0:
        return
    for i in range(4):
        X[i] = 0


def early(A: int32[4], n: int32):
    clear(A, n)
    A[0] = A[0] + 1


def outer(A: int32[4]):
    bump(A)
    in_loop(A)


def test_every_call_is_replaced_and_names_stay_unique():
    s = customize(twice)
    s.inline("scale")
    assert [f.name.value for f in s.ir.functions()] == ["twice"]
    assert_ir(
        s,
        """
        func.func @twice(%arg0: memref<4xi32> {allo.name = "A"}) -> memref<4xi32> {
          %c3_i32 = arith.constant 3 : i32
          %0 = arith.index_cast %c3_i32 : i32 to index
          %alloc = memref.alloc() {allo.name = "B"} : memref<4xi32>
          affine.for %arg1 = 0 to 4 {
            %2 = affine.load %arg0[%arg1] : memref<4xi32>
            %alloc_1 = memref.alloc() {allo.name = "t"} : memref<i32>
            affine.store %2, %alloc_1[] : memref<i32>
            %3 = affine.load %alloc_1[] : memref<i32>
            %4 = arith.extsi %3 : i32 to i64
            %5 = arith.extsi %c3_i32 : i32 to i64
            %6 = arith.muli %4, %5 : i64
            %7 = arith.trunci %6 : i64 to i32
            affine.store %7, %alloc[%arg1] : memref<4xi32>
          } {allo.name = "i", allo.nest = "S_i_0"}
          %c2_i32 = arith.constant 2 : i32
          %1 = arith.index_cast %c2_i32 : i32 to index
          %alloc_0 = memref.alloc() {allo.name = "C"} : memref<4xi32>
          affine.for %arg1 = 0 to 4 {
            %2 = affine.load %alloc[%arg1] : memref<4xi32>
            %alloc_1 = memref.alloc() {allo.name = "t_1"} : memref<i32>
            affine.store %2, %alloc_1[] : memref<i32>
            %3 = affine.load %alloc_1[] : memref<i32>
            %4 = arith.extsi %3 : i32 to i64
            %5 = arith.extsi %c2_i32 : i32 to i64
            %6 = arith.muli %4, %5 : i64
            %7 = arith.trunci %6 : i64 to i32
            affine.store %7, %alloc_0[%arg1] : memref<4xi32>
          } {allo.name = "i", allo.nest = "S_i_0_1"}
          return %alloc_0 : memref<4xi32>
        }
        """,
    )
    assert_faithful(twice, s)


def test_loops_of_the_body_join_the_nest_of_the_call():
    s = customize(in_loop)
    s.inline(bump)
    assert str(s.get_loops()) == "in_loop\n  S_i_0:\n    i\n      i_1\n  S_i_0_1:\n    i_1"
    s.reorder("i_1", "i")
    assert_faithful(in_loop, s)


def test_several_results():
    s = customize(two_results)
    s.inline("sums")
    assert_faithful(two_results, s)


def test_a_body_that_returns_early():
    s = customize(early)
    s.inline("clear")
    assert_faithful(early, s)


def test_calls_in_other_functions():
    s = customize(outer)
    s.inline("bump")
    s.inline("in_loop")
    assert "call" not in ir_text(s)
    assert_faithful(outer, s)


def test_every_operation_keeps_its_line():
    s = customize(in_loop)
    lines = [line for line in s.module.operation.get_asm(enable_debug_info=True).splitlines() if "loc" in line]
    kept = {line.rsplit("loc(", 1)[1] for line in lines}
    s.inline("bump")
    text = s.module.operation.get_asm(enable_debug_info=True)
    assert all(line.rsplit("loc(", 1)[1] in kept | {"#loc)"} for line in text.splitlines() if "arith" in line)


def test_the_kernel_itself():
    assert_refused(
        """
        inline: 'bump' is the kernel, which nothing in the module calls
        """,
        customize(bump),
        "inline",
        "bump",
    )


def test_a_function_that_is_not_there():
    assert_refused(
        """
        inline: there is no function 'bumb'
          hint: did you mean 'bump'?
        """,
        customize(in_loop),
        "inline",
        "bumb",
    )


def test_something_that_is_no_function():
    assert_refused(
        """
        inline: a function is named by a string or a handle, got int 4
        """,
        customize(in_loop),
        "inline",
        4,
    )


def test_a_function_without_a_body():
    s = customize(in_loop)
    text = str(s.module)
    start = text.index("  func.func @bump")
    end = text.index("  func.func @in_loop")
    declared = parsed(text[:start] + "  func.func private @bump(memref<4xi32>)\n" + text[end:])
    assert_refused(
        """
        inline: the body of 'bump' is not in the module
          note: 'bump' is declared here
            File, line N, column 3
        """,
        declared,
        "inline",
        "bump",
    )


def test_a_function_that_nothing_calls():
    s = customize(outer)
    s.inline("in_loop")
    text = str(s.module).replace("func.call @bump(%arg0) : (memref<4xi32>) -> ()", "").replace(
        "call @bump(%arg0) : (memref<4xi32>) -> ()", ""
    )
    assert_refused(
        """
        inline: nothing calls 'bump'
          note: 'bump' is declared here
            File, line N, column 3
        """,
        parsed(text),
        "inline",
        "bump",
    )


def test_a_subscript_that_the_caller_reads_from_an_array() -> None:
    """It is affine in the parameter of the function, but not in the loop of the caller."""

    def get(A: int32[8], i: int32) -> int32:
        return A[i]

    def clear(A: int32[8], n: int32):
        for k in range(n):
            if k < n - 1:
                A[k] = 0

    def top(A: int32[8], P: int32[8], B: int32[8]):
        for i in range(8):
            B[i] = get(A, P[i])
        for j in range(2):
            clear(A, P[j])

    s = customize(top)
    s.inline("get")
    s.inline("clear")
    text = str(s.module)
    assert "memref.load %arg0[" in text and "scf.for" in text and 'allo.name = "k"' in text and "scf.if" in text
    A, P, B = np.arange(8, dtype=np.int32) + 1, np.array([5, 3, 0, 7, 7, 1, 2, 6], np.int32), np.zeros(8, np.int32)
    s.build()(A, P, B)
    np.testing.assert_array_equal(B, P + 1)
    np.testing.assert_array_equal(A, [0, 0, 0, 0, 5, 6, 7, 8])


def halves(A: int32[8], T: int32[8]):
    for i in range(4):
        T[i] = A[i] + 1
    for k in range(4, 8):
        T[k] = A[k] + 2


def doubled(T: int32[8], B: int32[8]):
    for j in range(8):
        B[j] = T[j] * 2


def halves_doubled(A: int32[8], B: int32[8]):
    T: int32[8] = 0
    halves(A, T)
    doubled(T, B)


def test_a_process_of_two_puts_is_refused():
    """Both loops would put at the same time."""
    s = customize(halves_doubled)
    s.relay("T", "doubled", depth=2)
    with pytest.raises(ScheduleError) as caught:
        s.inline("halves")
    assert caught.value.diagnostics[0].message == (
        "inline: two processes would share an end of a stream, in no order: nest 'S_k_1' puts into stream 'fifo_T', "
        "and so does nest 'S_i_0'"
    )
    s.inline("doubled")
