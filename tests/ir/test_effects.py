"""What functions and statements read, write, put and get: through calls, views, states and operators on arrays."""

from __future__ import annotations

import pytest

from allo.ir.effects import Effects
from allo.ir.module import Module
from allo.ir.processes import region_blocks, region_statements
from allo.ir.walk import entry_block, operations, statements


def module(text: str) -> Module:
    return Module.parse(f'module attributes {{allo.top = "f"}} {{\n{text}\n}}')


def read_arguments(effects: Effects, name: str) -> set[int]:
    return {effect.operand for effect in effects.summary(name) if effect.reads}


MUTUAL = """
func.func @f(%A: memref<4xi32>, %B: memref<4xi32>, %n: index) {
  func.call @g(%A, %B, %n) : (memref<4xi32>, memref<4xi32>, index) -> ()
  %v = memref.load %A[%n] : memref<4xi32>
  return
}
func.func @g(%A: memref<4xi32>, %B: memref<4xi32>, %n: index) {
  func.call @f(%A, %B, %n) : (memref<4xi32>, memref<4xi32>, index) -> ()
  %v = arith.constant 0 : i32
  memref.store %v, %B[%n] : memref<4xi32>
  return
}"""


@pytest.mark.parametrize("order", ["fg", "gf"])
def test_functions_that_call_each_other(order: str) -> None:
    effects = Effects(module(MUTUAL))
    for name in order:
        assert effects.written_arguments(name) == {1}
        assert read_arguments(effects, name) == {0}


VIEWS = """
func.func @f(%A: memref<8xi32>, %B: memref<8xi32>, %C: memref<8xi32>) {
  %v = arith.constant 0 : i32
  %a = memref.subview %A[2] [4] [1] : memref<8xi32> to memref<4xi32, strided<[1], offset: 2>>
  affine.store %v, %a[0] : memref<4xi32, strided<[1], offset: 2>>
  %b = memref.subview %B[2] [4] [1] : memref<8xi32> to memref<4xi32, strided<[1], offset: 2>>
  %w = affine.load %b[0] : memref<4xi32, strided<[1], offset: 2>>
  %same = func.call @same(%v, %C) : (i32, memref<8xi32>) -> memref<8xi32>
  affine.store %w, %same[1] : memref<8xi32>
  return
}
func.func private @same(%n: i32, %X: memref<8xi32>) -> memref<8xi32> {
  return %X : memref<8xi32>
}"""


def test_parts_of_arrays_and_arrays_that_come_back() -> None:
    effects = Effects(module(VIEWS))
    assert effects.written_arguments("f") == {0, 2}
    assert read_arguments(effects, "f") == {1}


OPERATORS = """
func.func @f(%A: memref<4x4xf32>, %B: memref<4x4xf32>, %C: memref<4x4xf32>, %x: f32) {
  linalg.fill ins(%x : f32) outs(%B : memref<4x4xf32>)
  linalg.matmul ins(%A, %A : memref<4x4xf32>, memref<4x4xf32>) outs(%C : memref<4x4xf32>)
  return
}
func.func @g(%A: memref<4x4xf32>, %B: memref<4x4xf32>, %C: memref<4x4xf32>) {
  linalg.transpose ins(%A : memref<4x4xf32>) outs(%B : memref<4x4xf32>) permutation = [1, 0]
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%B : memref<4x4xf32>) outs(%C : memref<4x4xf32>) {
    ^bb0(%b: f32, %c: f32): linalg.yield %b : f32
  }
  return
}"""


def test_operators_read_what_their_bodies_use() -> None:
    """A product adds to what is there, a transposition does not look at it."""
    effects = Effects(module(OPERATORS))
    assert (read_arguments(effects, "f"), effects.written_arguments("f")) == ({0, 2}, {1, 2})
    assert (read_arguments(effects, "g"), effects.written_arguments("g")) == ({0, 1}, {1, 2})


def test_operators_meet_whole_arrays_where_each_element_has_a_place() -> None:
    own = module(OPERATORS)
    entry = entry_block(own.function("g"))
    assert entry is not None
    (transpose,) = (Effects(own).of(op) for op in operations(entry, "linalg.transpose"))
    (generic,) = (Effects(own).of(op) for op in operations(entry, "linalg.generic"))
    assert [effect.whole_read for effect in transpose] == [True, False]
    assert [effect.whole_write for effect in transpose] == [False, True]
    assert [effect.whole_write for effect in generic] == [False, False]  # the diagonal


DECLARED = """
func.func private @f(memref<4xi32> {llvm.readonly}, memref<4xi32>, !allo.stream<i32, 2> {allo.x_stream = "in"},
                     !allo.stream<i32, 2> {allo.x_stream = "out"}, i32)"""


def test_functions_without_a_body_do_all_that_they_may() -> None:
    effects = Effects(module(DECLARED))
    assert effects.written_arguments("f") == {1}
    assert read_arguments(effects, "f") == {0, 1}
    assert effects.fed_arguments("f") == {2}


QUESTIONS = """
func.func @f(%a: i8) {
  %s = allo.stream_create {allo.name = "pipe"} : !allo.stream<i8, 9>
  affine.for %i = 0 to 2 {
    %full = allo.stream_full %s : !allo.stream<i8, 9>
  } {allo.name = "i", allo.nest = "one"}
  affine.for %i = 0 to 2 {
    %empty = allo.stream_empty %s : !allo.stream<i8, 9>
  } {allo.name = "i", allo.nest = "two"}
  return
}"""


def test_questions_belong_to_one_side_of_a_stream() -> None:
    own = module(QUESTIONS)
    entry = entry_block(own.function("f"))
    assert entry is not None
    made, *asking = statements(entry)[:-1]
    full, empty = (Effects(own).touched(op) for op in asking)
    assert (full.puts, full.gets) == ({made.results[0]}, frozenset())
    assert (empty.puts, empty.gets) == (frozenset(), {made.results[0]})


def after(text: str) -> list[list[int]]:
    """For each statement of the only region the earlier ones that must have ended."""
    own = module(text)
    (block,) = region_blocks(own.function("f"))
    found = region_statements(Effects(own), block)
    places = {statement.op: place for place, statement in enumerate(found)}
    return [[places[op] for op in statement.after] for statement in found]


def test_readers_of_one_array_do_not_wait_for_each_other() -> None:
    """A copy, a part of an array, and an extent that is asked for only read it."""
    text = """
    func.func @f(%A: memref<8xi32>, %B: memref<8xi32>, %C: memref<4xi32>, %D: memref<8xi32>)
        attributes {allo.dataflow} {
      memref.copy %A, %B : memref<8xi32> to memref<8xi32>
      affine.for %i = 0 to 4 {
        %a = memref.subview %A[2] [4] [1] : memref<8xi32> to memref<4xi32, strided<[1], offset: 2>>
        %v = affine.load %a[%i] : memref<4xi32, strided<[1], offset: 2>>
        affine.store %v, %C[%i] : memref<4xi32>
      }
      memref.copy %A, %D : memref<8xi32> to memref<8xi32>
      memref.copy %B, %A : memref<8xi32> to memref<8xi32>
      return
    }"""
    assert after(text) == [[], [], [], [0, 1, 2]]


def test_a_number_that_is_read_waits_for_who_writes_it() -> None:
    """What makes a number for others is no process, and what only names an array waits for nobody."""
    text = """
    func.func @f(%A: memref<8xi32>, %B: memref<8xi32>) attributes {allo.dataflow} {
      %a = memref.subview %A[2] [4] [1] : memref<8xi32> to memref<4xi32, strided<[1], offset: 2>>
      memref.copy %B, %A : memref<8xi32> to memref<8xi32>
      %v = affine.load %a[0] : memref<4xi32, strided<[1], offset: 2>>
      affine.for %i = 0 to 4 {
        affine.store %v, %B[%i] : memref<8xi32>
      }
      return
    }"""
    assert after(text) == [[], [], [1], [1]]


def test_processes_that_share_a_state_keep_their_order() -> None:
    text = """
    memref.global "private" @count : memref<i32> = dense<0>
    func.func @f() attributes {allo.dataflow} {
      func.call @more() : () -> ()
      func.call @more() : () -> ()
      return
    }
    func.func private @more() {
      %count = memref.get_global @count : memref<i32>
      %old = memref.load %count[] : memref<i32>
      memref.store %old, %count[] : memref<i32>
      return
    }"""
    assert after(text) == [[], [0]]
