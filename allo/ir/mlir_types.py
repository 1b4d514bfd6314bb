"""Types of kernels written in MLIR, and read back.

Signedness is in the type: `iN` is signed (`si1` for one bit), `uiN` unsigned, `i1` the truth value. Arithmetic works
on the signless integer of the same width (`arith_type`); `allo.sign_cast` changes between the two.
"""

from __future__ import annotations

from functools import cache

from mlir import ir

from allo._mlir.dialects import allo as allo_d

from ..errors import InternalError
from .context import context
from .types import (
    DYNAMIC,
    AlloType,
    Bool,
    ChannelType,
    Fixed,
    Float,
    Index,
    Int,
    Struct,
    TensorType,
    UFixed,
    UInt,
)


@cache
def storage_type(scalar: AlloType) -> ir.Type:
    """The type of `scalar` in memory, in function signatures and in streams."""
    ctx = context()
    match scalar:
        case Bool():
            return ir.IntegerType.get_signless(1, ctx)
        case Int(width=1):
            return ir.IntegerType.get_signed(1, ctx)
        case Int():
            return ir.IntegerType.get_signless(scalar.width, ctx)
        case UInt():
            return ir.IntegerType.get_unsigned(scalar.width, ctx)
        case Index():
            return ir.IndexType.get(ctx)
        case Float(brain=True):
            return ir.BF16Type.get(ctx)
        case Float():
            return {16: ir.F16Type, 32: ir.F32Type, 64: ir.F64Type}[scalar.width].get(ctx)
        case Fixed() | UFixed():
            kind = allo_d.FixedType if isinstance(scalar, Fixed) else allo_d.UFixedType
            modes = {"rounding": scalar.rounding, "overflow": scalar.overflow}
            return kind.get(scalar.width, scalar.fracs, ctx, **modes)
        case Struct():
            return allo_d.StructType.get([(name, storage_type(field)) for name, field in scalar.fields], ctx)
        case _:
            raise InternalError(f"no MLIR type for {scalar!r}")


@cache
def arith_type(scalar: AlloType) -> ir.Type:
    """The type of `scalar` as operand of arithmetic: the signless integer for integers."""
    if isinstance(scalar, Int | UInt):
        return ir.IntegerType.get_signless(scalar.width, context())
    return storage_type(scalar)


@cache
def memref_type(tensor: TensorType) -> ir.MemRefType:
    """The memref of a tensor, or of rank 0 for a scalar variable."""
    shape = [ir.ShapedType.get_dynamic_size() if extent == DYNAMIC else extent for extent in tensor.shape]
    return ir.MemRefType.get(shape, storage_type(tensor.element), loc=ir.Location.unknown(context()))


@cache
def stream_type(stream: ChannelType) -> ir.Type:
    """The type of a FIFO, or the memref of an array of them; a block is as many elements, or one packed word."""
    one = allo_d.StreamType.get(storage_type(stream.moved), stream.holds)
    return ir.MemRefType.get(stream.shape, one, loc=ir.Location.unknown(context())) if stream.shape else one


_FLOATS = (
    (ir.F32Type, Float(32)), (ir.F64Type, Float(64)), (ir.F16Type, Float(16)), (ir.BF16Type, Float(16, brain=True)),
)  # fmt: skip


def scalar_from_mlir(mlir_type: ir.Type) -> AlloType:
    """The user's type of a storage type."""
    if isinstance(mlir_type, ir.IntegerType):
        if mlir_type.is_unsigned:
            return UInt(mlir_type.width)
        if mlir_type.width == 1 and mlir_type.is_signless:
            return Bool()
        return Int(mlir_type.width)
    if isinstance(mlir_type, ir.IndexType):
        return Index()
    for kind, scalar in _FLOATS:
        if isinstance(mlir_type, kind):
            return scalar
    if isinstance(mlir_type, allo_d.FixedType | allo_d.UFixedType):
        kind = Fixed if isinstance(mlir_type, allo_d.FixedType) else UFixed
        return kind(mlir_type.width, mlir_type.frac, mlir_type.rounding, mlir_type.overflow)
    if isinstance(mlir_type, allo_d.StructType):
        return Struct(tuple((name, scalar_from_mlir(field)) for name, field in mlir_type.fields))
    raise InternalError(f"no kernel type for {mlir_type}")


def from_mlir(mlir_type: ir.Type) -> AlloType | TensorType:
    """The user's type of an argument or result of a function."""
    if isinstance(mlir_type, ir.MemRefType):
        unknown = ir.ShapedType.get_dynamic_size()
        shape = tuple(DYNAMIC if extent == unknown else extent for extent in mlir_type.shape)
        return TensorType(scalar_from_mlir(mlir_type.element_type), shape)
    return scalar_from_mlir(mlir_type)


def mantissa_of(bits: int, kind: Fixed | UFixed) -> int:
    """How many times its smallest step a fixed-point number is, from its bits, read with any sign."""
    bits &= (1 << kind.width) - 1
    return bits - (1 << kind.width) if isinstance(kind, Fixed) and bits >> (kind.width - 1) else bits


def integer_of(attribute: ir.Attribute) -> int:
    """The value of an integer attribute of any width, as MLIR prints it: signed, but one bit as 0 or 1."""
    if isinstance(attribute, ir.BoolAttr):
        return int(attribute.value)
    text = str(attribute).split(" :")[0]
    return int(text == "true") if text in ("true", "false") else int(text)
