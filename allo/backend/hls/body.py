"""Body of a function, read once: the operations of each block, their operands, and the uses of each value."""

from __future__ import annotations

from mlir import ir

from ...ir.walk import operations


class Body:
    """A function that does not change any more: to ask MLIR for these costs more than to write the operation."""

    __slots__ = ("_operands", "_statements", "_uses")

    def __init__(self, entry: ir.Block | None = None) -> None:
        self._statements: dict[ir.Block, list[ir.Operation]] = {}
        self._operands: dict[ir.Operation, list[ir.Value]] = {}
        self._uses: dict[ir.Value, int] = {}
        for op in operations(entry) if entry is not None else ():
            operands = list(op.operands)
            self._statements.setdefault(op.block, []).append(op)
            self._operands[op] = operands
            for value in operands:
                self._uses[value] = self._uses.get(value, 0) + 1

    def statements(self, block: ir.Block) -> list[ir.Operation]:
        """The operations of a block, the terminator last."""
        return self._statements.get(block, [])

    def operands(self, op: ir.Operation) -> list[ir.Value]:
        return self._operands[op]

    def uses(self, value: ir.Value) -> int:
        """In how many places it is an operand."""
        return self._uses.get(value, 0)
