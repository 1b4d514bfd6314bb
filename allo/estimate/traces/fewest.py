"""Least number of puts and gets of a run, by how often blocks surely run: whether a trace would be too long."""

from __future__ import annotations

from dataclasses import dataclass, field

from mlir import ir

from ...ir.access import WAITING, accessed, base_of, callee_name
from ...ir.module import Module
from ...ir.streams import is_stream_type
from ...ir.walk import entry_block, operations
from ...poly import runs_of


def fewest_events(module: Module) -> int:
    """The puts and gets of streams made in the module that a run has at least.

    Those that data or arguments decide on count as none.
    """
    top = entry_block(module.function(module.top))
    return 0 if top is None else _Counter(module).of_function(top, frozenset(top.arguments))


@dataclass(slots=True)
class _Counter:
    module: Module
    known: dict[tuple[str, tuple[bool, ...]], int] = field(default_factory=dict)

    def of_function(self, entry: ir.Block, outside: frozenset[ir.Value]) -> int:
        """The events of one call; those of streams from `outside` of the module are not recorded."""
        total = 0
        for op in operations(entry, *WAITING, "func.call"):
            one = self._of_call(op, outside) if op.name == "func.call" else int(base_of(accessed(op)) not in outside)
            runs = runs_of(op.block) if one else None
            if runs is not None and runs.exact:
                total += one * (runs.value or 0)
        return total

    def _of_call(self, op: ir.Operation, outside: frozenset[ir.Value]) -> int:
        name = callee_name(op)
        given = tuple(is_stream_type(value.type) and base_of(value) in outside for value in op.operands)
        if (name, given) not in self.known:
            self.known[name, given] = 0  # of a function that calls itself, no more is known
            entry = entry_block(self.module.function(name))
            if entry is not None:
                own = frozenset(a for a, is_outside in zip(entry.arguments, given, strict=True) if is_outside)
                self.known[name, given] = self.of_function(entry, own)
        return self.known[name, given]
