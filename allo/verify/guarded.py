"""Decides how a program runs safely: subscripts are checked, undefined elements are made visible, tokens counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir

from ..ir.builder import Builder, index_type
from ..ir.context import context, unknown_location
from ..ir.module import Module
from ..ir.names import unique_name
from ..ir.streams import is_stream_type, stream_of
from ..ir.walk import argument_names, entry_block, operations, string_of
from ..poly import extract
from ..poly.bounds import surely_inside
from ..poly.extract import source_of
from ..poly.model import Source
from .flatten import loops_over, write_signature
from .programs import Program

_LOADS = ("affine.load", "memref.load")
_STORES = ("affine.store", "memref.store")
_EQUAL, _BELOW = 0, 6  # predicates of arith.cmpi: eq, ult


@dataclass(frozen=True, slots=True)
class Guarded:
    """A copy of a program with three more arguments: int64[1], int64[streams] and an int64.

    An access that leaves its array goes to its first element, and the number of the access, from 1, is put into the
    first array; the second gets for each stream how many elements are left in it; elements that are not written have
    one of two values, as the third says.
    """

    module: Module
    accesses: tuple[tuple[str, Source], ...]  # those that are checked: what they access, and where
    streams: tuple[str, ...]
    has_local_arrays: bool


def guarded(program: Program) -> Guarded:
    """A copy of a program that cannot leave its arrays; the arguments of the program come first."""
    module = program.module.clone()
    function = module.function(module.top)
    entry = entry_block(function)
    assert entry is not None
    model = extract(function)
    proven: dict[ir.Operation, bool] = {}
    for access in model.accesses:
        proven[access.op] = proven.get(access.op, True) and surely_inside(access)
    everything = list(operations(entry))
    allocations = [op for op in everything if op.name == "memref.alloc"]
    location = function.operation.location
    names = argument_names(function)
    outside = entry.add_argument(_int64_array(1), location)
    ends = [op for op in everything if op.name in ("allo.stream_put", "allo.stream_get")]
    streams = list(dict.fromkeys(stream_of(op.operands[0]) for op in ends))
    balance = entry.add_argument(_int64_array(max(1, len(streams))), location)
    seed = entry.add_argument(_int64(), location)
    for op in ends:
        _count(op, balance, streams.index(stream_of(op.operands[0])))
    checked: list[tuple[str, Source]] = []
    for op in everything:
        if op.name in (*_LOADS, *_STORES) and not proven.get(op, False):
            memref = op.operands[1 if op.name in _STORES else 0]
            if ir.MemRefType(memref.type).rank:
                checked.append((_array_name(memref, names), source_of(op)))
                _check(op, outside, len(checked))
    for op in allocations:
        _mark_undefined(op, seed)
    taken = set(names)
    write_signature(function, [*names, *(unique_name(name, taken) for name in ("outside", "balance", "seed"))])
    module.verify()
    return Guarded(module, tuple(checked), tuple(_array_name(s, names) for s in streams), bool(allocations))


def _int64() -> ir.Type:
    return ir.IntegerType.get_signless(64, context())


def _int64_array(extent: int) -> ir.MemRefType:
    return ir.MemRefType.get([extent], _int64(), loc=unknown_location())


def _array_name(value: ir.Value, names: Sequence[str]) -> str:
    if isinstance(value.owner, ir.Block):
        position: int = ir.BlockArgument(value).arg_number
        return names[position]
    return string_of(value.owner.operation, "allo.name") or "an array"


def _count(op: ir.Operation, balance: ir.Value, position: int) -> None:
    """Add 1 for a put, -1 for a get."""
    builder = Builder.before(op)
    place = [builder.constant(index_type(), position)]
    change = builder.constant(_int64(), 1 if op.name == "allo.stream_put" else -1)
    before = builder.value("memref.load", _int64(), [balance, *place])
    builder.op("memref.store", (), [builder.value("arith.addi", _int64(), [before, change]), balance, *place])


def _check(op: ir.Operation, outside: ir.Value, number: int) -> None:
    """Replace an access by one that stays in the array, and notes it if that was necessary."""
    builder = Builder.before(op)
    is_store = op.name in _STORES
    memref = op.operands[1 if is_store else 0]
    given = list(op.operands)[2 if is_store else 1 :]
    indices = given if op.name.startswith("memref.") else _affine_indices(builder, op, given)
    zero = builder.constant(index_type(), 0)
    fine = builder.constant(ir.IntegerType.get_signless(1, context()), 1)
    kept: list[ir.Value] = []
    for dimension, index in enumerate(indices):
        extent = _extent(builder, memref, dimension)
        inside = _compare(builder, _BELOW, index, extent)
        fine = builder.value("arith.andi", fine.type, [fine, inside])
        kept.append(builder.value("arith.select", index_type(), [inside, index, zero]))
    old = builder.value("memref.load", _int64(), [outside, zero])
    none = _compare(builder, _EQUAL, old, builder.constant(_int64(), 0))
    code = builder.value("arith.select", _int64(), [none, builder.constant(_int64(), number), old])
    builder.op("memref.store", (), [builder.value("arith.select", _int64(), [fine, old, code]), outside, zero])
    if is_store:
        builder.op("memref.store", (), [op.operands[0], memref, *kept])
    else:
        op.results[0].replace_all_uses_with(builder.value("memref.load", op.results[0].type, [memref, *kept]))
    op.erase()


def _compare(builder: Builder, predicate: int, left: ir.Value, right: ir.Value) -> ir.Value:
    attribute = ir.IntegerAttr.get(_int64(), predicate)
    truth = ir.IntegerType.get_signless(1, context())
    return builder.value("arith.cmpi", truth, [left, right], {"predicate": attribute})


def _affine_indices(builder: Builder, op: ir.Operation, operands: list[ir.Value]) -> list[ir.Value]:
    access = ir.AffineMapAttr(op.attributes["map"]).value
    found = []
    for result in access.results:
        single = ir.AffineMap.get(access.n_dims, access.n_symbols, [result], context())
        found.append(builder.value("affine.apply", index_type(), operands, {"map": ir.AffineMapAttr.get(single)}))
    return found


def _extent(builder: Builder, memref: ir.Value, dimension: int) -> ir.Value:
    kind = ir.MemRefType(memref.type)
    if not kind.is_dynamic_dim(dimension):
        return builder.constant(index_type(), kind.shape[dimension])
    return builder.value("memref.dim", index_type(), [memref, builder.constant(index_type(), dimension)])


def _mark_undefined(op: ir.Operation, seed: ir.Value) -> None:
    """Fill a new array with a value that depends on `seed`."""
    memref = ir.MemRefType(op.results[0].type)
    if is_stream_type(memref) or not memref.has_static_shape:
        return
    block = op.block
    position = next(k for k, other in enumerate(block.operations) if other.operation == op)
    builder = Builder(ir.InsertionPoint(block.operations[position + 1]), op.location)
    value = _undefined(builder, memref.element_type, seed)
    if value is None:
        return
    variables = loops_over(builder, list(memref.shape))
    builder.affine_store(value, op.results[0], ir.AffineMap.get_identity(memref.rank, context()), variables)


def _undefined(builder: Builder, element: ir.Type, seed: ir.Value) -> ir.Value | None:
    """One of two values that no program means; None for types that numbers cannot be turned into."""
    first = _compare(builder, _EQUAL, seed, builder.constant(_int64(), 0))

    def chosen(kind: ir.Type, one: float, other: float) -> ir.Value:
        return builder.value("arith.select", kind, [first, builder.constant(kind, one), builder.constant(kind, other)])

    if isinstance(element, ir.FloatType):
        return chosen(element, 12345.678, -77.25)
    if isinstance(element, ir.IndexType):
        return chosen(element, 3, 1)
    if isinstance(element, ir.IntegerType):
        plain = ir.IntegerType.get_signless(element.width, context())
        top = 1 << (element.width - 1)
        value = chosen(plain, 5 % top if top > 1 else 0, 18 % top if top > 1 else -1)
        return value if element == plain else builder.value("allo.sign_cast", element, [value])
    bits = getattr(element, "width", None)
    if bits is None:
        return None
    plain = ir.IntegerType.get_signless(bits, context())
    return builder.value("allo.bitcast", element, [chosen(plain, 1, 0)])
