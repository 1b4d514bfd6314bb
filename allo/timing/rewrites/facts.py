"""Facts of a function before a rewrite: its model, its accesses by operation, the order of the text."""

from __future__ import annotations

from collections.abc import Iterator

from mlir import ir

from ...ir.access import is_affine_access, subscripts
from ...ir.module import Module
from ...ir.walk import (
    LOOP_OPERATIONS,
    buffers_of,
    entry_block,
    loops_of,
    operations,
    statements,
    trip_count,
)
from ...poly import Access, Model, ModelLoop, extract

CONDITIONS = ("affine.if", "scf.if")
_APART = ("allo.dataflow", "allo.spatial", "allo.parallel")  # marks of what runs beside its neighbours


def names_in(module: Module, function: str) -> set[str]:
    """The names of the loops, nests and arrays of a function."""
    made = module.function(function)
    loops = loops_of(made)
    return {*buffers_of(made), *(view.name for view in loops), *(view.nest for view in loops)}


class FunctionFacts:
    """Facts of function `name`; they hold until it is rewritten, but for operations that were not there."""

    def __init__(self, module: Module, name: str) -> None:
        function = module.function(name)
        entry = entry_block(function)
        assert entry is not None
        self.name = name
        self.entry: ir.Block = entry
        self.model: Model = extract(function)
        self.operations = operations(entry)
        self.order = {op: number for number, op in enumerate(self.operations)}
        self.accesses: dict[ir.Operation, list[Access]] = {}
        for access in self.model.accesses:
            self.accesses.setdefault(access.op, []).append(access)
        self.loops = {loop.op: loop for loop in self.model.loops}

    def access(self, op: ir.Operation) -> Access | None:
        """The access that a load or store is; None for streams and what is never executed."""
        found = self.accesses.get(op, ())
        return found[0] if len(found) == 1 and not found[0].buffer.is_stream else None

    def around(self, op: ir.Operation) -> list[ModelLoop]:
        """The loops around an operation, outermost first."""
        return [self.loops[outer] for outer in reversed(list(ancestors(op))) if outer in self.loops]

    def end(self, op: ir.Operation) -> int:
        """The place in the text of the last operation in `op`."""
        blocks = [block for region in op.regions for block in region.blocks]
        inside = statements(blocks[-1]) if blocks else []
        return self.end(inside[-1]) if inside else self.order[op]


def ancestors(op: ir.Operation) -> Iterator[ir.Operation]:
    """The operations around one, from the inside, the function last."""
    while op.name != "func.func" and op.parent is not None:
        op = op.parent.operation
        yield op


def between(op: ir.Operation, outer: ir.Operation) -> list[ir.Operation]:
    """The operations around `op` and in `outer`, from the inside."""
    found = []
    for inner in ancestors(op):
        if inner == outer:
            break
        found.append(inner)
    return found


def is_certain(op: ir.Operation, outer: ir.Operation) -> bool:
    """Whether an operation runs in each iteration of the loop `outer`, or whenever that operation runs."""
    return all(inner.name in LOOP_OPERATIONS and (trip_count(inner) or 0) > 0 for inner in between(op, outer))


def is_apart(op: ir.Operation) -> bool:
    """Whether an operation is a process, or the parts of its body are, so that they share no values."""
    return any(mark in op.attributes for mark in _APART)


def following(op: ir.Operation) -> ir.Operation:
    """The next operation of the block; there is one, as blocks end with terminators."""
    block = statements(op.block)
    return block[block.index(op) + 1]


def is_before(value: ir.Value, outer: ir.Operation) -> bool:
    """Whether a value is there before `outer` runs, which does not make it."""
    owner = value.owner
    op = owner.owner.operation if isinstance(owner, ir.Block) else owner.operation
    if isinstance(owner, ir.Block) and op == outer:
        return False
    return op != outer and outer not in ancestors(op)


def known_outside(op: ir.Operation, outer: ir.Operation, known: tuple[ir.Value, ...] = ()) -> bool:
    """Whether the subscripts of an affine access can be computed outside of `outer`, given some values."""
    return is_affine_access(op) and all(value in known or is_before(value, outer) for value in subscripts(op))
