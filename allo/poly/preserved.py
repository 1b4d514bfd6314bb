"""Value-based legality of a new order: each read sees the write that it saw, each element keeps its last write.

An order that swaps two accesses of an element may still change no value: scratch space that each iteration fills
anew, elements that are written again before anyone reads them. The flow is computed once, in the old order, and shown
to be right in the new one too (`flow.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import islpy as isl
from mlir import ir

from ..ir.access import is_load, is_store
from .effort import Exhausted, limited
from .flow import Instances, NoFlow, at_end, fault, flow_of
from .linear import Linear
from .model import Access, Buffer, Loop, Model
from .relations import Relations

_OPERATIONS = 400_000  # of isl, some tenths of a second; the accesses of an array in a nest take some thousands

# When an access runs, in the loops that are in question: compared from left to right.
type Order = Callable[[Access], Sequence[Linear]]


def keeps_values(
    model: Model,
    accesses: Sequence[Access],
    outer: Sequence[Loop],
    orders: tuple[Order, Order],
    places: Sequence[ir.Operation],
) -> bool:
    """Is it certain that accesses of one array see and leave the same values in both orders, the old and the new?

    They are all in `places`, operations of one iteration of the loops `outer`, and no others run in between. Other
    arrays must keep their values too. Storage stays as it is: this says nothing of iterations at the same time.
    """
    buffer = accesses[0].buffer
    known = all(access.exact and (is_load(access.op) or is_store(access.op)) for access in accesses)
    if buffer.is_stream or buffer.origin == "carried" or not known:
        return False
    fixed = {loop.variable: loop.name for loop in outer}
    relations = Relations({p.variable: p.name for p in model.parameters} | fixed, 0)
    try:
        with limited(_OPERATIONS):
            return _Values(relations, accesses, orders).kept(buffer, is_dead=model.used_only_in(buffer, places))
    except (Exhausted, NoFlow, isl.Error):
        return False


class _Values:
    """The accesses of one array as instances in the old and in the new order."""

    def __init__(self, relations: Relations, accesses: Sequence[Access], orders: tuple[Order, Order]) -> None:
        self.relations, self.accesses = relations, accesses
        self.forms = [[(Linear(0), *order(access)) for access in accesses] for order in orders]
        self.length = max(len(forms) for one in self.forms for forms in one)
        self.old, self.new = ([self._instances(a, f) for a, f in zip(accesses, one, strict=True)] for one in self.forms)

    def _instances(self, access: Access, forms: Sequence[Linear]) -> Instances:
        time = self.relations.ordered(access, forms, self.length)
        return Instances(access.id, access.text, access.source, self.relations.elements(access), time)

    def kept(self, buffer: Buffer, *, is_dead: bool) -> bool:
        writes = [[one[k] for k, a in enumerate(self.accesses) if a.is_write] for one in (self.old, self.new)]
        exposed = False
        for k, access in enumerate(self.accesses):
            if not access.is_write:
                flow = flow_of(self.old[k], writes[0])
                exposed = exposed or not flow.rest.is_empty()
                if fault(flow, self.new[k], writes[1]):
                    return False
        if is_dead and buffer.origin == "alloc" and not exposed:
            return True  # nobody sees what it holds in the end
        end = at_end(self.relations, self._written(), self.length, 1)
        return not fault(flow_of(end, writes[0]), end, writes[1])

    def _written(self) -> isl.Set:
        """The elements that are written."""
        ranges = [self.relations.elements(access).range() for access in self.accesses if access.is_write]
        found = ranges[0]
        for one in ranges[1:]:
            found = found.union(one)
        return found
