"""First values that are one constant, in the place of loads that see nothing else."""

from __future__ import annotations

from mlir import ir

from ...ir.access import stored
from ...ir.walk import LoopView, statement_of, statements
from ...poly import Access, SeenWrites, Undecided, extract, wholly_overwritten, writes_seen
from ..nest.absorb import absorbed_by
from .constants import is_number, made_again, makers


def take_constant(
    function: ir.OpView, load: ir.Operation, view: LoopView, number: float | None = None
) -> Access | SeenWrites | Undecided | None:
    """Put the constant (`number`, if it is given) in the place of a load in the nest of `view` that sees nothing else.

    Statements that only gave these first values are dropped if nothing reads them any more. Returns what stands in the
    way, and changes nothing then: a write of another value that the load sees, that it may see what was there before
    all writes, or what cannot be decided.
    """
    seen = writes_seen(extract(function), load)
    if isinstance(seen, Undecided):
        return seen
    if seen.unwritten or not seen.writes:
        return seen
    first = makers(stored(seen.writes[0].op))
    for write in seen.writes:
        value = stored(write.op)
        is_same = _texts(makers(value)) == _texts(first) if number is None else is_number(value, number)
        if not first or not is_same:
            return write
    load.results[0].replace_all_uses_with(made_again(first, load))
    load.erase()
    for statement in dict.fromkeys(statement_of(write.op) for write in seen.writes):
        nest = view.chain[0].op
        following = absorbed_by(statement, statements(statement.block)[:-1])
        if following is not None and following == nest and wholly_overwritten(extract(function), statement, nest):
            statement.erase()
    return None


def _texts(chain: list[ir.Operation]) -> list[tuple[str, str]]:
    return [(op.name, str(op.attributes)) for op in chain]
