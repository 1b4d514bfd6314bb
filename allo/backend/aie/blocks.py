"""Streams of tasks that pass one block: the object that a FIFO brings is an array of the task.

A task that gets its blocks first and puts its own ones last needs no copies of them, and its nests can be fused.
"""

from __future__ import annotations

from collections.abc import Mapping as Table

from mlir import ir

from ...ir.access import access_map, is_end, is_get, is_put, stored, subscripts
from ...ir.builder import Builder, affine_dim
from ...ir.context import context, unknown_location
from ...ir.module import Module
from ...ir.walk import (
    argument_names,
    constant_bounds,
    entry_block,
    induction_variable,
    operations,
    statement_of,
    statements,
    trip_count,
)
from ..element_class import set_signature


def loops_of_block(op: ir.Operation, block: int) -> list[ir.Operation] | None:
    """The loops that put or get the elements of one block in their order, outer ones first; None if there are none."""
    loops: list[ir.Operation] = []
    count, current = 1, op
    while count < block:
        current = current.parent.operation
        bounds = constant_bounds(current)
        if bounds is None or bounds[::2] != (0, 1) or bounds[1] < 1 or block % (count * bounds[1]):
            return None
        loops.insert(0, current)
        count *= bounds[1]
    ends = [o for o in operations(loops[0].regions[0].blocks[0]) if is_end(o)] if loops else [op]
    return loops if ends == [op] else None


def place_in_block(loops: list[ir.Operation]) -> ir.AffineMap:
    """Of the variables of such loops, the number of the element."""
    place: ir.AffineExpr = ir.AffineExpr.get_constant(0, context())
    for k, loop in enumerate(loops):
        place = place * (trip_count(loop) or 1) + affine_dim(k)
    return ir.AffineMap.get(len(loops), 0, [place], context())


def move_element(op: ir.Operation, at: Builder, array: ir.Value, loops: list[ir.Operation]) -> None:
    """Write a store or a load in the place of a put or a get."""
    attributes = {"map": ir.AffineMapAttr.get(place_in_block(loops))}
    variables = [induction_variable(loop) for loop in loops]
    if is_put(op):
        at.op("affine.store", (), [stored(op), array, *variables], attributes)
    else:
        value = at.value("affine.load", op.results[0].type, [array, *variables], attributes)
        op.results[0].replace_all_uses_with(value)


def let_blocks_be_arrays(module: Module, name: str, blocks: Table[int, int]) -> dict[int, bool]:
    """Let the streams of a function be arrays, in place, if each passes one block; `blocks` has its elements.

    Returns for each such parameter whether the function puts into it; nothing if a stream is used otherwise, or a block
    is put before all have come: then another task may wait for it.
    """
    function = module.function(name)
    entry = entry_block(function)
    assert entry is not None
    order = {op: number for number, op in enumerate(statements(entry))}
    moves: dict[int, tuple[ir.Operation, list[ir.Operation]]] = {}
    for number, block in blocks.items():
        ends = [use.owner.operation for use in entry.arguments[number].uses]
        loops = loops_of_block(ends[0], block) if len(ends) == 1 and is_end(ends[0]) else None
        if loops is None or block == 1 or statement_of(ends[0]) != loops[0]:
            return {}
        moves[number] = ends[0], loops
    gets = [order[loops[0]] for op, loops in moves.values() if is_get(op)]
    puts = [order[loops[0]] for op, loops in moves.values() if is_put(op)]
    if max(gets, default=-1) > min(puts, default=len(order)):
        return {}
    found = {number: is_put(op) for number, (op, _) in moves.items()}
    for number, (op, loops) in moves.items():
        argument = entry.arguments[number]
        element = stored(op).type if is_put(op) else op.results[0].type
        kind = ir.MemRefType.get([blocks[number]], element, loc=unknown_location())
        argument.set_type(kind)
        move_element(op, Builder.before(op), argument, loops)
        op.erase()
    set_signature(function.operation, argument_names(function))
    return found


def overwritten_blocks(entry: ir.Block, blocks: Table[int, bool]) -> dict[int, frozenset[int]]:
    """For each block that a function puts, those that it gets and that may be in the same memory, as each of their
    elements is read once, in the iteration that then writes it; none for each that it gets."""
    uses = {number: [use.owner.operation for use in entry.arguments[number].uses] for number in blocks}

    def fits(get: int, put: int) -> bool:
        if len(uses[get]) != 1 or len(uses[put]) != 1 or entry.arguments[get].type != entry.arguments[put].type:
            return False
        (load,), (store,) = uses[get], uses[put]
        if load.name != "affine.load" or store.name != "affine.store" or load.block != store.block:
            return False
        own = statements(load.block)
        same = access_map(load) == access_map(store) and subscripts(load) == subscripts(store)
        length = ir.MemRefType(entry.arguments[put].type).shape[0]
        return same and own.index(load) < own.index(store) and _iterations(store) == length

    gets = [number for number, is_put in blocks.items() if not is_put]
    return {number: frozenset(get for get in gets if is_put and fits(get, number)) for number, is_put in blocks.items()}


def _iterations(op: ir.Operation) -> int | None:
    """How often a function comes to a statement, if only loops are around it; all elements of a block are put, so that
    there is one for each element if there are as many."""
    count, around = 1, op.parent.operation
    while around.name == "affine.for":
        trips = trip_count(around)
        if trips is None:
            return None
        count, around = count * trips, around.parent.operation
    return count if around.name == "func.func" else None
