"""Forwarding of stores: a load of what a store of the same iteration has surely written takes the value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlir import ir

from ...ir.access import accessed, is_load, is_store, stored
from ...ir.module import Module
from ...ir.walk import LOOP_OPERATIONS, buffer_name, location_of, operations
from ...poly import Access, may_be_one, place_of
from .facts import FunctionFacts, ancestors, is_apart
from .record import Rewrite

NAME = "allo-forward-stores"


def forward_stores(module: Module, function: str) -> list[Rewrite]:
    """Rewrite one function; variables that nothing reads any more go away."""
    seen = FunctionFacts(module, function)
    writes: dict[str, list[Access]] = {}
    for write in seen.model.accesses:
        if write.is_write:
            writes.setdefault(write.buffer.label, []).append(write)
    loads = [access for op in seen.operations if is_load(op) and (access := seen.access(op)) is not None]
    stores: dict[tuple[str, object], list[Access]] = {}
    for write in (one for group in writes.values() for one in group if is_store(one.op)):
        stores.setdefault((write.buffer.label, place_of(write)), []).append(write)
    covered = [(load, _covering(seen, load, stores, writes.get(load.buffer.label, []))) for load in loads]
    found = []
    for load, store in covered:  # the facts do not hold any more
        if store is None:
            continue
        what = f"{load.text} is the value that line {store.source.line} has stored"
        found.append(Rewrite(NAME, function, what, location_of(load.op)))
        load.op.results[0].replace_all_uses_with(stored(store.op))
        load.op.erase()
    return found + _without_unread(seen.entry, function)


def _covering(
    seen: FunctionFacts, load: Access, stores: Mapping[tuple[str, object], Sequence[Access]], writes: Sequence[Access]
) -> Access | None:
    """The store whose value a load surely reads, if it is in a block around the load; `stores` are by their places."""
    place = place_of(load)
    before = [] if place is None else stores.get((load.buffer.label, place), [])
    if not before:
        return None
    at = seen.order[load.op]
    blocks = {op.block: op for op in (load.op, *ancestors(load.op)) if op.name != "func.func"}
    last: Access | None = None
    for write in before:
        if not (seen.order[write.op] < at and write.op.block in blocks):
            continue
        if last is None or seen.order[write.op] > seen.order[last.op]:
            last = write
    if last is None or stored(last.op).type != load.op.results[0].type:
        return None
    statement = blocks[last.op.block]
    inside = [op for op in (load.op, *ancestors(load.op)) if op == statement or statement in ancestors(op)]
    if any(map(is_apart, inside)) or is_apart(next(ancestors(last.op))):
        return None
    repeats = any(op.name in LOOP_OPERATIONS for op in inside)
    limit = seen.end(statement) if repeats else at
    around = seen.around(last.op)
    for write in writes:
        if seen.order[last.op] < seen.order[write.op] <= limit and may_be_one(write, load, around):
            return None
    return last


def _without_unread(entry: ir.Block, function: str) -> list[Rewrite]:
    """Erase scalar variables that are only written."""
    found = []
    for made in operations(entry, "memref.alloc"):
        variable = made.results[0]
        users = [use.owner.operation for use in variable.uses]
        if ir.MemRefType(variable.type).rank or not users:
            continue
        if all(is_store(op) and accessed(op) == variable and stored(op) != variable for op in users):
            what = f"variable '{buffer_name(made) or '?'}' is not needed any more"
            found.append(Rewrite(NAME, function, what, location_of(made)))
            for op in users:
                op.erase()
            made.erase()
    return found
