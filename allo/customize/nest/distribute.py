"""Groups of statements between the loops of a band, and where they go when the loops change their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir

from ...errors import Note, ScheduleError
from ...ir.walk import LoopView, location_of
from ..step.resolve import loop_note

_CONSTANTS = frozenset({"arith.constant", "memref.get_global"})


@dataclass(frozen=True, slots=True)
class Group:
    """Statements in the first `count` loops of the band, before (`leading`) or after the next one.

    In the new order they stand in its first `prefix` loops, and have loops of their own for `private`.
    """

    statements: tuple[ir.Operation, ...]
    count: int
    leading: bool
    prefix: int
    private: tuple[LoopView, ...]


def groups_between(band: Sequence[LoopView], order: Sequence[LoopView]) -> list[Group]:
    """The groups in the order in which they run in one iteration of the loops that they share."""
    leading: list[Group] = []
    trailing: list[Group] = []
    for count in range(1, len(band)):
        body = [op.operation for op in band[count - 1].body.operations][:-1]
        position = body.index(band[count].op)
        for ops, into in ((body[:position], leading), (body[position + 1 :], trailing)):
            own = _without_constants(ops, band[0])
            if own:
                into.append(_group(own, count, band, order, leading=into is leading))
    groups = [*leading, *reversed(trailing)]
    for group in groups:
        _check_values(group, band)
    return groups


def _group(
    ops: list[ir.Operation], count: int, band: Sequence[LoopView], order: Sequence[LoopView], *, leading: bool
) -> Group:
    around = [view.op for view in band[:count]]
    prefix = 0
    while order[prefix].op in around:
        prefix += 1
    private = tuple(view for view in order[prefix:] if view.op in around)
    return Group(tuple(ops), count, leading, prefix, private)


def _without_constants(ops: list[ir.Operation], outermost: LoopView) -> list[ir.Operation]:
    """The statements; constants that others use too are moved in front of all loops."""
    shared = [op for op in ops if op.name in _CONSTANTS and _used_outside(op, ops)]
    for op in shared:
        op.move_before(outermost.op)
    rest = [op for op in ops if op not in shared]
    return rest if any(op.name not in _CONSTANTS for op in rest) else []


def _used_outside(op: ir.Operation, group: Sequence[ir.Operation]) -> ir.Operation | None:
    """An operation that uses a result of `op` and is not in the group."""
    for result in op.results:
        for use in result.uses:
            user: ir.Operation = use.owner.operation
            if not _is_in(user, group):
                return user
    return None


def _is_in(op: ir.Operation, group: Sequence[ir.Operation]) -> bool:
    current: ir.Operation | None = op
    while current is not None:
        if current in group:
            return True
        current = None if current.parent is None else current.parent.operation
    return False


def _check_values(group: Group, band: Sequence[LoopView]) -> None:
    """A value of the group can be used elsewhere only if no loop of the group's own is around it."""
    if not group.private:
        return
    for op in group.statements:
        user = _used_outside(op, group.statements)
        if user is not None:
            inner, own = band[group.count], band[group.count - 1]
            name = ir.StringAttr(op.attributes["allo.name"]).value if "allo.name" in op.attributes else None
            raise ScheduleError(
                f"{f"'{name}'" if name else 'a value'} is new in each iteration of '{own.name}' and is used on both "
                f"sides of where '{inner.name}' begins or ends, so '{inner.name}' cannot move out of '{own.name}'",
                hint="keep it in an array with an element for each iteration",
                notes=[Note("it is declared here", location_of(op)), loop_note(inner)],
            )
