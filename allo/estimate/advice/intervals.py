"""Advice for a loop: the primitive that would move what binds its interval, as a step to paste."""

from __future__ import annotations

import math
from functools import partial

from ...poly import Access, Reductions, Violation, order_violation
from ...timing.problem.graph import Edge
from ...timing.vendor_rules import is_asked_for
from .buffering import keep_on_chip
from .initial_values import fill_faster
from .ports import relieve
from .question import Proposal, Question


def advise(asked: Question) -> Proposal | None:
    """A step to paste that lowers the interval; None if nothing binds it or no primitive is known to help."""
    done = asked.done
    if done.interval == asked.requested:
        if done.least < asked.requested:
            return asked.proposal(f's.pipeline("{asked.names[-1]}", initiation_interval={done.least})', done.least)
        return fill_faster(asked)
    recurrence = done.recurrence.interval if done.recurrence is not None else 1
    if done.pressure is not None and done.pressure.interval >= max(recurrence, 2):
        return relieve(asked, max(recurrence, asked.requested))
    if done.recurrence is not None and recurrence > 1:
        carried = [edge for edge in done.recurrence.edges if edge.distance]
        if not carried:  # what is assumed
            return None
        source = asked.region.nodes[carried[0].source]
        if source.memory is not None and source.memory.kind.name in asked.tree.around.target.external:
            return keep_on_chip(asked, source.label) or _reorder(asked, carried)
        return _reorder(asked, carried) or keep_on_chip(asked, source.label)
    return None


def _reorder(asked: Question, carried: list[Edge]) -> Proposal | None:
    """A loop around that moves on to another element, inside of the loop that comes back to the same one."""
    stores = [asked.region.nodes[edge.source] for edge in carried]
    read = {node.label for node in asked.region.nodes if node.kind == "read"}
    writes = [node for node in asked.region.nodes if node.kind == "write" and node.label in read]
    updated = [node.access for node in writes if node.access is not None]  # else another sum would come back to itself
    inner, model = asked.chain[-1], asked.tree.around.model
    for position in range(len(asked.chain) - 2, -1, -1):
        outer = asked.chain[position]
        variable = model.loop(outer.op).variable
        touched = [store.access for store in stores if store.access is not None]
        if not touched or not all(map(partial(_moves, variable=variable), [*touched, *updated])):
            continue
        old = [view.op for view in asked.chain[position:]]
        new = [*old[1:], old[0]]
        refusal = order_violation(model, old, new, reductions=Reductions.EXACT)
        if isinstance(refusal, Violation) and not refusal.reassociable:
            continue
        remark = "" if refusal is None else ", reassociate=True"
        if refusal is not None and order_violation(model, old, new, reductions=Reductions.ANY) is not None:
            continue
        names = ", ".join(f'"{asked.names[n]}"' for n in (*range(position + 1, len(asked.chain)), position))
        step = f"s.reorder({names}{remark})"
        if is_asked_for(inner.op):
            step += f'  # and pipeline "{asked.names[position]}" in place of "{asked.names[-1]}"'
        return asked.proposal(step, _turns(asked, position))
    return None


def _turns(asked: Question, position: int) -> int:
    """The interval if the iterations of an outer loop take turns, and the recurrence comes back behind all of them."""
    inside = position - (len(asked.chain) - len(asked.region.time))
    trips = asked.node.runs[inside] if inside >= 0 else None
    left = asked.without(recurrences=False)
    assert asked.done.recurrence is not None
    return left if not trips else max(left, math.ceil(asked.done.recurrence.interval / trips))


def _moves(access: Access, variable: int) -> bool:
    """Whether a loop moves an access on to other elements."""
    return any(v == variable for form in access.subscripts for v, _ in form.terms)
