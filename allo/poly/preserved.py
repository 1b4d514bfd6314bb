"""Value-based legality of a new order: each read sees the write that it saw, each element keeps its last write.

An order that swaps two accesses of an element may still change no value: scratch space that each iteration fills
anew, elements that are written again before anyone reads them. The flow is computed once, in the old order, and shown
to be right in the new one too (`flow.py`). Where it is not, it may do for the reads on which results depend
(`liveness.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import islpy as isl
from mlir import ir

from ..ir.access import is_load, is_store
from .effort import Exhausted, limited
from .flow import Flow, Instances, NoFlow, at_end, fault, flow_of
from .linear import Linear
from .liveness import final_reads, live_reads, reaching_reads, restricted, surely_live_reads
from .model import Access, Model, ModelLoop
from .pairs import Pair
from .relations import Relations

_CLOSURE = 40_000  # of isl for one closure, some hundredths of a second: what takes more seldom ends at all
_OPERATIONS = 400_000  # of isl, some tenths of a second; the accesses of an array in a nest take some thousands

# When an access runs, in the loops that are in question: compared from left to right.
type Order = Callable[[Access], Sequence[Linear]]


class Reordering:
    """Another order of the accesses of `places`, operations of one iteration of the loops `outer`.

    `accesses` are all of them, and what runs in between. `orders` are the old and the new one. Storage stays as it is:
    this says nothing of iterations that run at the same time.
    """

    def __init__(
        self,
        model: Model,
        accesses: Sequence[Access],
        outer: Sequence[ModelLoop],
        orders: tuple[Order, Order],
        places: Sequence[ir.Operation],
    ) -> None:
        self.model, self.accesses, self.orders, self.places = model, accesses, orders, places
        fixed = {loop.variable: loop.name for loop in outer}
        self.relations = Relations({p.variable: p.name for p in model.parameters} | fixed, 0)
        self._answers: dict[str, bool] = {}
        self._timed: dict[tuple[str, int], Instances] = {}
        self._flows: dict[str, Flow] = {}
        self._ends: dict[str, tuple[Instances, Flow] | None] = {}

    def keeps_values(self, pair: Pair) -> bool:
        """Is it certain that the accesses of an array see and leave the same values, if those of others do?

        The array is that of a pair which the new order turns around: its read is the first that is looked at.
        """
        label = pair.source.buffer.label
        if label not in self._answers:
            try:
                with limited(_OPERATIONS):
                    self._answers[label] = label in self._known and self._keeps_values(label, pair)
            except (Exhausted, NoFlow, isl.Error):
                self._answers[label] = False
        return self._answers[label]

    @cached_property
    def _arrays(self) -> dict[str, list[Access]]:
        """The accesses by their arrays."""
        found: dict[str, list[Access]] = {}
        for access in self.accesses:
            found.setdefault(access.buffer.label, []).append(access)
        return found

    @cached_property
    def _known(self) -> list[str]:
        """The arrays of which all accesses are loads and stores, and it is known what they touch."""
        return [
            label
            for label, accesses in self._arrays.items()
            if not accesses[0].buffer.is_stream
            and accesses[0].buffer.origin != "carried"
            and all(access.exact and (is_load(access.op) or is_store(access.op)) for access in accesses)
        ]

    @cached_property
    def _length(self) -> int:
        return 1 + max(len(order(access)) for access in self.accesses for order in self.orders)

    def _instances(self, access: Access, side: int) -> Instances:
        """An access in the old or in the new order."""
        if (access.id, side) not in self._timed:
            forms = (Linear(0), *self.orders[side](access))
            elements, time = self.relations.elements(access), self.relations.ordered(access, forms, self._length)
            self._timed[access.id, side] = Instances(access.id, access.text, access.source, elements, time)
        return self._timed[access.id, side]

    def _writes(self, label: str, side: int) -> list[Instances]:
        return [self._instances(access, side) for access in self._arrays[label] if access.is_write]

    def _seen(self, read: Access) -> Flow:
        """What a read sees, in the old order."""
        if read.id not in self._flows:
            self._flows[read.id] = flow_of(self._instances(read, 0), self._writes(read.buffer.label, 0))
        return self._flows[read.id]

    def _reads(self, label: str) -> list[Access]:
        return [access for access in self._arrays[label] if not access.is_write]

    def _end(self, label: str) -> tuple[Instances, Flow] | None:
        """A read of all that is written of an array, and what it sees; None if nobody sees it."""
        if label not in self._ends:
            self._ends[label] = self._left(label)
        return self._ends[label]

    def _left(self, label: str) -> tuple[Instances, Flow] | None:
        writes, buffer = self._writes(label, 0), self._arrays[label][0].buffer
        is_local = buffer.origin == "alloc" and self.model.used_only_in(buffer, self.places)
        if not writes or (is_local and all(self._seen(read).rest.is_empty() for read in self._reads(label))):
            return None
        written = writes[0].elements.range()
        for write in writes[1:]:
            written = written.union(write.elements.range())
        end = at_end(self.relations, written, self._length, 1)
        return end, flow_of(end, writes)

    def _keeps_values(self, label: str, pair: Pair) -> bool:
        new, end = self._writes(label, 1), self._end(label)
        if end is not None and fault(end[1], end[0], new):
            return False
        origin, changed = self._arrays[label][0].buffer.origin, []
        for read in sorted(self._reads(label), key=lambda read: read not in (pair.source, pair.sink)):
            if not fault(self._seen(read), self._instances(read, 1), new):
                continue
            if origin not in ("argument", "global"):
                return False  # an element without a value is not read, even if it makes no difference
            if self._changes_results(read, new, self._certainly_live):
                return False
            changed.append(read)
        return not changed or self._is_harmless(changed, new)

    def _is_harmless(self, changed: Sequence[Access], new: Sequence[Instances]) -> bool:
        """Do results not depend on those of the `changed` reads that see something else? The quickest answer first."""
        if not any(self._changes_results(read, new, self._nearly_live) for read in changed):
            return True
        if any(self._changes_results(read, new, self._surely_live) for read in changed):
            return False
        with limited(_CLOSURE):
            reaching = self._reaching
        return not any(self._changes_results(read, new, reaching) for read in changed)

    def _changes_results(self, read: Access, writes: Sequence[Instances], live: Mapping[str, isl.Set]) -> bool:
        """May the instances of a read that are `live` see something else in the new order?"""
        instances = self._instances(read, 1)
        only = replace(instances, elements=instances.elements.intersect_domain(live[read.id]))
        return bool(fault(restricted(self._seen(read), live[read.id]), only, writes))

    @cached_property
    def _left_behind(self) -> list[Flow]:
        """What is left in all known arrays."""
        return [end[1] for label in self._known if (end := self._end(label)) is not None]

    @cached_property
    def _all_reads(self) -> dict[str, Flow]:
        """What the reads of all known arrays see."""
        return {read.id: self._seen(read) for label in self._known for read in self._reads(label)}

    @cached_property
    def _certainly_live(self) -> dict[str, isl.Set]:
        """Some live instances of all reads, which is quick to tell."""
        return final_reads(self.relations, self.accesses, self._known, self._left_behind)

    @cached_property
    def _surely_live(self) -> dict[str, isl.Set]:
        """More of them."""
        arguments = (self.relations, self.accesses, self._known, self._all_reads, self._left_behind)
        return surely_live_reads(self._certainly_live, *arguments)

    @cached_property
    def _nearly_live(self) -> dict[str, isl.Set]:
        """All live instances, and more."""
        return live_reads(self.relations, self.accesses, self._known, self._all_reads, self._left_behind)

    @cached_property
    def _reaching(self) -> dict[str, isl.Set]:
        return reaching_reads(self._nearly_live, self.accesses, self._known, self._all_reads, self._left_behind)
