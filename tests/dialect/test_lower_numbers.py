"""`allo-lower-numbers`: words of the widths of fixed point and structs, with the banks and streams as they are."""

from mlir import ir

from .test_lower_types import lowered


def test_numbers_structs_banks_and_streams(context: ir.Context) -> None:
    text = """
    func.func @f(%a: memref<4x!allo.fixed<7, 2>, #allo.partition<[cyclic 2]>>, %s: !allo.stream<!allo.ufixed<9, 3>, 4>,
                 %n: index, %x: ui5) -> !allo.struct<{a: ui5, b: !allo.fixed<7, 2>}> {
      %v = memref.load %a[%n] : memref<4x!allo.fixed<7, 2>, #allo.partition<[cyclic 2]>>
      %w = allo.stream_get %s : !allo.stream<!allo.ufixed<9, 3>, 4>
      %r = allo.struct_construct %x, %v : !allo.struct<{a: ui5, b: !allo.fixed<7, 2>}>
      return %r : !allo.struct<{a: ui5, b: !allo.fixed<7, 2>}>
    }"""
    found = lowered(text, "allo-lower-numbers")
    assert "memref<4xi7, #allo.partition<[cyclic 2]>>" in found
    assert "!allo.stream<i9, 4>" in found and "allo.stream_get" in found
    assert "%arg3: i5) -> i12" in found
    assert "fixed" not in found and "struct" not in found and "trunci" not in found


def test_operations_on_bits_stay(context: ir.Context) -> None:
    text = """
    func.func @f(%x: ui5, %n: index) -> i1 {
      %b = allo.get_bit %x[%n] : ui5 -> i1
      return %b : i1
    }"""
    assert "allo.get_bit" in lowered(text, "allo-lower-numbers")
