"""Checks for streams that still hold elements at the end of their block."""

from __future__ import annotations

from functools import partial

from mlir import ir

from ...ir.access import is_store, stored
from ...ir.builder import Builder, unit_attr
from ...ir.processes import AT_END, CHECK
from ...ir.streams import is_stream_type
from ...ir.walk import entry_block, operations, statements, string_of
from .failures import require
from .flags import each_element

_HINT = "get as many elements out of it as are put into it"


def guard_streams(function: ir.OpView) -> None:
    """Put a check at the end of each block for the streams that it makes and keeps."""
    entry = entry_block(function)
    for op in operations(entry, "allo.stream_create", "memref.alloc") if entry is not None else ():
        made = op.results[0]
        last = statements(op.block)[-1]
        users = [use.owner.operation for use in made.uses]
        is_kept = all(user != last and _is_kept_by(user, made) for user in users)
        if not is_kept or not is_stream_type(made.type):
            continue
        name = string_of(op, "allo.name") or "without a name"
        builder = Builder(ir.InsertionPoint(last), op.location)
        if not isinstance(made.type, ir.MemRefType):
            _guard(builder, made, f"'{name}'", [])
            continue
        loops = each_element(builder, made, partial(_guard_element, made, name))
        for mark in (CHECK, AT_END):
            loops[0].attributes[mark] = unit_attr()


def _is_kept_by(user: ir.Operation, stream: ir.Value) -> bool:
    """Whether `user` does not put the stream somewhere else."""
    return not is_store(user) or stored(user) != stream


def _guard_element(array: ir.Value, name: str, builder: Builder, at: ir.AffineMap, places: list[ir.Value]) -> None:
    shown = ", ".join(f"{{{number}}}" for number in range(len(places)))
    _guard(builder, builder.affine_load(array, at, places), f"'{name}[{shown}]'", places)


def _guard(builder: Builder, stream: ir.Value, name: str, places: list[ir.Value]) -> None:
    holds = builder.is_empty(stream, {AT_END: unit_attr()})
    require(builder, holds, f"stream {name} still holds elements when it ends\n{_HINT}", places)
