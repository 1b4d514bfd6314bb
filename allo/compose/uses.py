"""Decides which arrays and streams an operation writes and reads, calls by what their callees do."""

from __future__ import annotations

from collections.abc import Iterator

from mlir import ir

from ..ir.array_graph import callee_name, is_array
from ..ir.effects import array_of, read_only_arguments
from ..ir.linalg import is_structured, output_count
from ..ir.module import Module
from ..ir.streams import declared_sides, stream_of
from ..ir.walk import argument_names, entry_block, operations

_LOADS = frozenset({"affine.load", "memref.load"})
_STORES = frozenset({"affine.store", "memref.store"})
_PUTS = frozenset({"allo.stream_put"})
_GETS = frozenset({"allo.stream_get", "allo.stream_empty", "allo.stream_full"})


class Accesses:
    """Answers for the functions of one module; keeps what callees do with their arguments."""

    def __init__(self, module: Module) -> None:
        self._functions = {f.name.value: f for f in module.functions()}
        self._entries = {name: entry_block(f) for name, f in self._functions.items()}
        self._known: dict[str, tuple[frozenset[int], frozenset[int]]] = {}

    def below(self, op: ir.Operation) -> Iterator[tuple[ir.Operation, list[ir.Value], list[ir.Value]]]:
        """The operations of `op` that access arrays, each with the values it writes and those it reads."""
        inner = (o for region in op.regions for block in region.blocks for o in operations(block))
        for current in (op, *inner):
            writes, reads = self._of(current)
            if writes or reads:
                yield current, writes, reads

    def _of(self, op: ir.Operation) -> tuple[list[ir.Value], list[ir.Value]]:
        operands = list(op.operands)
        if op.name in _LOADS:
            return [], [] if "!allo.stream" in str(op.results[0].type) else [operands[0]]
        if op.name in _STORES:
            return [operands[1]], []
        if op.name == "memref.copy":
            return [operands[1]], [operands[0]]
        if op.name in _PUTS:
            return [stream_of(operands[0])], []
        if op.name in _GETS:
            return [], [stream_of(operands[0])]
        if is_structured(op):
            first = len(operands) - output_count(op)
            return operands[first:], [o for o in operands[:first] if is_array(o.type)]
        if op.name == "func.call":
            results = [r for r in op.results if is_array(r.type)]
            arrays = [(k, o) for k, o in enumerate(operands) if is_array(o.type)]
            written, read = self._callee(callee_name(op))
            return [*(o for k, o in arrays if k in written), *results], [o for k, o in arrays if k in read]
        if op.name == "func.return":
            return [], [o for o in operands if is_array(o.type)]
        return [], []

    def _declared(self, function: ir.OpView) -> tuple[frozenset[int], frozenset[int]]:
        """What a function without a body may do: all that it does not promise to leave."""
        sides = declared_sides(function)
        kept = read_only_arguments(function.operation) | {k for k, side in sides.items() if side == "in"}
        filled = {k for k, side in sides.items() if side == "out"}
        everything = frozenset(range(len(argument_names(function))))
        return everything - kept, everything - filled

    def _callee(self, name: str) -> tuple[frozenset[int], frozenset[int]]:
        """The positions of the arguments that a function writes, and of those it reads."""
        if name not in self._known:
            entry = self._entries[name]
            if entry is None:
                return self._declared(self._functions[name])
            written: set[ir.Value] = set()
            read: set[ir.Value] = set()
            for op in entry.operations:
                for _, writes, reads in self.below(op.operation):
                    written.update(array_of(value) for value in writes)
                    read.update(array_of(value) for value in reads)
            arguments = list(enumerate(entry.arguments))
            self._known[name] = (
                frozenset(k for k, argument in arguments if argument in written),
                frozenset(k for k, argument in arguments if argument in read),
            )
        return self._known[name]
