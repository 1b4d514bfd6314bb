from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum

from mlir import ir

class FixedPredicate(IntEnum):
    eq = 0
    ne = 1
    lt = 2
    le = 3
    gt = 4
    ge = 5

class FixedType(ir.Type):
    @staticmethod
    def get(
        width: int,
        frac: int,
        context: ir.Context | None = None,
        *,
        rounding: str = "trn",
        overflow: str = "wrap",
    ) -> FixedType: ...
    @staticmethod
    def isinstance(other: ir.Type) -> bool: ...
    @property
    def width(self) -> int: ...
    @property
    def frac(self) -> int: ...
    @property
    def rounding(self) -> str: ...
    @property
    def overflow(self) -> str: ...

class UFixedType(ir.Type):
    @staticmethod
    def get(
        width: int,
        frac: int,
        context: ir.Context | None = None,
        *,
        rounding: str = "trn",
        overflow: str = "wrap",
    ) -> UFixedType: ...
    @staticmethod
    def isinstance(other: ir.Type) -> bool: ...
    @property
    def width(self) -> int: ...
    @property
    def frac(self) -> int: ...
    @property
    def rounding(self) -> str: ...
    @property
    def overflow(self) -> str: ...

class StreamType(ir.Type):
    @staticmethod
    def get(element_type: ir.Type, depth: int) -> StreamType: ...
    @staticmethod
    def isinstance(other: ir.Type) -> bool: ...
    @property
    def element_type(self) -> ir.Type: ...
    @property
    def depth(self) -> int: ...

class ITensorType(ir.Type):
    @staticmethod
    def get(
        element_type: ir.Type,
        shape: Sequence[int],
        trips: Sequence[int],
        steps: Sequence[int],
        factors: Sequence[Sequence[int]],
        offset: Sequence[int],
    ) -> ITensorType: ...
    @staticmethod
    def isinstance(other: ir.Type) -> bool: ...
    @property
    def element_type(self) -> ir.Type: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def trips(self) -> tuple[int, ...]: ...
    @property
    def steps(self) -> tuple[int, ...]: ...
    @property
    def factors(self) -> tuple[tuple[int, ...], ...]: ...
    @property
    def offset(self) -> tuple[int, ...]: ...

class StructType(ir.Type):
    @staticmethod
    def get(
        fields: Mapping[str, ir.Type] | Iterable[tuple[str, ir.Type]], context: ir.Context | None = None
    ) -> StructType: ...
    @staticmethod
    def isinstance(other: ir.Type) -> bool: ...
    @property
    def fields(self) -> tuple[tuple[str, ir.Type], ...]: ...

class HandleType(ir.Type):
    @staticmethod
    def get(context: ir.Context | None = None) -> HandleType: ...
    @staticmethod
    def isinstance(other: ir.Type) -> bool: ...

class PartitionAttr(ir.Attribute):
    @staticmethod
    def get(dims: Iterable[tuple[str, int]], context: ir.Context | None = None) -> PartitionAttr: ...
    @staticmethod
    def isinstance(other: ir.Attribute) -> bool: ...
    @property
    def dims(self) -> tuple[tuple[str, int], ...]: ...

def bitcast(
    result: ir.Type,
    source: ir.Value,
    *,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def element_cast(
    result: ir.Type,
    source: ir.Value,
    *,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def fixed_add(
    lhs: ir.Value,
    rhs: ir.Value,
    *,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def fixed_cast(
    result: ir.Type,
    source: ir.Value,
    *,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def fixed_cmp(
    predicate: FixedPredicate,
    lhs: ir.Value,
    rhs: ir.Value,
    *,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def fixed_constant(
    result: ir.Type,
    mantissa: int,
    *,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def fixed_div(
    lhs: ir.Value,
    rhs: ir.Value,
    *,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def fixed_mul(
    lhs: ir.Value,
    rhs: ir.Value,
    *,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def fixed_neg(
    operand: ir.Value,
    *,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def fixed_sub(
    lhs: ir.Value,
    rhs: ir.Value,
    *,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def get_bit(
    num: ir.Value,
    index: ir.Value,
    *,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def get_slice(
    result: ir.Type,
    num: ir.Value,
    hi: ir.Value,
    lo: ir.Value,
    *,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def reverse_bits(
    num: ir.Value,
    *,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def set_bit(
    num: ir.Value,
    index: ir.Value,
    bit: ir.Value,
    *,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def set_slice(
    num: ir.Value,
    hi: ir.Value,
    lo: ir.Value,
    value: ir.Value,
    *,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def sign_cast(
    result: ir.Type,
    source: ir.Value,
    *,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def stream_create(
    stream: ir.Type,
    *,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def stream_empty(
    stream: ir.Value,
    *,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def stream_full(
    stream: ir.Value,
    *,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def stream_get(
    stream: ir.Value,
    *,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def stream_peek(
    stream: ir.Value,
    *,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def stream_put(
    stream: ir.Value,
    value: ir.Value,
    *,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.OpView: ...
def stream_try_get(
    stream: ir.Value,
    *,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> Sequence[ir.Value]: ...
def stream_try_put(
    stream: ir.Value,
    value: ir.Value,
    *,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def struct_construct(
    result: ir.Type,
    fields: Sequence[ir.Value],
    *,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def struct_get(
    source: ir.Value,
    field: str,
    *,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
