"""convert: streams between nests that use other orders, through the least tile."""

# ruff: noqa: E501, F821 - golden text is not wrapped; kernels declare arrays without a value

import numpy as np
import pytest

import allo
from allo import customize
from allo.ir.types import int32
from tests.importers.models import check, kernel_of, run, stored

from .checks import arguments_of, assert_faithful, assert_ir, assert_refused


def product(A: int32[4, 6], W: int32[6, 3], B: int32[4, 3]):
    C: int32[4, 6]
    for i, j in allo.grid(4, 6, name="produce"):
        C[i, j] = A[i, j] + 1
    for i, j, k in allo.grid(4, 3, 6, name="consume"):
        B[i, j] += C[i, k] * W[k, j]


def transposed(A: int32[6, 4], B: int32[4, 6]):
    C: int32[6, 4]
    for i, j in allo.grid(6, 4, name="produce"):
        C[i, j] = A[i, j] + 1
    for j, i in allo.grid(4, 6, name="consume"):
        B[j, i] = C[i, j] * 2


def two_products(A: int32[4, 5], V: int32[5, 6], b: int32[6], W: int32[6, 3], B: int32[4, 3]):
    C: int32[4, 6]
    for i, j in allo.grid(4, 6, name="bias"):
        C[i, j] = b[j]
    for i, j, k in allo.grid(4, 6, 5, name="produce"):
        C[i, j] += A[i, k] * V[k, j]
    for i, j, k in allo.grid(4, 3, 6, name="consume"):
        B[i, j] += C[i, k] * W[k, j]


def blocks(A: int32[8, 8], B: int32[8, 8]):
    """Fig. 5 of the paper: blocks of 4 x 2, column by column, each twice."""
    C: int32[8, 8]
    for i, j in allo.grid(4, 2, name="produce"):
        for y, x in allo.grid(4, 2):
            C[4 * j + y, 2 * i + x] = A[4 * j + y, 2 * i + x] + 1
    for i, r, j in allo.grid(4, 2, 2, name="consume"):
        for y, x in allo.grid(4, 2):
            B[4 * j + y, 2 * i + x] += C[4 * j + y, 2 * i + x] * (r + 1)


def fork(A: int32[4, 3], B: int32[4, 3], D: int32[3, 4]):
    C: int32[4, 3]
    for i, j in allo.grid(4, 3, name="produce"):
        C[i, j] = A[i, j] + 1
    for j, i in allo.grid(3, 4, name="left"):
        D[j, i] = C[i, j]
    for i, j in allo.grid(4, 3, name="right"):
        B[i, j] = C[i, j] * 2


def strided(A: int32[12], B: int32[6]):
    C: int32[12]
    for i in range(12, name="produce"):
        C[i] = A[i]
    for i in range(0, 12, 4, name="consume"):
        for h in range(2):
            B[i // 4 * 2 + h] = C[i + 2 - 2 * h]


def test_golden() -> None:
    s = customize(product)
    tile = s.convert("C", "consume", depth=3)
    assert str(tile) == "product:C_tile"
    assert_ir(s, """
    func.func @product(%arg0: memref<4x6xi32> {allo.name = "A"}, %arg1: memref<6x3xi32> {allo.name = "W"}, %arg2: memref<4x3xi32> {allo.name = "B"}) attributes {allo.dataflow} {
      %0 = allo.stream_create {allo.itensor = !allo.itensor<1x1xi32, [4, 6] * [1, 1], (d0, d1) -> (d0, d1)>, allo.name = "fifo_C"} : !allo.stream<i32, 3>
      affine.for %arg3 = 0 to 4 {
        affine.for %arg4 = 0 to 6 {
          %2 = affine.load %arg0[%arg3, %arg4] : memref<4x6xi32>
          %3 = arith.extsi %2 : i32 to i33
          %c1_i33 = arith.constant 1 : i33
          %4 = arith.addi %3, %c1_i33 : i33
          %5 = arith.trunci %4 : i33 to i32
          allo.stream_put %0, %5 : !allo.stream<i32, 3>
        } {allo.name = "j"}
      } {allo.name = "i", allo.nest = "produce"}
      %alloc = memref.alloc() {allo.name = "C_tile"} : memref<2x6xi32>
      %1 = allo.stream_create {allo.itensor = !allo.itensor<1x1xi32, [4, 3, 6] * [1, 1, 1], (d0, d1, d2) -> (d0, d2)>, allo.name = "fifo_C_in_order"} : !allo.stream<i32, 2>
      affine.for %arg3 = 0 to 5 {
        affine.for %arg4 = 0 to 18 {
          affine.if affine_set<(d0, d1) : (-d0 + 3 >= 0, -d1 + 5 >= 0)>(%arg3, %arg4) {
            %2 = allo.stream_get %0 : !allo.stream<i32, 3>
            affine.store %2, %alloc[%arg3 mod 2, %arg4] : memref<2x6xi32>
          }
          affine.if affine_set<(d0, d1) : (d0 - 1 >= 0)>(%arg3, %arg4) {
            %2 = affine.load %alloc[(%arg3 + 1) mod 2, %arg4 mod 6] : memref<2x6xi32>
            allo.stream_put %1, %2 : !allo.stream<i32, 2>
          }
        } {allo.name = "x", allo.pipeline = 1 : i32}
      } {allo.name = "p", allo.nest = "convert_C", allo.x_converter}
      affine.for %arg3 = 0 to 4 {
        affine.for %arg4 = 0 to 3 {
          affine.for %arg5 = 0 to 6 {
            %2 = affine.load %arg2[%arg3, %arg4] : memref<4x3xi32>
            %3 = arith.extsi %2 : i32 to i65
            %4 = allo.stream_get %1 : !allo.stream<i32, 2>
            %5 = arith.extsi %4 : i32 to i64
            %6 = affine.load %arg1[%arg5, %arg4] : memref<6x3xi32>
            %7 = arith.extsi %6 : i32 to i64
            %8 = arith.muli %5, %7 : i64
            %9 = arith.extsi %8 : i64 to i65
            %10 = arith.addi %3, %9 : i65
            %11 = arith.trunci %10 : i65 to i32
            affine.store %11, %arg2[%arg3, %arg4] : memref<4x3xi32>
          } {allo.name = "k"}
        } {allo.name = "j"}
      } {allo.name = "i", allo.nest = "consume"}
      return
    }
    """)


@pytest.mark.parametrize(
    "kernel", [two_products, *(pytest.param(k, marks=pytest.mark.slow) for k in (product, transposed, blocks, strided))]
)
def test_meaning(kernel) -> None:
    s = customize(kernel)
    s.convert("C", "consume")
    assert_faithful(kernel, s)
    assert allo.verify(customize(kernel), s)


def test_tiles() -> None:
    """What two tiles hold: a row, all, a row, a column of blocks, and four elements."""
    found = {}
    for kernel in (product, transposed, two_products, blocks, strided):
        s = customize(kernel)
        s.convert("C", "consume")
        found[kernel.__name__] = [a.bytes // 4 for a in s.report().buffers if a.name == "C_tile"]
    assert found == {'product': [12], 'transposed': [24], 'two_products': [12], 'blocks': [32], 'strided': [8]}


def test_fork() -> None:
    """A FIFO for each reader, of which one needs no converter."""
    s = customize(fork)
    assert s.convert("C", "left") is not None and s.convert("C", "right") is None
    assert_faithful(fork, s)
    assert s.size_fifos() and allo.verify(customize(fork), s)


def triangle(A: int32[4, 4], B: int32[4, 4]):
    C: int32[4, 4]
    for i, j in allo.grid(4, 4, name="produce"):
        C[i, j] = A[i, j]
    for i in range(4, name="consume"):
        for j in range(i + 1):
            B[i, j] = C[j, i]


def branch(A: int32[4], B: int32[4]):
    C: int32[4]
    for i in range(4, name="produce"):
        C[i] = A[i]
    for i in range(4, name="consume"):
        if i % 2 == 0:
            B[i] = C[3 - i]


def box(A: int32[4], B: int32[4]):
    C: int32[4]
    for i in range(4, name="produce"):
        C[i] = A[i]
    for i in range(4, name="consume"):
        if i < 2:
            B[i] = C[3 - i]


def guarded(A: int32[4], B: int32[4]):
    C: int32[4]
    for i in range(4, name="produce"):
        C[i] = A[i]
    for i in range(4, name="consume"):
        if A[i] > 0:
            B[i] = C[3 - i]


def outside(A: int32[4], B: int32[4]):
    C: int32[4]
    for i in range(4, name="produce"):
        C[i] = A[i]
    for i in range(5, name="consume"):
        if A[i % 4] > 7:
            B[i % 4] = C[i]


def heads(A: int32[3, 8], B: int32[3, 4]):
    C: int32[3, 8]
    for i, j in allo.grid(3, 8, name="produce"):
        C[i, j] = A[i, j]
    for i, j in allo.grid(3, 4, name="consume"):
        B[i, j] = C[i, 4 + j % 2 * 2 + j // 2]


def twice(A: int32[4], B: int32[4]):
    C: int32[4]
    for i in range(4, name="produce"):
        C[i] = A[i]
    for i in range(3, name="consume"):
        B[i] = C[i] + C[i + 1]


def part(A: int32[4], B: int32[4]):
    C: int32[4]
    for i in range(3, name="produce"):
        C[i] = A[i]
    for i in range(4, name="consume"):
        B[i] = C[3 - i]


def quotient(A: int32[4], B: int32[4]):
    C: int32[2]
    for i in range(2, name="produce"):
        C[i] = A[i]
    for i in range(4, name="consume"):
        B[i] = C[(i + 1) // 3]


@pytest.mark.parametrize(("kernel", "tile"), [(guarded, 4), (box, 2), (heads, 3)])
def test_branches_and_digits(kernel, tile: int) -> None:
    """An element is taken whether it is used or not; quotients and remainders of a loop are two loops, and of a row
    only the elements pass that are used."""
    s = customize(kernel)
    s.convert("C", "consume")
    assert [a.bytes // 4 for a in s.report().buffers if a.name in ("C_tile", "C_rows")] == [tile]
    assert_faithful(kernel, s)
    assert allo.verify(customize(kernel), s)


def filled(A: int32[4]):
    A[0] = 1


def called(B: int32[4]):
    C: int32[4]
    filled(C)
    for i in range(4, name="consume"):
        B[i] = C[3 - i]


REFUSALS = {
    "triangle": """
convert: nest 'consume' uses 'C' in loop 'j', whose bounds are no constants, and its order is no iterative tensor
  note: it is here
    File, line N, column 9
      for j in range(i + 1):
      ^
  hint: a converter is between loop nests with constant bounds and without branches around the array
    """,
    "branch": """
convert: nest 'consume' uses 'C' in a branch, or in a loop with run-time bounds, and its order is no iterative tensor
  note: it is here
    File, line N, column 9
      if i % 2 == 0:
      ^
  hint: a converter is between loop nests with constant bounds and without branches around the array
    """,
    "outside": """
convert: nest 'consume' uses 'C' in a branch, or in a loop with run-time bounds, and its order is no iterative tensor
  note: it is here
    File, line N, column 9
      if A[i % 4] > 7:
      ^
  hint: a converter is between loop nests with constant bounds and without branches around the array
    """,
    "twice": """
convert: nest 'consume' reads 'C' at 2 places, and a converter serves one
  note: it is read here
    File, line N, column 16
      B[i] = C[i] + C[i + 1]
             ^
  note: it is read here
    File, line N, column 23
      B[i] = C[i] + C[i + 1]
                    ^
  hint: read it once, into a copy made by buffer_at() or reuse_at()
    """,
    "part": """
convert: 'C' cannot be converted: !allo.itensor<1xi32, [3] * [1], (d0) -> (d0)> cannot become !allo.itensor<1xi32, [4] * [1], (d0) -> (-d0 + 3)>: it does not give the element [3]
  note: nest 'consume' is here
    File, line N, column 5
      for i in range(4, name="consume"):
      ^
    """,
    "quotient": """
convert: nest 'consume' uses 'C' as C[(i + 1) // 3], no sum of its loops, and its order is no iterative tensor
  note: it is here
    File, line N, column 16
      B[i] = C[(i + 1) // 3]
             ^
  hint: a converter is between loop nests with constant bounds and without branches around the array
    """,
    "called": """
convert: function 'filled' writes 'C', and a converter is between loop nests
  note: function 'filled' is here
    File, line N, column 5
      filled(C)
      ^
  hint: inline() it: s.inline("filled")
    """,
}


@pytest.mark.parametrize("kernel", [triangle, branch, outside, twice, part, quotient, called])
def test_refusals(kernel) -> None:
    assert_refused(REFUSALS[kernel.__name__], customize(kernel), "convert", "C", "consume")


@pytest.mark.slow
def test_hardware() -> None:
    kernel = blocks
    s = customize(kernel)
    s.convert("C", "consume", depth=2)
    arguments = arguments_of(kernel)
    wanted = [a.copy() for a in arguments]
    customize(kernel).build()(*wanted)
    for module in (s.build(timed=True), s.build(target="rtl"), s.build(target="vitis_hls", mode="csim")):
        given = [a.copy() for a in arguments]
        module(*given)
        for left, right in zip(given, wanted, strict=True):
            np.testing.assert_array_equal(left, right)


def test_imported_model() -> None:
    """Layers of a model, sums with biases and a softmax: all arrays between them but the last become streams."""
    s = customize(kernel_of("perceptron"), lower_linalg=True)
    for layer, user in (("linear", "relu"), ("relu", "linear_1"), ("linear_1", "gelu"), ("gelu", "linear_2")):
        s.convert(layer, user)
    known = stored("perceptron")
    check(run(s.build(), *known.inputs), known.results)
    assert [a.name for a in s.report().buffers if a.kind == "local" and a.name.endswith("tile")] == [
        "relu_tile",
        "gelu_tile",
    ]
