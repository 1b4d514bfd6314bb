"""Pairs of products by one factor as one product, where a DSP has room for both: two of 8 bits, as a rule.

`a * (b << n) + a * c` is one product, of whose low n bits `a * c` is made, and of the others `a * b` (AMD WP486, Deep
Learning with INT8 Optimization on Xilinx Devices).
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from ...ir.access import access_map, accessed, base_of, effects_of, is_affine_load, is_load, is_store
from ...ir.builder import Builder
from ...ir.module import Module
from ...ir.walk import entry_block, location_of, operations, statements
from ...ir.widths import Widths
from ...target import Fpga
from .constant_multiplication import share
from .record import Rewrite

NAME = "allo-packed-products"
_CONVERSIONS = ("arith.extsi", "arith.extui", "allo.sign_cast")


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two products in one block by a factor that both have, and their others; how wide the low one is."""

    first: ir.Operation
    second: ir.Operation
    shared: ir.Value
    high: ir.Value
    low: ir.Value
    place: int
    width: int


def packed_products(module: Module, function: str, target: Fpga) -> list[Rewrite]:
    """Rewrite one function; copies of unrolled loops are one operation, and are not packed with each other."""
    entry = entry_block(module.function(function))
    assert entry is not None
    widths = Widths(entry)
    found = []
    left = [op for op in operations(entry, "arith.muli") if _is_product(op, widths)]
    while left:
        first = left.pop(0)
        for second in left:
            pair = _pair(first, second, widths) if first.block == second.block else None
            if pair is None or not _saves(pair, widths, target):
                continue
            between = _between(first, second)
            moved = _needs(pair.low, between)
            if pair.low.owner == first or any(value.owner == first for op in moved for value in op.operands):
                continue  # a product of the other one
            if not _may_move(moved, between):
                what = f"what the product of line {_line(second)} multiplies is not there yet"
                found.append(Rewrite(NAME, function, what, location_of(first), done=False))
                continue
            for op in moved:
                op.move_before(first)
            what = f"this product and that of line {_line(second)} are made of one"
            found.append(Rewrite(NAME, function, what, location_of(first)))
            left.remove(second)
            _pack(pair)
            break
    return found


def _line(op: ir.Operation) -> str:
    place = location_of(op)
    return "?" if place is None else str(place.line)


def _is_product(op: ir.Operation, widths: Widths) -> bool:
    return isinstance(op.results[0].type, ir.IntegerType) and all(
        widths.range(value).constant is None for value in op.operands
    )


def _pair(first: ir.Operation, second: ir.Operation, widths: Widths) -> _Pair | None:
    """The pair that two products are; the factor that both have may have been loaded and extended twice."""
    for k, shared in enumerate(first.operands):
        for n, other in enumerate(second.operands):
            if _is_same(shared, other):
                high, low = first.operands[1 - k], second.operands[1 - n]
                bits = [widths.range(value).bits + (widths.range(value).low >= 0) for value in (shared, high, low)]
                place = bits[0] + bits[2]
                needed = bits[0] + place + bits[1] + 1
                return _Pair(first, second, shared, high, low, place, max(needed, first.results[0].type.width))
    return None


def _is_same(one: ir.Value, other: ir.Value) -> bool:
    """Whether both are one value, or loads of one element to which nothing stores from one to the other, extended."""
    if one == other:
        return True
    if one.type != other.type or isinstance(one.owner, ir.Block) or isinstance(other.owner, ir.Block):
        return False
    first, second = one.owner.operation, other.owner.operation
    if first.name == second.name and first.name in _CONVERSIONS:
        return _is_same(first.operands[0], second.operands[0])
    alike = is_affine_load(first) and is_affine_load(second) and access_map(first) == access_map(second)
    if not alike or first.block != second.block or list(first.operands) != list(second.operands):
        return False
    return _may_move([first], _between(first, second))


def _saves(pair: _Pair, widths: Widths, target: Fpga) -> bool:
    """Whether one product with the sums around it takes a smaller part of the device than two products."""
    shared, high, low = (
        widths.range(value).bits + (widths.range(value).low >= 0) for value in (pair.shared, pair.high, pair.low)
    )
    packed = target.product(pair.place + high + 1, shared, pair.width)
    sums = [target.integer("add", pair.place + high + 1), target.integer("add", shared + high + 1)]
    apart = [target.product(shared, high, shared + high), target.product(shared, low, shared + low)]
    return packed.dsp < sum(one.dsp for one in apart) and (
        share(packed, target) + sum(share(one, target) for one in sums) < sum(share(one, target) for one in apart)
    )


def _between(first: ir.Operation, second: ir.Operation) -> list[ir.Operation]:
    ops = statements(first.block)
    places = [n for n, op in enumerate(ops) if op in (first, second)]
    return ops[places[0] + 1 : places[-1]]


def _needs(value: ir.Value, between: list[ir.Operation]) -> list[ir.Operation]:
    """The operations in between that make a value, in their order."""
    needed: list[ir.Operation] = []
    waiting = [value]
    for one in waiting:
        if not isinstance(one.owner, ir.Block) and one.owner.operation in between and one.owner not in needed:
            needed.append(one.owner.operation)
            waiting += one.owner.operands
    return [op for op in between if op in needed]


def _may_move(moved: list[ir.Operation], between: list[ir.Operation]) -> bool:
    """Whether operations do the same in front of all that is between: they compute, or load what nothing stores to."""
    loaded = [base_of(accessed(op)) for op in moved if is_load(op)]
    if not all(_computes(op) or is_load(op) for op in moved):
        return False
    others = [op for op in between if op not in moved and not _computes(op) and not is_load(op)]
    return not loaded or all(is_store(op) and base_of(accessed(op)) not in loaded for op in others)


def _computes(op: ir.Operation) -> bool:
    return not len(op.regions) and not effects_of(op)


def _pack(pair: _Pair) -> None:
    """Put one product into the place of the first of two."""
    builder = Builder.before(pair.first)
    context = pair.first.context
    wide = ir.IntegerType.get_signless(pair.width, context)

    place = builder.constant(wide, pair.place)
    raised = builder.value("arith.shli", wide, [_as(builder, wide, pair.high), place])
    factor = builder.value("arith.addi", wide, [raised, _as(builder, wide, pair.low)])
    product = builder.value("arith.muli", wide, [factor, _as(builder, wide, pair.shared)])
    short = ir.IntegerType.get_signless(pair.place, context)
    low = builder.value("arith.trunci", short, [product])
    rest = builder.value("arith.subi", wide, [product, _as(builder, wide, low)])
    high = builder.value("arith.shrsi", wide, [rest, place])
    results = [_as(builder, op.results[0].type, value) for op, value in ((pair.first, high), (pair.second, low))]
    for op, value in zip((pair.first, pair.second), results, strict=True):
        op.results[0].replace_all_uses_with(value)
        op.erase()


def _as(builder: Builder, kind: ir.Type, value: ir.Value) -> ir.Value:
    """A signed value in another width."""
    if value.type == kind:
        return value
    return builder.value("arith.trunci" if value.type.width > kind.width else "arith.extsi", kind, [value])
