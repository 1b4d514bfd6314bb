"""A function read once: the operations of its blocks that matter, their operands, and how often a value is used."""

from __future__ import annotations

from mlir import ir

from ....ir.access import effects_of, is_array, is_store
from ....ir.walk import operations
from .operations import needed_operands


class Body:
    """A function that does not change any more: to ask MLIR for these costs more than to write the operation.

    Numbers that nothing uses, and what only these use, are left out, as are operands that make no difference.
    """

    __slots__ = ("_operands", "_statements", "_stores", "_uses")

    def __init__(self, entry: ir.Block | None = None) -> None:
        self._statements: dict[ir.Block, list[ir.Operation]] = {}
        self._operands: dict[ir.Operation, list[ir.Value]] = {}
        self._uses: dict[ir.Value, int] = {}
        self._stores: dict[ir.Value, int] = {}
        for op in reversed(operations(entry) if entry is not None else ()):  # users before what they use
            if self._is_unused(op):
                continue
            operands = needed_operands(op)
            self._statements.setdefault(op.block, []).append(op)
            self._operands[op] = operands
            for value in operands:
                self._uses[value] = self._uses.get(value, 0) + 1
            if is_store(op):
                self._stores[operands[1]] = self._stores.get(operands[1], 0) + 1  # of the array
        for found in self._statements.values():
            found.reverse()

    def _is_unused(self, op: ir.Operation) -> bool:
        """Whether an operation does nothing but make numbers that no other one needs."""
        results = list(op.results)
        if not results or any(value in self._uses for value in results):
            return False
        return (
            not any(is_array(value.type) for value in results)
            and not op.regions
            and op.name != "func.call"
            and not any(effect.writes or effect.puts or effect.gets for effect in effects_of(op))
        )

    def statements(self, block: ir.Block) -> list[ir.Operation]:
        """The operations of a block, the terminator last."""
        return self._statements.get(block, [])

    def operands(self, op: ir.Operation) -> list[ir.Value]:
        """Those that are needed."""
        return self._operands[op]

    def uses(self, value: ir.Value) -> int:
        """In how many places it is an operand."""
        return self._uses.get(value, 0)

    def is_only_stored_to(self, memory: ir.Value) -> bool:
        """Whether it is an operand of stores alone, which is none of their subscripts."""
        return self.uses(memory) == self._stores.get(memory, 0)
