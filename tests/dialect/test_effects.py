"""Upstream passes see the effects of our operations, and their folders work."""

from mlir import ir
from mlir.passmanager import PassManager


def simplified(text: str) -> str:
    module = ir.Module.parse(text)
    PassManager.parse("builtin.module(canonicalize,cse)").run(module.operation)
    return str(module)


def test_streams_are_kept_and_pure_operations_are_not(context: ir.Context) -> None:
    text = simplified("""
    func.func @f(%s: !allo.stream<f32, 4>, %q: !allo.fixed<16, 8>, %x: i8, %i: index) {
      %dead = allo.stream_create : !allo.stream<f32, 2>
      %a = allo.stream_get %s : !allo.stream<f32, 4>
      %b = allo.stream_get %s : !allo.stream<f32, 4>
      %e0 = allo.stream_empty %s : !allo.stream<f32, 4>
      %e1 = allo.stream_empty %s : !allo.stream<f32, 4>
      %p0 = allo.stream_peek %s : !allo.stream<f32, 4>
      %p1 = allo.stream_peek %s : !allo.stream<f32, 4>
      %v, %d = allo.stream_try_get %s : !allo.stream<f32, 4>
      %t = allo.stream_try_put %s, %a : !allo.stream<f32, 4>
      allo.stream_put %s, %a : !allo.stream<f32, 4>
      %0 = allo.fixed_add %q, %q : !allo.fixed<16, 8>
      %1 = allo.fixed_div %q, %q : !allo.fixed<16, 8>, !allo.fixed<16, 8>
      %2 = allo.reverse_bits %x : i8
      return
    }""")
    assert text.count("allo.stream_get") == 2
    assert text.count("allo.stream_put") == 1
    assert text.count("allo.stream_empty") == 2
    assert text.count("allo.stream_peek") == 2
    assert "allo.stream_try_get" in text and "allo.stream_try_put" in text
    assert not any(name in text for name in ("fixed_", "reverse", "stream_create"))


def test_equal_operations_are_one(context: ir.Context) -> None:
    text = simplified("""
    func.func @f(%q: !allo.fixed<16, 8>) -> (!allo.fixed<16, 8>, !allo.fixed<16, 8>, i1) {
      %0 = allo.fixed_add %q, %q : !allo.fixed<16, 8>
      %1 = allo.fixed_add %q, %q : !allo.fixed<16, 8>
      %2 = allo.fixed_cmp lt, %0, %1 : !allo.fixed<16, 8>
      return %0, %1, %2 : !allo.fixed<16, 8>, !allo.fixed<16, 8>, i1
    }""")
    assert text.count("fixed_add") == 1


def folded(signature: str, body: str, result: str) -> str:
    """The body after simplification, without its function."""
    text = simplified(f"func.func @f({signature}) -> {result} {{\n{body}\nreturn %r : {result}\n}}")
    return "\n".join(line.strip() for line in text.splitlines()[2:-2])


def test_sign_casts(context: ir.Context) -> None:
    back = "%0 = allo.sign_cast %x : ui8 to i8\n%r = allo.sign_cast %0 : i8 to ui8"
    assert folded("%x: ui8", back, "ui8") == "return %arg0 : ui8"
    on = "%0 = allo.sign_cast %x : ui8 to i8\n%r = allo.sign_cast %0 : i8 to si8"
    assert folded("%x: ui8", on, "si8") == "%0 = allo.sign_cast %arg0 : ui8 to si8\nreturn %0 : si8"


def test_bitcasts(context: ir.Context) -> None:
    back = "%0 = allo.bitcast %x : f32 to i32\n%r = allo.bitcast %0 : i32 to f32"
    assert folded("%x: f32", back, "f32") == "return %arg0 : f32"


def test_reverse_twice(context: ir.Context) -> None:
    twice = "%0 = allo.reverse_bits %x : i8\n%r = allo.reverse_bits %0 : i8"
    assert folded("%x: i8", twice, "i8") == "return %arg0 : i8"


def test_field_of_new_struct(context: ir.Context) -> None:
    struct = "!allo.struct<{a: i8, b: f32}>"
    body = f'%0 = allo.struct_construct %x, %y : {struct}\n%r = allo.struct_get %0["b"] : {struct}'
    assert folded("%x: i8, %y: f32", body, "f32") == "return %arg1 : f32"


def test_bit_of_constant(context: ir.Context) -> None:
    body = "%x = arith.constant 6 : i8\n%i = arith.constant 1 : index\n%r = allo.get_bit %x[%i] : i8 -> i1"
    assert folded("", body, "i1") == "%true = arith.constant true\nreturn %true : i1"


def test_cast_to_own_type(context: ir.Context) -> None:
    fixed = "!allo.fixed<8, 4>"
    assert folded(f"%x: {fixed}", f"%r = allo.fixed_cast %x : {fixed} to {fixed}", fixed) == f"return %arg0 : {fixed}"
