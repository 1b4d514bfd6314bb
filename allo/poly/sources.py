"""The writes whose values a read sees."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl
from mlir import ir

from ..ir.access import is_load, is_store
from .effort import Exhausted, limited
from .flow import NoFlow, flow_of, instances
from .model import Access, Model
from .relations import Relations
from .violation import Undecided, unknown

_OPERATIONS = 400_000  # of isl, some tenths of a second


@dataclass(frozen=True, slots=True)
class SeenWrites:
    """The writes that a read sees in some iteration; `unwritten`: it may see what was there before all of them."""

    writes: tuple[Access, ...]
    unwritten: bool


def writes_seen(model: Model, load: ir.Operation) -> SeenWrites | Undecided:
    """What a load sees of the writes of the function that `model` is of."""
    read = next(access for access in model.accesses if access.op == load)
    used = [access for access in model.accesses if access.buffer.label == read.buffer.label]
    writes = [access for access in used if access.is_write]
    rough = [a for a in (read, *writes) if not a.exact or not (is_load(a.op) or is_store(a.op))]
    if rough:
        return unknown(rough[0])
    relations = Relations({p.variable: p.name for p in model.parameters}, model.depth)
    try:
        with limited(_OPERATIONS):
            flow = flow_of(instances(relations, read), [instances(relations, write) for write in writes])
            seen = tuple(w for w in writes if w.id in flow.sources and not flow.sources[w.id].is_empty())
            return SeenWrites(seen, not flow.rest.is_empty())
    except (Exhausted, NoFlow, isl.Error):
        return Undecided("which write its reads see is too much to tell", read)
