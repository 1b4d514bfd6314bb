"""Imperfect nests as perfect ones: statements between loops move into the innermost one, under conditions."""

from __future__ import annotations

from collections.abc import Iterable

from mlir import ir

from ...ir.access import is_copy
from ...ir.builder import Builder
from ...ir.context import context
from ...ir.walk import LOOP_OPERATIONS, constant_bounds, induction_variable, loops_of, operations, trip_count

_MARKS = ("allo.pipeline", "allo.dataflow", "allo.spatial", "allo.unroll")
_STAY = (  # what needs no cycle
    "arith.constant", "affine.apply", "arith.index_cast", "memref.get_global", "memref.alloc", "allo.stream_create",
    "allo.element_cast",
)  # fmt: skip


def flatten_nests(function: ir.OpView) -> None:
    """Make each pipelined loop and those around it one nest, as far as nothing but a loop and statements is in them.

    Statements stay, and the nest ends with them, where they contain loops or calls, or where a value is used on both
    sides.
    """
    for view in loops_of(function):
        if "allo.pipeline" not in view.op.attributes:
            continue
        chain = [view.op]
        for outer in reversed(view.chain[:-1]):
            if not trip_count(chain[0]) or any(mark in outer.op.attributes for mark in _MARKS):
                break
            before, after, free = _around(outer.body, chain[0])
            if not (_may_move(before) and _may_move(after)):
                break
            for op in free:
                op.move_before(chain[0])
            _sink(before, chain, first=True)
            _sink(after, chain, first=False)
            chain.insert(0, outer.op)


def _around(
    body: ir.Block, loop: ir.Operation
) -> tuple[list[ir.Operation], list[ir.Operation], list[ir.Operation]]:
    """The statements before and after a loop, and what is after it, takes no cycle, and may be before it."""
    parts: tuple[list[ir.Operation], list[ir.Operation]] = ([], [])
    free: list[ir.Operation] = []
    behind = 0
    for view in body.operations:
        op = view.operation
        if op == loop:
            behind = 1
        elif op.name in _STAY and not any(_made_by(value, (*parts[0], *parts[1])) for value in op.operands):
            free += [op] if behind else []
        elif op.name not in ("affine.yield", "scf.yield"):
            parts[behind].append(op)
    return *parts, free


def _made_by(value: ir.Value, operations: Iterable[ir.Operation]) -> bool:
    return not isinstance(value.owner, ir.Block) and value.owner.operation in operations


def _may_move(statements: list[ir.Operation]) -> bool:
    """Whether statements are straight code whose values only they use."""
    moved = set(statements)
    for statement in statements:
        inside = [statement, *(op for r in statement.regions for b in r.blocks for op in operations(b))]
        if any(op.name in LOOP_OPERATIONS or op.name == "func.call" or is_copy(op) for op in inside):
            return False
        if any(not _is_in(use.owner, moved) for result in statement.results for use in result.uses):
            return False
    return True


def _is_in(user: ir.OpView | ir.Operation, statements: set[ir.Operation]) -> bool:
    op: ir.Operation | None = user.operation
    while op is not None and op not in statements:
        op = op.parent.operation if op.parent is not None else None
    return op is not None


def _sink(statements: Iterable[ir.Operation], chain: list[ir.Operation], *, first: bool) -> None:
    """Move statements into the innermost loop of a chain, into its first or its last iteration."""
    statements = list(statements)
    if not statements:
        return
    body = chain[-1].regions[0].blocks[0]
    builder = Builder.before(next(iter(body.operations)).operation)
    if not first:
        builder.point = ir.InsertionPoint.at_block_terminator(body)
    equal = []
    for number, loop in enumerate(chain):
        bounds, trips = constant_bounds(loop), trip_count(loop)
        assert bounds is not None and trips is not None
        value = bounds[0] + (0 if first else (trips - 1) * bounds[2])
        equal.append(ir.AffineExpr.get_dim(number, context()) - value)
    condition = ir.IntegerSet.get(len(chain), 0, equal, [True] * len(chain), context())
    guard = builder.affine_if(condition, [induction_variable(loop) for loop in chain], has_else=False)
    end = next(view.operation for view in guard.regions[0].blocks[0].operations)
    for statement in statements:
        statement.move_before(end)
