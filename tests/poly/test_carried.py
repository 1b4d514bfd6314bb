"""Which loops carry a dependence."""

from __future__ import annotations

from allo.poly import Undecided, Violation, carried_by, extract, passed_on


def ask(parse, text, name, function="f"):
    parsed = parse(text, function)
    return carried_by(extract(parsed.op), parsed.loops[name])


REDUCTION = """
func.func @f(%A: memref<8x8xf32> {allo.name = "A"}, %V: memref<8xf32> {allo.name = "V"}) {
  affine.for %i = 0 to 8 {
    %x = memref.alloc() {allo.name = "x"} : memref<f32>
    affine.for %j = 0 to 8 {
      %a = affine.load %A[%i, %j] : memref<8x8xf32>
      %s = affine.load %x[] : memref<f32>
      %t = arith.addf %s, %a : f32
      affine.store %t, %x[] : memref<f32>
    } {allo.name = "j"}
    %s = affine.load %x[] : memref<f32>
    affine.store %s, %V[%i] : memref<8xf32>
  } {allo.name = "i"}
  return
}
"""


def test_reduction_is_carried_by_the_inner_loop_only(parse):
    assert ask(parse, REDUCTION, "i") is None
    answer = ask(parse, REDUCTION, "j")
    assert isinstance(answer, Violation)
    assert answer.describe() == (
        "the statement at line 9 writes x and the statement at line 7 reads x: "
        "iteration (i=0, j=0) must run before iteration (i=0, j=1)"
    )


def test_scalar_outside_of_the_loop_is_shared(parse):
    text = """
    func.func @f() {
      %c = arith.constant 0.0 : f32
      %x = memref.alloc() {allo.name = "x"} : memref<f32>
      affine.for %i = 0 to 8 {
        affine.store %c, %x[] : memref<f32>
      } {allo.name = "i"}
      return
    }"""
    answer = ask(parse, text, "i")
    assert isinstance(answer, Violation) and str(answer.dependence) == "output"


def test_what_iterations_pass_on(parse):
    """Not their sums, nor what each writes before it reads it, nor what a later one overwrites; what else it wrote."""
    parsed = parse(REDUCTION, "f")
    assert passed_on(extract(parsed.op), parsed.loops["j"]) is None
    text = """
    func.func @f(%A: memref<9xf32> {allo.name = "A"}) {
      %x = memref.alloc() {allo.name = "x"} : memref<f32>
      affine.for %i = 0 to 8 {
        %a = affine.load %A[%i + 1] : memref<9xf32>
        affine.store %a, %x[] : memref<f32>
        %b = affine.load %x[] : memref<f32>
        affine.store %b, %A[%i] : memref<9xf32>
      } {allo.name = "i"}
      affine.for %j = 0 to 8 {
        %a = affine.load %A[%j] : memref<9xf32>
        affine.store %a, %A[%j + 1] : memref<9xf32>
      } {allo.name = "j"}
      return
    }"""
    parsed = parse(text, "f")
    assert passed_on(extract(parsed.op), parsed.loops["i"]) is None
    assert isinstance(carried_by(extract(parsed.op), parsed.loops["i"]), Violation)
    assert isinstance(passed_on(extract(parsed.op), parsed.loops["j"]), Violation)


def test_value_carried_by_the_loop(parse):
    text = """
    func.func @f(%A: memref<8xf32>) -> f32 {
      %c = arith.constant 0.0 : f32
      %r = affine.for %i = 0 to 8 iter_args(%s = %c) -> f32 {
        %a = affine.load %A[%i] : memref<8xf32>
        %t = arith.addf %s, %a : f32
        affine.yield %t : f32
      } {allo.name = "i"}
      return %r : f32
    }"""
    answer = ask(parse, text, "i")
    assert isinstance(answer, Violation) and answer.array == "a value carried by the loop"


def test_offsets_and_strides(parse):
    text = """
    func.func @f(%A: memref<32xf32>) {{
      affine.for %i = 0 to 8 {{
        %a = affine.load %A[2 * %i + {}] : memref<32xf32>
        affine.store %a, %A[2 * %i] : memref<32xf32>
      }} {{allo.name = "i"}}
      return
    }}"""
    assert ask(parse, text.format(1), "i") is None
    assert ask(parse, text.format(16), "i") is None
    answer = ask(parse, text.format(4), "i")
    assert isinstance(answer, Violation)
    assert (answer.source_iteration, answer.sink_iteration) == ((("i", 0),), (("i", 2),))


def test_calls(parse):
    text = """
    func.func private @external(memref<8xf32>)
    func.func @reads(%X: memref<8xf32>) {
      %x = affine.load %X[0] : memref<8xf32>
      return
    }
    func.func @f(%A: memref<8xf32> {allo.name = "A"}) {
      affine.for %i = 0 to 8 {
        func.call @reads(%A) : (memref<8xf32>) -> ()
      } {allo.name = "i"}
      affine.for %j = 0 to 8 {
        func.call @external(%A) : (memref<8xf32>) -> ()
      } {allo.name = "j"}
      affine.for %k = 0 to 8 {
        %x = memref.alloc() {allo.name = "x"} : memref<8xf32>
        func.call @external(%x) : (memref<8xf32>) -> ()
      } {allo.name = "k"}
      return
    }"""
    assert ask(parse, text, "i") is None
    answer = ask(parse, text, "j")
    assert isinstance(answer, Undecided)
    assert answer.reason == "it is passed to 'external', which may use any element"
    assert ask(parse, text, "k") is None


def test_streams_are_in_order(parse):
    text = """
    func.func @f(%S: memref<8x!allo.stream<f32, 2>> {allo.name = "S"}, %c: f32) {
      affine.for %i = 0 to 8 {
        %s = affine.load %S[%i] : memref<8x!allo.stream<f32, 2>>
        affine.for %j = 0 to 8 {
          allo.stream_put %s, %c : !allo.stream<f32, 2>
        } {allo.name = "j"}
      } {allo.name = "i"}
      return
    }"""
    assert ask(parse, text, "i") is None
    assert isinstance(ask(parse, text, "j"), Violation)
