"""relay of an array in banks: a FIFO for each bank, so that as many elements pass in a cycle as there are banks."""

# ruff: noqa: E501, F821 - golden text is not wrapped; kernels declare arrays without a value

import shutil

import numpy as np
import pytest

import allo
from allo import Schedule, customize
from allo.ir.types import index, int32

from .checks import assert_equal, assert_faithful, assert_ir, assert_refused, outcome


def words(A: int32[2, 6], B: int32[2, 6]):
    T: int32[2, 2, 3]
    for i, j in allo.grid(2, 2, name="produce"):
        for c in range(3):
            T[i, j, c] = A[i, 3 * j + c] + 1
    for i, j in allo.grid(2, 2, name="consume"):
        for c in range(3):
            B[i, 3 * j + c] = T[i, j, c] * 2


def bank_by_bank(A: int32[2, 6], B: int32[2, 6]):
    T: int32[2, 2, 3]
    for i, j, c in allo.grid(2, 2, 3, name="produce"):
        T[i, j, c] = A[i, 3 * j + c] + 1
    for c, i, j in allo.grid(3, 2, 2, name="consume"):
        B[i, 3 * j + c] = T[i, j, c] * 2


def columns_first(A: int32[2, 6], B: int32[2, 6]):
    T: int32[2, 2, 3]
    for i, j, c in allo.grid(2, 2, 3, name="produce"):
        T[i, j, c] = A[i, 3 * j + c] + 1
    for j, i, c in allo.grid(2, 2, 3, name="consume"):
        B[i, 3 * j + c] = T[i, j, c] * 2


def four(A: int32[2, 4], B: int32[2, 4]):
    T: int32[2, 4]
    for i, j in allo.grid(2, 4, name="produce"):
        T[i, j] = A[i, j] + 1
    for i, j in allo.grid(2, 4, name="consume"):
        B[i, j] = T[i, j] * 2


def send(A: int32[4, 6], T: int32[4, 2, 3]):
    for i, j in allo.grid(4, 2):
        for c in range(3):
            T[i, j, c] = A[i, 3 * j + c]


def add(T: int32[4, 2, 3], B: int32[4, 6]):
    for i, j in allo.grid(4, 2):
        for c in range(3):
            B[i, 3 * j + c] = T[i, j, c] + 1


def total(T: int32[4, 2, 3], S: int32[3]):
    for i, j in allo.grid(4, 2):
        for c in range(3):
            S[c] += T[i, j, c]


def fork(A: int32[4, 6], B: int32[4, 6], S: int32[3]):
    T: int32[4, 2, 3]
    send(A, T)
    add(T, B)
    total(T, S)


def by_table(P: int32[4], A: int32[4, 2], B: int32[4, 2]):
    T: int32[4, 2]
    for i, c in allo.grid(4, 2, name="produce"):
        p: index = P[i]
        T[p, c] = A[i, c]
    for i, c in allo.grid(4, 2, name="consume"):
        p: index = P[i]
        B[i, c] = T[p, c]


def in_banks(kernel, dim: int = 3) -> Schedule:
    s = customize(kernel)
    s.partition("T", dim=dim)
    return s


def forked() -> Schedule:
    s = in_banks(fork)
    s.partition("A", dim=2, factor=3)
    s.partition("B", dim=2, factor=3)
    s.partition("S")
    for function in ("send", "add", "total"):
        s.pipeline(f"{function}:j")
    s.relay("T", "add", depth=2)
    s.relay("T", "total", depth=2)
    s.dataflow("fork")
    return s


def test_golden():
    s = in_banks(words)
    s.relay("T", "consume", depth=2)
    assert_ir(
        s,
        """
        func.func @words(%arg0: memref<2x6xi32> {allo.name = "A"}, %arg1: memref<2x6xi32> {allo.name = "B"}) attributes {allo.dataflow} {
          %alloc = memref.alloc() {allo.name = "fifo_T"} : memref<3x!allo.stream<i32, 2>>
          affine.for %arg2 = 0 to 2 {
            affine.for %arg3 = 0 to 2 {
              affine.for %arg4 = 0 to 3 {
                %0 = affine.load %arg0[%arg2, %arg3 * 3 + %arg4] : memref<2x6xi32>
                %1 = arith.extsi %0 : i32 to i33
                %c1_i33 = arith.constant 1 : i33
                %2 = arith.addi %1, %c1_i33 : i33
                %3 = arith.trunci %2 : i33 to i32
                %4 = affine.load %alloc[%arg4] : memref<3x!allo.stream<i32, 2>>
                allo.stream_put %4, %3 : !allo.stream<i32, 2>
              } {allo.name = "c"}
            } {allo.name = "j"}
          } {allo.name = "i", allo.nest = "produce"}
          affine.for %arg2 = 0 to 2 {
            affine.for %arg3 = 0 to 2 {
              affine.for %arg4 = 0 to 3 {
                %0 = affine.load %alloc[%arg4] : memref<3x!allo.stream<i32, 2>>
                %1 = allo.stream_get %0 : !allo.stream<i32, 2>
                %2 = arith.extsi %1 : i32 to i34
                %c2_i34 = arith.constant 2 : i34
                %3 = arith.muli %2, %c2_i34 : i34
                %4 = arith.trunci %3 : i34 to i32
                affine.store %4, %arg1[%arg2, %arg3 * 3 + %arg4] : memref<2x6xi32>
              } {allo.name = "c"}
            } {allo.name = "j"}
          } {allo.name = "i", allo.nest = "consume"}
          return
        }
        """,
    )
    assert_faithful(words, s)


def test_each_bank_has_an_order_of_its_own():
    s = in_banks(bank_by_bank)
    s.relay("T", "consume")
    assert "memref<3x!allo.stream<i32, 4>>" in str(s.module)  # as many elements as a bank
    assert_faithful(bank_by_bank, s)


def test_one_fifo_for_all_banks_has_one_order():
    assert_refused(
        """
        relay: 'T' cannot become a FIFO: T[0, 0, 1] is written before T[1, 0, 0], but read after it
          note: it is written here
            File, line N, column 9
              T[i, j, c] = A[i, 3 * j + c] + 1
              ^
          note: it is read here
            File, line N, column 27
              B[i, 3 * j + c] = T[i, j, c] * 2
                                ^
          hint: reorder() the loops of one side, or read through a copy made by buffer_at()
        """,
        customize(bank_by_bank),
        "relay",
        "T",
        "consume",
    )


def test_another_order_within_a_bank():
    assert_refused(
        """
        relay: 'T' cannot become a FIFO: T[0, 1, 0] is written before T[1, 0, 0], but read after it
          note: it is written here
            File, line N, column 9
              T[i, j, c] = A[i, 3 * j + c] + 1
              ^
          note: it is read here
            File, line N, column 27
              B[i, 3 * j + c] = T[i, j, c] * 2
                                ^
          hint: reorder() the loops of one side, or read through a copy made by buffer_at()
        """,
        in_banks(columns_first),
        "relay",
        "T",
        "consume",
    )


def test_an_array_of_registers_is_one_fifo():
    """All dimensions are in banks: there is nothing left to pass in order in them."""
    s = in_banks(words, dim=0)
    s.relay("T", "consume")
    assert "memref<3x!allo.stream" not in str(s.module) and "!allo.stream<i32, 12>" in str(s.module)
    assert_faithful(words, s)


def test_cyclic_banks_are_one_fifo():
    s = customize(four)
    s.partition("T", dim=2, factor=2)
    s.relay("T", "consume")
    assert "!allo.stream<i32, 8>" in str(s.module) and "x!allo.stream" not in str(s.module)
    assert_faithful(four, s)


def test_through_calls_to_two_readers():
    s = forked()
    assert str(s.module).count("memref<3x!allo.stream<i32, 2>>") >= 2 and s.verify()
    assert_equal(outcome(s, fork), outcome(customize(fork), fork))


@pytest.mark.skipif(shutil.which("g++") is None, reason="the simulation needs g++")
def test_simulation():
    A, B, S = np.arange(24, dtype=np.int32).reshape(4, 6), np.zeros((4, 6), np.int32), np.zeros(3, np.int32)
    forked().build(target="vitis_hls", mode="csim")(A, B, S)
    assert (B == A + 1).all() and np.array_equal(S, A.reshape(8, 3).sum(axis=0))


def test_a_word_passes_in_each_cycle():
    found = allo.estimate(forked())
    assert [loop.interval for loop in found.loops if loop.state == "pipelined"] == [1, 1, 1]


def test_subscripts_that_are_known_at_run_time_only():
    s = in_banks(by_table, dim=2)
    assert_refused(
        """
        relay: 'T' cannot become a FIFO, because it cannot be decided: the statement at line N writes T[?, c], but it has a subscript that is not affine
          note: it is written here
            File, line N, column 9
              T[p, c] = A[i, c]
              ^
          hint: if you know that it is safe, pass assume_safe=True
        """,
        s,
        "relay",
        "T",
        "consume",
    )
    s.relay("T", "consume", assume_safe=True)
    P, A = np.array([2, 0, 3, 1], np.int32), np.arange(8, dtype=np.int32).reshape(4, 2)
    B = np.zeros_like(A)
    s.build()(P, A, B)
    assert (B == A).all()
