"""Least number of puts and gets of a run, from constant trip counts: whether a trace would be too long."""

from __future__ import annotations

from dataclasses import dataclass, field

from mlir import ir

from ...ir.access import accessed, base_of, callee_name, waits_at_stream
from ...ir.module import Module
from ...ir.streams import is_stream_type
from ...ir.walk import LOOP_OPERATIONS, entry_block, statements, trip_count


def fewest_events(module: Module) -> int:
    """The puts and gets of streams made in the module that a run has at least.

    Those under conditions, and in loops whose trip counts are not constants, count as none.
    """
    top = entry_block(module.function(module.top))
    return 0 if top is None else _Counter(module).of_block(top, frozenset(top.arguments))


@dataclass(slots=True)
class _Counter:
    module: Module
    known: dict[tuple[str, tuple[bool, ...]], int] = field(default_factory=dict)

    def of_block(self, block: ir.Block, outside: frozenset[ir.Value]) -> int:
        """The events of one run of a block; those of streams from `outside` of the module are not recorded."""
        total = 0
        for op in statements(block):
            if waits_at_stream(op):
                total += base_of(accessed(op)) not in outside
            elif op.name == "func.call":
                total += self._of_call(op, outside)
            elif op.name in LOOP_OPERATIONS and (trips := trip_count(op)):
                total += trips * self.of_block(op.regions[0].blocks[0], outside)
        return total

    def _of_call(self, op: ir.Operation, outside: frozenset[ir.Value]) -> int:
        name = callee_name(op)
        given = tuple(is_stream_type(value.type) and base_of(value) in outside for value in op.operands)
        if (name, given) not in self.known:
            self.known[name, given] = 0  # of a function that calls itself, no more is known
            entry = entry_block(self.module.function(name))
            if entry is not None:
                own = frozenset(a for a, is_outside in zip(entry.arguments, given, strict=True) if is_outside)
                self.known[name, given] = self.of_block(entry, own)
        return self.known[name, given]
