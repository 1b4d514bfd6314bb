"""Guarded copies of programs, which run safely: subscripts are checked, undefined elements made visible, tokens
counted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir

from allo._mlir.dialects import allo as allo_d

from ...ir.access import (
    access_map,
    accessed,
    asks_stream,
    base_of,
    is_access,
    is_end,
    is_put,
    is_store,
    stored,
    subscripts,
)
from ...ir.builder import Builder, index_type, unit_attr
from ...ir.context import context, unknown_location
from ...ir.module import Module
from ...ir.names import unique_name
from ...ir.processes import AT_END, DATAFLOW
from ...ir.streams import KEEPS, is_stream_type
from ...ir.walk import argument_names, entry_block, operations, string_of
from ...poly.bounds import surely_inside
from ...poly.model import Source, source_of
from ..program.flatten import loops_over, write_signature
from ..program.programs import Program

_EQUAL, _BELOW = 0, 6  # predicates of arith.cmpi: eq, ult
_UNCLEAR = "what is found in a stream depends on when tasks run"
_FLOATS = (12345.678, -77.25, 0.0, 1.0, math.inf, math.nan)
SEEDS = len(_FLOATS)


@dataclass(frozen=True, slots=True)
class Guarded:
    """A copy of a program with three more arguments: int64[1], int64[streams] and an int64.

    An access that leaves its array goes to its first element, and the number of the access, from 1, is put into the
    first array; the second gets for each stream how many elements are left in it; elements that are not written have
    one of `SEEDS` values, as the third says.
    """

    module: Module
    accesses: tuple[tuple[str, Source], ...]  # those that are checked: what they access, and where
    streams: tuple[str, ...]
    has_local_arrays: bool
    calls_external: bool
    unclear: str  # why what it computes is not a matter of its inputs alone; empty if it is

    @property
    def seeds(self) -> tuple[int, ...]:
        """With which third arguments it is run: two, if something may decide what comes out beside the inputs."""
        return (0, 1) if self.has_local_arrays or self.calls_external else (0,)

    @property
    def more_seeds(self) -> tuple[int, ...]:
        """Those that tell what is undefined more surely than the first two."""
        return tuple(range(2, SEEDS)) if self.has_local_arrays else ()


def guarded(program: Program) -> Guarded:
    """A copy of a program that cannot leave its arrays; the arguments of the program come first."""
    module = program.module.clone()
    function = module.function(module.top)
    entry = entry_block(function)
    assert entry is not None
    everything = operations(entry)
    proven = _inside(program, everything)
    allocations = [op for op in everything if op.name in ("memref.alloc", "memref.alloca")]
    location = function.operation.location
    names = argument_names(function)
    outside = entry.add_argument(_int64_array(1), location)
    ends = [op for op in everything if is_end(op)]
    calls = [op for op in everything if op.name == "func.call"]
    asks = any(map(asks_stream, everything))
    given = dict.fromkeys(base_of(v) for op in calls for v in op.operands if is_stream_type(v.type))
    streams = list(dict.fromkeys([*(base_of(accessed(op)) for op in ends), *given]))
    balance = entry.add_argument(_int64_array(max(1, len(streams))), location)
    seed = entry.add_argument(_int64(), location)
    for op in ends:
        if base_of(accessed(op)) not in given:
            _count(op, balance, streams.index(base_of(accessed(op))))
    for stream in streams:
        if not isinstance(stream.owner, ir.Block):  # what is left is counted, and is no error here
            stream.owner.operation.attributes[KEEPS] = unit_attr()
    for stream in given:  # how many elements C++ puts and gets is seen only by what it leaves
        _empty(stream, balance, streams.index(stream))
    checked: list[tuple[str, Source]] = []
    for op in everything:
        if is_access(op) and not proven.get(op, False):
            memref = accessed(op)
            if ir.MemRefType(memref.type).rank:
                checked.append((_array_name(memref, names), source_of(op)))
                _check(op, outside, len(checked))
    unclear = _UNCLEAR if asks else ""
    for op in allocations:
        if not is_stream_type(op.results[0].type) and not _mark_undefined(op, seed):
            unclear = f"'{_array_name(op.results[0], names)}' has first values that cannot be tried"
    taken = set(names)
    write_signature(function, [*names, *(unique_name(name, taken) for name in ("outside", "balance", "seed"))])
    if DATAFLOW in function.operation.attributes and not program.cycle:
        del function.operation.attributes[DATAFLOW]  # the statements stand in the order of the tasks that they are of
    module.verify()
    told = tuple(_array_name(stream, names) for stream in streams)
    return Guarded(module, tuple(checked), told, bool(allocations), bool(calls), unclear)


def _int64() -> ir.Type:
    return ir.IntegerType.get_signless(64, context())


def _int64_array(extent: int) -> ir.MemRefType:
    return ir.MemRefType.get([extent], _int64(), loc=unknown_location())


def _inside(program: Program, copies: Sequence[ir.Operation]) -> dict[ir.Operation, bool]:
    """Whether accesses surely stay in their arrays, by the copies of the operations of a program."""
    copy_of = dict(zip(operations(program.entry), copies, strict=True))
    found: dict[ir.Operation, bool] = {}
    for access in program.read.model.accesses:
        op = copy_of[access.op]
        found[op] = found.get(op, True) and surely_inside(access)
    return found


def _array_name(value: ir.Value, names: Sequence[str]) -> str:
    if isinstance(value.owner, ir.Block):
        position: int = ir.BlockArgument(value).arg_number
        return names[position]
    return string_of(value.owner.operation, "allo.name") or "an array"


def _count(op: ir.Operation, balance: ir.Value, position: int) -> None:
    """Add 1 for a put, -1 for a get."""
    _add(Builder.before(op), balance, position, 1 if is_put(op) else -1)


def _add(builder: Builder, balance: ir.Value, position: int, number: int) -> None:
    place = [builder.constant(index_type(), position)]
    change = builder.constant(_int64(), number)
    before = builder.load(balance, place)
    builder.store(builder.value("arith.addi", _int64(), [before, change]), balance, place)


def _empty(stream: ir.Value, balance: ir.Value, position: int) -> None:
    """Where a stream (or an array of streams) ends, take out what is left, and count it."""
    block = stream.owner if isinstance(stream.owner, ir.Block) else stream.owner.operation.block
    end = block.operations[len(block.operations) - 1].operation
    builder = Builder.before(end)
    variables: list[ir.Value] = []
    if isinstance(stream.type, ir.MemRefType):
        kind = ir.MemRefType(stream.type)
        variables = loops_over(builder, list(kind.shape))
        stream = builder.load(stream, variables)
    truth = ir.IntegerType.get_signless(1, context())
    loop = builder.op("scf.while", regions=2)
    whole = ir.BlockArgument(variables[0]).owner.owner.operation if variables else loop
    whole.attributes[AT_END] = unit_attr()
    before, after = (region.blocks.append() for region in loop.regions)
    inner = Builder(ir.InsertionPoint(before), end.location)
    is_empty = inner.is_empty(stream)
    inner.op("scf.condition", (), [inner.value("arith.xori", truth, [is_empty, inner.constant(truth, 1)])])
    inner = Builder(ir.InsertionPoint(after), end.location)
    inner.get(stream)
    _add(inner, balance, position, 1)
    inner.op("scf.yield")


def _check(op: ir.Operation, outside: ir.Value, number: int) -> None:
    """Replace an access by one that stays in the array, and notes it if that was necessary."""
    builder = Builder.before(op)
    memref, places = accessed(op), access_map(op)
    indices = subscripts(op) if places is None else _affine_indices(builder, places, subscripts(op))
    zero = builder.constant(index_type(), 0)
    fine = builder.constant(ir.IntegerType.get_signless(1, context()), 1)
    kept: list[ir.Value] = []
    for dimension, index in enumerate(indices):
        extent = _extent(builder, memref, dimension)
        inside = _compare(builder, _BELOW, index, extent)
        fine = builder.value("arith.andi", fine.type, [fine, inside])
        kept.append(builder.value("arith.select", index_type(), [inside, index, zero]))
    old = builder.load(outside, [zero])
    none = _compare(builder, _EQUAL, old, builder.constant(_int64(), 0))
    code = builder.value("arith.select", _int64(), [none, builder.constant(_int64(), number), old])
    builder.store(builder.value("arith.select", _int64(), [fine, old, code]), outside, [zero])
    if is_store(op):
        builder.store(stored(op), memref, kept)
    else:
        op.results[0].replace_all_uses_with(builder.load(memref, kept))
    op.erase()


def _compare(builder: Builder, predicate: int, left: ir.Value, right: ir.Value) -> ir.Value:
    attribute = ir.IntegerAttr.get(_int64(), predicate)
    truth = ir.IntegerType.get_signless(1, context())
    return builder.value("arith.cmpi", truth, [left, right], {"predicate": attribute})


def _affine_indices(builder: Builder, access: ir.AffineMap, operands: list[ir.Value]) -> list[ir.Value]:
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


def _mark_undefined(op: ir.Operation, seed: ir.Value) -> bool:
    """Fill a new array with a value that depends on `seed`; whether that is possible."""
    memref = ir.MemRefType(op.results[0].type)
    if not memref.has_static_shape:
        return False
    block = op.block
    position = next(k for k, other in enumerate(block.operations) if other.operation == op)
    builder = Builder(ir.InsertionPoint(block.operations[position + 1]), op.location)
    value = _undefined(builder, memref.element_type, seed)
    variables = loops_over(builder, list(memref.shape))
    builder.affine_store(value, op.results[0], ir.AffineMap.get_identity(memref.rank, context()), variables)
    return True


def _undefined(builder: Builder, element: ir.Type, seed: ir.Value) -> ir.Value:
    """One of `SEEDS` values, of which the first two are none that a program means."""
    if isinstance(element, allo_d.StructType):
        fields = [_undefined(builder, kind, seed) for _, kind in element.fields]
        return builder.value("allo.struct_construct", element, fields)
    if isinstance(element, ir.FloatType):
        return _chosen(builder, element, seed, _FLOATS)
    if isinstance(element, ir.IndexType):
        return _chosen(builder, element, seed, (3, 1, 0, 2, 7, 1 << 20))
    plain = ir.IntegerType.get_signless(element.width, context())
    top = 1 << (plain.width - 1)
    numbers = (5, 18, 0, 1, top, top - 1) if plain.width > 1 else (0, 1, 0, 1, 0, 1)
    patterns = [number % (2 * top) for number in numbers]
    value = _chosen(builder, plain, seed, [bits - 2 * top if bits >= top else bits for bits in patterns])
    if isinstance(element, ir.IntegerType):
        return value if element == plain else builder.value("allo.sign_cast", element, [value])
    return builder.value("allo.bitcast", element, [value])


def _chosen(builder: Builder, kind: ir.Type, seed: ir.Value, numbers: Sequence[float]) -> ir.Value:
    """The number at the position `seed`."""
    found = builder.constant(kind, numbers[0])
    for position, number in enumerate(numbers[1:], 1):
        is_here = _compare(builder, _EQUAL, seed, builder.constant(_int64(), position))
        found = builder.value("arith.select", kind, [is_here, builder.constant(kind, number), found])
    return found
