"""Streams that still hold elements when they end."""

from __future__ import annotations

from mlir import ir

from ...ir.builder import Builder
from ...ir.context import context
from ...ir.walk import entry_block, operations, string_of
from .failures import require


def guard_streams(function: ir.OpView) -> None:
    """Put a check at the end of each block for the streams that it makes and keeps."""
    entry = entry_block(function)
    for op in operations(entry, "allo.stream_create") if entry is not None else ():
        stream = op.results[0]
        last = list(op.block.operations)[-1].operation
        users = [use.owner.operation for use in stream.uses]
        if any(user.name in ("memref.store", "affine.store") or user == last for user in users):
            continue  # it outlives the block
        builder = Builder(ir.InsertionPoint(last), op.location)
        flag = ir.IntegerType.get_signless(1, context())
        name = string_of(op, "allo.name") or "a stream without a name"
        holds = builder.value("allo.stream_empty", flag, [stream])
        require(
            builder, holds, f"stream '{name}' still holds elements when it ends\n"
            "get as many elements out of it as are put into it",
        )  # fmt: skip
