"""The part of a buffer that one iteration touches."""

from __future__ import annotations

from allo.poly import extract, footprint


def ask(parse, text, buffer, name):
    function = parse(text)
    return footprint(extract(function.op), function.values[buffer], function.loops[name])


def box(answer):
    return [(str(extent.lower), extent.size) for extent in answer.extents]


GEMM = """
func.func @f(%A: memref<8x6xf32> {allo.name = "A"}, %B: memref<6x10xf32> {allo.name = "B"},
             %C: memref<8x10xf32> {allo.name = "C"}) {
  %z = arith.constant 0.0 : f32
  affine.for %i = 0 to 8 {
    affine.for %j0 = 0 to 10 {
      affine.store %z, %C[%i, %j0] : memref<8x10xf32>
    } {allo.name = "j0"}
    affine.for %k = 0 to 6 {
      affine.for %j = 0 to 10 {
        %a = affine.load %A[%i, %k] : memref<8x6xf32>
        %b = affine.load %B[%k, %j] : memref<6x10xf32>
        %c = affine.load %C[%i, %j] : memref<8x10xf32>
        affine.store %c, %C[%i, %j] : memref<8x10xf32>
      } {allo.name = "j"}
    } {allo.name = "k"}
  } {allo.name = "i"}
  return
}
"""


def test_row_of_a_product(parse):
    answer = ask(parse, GEMM, "C", "i")
    assert box(answer) == [("i", 1), ("0", 10)]
    assert answer.covers and not any(map(any, answer.escapes)) and answer.written and answer.exact
    assert not answer.exposed  # the first loop initialises the row
    assert ask(parse, GEMM, "C", "k").exposed
    assert box(ask(parse, GEMM, "A", "k")) == [("i", 1), ("k", 1)]
    assert box(ask(parse, GEMM, "B", "k")) == [("k", 1), ("0", 10)]
    assert not ask(parse, GEMM, "B", "k").written
    assert ask(parse, GEMM, "A", "j0") is None


def test_window_of_a_stencil(parse):
    text = """
    func.func @f(%A: memref<10x10xf32> {allo.name = "A"}, %B: memref<8x8xf32> {allo.name = "B"}) {
      affine.for %y = 0 to 8 {
        affine.for %x = 0 to 8 {
          affine.for %r = 0 to 3 {
            affine.for %c = 0 to 3 {
              %a = affine.load %A[%y + %r, %x + %c] : memref<10x10xf32>
              affine.store %a, %B[%y, %x] : memref<8x8xf32>
            } {allo.name = "c"}
          } {allo.name = "r"}
        } {allo.name = "x"}
      } {allo.name = "y"}
      return
    }"""
    assert box(ask(parse, text, "A", "x")) == [("y", 3), ("x", 3)]
    assert box(ask(parse, text, "A", "y")) == [("y", 3), ("0", 10)]


def test_tail_of_a_split_leaves_the_buffer(parse):
    text = """
    func.func @f(%A: memref<10xf32> {allo.name = "A"}, %z: f32) {
      affine.for %o = 0 to 3 {
        affine.for %i = 0 to 4 {
          affine.if affine_set<(d0, d1) : (9 - d0 * 4 - d1 >= 0)>(%o, %i) {
            affine.store %z, %A[%o * 4 + %i] : memref<10xf32>
          }
        } {allo.name = "i"}
      } {allo.name = "o"}
      return
    }"""
    answer = ask(parse, text, "A", "o")
    assert box(answer) == [("4*o", 4)]
    assert answer.covers and any(map(any, answer.escapes))


def test_triangle_is_bounded_by_its_widest_row(parse):
    text = """
    func.func @f(%A: memref<8x8xf32> {allo.name = "A"}, %z: f32) {
      affine.for %i = 0 to 8 {
        affine.for %j = affine_map<(d0) -> (d0)>(%i) to 8 {
          affine.store %z, %A[%i, %j] : memref<8x8xf32>
        } {allo.name = "j"}
      } {allo.name = "i"}
      return
    }"""
    answer = ask(parse, text, "A", "i")
    assert box(answer) == [("i", 1), ("i", 8)]
    assert answer.covers and any(map(any, answer.escapes))


def test_unknown_subscript_is_the_whole_dimension(parse):
    text = """
    func.func @f(%A: memref<8x8xf32> {allo.name = "A"}, %I: memref<8xindex>, %z: f32) {
      affine.for %i = 0 to 8 {
        %p = affine.load %I[%i] : memref<8xindex>
        memref.store %z, %A[%i, %p] : memref<8x8xf32>
      } {allo.name = "i"}
      return
    }"""
    answer = ask(parse, text, "A", "i")
    assert box(answer) == [("i", 1), ("0", 8)]
    assert answer.written and not answer.covers and not answer.exact


def test_extent_that_is_not_constant(parse):
    text = """
    func.func @f(%A: memref<?xf32> {allo.name = "A"}, %n: index {allo.name = "n"}, %z: f32) {
      affine.for %i = 0 to 8 {
        affine.for %j = 0 to %n {
          affine.store %z, %A[%j] : memref<?xf32>
        } {allo.name = "j"}
      } {allo.name = "i"}
      return
    }"""
    (extent,) = ask(parse, text, "A", "i").extents
    assert (extent.lower, extent.size) == (None, None)
    assert extent.reason == "the number of elements is not bounded by a constant"


def test_symbolic_offset(parse):
    text = """
    func.func @f(%A: memref<99xf32> {allo.name = "A"}, %n: index {allo.name = "n"}, %z: f32) {
      affine.for %i = 0 to 8 {
        affine.for %j = %n to affine_map<()[s0] -> (s0 + 4)>()[%n] {
          affine.store %z, %A[%j - %i * 2] : memref<99xf32>
        } {allo.name = "j"}
      } {allo.name = "i"}
      return
    }"""
    assert box(ask(parse, text, "A", "i")) == [("n - 2*i", 4)] or box(ask(parse, text, "A", "i")) == [
        ("-2*i + n", 4)
    ]
