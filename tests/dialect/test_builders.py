"""The Python side: classes of types and attributes, generated builders, errors instead of aborts."""

from collections.abc import Callable

import pytest
from mlir import ir
from mlir.dialects import func

from allo._mlir.dialects import allo


def test_types(context: ir.Context) -> None:
    f32, i8 = ir.F32Type.get(), ir.IntegerType.get_signless(8)
    fixed, ufixed = allo.FixedType.get(8, 4), allo.UFixedType.get(6, 0, context)
    assert (str(fixed), fixed.width, fixed.frac) == ("!allo.fixed<8, 4>", 8, 4)
    assert (str(ufixed), ufixed.width, ufixed.frac) == ("!allo.ufixed<6, 0>", 6, 0)
    stream = allo.StreamType.get(fixed, 2)
    assert (stream.element_type, stream.depth) == (fixed, 2)
    struct = allo.StructType.get({"a": f32, "b c": i8})
    assert str(struct) == '!allo.struct<{a: f32, "b c": i8}>'
    assert struct.fields == (("a", f32), ("b c", i8))
    assert allo.StructType.get(struct.fields) == struct
    assert str(allo.HandleType.get()) == "!allo.handle"


def test_itensor(context: ir.Context) -> None:
    f32 = ir.F32Type.get()
    order = allo.ITensorType.get(f32, (4, 2), (4, 2), (2, 4), ((0, 1), (1, 0)), (0, 3))
    assert str(order) == "!allo.itensor<4x2xf32, [4, 2] * [2, 4], (d0, d1) -> (d1, d0 + 3)>"
    assert (order.element_type, order.shape, order.trips, order.steps) == (f32, (4, 2), (4, 2), (2, 4))
    assert (order.factors, order.offset) == (((0, 1), (1, 0)), (0, 3))
    scalar = allo.ITensorType.get(f32, (), (2,), (1,), (), ())
    assert (scalar.factors, str(scalar)) == ((), "!allo.itensor<f32, [2] * [1], (d0) -> ()>")


def test_partition(context: ir.Context) -> None:
    partition = allo.PartitionAttr.get([("cyclic", 4), ("none", 0), ("complete", 0), ("block", 2)])
    assert str(partition) == "#allo.partition<[cyclic 4, none, complete, block 2]>"
    assert partition.dims == (("cyclic", 4), ("none", 0), ("complete", 0), ("block", 2))
    memref = ir.MemRefType.get([8, 8, 8, 8], ir.F32Type.get(), partition)
    assert memref.layout == partition
    assert isinstance(memref.layout, allo.PartitionAttr)
    assert memref.affine_map == ir.AffineMap.get_identity(4)


def test_downcast(context: ir.Context) -> None:
    for kind, text in (
        (allo.FixedType, "!allo.fixed<8, 4>"),
        (allo.UFixedType, "!allo.ufixed<8, 4>"),
        (allo.StreamType, "!allo.stream<f32, 1>"),
        (allo.ITensorType, "!allo.itensor<1xf32, [4] * [1], (d0) -> (d0)>"),
        (allo.StructType, "!allo.struct<{a: f32}>"),
        (allo.HandleType, "!allo.handle"),
    ):
        parsed = ir.Type.parse(text)
        assert type(parsed) is kind
        assert kind.isinstance(parsed)
        assert not kind.isinstance(ir.F32Type.get())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: allo.FixedType.get(0, 0), "a fixed-point number has 1 to 1024 bits, got 0"),
        (lambda: allo.FixedType.get(8, -1), "frac is out of range: -1"),
        (lambda: allo.UFixedType.get(2**40, 0), "the width is out of range: 1099511627776"),
        (lambda: allo.UFixedType.get(8, 9), "a fixed-point number of 8 bits has 0 to 8 fractional bits, got 9"),
        (lambda: allo.StreamType.get(ir.F32Type.get(), 0), "the depth of a stream must be at least 1, got 0"),
        (
            lambda: allo.ITensorType.get(ir.F32Type.get(), (1,), (4, 2), (1, 1), ((1,),), (0,)),
            "each subscript of an itensor is over its 2 loops, got 1 factors in 1 dimensions",
        ),
        (lambda: allo.StructType.get({}), "a struct has at least one field"),
        (lambda: allo.PartitionAttr.get([]), "a partition says something about each dimension, at least one"),
        (
            lambda: allo.PartitionAttr.get([("cyclc", 2)]),
            "a dimension is partitioned as none, complete, cyclic or block, got 'cyclc'",
        ),
        (
            lambda: allo.PartitionAttr.get([("none", 0), ("block", 1)]),
            "dimension 1: a block partition needs a number of banks of at least 2, got 1",
        ),
    ],
)
def test_bad_parameters(context: ir.Context, make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError) as error:
        make()
    assert str(error.value) == message


def test_operations(context: ir.Context) -> None:
    fixed, i8 = allo.FixedType.get(8, 4), ir.IntegerType.get_signless(8)
    stream = allo.StreamType.get(fixed, 2)
    struct = allo.StructType.get({"a": fixed, "b": i8})
    module = ir.Module.create()
    with ir.InsertionPoint(module.body):

        @func.FuncOp.from_py_func(fixed, i8, ir.IndexType.get())
        def kernel(x: ir.Value, n: ir.Value, i: ir.Value) -> ir.Value:
            one = allo.fixed_constant(fixed, 16)
            total = allo.fixed_add(x, allo.fixed_constant(fixed, -1))
            product = allo.fixed_mul(total, one)
            assert product.type == allo.FixedType.get(16, 8)
            assert allo.fixed_div(total, one).type == allo.FixedType.get(13, 4)
            narrow = allo.fixed_cast(fixed, product)
            less = allo.fixed_cmp(allo.FixedPredicate.lt, narrow, x)
            bits = allo.set_bit(n, i, less)
            assert allo.get_bit(bits, i).type == ir.IntegerType.get_signless(1)
            pipe = allo.stream_create(stream)
            allo.stream_put(pipe, narrow)
            record = allo.struct_construct(struct, [allo.stream_get(pipe), allo.reverse_bits(bits)])
            assert allo.struct_get(record, "b").type == i8
            return allo.struct_get(record, "a")

    assert module.operation.verify()
    assert str(module) == """module {
  func.func @kernel(%arg0: !allo.fixed<8, 4>, %arg1: i8, %arg2: index) -> !allo.fixed<8, 4> {
    %0 = allo.fixed_constant 16 : !allo.fixed<8, 4>
    %1 = allo.fixed_constant -1 : !allo.fixed<8, 4>
    %2 = allo.fixed_add %arg0, %1 : !allo.fixed<8, 4>
    %3 = allo.fixed_mul %2, %0 : !allo.fixed<8, 4>, !allo.fixed<8, 4>
    %4 = allo.fixed_div %2, %0 : !allo.fixed<8, 4>, !allo.fixed<8, 4>
    %5 = allo.fixed_cast %3 : !allo.fixed<16, 8> to !allo.fixed<8, 4>
    %6 = allo.fixed_cmp lt, %5, %arg0 : !allo.fixed<8, 4>
    %7 = allo.set_bit %arg1[%arg2], %6 : i8
    %8 = allo.get_bit %7[%arg2] : i8 -> i1
    %9 = allo.stream_create : !allo.stream<!allo.fixed<8, 4>, 2>
    allo.stream_put %9, %5 : !allo.stream<!allo.fixed<8, 4>, 2>
    %10 = allo.stream_get %9 : !allo.stream<!allo.fixed<8, 4>, 2>
    %11 = allo.reverse_bits %7 : i8
    %12 = allo.struct_construct %10, %11 : !allo.struct<{a: !allo.fixed<8, 4>, b: i8}>
    %13 = allo.struct_get %12["b"] : !allo.struct<{a: !allo.fixed<8, 4>, b: i8}>
    %14 = allo.struct_get %12["a"] : !allo.struct<{a: !allo.fixed<8, 4>, b: i8}>
    return %14 : !allo.fixed<8, 4>
  }
}
"""
