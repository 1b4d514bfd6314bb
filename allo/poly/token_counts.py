"""Numbers of elements that a program puts into each stream and takes out of it, where extents are constant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from mlir import ir

from ..ir.access import accessed, base_of, callee_name, is_end, is_load, is_put
from ..ir.effects import Effects
from ..ir.module import Module
from ..ir.streams import is_stream_type
from ..ir.walk import entry_block, statements, trip_count


def is_balanced(module: Module, streams: Iterable[ir.Value]) -> bool:
    """Whether as much is put into each of these streams of one block as is taken; False if that is not known."""
    wanted = set(streams)
    for block in {stream.owner.operation.block for stream in wanted}:
        left = _Counting(module).block(block, {stream: stream for stream in wanted})
        if left is None or any(left.values()):
            return False
    return True


class _Counting:
    """What statements put less what they take, by the stream of the outermost block that they do it to."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._effects = Effects(module)
        self._around: list[str] = []

    def block(self, block: ir.Block, streams: dict[ir.Value, ir.Value]) -> Counter[ir.Value] | None:
        found: Counter[ir.Value] = Counter()
        for op in statements(block):
            part = self._statement(op, streams)
            if part is None:
                return None
            found.update(part)
        return found

    def _statement(self, op: ir.Operation, streams: dict[ir.Value, ir.Value]) -> Counter[ir.Value] | None:
        if is_end(op):
            stream = streams.get(base_of(accessed(op)))
            return Counter() if stream is None else Counter({stream: 1 if is_put(op) else -1})
        if op.name == "func.call":
            return self._call(op, streams)
        if not len(op.regions):
            asks = any(is_stream_type(value.type) for value in op.operands)
            return None if asks and not is_load(op) else Counter()
        trips = trip_count(op) if op.name == "affine.for" else None
        if trips is None:
            return None if self._effects.uses_streams(op) else Counter()
        once = self.block(op.regions[0].blocks[0], streams)
        return None if once is None else Counter({stream: trips * count for stream, count in once.items()})

    def _call(self, op: ir.Operation, streams: dict[ir.Value, ir.Value]) -> Counter[ir.Value] | None:
        name = callee_name(op)
        if not self._effects.uses_streams(op):
            return Counter()
        entry = entry_block(self._module.function(name))
        if entry is None or name in self._around:
            return None
        given = zip(entry.arguments, op.operands, strict=True)
        inner = {a: streams[s] for a, o in given if is_stream_type(o.type) and (s := base_of(o)) in streams}
        self._around.append(name)
        found = self.block(entry, inner)
        self._around.pop()
        return found
