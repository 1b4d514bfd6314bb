"""How often a loop runs: the constant number if it is one, and the greatest number."""

from __future__ import annotations

from mlir import ir

from .domains import Domain, LoopDomain, affine_for, affine_if, scf_for
from .linear import Row, variable
from .systems import feasible, least
from .values import Values


def trip_count(loop_op: ir.Operation | ir.OpView) -> int | None:
    """The number of iterations if it is the same whenever the loop is reached, for all parameters."""
    lengths = _lengths(loop_op.operation)
    return None if lengths is None or lengths[0] != lengths[1] else lengths[1]


def max_trip_count(loop_op: ir.Operation | ir.OpView) -> int | None:
    """The greatest number of iterations of one run of the loop; None if no bound is known."""
    lengths = _lengths(loop_op.operation)
    return None if lengths is None else lengths[1]


def _lengths(op: ir.Operation) -> tuple[int | None, int] | None:
    """The least (None: unknown) and the greatest number of iterations; None if there is no greatest."""
    values, outer, loop = _context(op)
    if loop is None or loop.step is None or None in loop.upper.forms + loop.lower.forms:
        return None
    spans = [
        upper - lower
        for upper in loop.upper.forms
        for lower in loop.lower.forms
        if upper is not None and lower is not None
    ]
    step = loop.step
    if len(spans) == 1 and spans[0].is_constant:
        trips = max(0, -(-spans[0].constant // step))
        return trips, trips
    rows = (*loop.lower.rows(), *loop.upper.rows())
    span = variable(values.fresh())
    # The span is the least of all differences of bounds: the greatest one below all of them.
    limits = tuple(Row(difference - span) for difference in spans)
    greatest = 0
    shortest: list[int | None] = []
    for piece in outer.pieces:
        system = (*piece, *rows)
        if not feasible(system):
            continue
        longest = least(span.scaled(-1), (*system, *limits))
        if longest is None:
            return None
        greatest = max(greatest, -(longest // step))
        shortest += [least(difference, system) for difference in spans]
    bounded = [length for length in shortest if length is not None]
    if not outer.exact or len(bounded) < len(shortest):
        return None, greatest
    return max(0, -(-min(bounded, default=0) // step)), greatest


def _context(op: ir.Operation) -> tuple[Values, Domain, LoopDomain | None]:
    """The domain around a loop, from its enclosing operations alone, and the loop itself."""
    nest = [op]
    function: ir.Operation | None = None
    while (parent := nest[-1].parent) is not None:
        if parent.operation.name == "func.func":
            function = parent.operation
            break
        nest.append(parent.operation)
    values = Values(None if function is None else function.regions[0].blocks[0])
    domain = Domain(((),), True, "")
    for outer, inner in zip(reversed(nest), reversed(nest[:-1]), strict=False):
        if (entered := _enter(outer, domain, values)) is not None:
            domain = entered.domain
        elif outer.name == "affine.if":
            holds, fails = affine_if(outer, domain, values)
            domain = holds if inner.block in list(outer.regions[0]) else fails
        else:
            domain = domain.uncertain(f"inside `{outer.name}`")
    return values, domain, _enter(op, domain, values)


def _enter(op: ir.Operation, domain: Domain, values: Values) -> LoopDomain | None:
    if op.name == "affine.for":
        return affine_for(op, domain, values)
    return scf_for(op, domain, values) if op.name == "scf.for" else None
