"""The `allo` dialect in Python: builders of operations, and classes of its types and attributes."""

from collections.abc import Iterable, Mapping, Sequence

from mlir import ir

from .. import _allo_mlir
from ._allo_enum_gen import *  # noqa: F403
from ._allo_ops_gen import *  # noqa: F403
from ._allo_ops_gen import FixedConstantOp as _FixedConstantOp
from ._allo_ops_gen import _Dialect
from ._ods_common import _cext


@_cext.register_type_caster(_allo_mlir.fixed_typeid())
class FixedType(ir.Type):
    """`!allo.fixed<width, frac>`: a signed integer of `width` bits, divided by 2**frac."""

    @staticmethod
    def get(
        width: int,
        frac: int,
        context: ir.Context | None = None,
        *,
        rounding: str = "trn",
        overflow: str = "wrap",
    ) -> "FixedType":
        return _allo_mlir.fixed_type(width, frac, context, rounding, overflow)

    @staticmethod
    def isinstance(other: ir.Type) -> bool:
        return _allo_mlir.is_fixed(other)

    width = property(_allo_mlir.fixed_width)
    frac = property(_allo_mlir.fixed_frac)
    rounding = property(_allo_mlir.fixed_rounding)
    overflow = property(_allo_mlir.fixed_overflow)


@_cext.register_type_caster(_allo_mlir.ufixed_typeid())
class UFixedType(ir.Type):
    """`!allo.ufixed<width, frac>`: an unsigned integer of `width` bits, divided by 2**frac."""

    @staticmethod
    def get(
        width: int,
        frac: int,
        context: ir.Context | None = None,
        *,
        rounding: str = "trn",
        overflow: str = "wrap",
    ) -> "UFixedType":
        return _allo_mlir.ufixed_type(width, frac, context, rounding, overflow)

    @staticmethod
    def isinstance(other: ir.Type) -> bool:
        return _allo_mlir.is_ufixed(other)

    width = property(_allo_mlir.fixed_width)
    frac = property(_allo_mlir.fixed_frac)
    rounding = property(_allo_mlir.fixed_rounding)
    overflow = property(_allo_mlir.fixed_overflow)


@_cext.register_type_caster(_allo_mlir.stream_typeid())
class StreamType(ir.Type):
    """`!allo.stream<element_type, depth>`: a FIFO of at most `depth` elements."""

    @staticmethod
    def get(element_type: ir.Type, depth: int) -> "StreamType":
        return _allo_mlir.stream_type(element_type, depth)

    @staticmethod
    def isinstance(other: ir.Type) -> bool:
        return _allo_mlir.is_stream(other)

    element_type = property(_allo_mlir.stream_element_type)
    depth = property(_allo_mlir.stream_depth)


@_cext.register_type_caster(_allo_mlir.itensor_typeid())
class ITensorType(ir.Type):
    """`!allo.itensor<4x2xf32, [4, 2] * [2, 4], (d0, d1) -> (d1, d0)>`: the order in which an array passes.

    Blocks of `shape` come in the order of loops with `trips` and `steps`. A block begins in each dimension at
    `offset`, to which a row of `factors` adds each loop's variable so many times.
    """

    @staticmethod
    def get(
        element_type: ir.Type,
        shape: Sequence[int],
        trips: Sequence[int],
        steps: Sequence[int],
        factors: Sequence[Sequence[int]],
        offset: Sequence[int],
    ) -> "ITensorType":
        flat = [factor for row in factors for factor in row]
        return _allo_mlir.itensor_type(element_type, shape, trips, steps, flat, offset)

    @staticmethod
    def isinstance(other: ir.Type) -> bool:
        return _allo_mlir.is_itensor(other)

    element_type = property(_allo_mlir.itensor_element_type)
    shape = property(_allo_mlir.itensor_shape)
    trips = property(_allo_mlir.itensor_trips)
    steps = property(_allo_mlir.itensor_steps)
    offset = property(_allo_mlir.itensor_offset)

    @property
    def factors(self) -> tuple[tuple[int, ...], ...]:
        flat, count = _allo_mlir.itensor_factors(self), len(self.trips)
        return tuple(tuple(flat[d * count : (d + 1) * count]) for d in range(len(self.shape)))


@_cext.register_type_caster(_allo_mlir.struct_typeid())
class StructType(ir.Type):
    """`!allo.struct<{name: type, ...}>`: packed fields, the first in the low bits."""

    @staticmethod
    def get(
        fields: Mapping[str, ir.Type] | Iterable[tuple[str, ir.Type]], context: ir.Context | None = None
    ) -> "StructType":
        pairs = fields.items() if isinstance(fields, Mapping) else fields
        return _allo_mlir.struct_type(list(pairs), context)

    @staticmethod
    def isinstance(other: ir.Type) -> bool:
        return _allo_mlir.is_struct(other)

    fields = property(_allo_mlir.struct_fields)


@_cext.register_type_caster(_allo_mlir.handle_typeid())
class HandleType(ir.Type):
    """`!allo.handle`: what a schedule operation refers to."""

    @staticmethod
    def get(context: ir.Context | None = None) -> "HandleType":
        return _allo_mlir.handle_type(context)

    @staticmethod
    def isinstance(other: ir.Type) -> bool:
        return _allo_mlir.is_handle(other)


@_cext.register_type_caster(_allo_mlir.partition_typeid())
class PartitionAttr(ir.Attribute):
    """`#allo.partition<[cyclic 4, none]>`: how an array lies in banks, a kind and a factor per dimension."""

    @staticmethod
    def get(dims: Iterable[tuple[str, int]], context: ir.Context | None = None) -> "PartitionAttr":
        return _allo_mlir.partition_attr(list(dims), context)

    @staticmethod
    def isinstance(other: ir.Attribute) -> bool:
        return _allo_mlir.is_partition(other)

    dims = property(_allo_mlir.partition_dims)


@_cext.register_operation(_Dialect, replace=True)
class FixedConstantOp(_FixedConstantOp):
    """`allo.fixed_constant`: the number `mantissa` / 2**frac of the type `result`."""

    def __init__(self, result: ir.Type, mantissa: int, *, loc=None, ip=None):
        mask = (1 << result.width) - 1
        bits = ir.Attribute.parse(f"{mantissa & mask} : i{result.width}", result.context)
        super().__init__(result, bits, loc=loc, ip=ip)


def fixed_constant(result: ir.Type, mantissa: int, *, loc=None, ip=None) -> ir.Value:
    """The number `mantissa` / 2**frac of the fixed-point type `result`."""
    return FixedConstantOp(result, mantissa, loc=loc, ip=ip).result
