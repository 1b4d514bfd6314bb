"""Dataflow regions in C++ for AMD's tools: declarations and calls only, and what the CPU computes."""

# ruff: noqa: F821 - kernels declare arrays without a value

from __future__ import annotations

import shutil
from typing import Any

import numpy as np
import pytest

import allo
import polybench
from allo.ir.types import Stateful, int8, int16, int32

from .regions import regions, strangers
from .test_csim import assert_same

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="the simulation needs g++")
WEIGHTS = np.array([1, -2, 3, 4, -5, 6, 7, -8], np.int8)
VALUES = np.arange(-3, 5, dtype=np.int32)
ROWS = np.arange(32, dtype=np.int32).reshape(4, 8)


def total(A: int32[8]) -> int32:
    s: int32 = 0
    for i in range(8):
        s += A[i]
    return s


def scale(A: int32[8], by: int32, C: int32[8]):
    for i in range(8):
        C[i] = A[i] * by


def casts(A: int32[8], a: int8, C: int32[8]):
    factor: int32 = a * 2
    T: int32[8]
    for i in range(8, name="first"):
        T[i] = A[i] * factor
    shift: int16 = a + 1
    for j in range(8, name="last"):
        C[j] = T[j] + factor + shift


def fills(A: int32[8], C: int32[8]) -> int32[8]:
    V: int8[8] = WEIGHTS
    U: int32[8]
    for i in range(8, name="first"):
        U[i] = A[i] * V[i]
    for j in range(8, name="last"):
        C[j] = U[j] - V[j]
    D: int32[8] = 7
    return D


def numbers(A: int32[8], C: int32[8]) -> (int32, int32):
    T: int32[8]
    scale(A, 3, T)
    sum_of_all: int32 = total(T)
    for j in range(8, name="last"):
        C[j] = sum_of_all * j
    return sum_of_all, sum_of_all + 1


def one_number(A: int32[8]) -> int32:
    T: int32[8]
    scale(A, 3, T)
    r: int32 = total(T)
    return r


def asks(A: int32[8], C: int32[8]) -> int32:
    r: int32 = one_number(A) + 1
    for j in range(8):
        C[j] = r
    return r


def computed_argument(A: int32[8], by: int8, C: int32[8]):
    T: int32[8]
    scale(A, by + 1, T)
    scale(T, 3, C)


def one_element(A: int32[8], C: int32[8], D: int32[8]):
    x: int32 = A[3] + 1
    for j in range(8, name="first"):
        C[j] = x
    for j in range(8, name="last"):
        D[j] = x


def branch(A: int32[8], by: int32, C: int32[8], D: int32[8]):
    for j in range(8, name="first"):
        C[j] = A[j]
    if by > 2:
        for j in range(8, name="last"):
            D[j] = by


def own_state(A: int32[8], C: int32[8]):
    count: Stateful[int32] = 3
    T: int32[8]
    for i in range(8, name="first"):
        T[i] = A[i] + count
        count += 1
    for j in range(8, name="last"):
        C[j] = T[j]


def blocks(A: int32[4, 8], C: int32[4, 8], b: int8):
    for i in range(4):
        by: int32 = b + i
        T: int32[8]
        for j in range(8, name="first"):
            T[j] = A[i, j] * by
        for k in range(8, name="last"):
            C[i, k] = T[k] // 2 + i // 3


ZEROS = np.zeros(8, np.int32)
ONES = np.ones(8, np.int32)
CASES: dict[Any, tuple[Any, ...]] = {
    casts: (VALUES, -5, ZEROS),
    fills: (VALUES, ZEROS),
    numbers: (VALUES, ZEROS),
    one_number: (VALUES,),
    computed_argument: (VALUES, 100, ZEROS),
    one_element: (VALUES, ZEROS, ONES),
    branch: (VALUES, 5, ZEROS, ONES),
    own_state: (VALUES, ZEROS),
    blocks: (ROWS, np.zeros((4, 8), np.int32), 5),
}


def scheduled(kernel: Any) -> allo.Schedule:
    s = allo.customize(kernel)
    s.dataflow("i" if kernel is blocks else kernel.__name__)
    return s


@pytest.mark.parametrize("target", ["vhls", "vitis_hls", "vivado_hls"])
@pytest.mark.parametrize("kernel", CASES)
def test_regions_are_declarations_and_calls(kernel: Any, target: str) -> None:
    code = scheduled(kernel).build(target=target).hls_code
    assert len(regions(code)) == 1
    assert not strangers(code)


@needs_compiler
@pytest.mark.parametrize("kernel", CASES)
def test_simulation(kernel: Any) -> None:
    assert_same(scheduled(kernel), [CASES[kernel], CASES[kernel]])


@needs_compiler
def test_callers_read_the_number_that_a_region_writes() -> None:
    s = allo.customize(asks)
    s.dataflow("one_number")
    assert not strangers(s.build(target="vhls").hls_code)
    assert_same(s, [(VALUES, ZEROS)])


@pytest.mark.parametrize("name", [n for n in polybench.NAMES if "streams" in polybench.load(n).designs])
def test_designs_of_polybench(name: str) -> None:
    code = polybench.load(name).designs["streams"].customized("MINI").build(target="vhls").hls_code
    assert regions(code)
    assert not strangers(code)


def test_processes_are_called_after_nests_and_variables() -> None:
    """They take the variables of loops as these are declared, and keep the pragmas of partitions."""
    s = allo.customize(blocks)
    s.dataflow("i")
    s.partition("A", dim=2)
    s.pipeline("j")
    code = s.build(target="vhls").hls_code
    assert [line for line in regions(code)[0] if "(" in line] == [
        "blocks_by(b, i, by);", "blocks_first(A, i, by, T);", "blocks_last(T, i, C);"
    ]  # fmt: skip
    definition = code[code.index("void blocks_first") : code.index("void blocks_last")]
    assert [line.partition("  //")[0] for line in definition.splitlines()][:6] == [
        "void blocks_first(const int32_t A[4][8], int i, const int32_t &by, int32_t T[8]) {",
        "#pragma HLS inline off",
        "#pragma HLS array_partition variable=A complete dim=2",
        "  l_first_j: for (int j = 0; j < 8; j++) {",
        "#pragma HLS pipeline II=1",
        "    T[j] = A[i][j] * by;",
    ]


# Values that several processes use, an element that is read before a later process writes it, results that are
# arguments, a choice, a stream: what kernels write otherwise, or `dataflow` refuses.
TEXT = """
module attributes {allo.top = "top"} {
  memref.global "private" constant @table : memref<4xi32> = dense<[5, -6, 7, 8]>
  func.func @pair(%a: memref<4xi32> {allo.name = "a"}) -> (i32, memref<4xi32>, i32) {
    %b = memref.alloc() {allo.name = "b"} : memref<4xi32>
    affine.for %i = 0 to 4 {
      %x = affine.load %a[%i] : memref<4xi32>
      %y = arith.muli %x, %x : i32
      affine.store %y, %b[%i] : memref<4xi32>
    } {allo.name = "i", allo.nest = "squares"}
    %x = affine.load %a[1] : memref<4xi32>
    %y = affine.load %a[2] : memref<4xi32>
    return %x, %b, %y : i32, memref<4xi32>, i32
  }
  func.func @add(%a: memref<4xi32> {allo.name = "a"}, %n: i32 {allo.name = "n"}) {
    affine.for %i = 0 to 4 {
      %x = affine.load %a[%i] : memref<4xi32>
      %y = arith.addi %x, %n : i32
      affine.store %y, %a[%i] : memref<4xi32>
    } {allo.name = "i", allo.nest = "sums"}
    return
  }
  func.func @top(%a: memref<4xi32> {allo.name = "a"}, %c: memref<4xi32> {allo.name = "c"},
      %d: memref<4xi32> {allo.name = "d"}, %n: i32 {allo.name = "n"}, %p: i1 {allo.name = "p"},
      %g: memref<4xi32> {allo.name = "g"}) -> (memref<4xi32>, i32, memref<4xi32>) attributes {allo.dataflow} {
    %0 = arith.constant 0 : index
    %t = memref.get_global @table : memref<4xi32> {allo.name = "t"}
    %s = allo.stream_create {allo.name = "s"} : !allo.stream<i32, 4>
    %twice = arith.addi %n, %n : i32
    %old = affine.load %c[2] : memref<4xi32>
    %chosen = scf.if %p -> (i32) {
      %x = affine.load %d[%0] : memref<4xi32>
      scf.yield %x : i32
    } else {
      scf.yield %twice : i32
    }
    allo.stream_put %s, %chosen : !allo.stream<i32, 4>
    func.call @add(%c, %twice) : (memref<4xi32>, i32) -> ()
    %r:3 = func.call @pair(%a) : (memref<4xi32>) -> (i32, memref<4xi32>, i32)
    %sum = arith.addi %r#0, %r#2 : i32
    %got = allo.stream_get %s : !allo.stream<i32, 4>
    %all = arith.addi %got, %old : i32
    %e = memref.alloc() {allo.name = "e"} : memref<4xi32>
    affine.for %i = 0 to 4 {
      %x = affine.load %r#1[%i] : memref<4xi32>
      %y = affine.load %t[%i] : memref<4xi32>
      %u = arith.addi %x, %y : i32
      %v = arith.addi %u, %sum : i32
      %w = arith.addi %v, %all : i32
      affine.store %w, %e[%i] : memref<4xi32>
    } {allo.name = "i", allo.nest = "last"}
    memref.copy %t, %d : memref<4xi32> to memref<4xi32>
    return %e, %all, %g : memref<4xi32>, i32, memref<4xi32>
  }
}
"""


def test_modules_from_text() -> None:
    code = allo.Schedule.from_mlir(TEXT).build(target="vhls").hls_code
    assert not strangers(code)
    calls = [line.partition("(")[0] for line in regions(code)[0] if "(" in line]
    assert calls == [
        "top_value", "top_value_1", "top_s", "top_add", "pair", "top_value_2", "top_last", "top_d", "top_result",
        "top_result_1",
    ]  # fmt: skip


@needs_compiler
@pytest.mark.parametrize("chosen", [True, False])
def test_modules_from_text_compute_the_same(chosen: bool) -> None:
    arrays = np.arange(12, dtype=np.int32).reshape(3, 4) - 5
    assert_same(allo.Schedule.from_mlir(TEXT), [(*arrays.copy(), 9, chosen, ROWS[0, :4].copy())])
