"""Functions whose calls share one instance of hardware."""

from __future__ import annotations

from mlir import ir

from ....ir.access import callee_name
from ....ir.processes import ELEMENT_OF
from ....ir.walk import operations

# loops whose iterations overlap or are copies: one instance would make them wait for each other
_OVERLAPPING = ("allo.pipeline", "allo.unroll", "allo.parallel", "allo.spatial", "allo.dataflow")


def shared_callees(entry: ir.Block) -> list[str]:
    """The functions that a body calls at several places which never run at once.

    Tools make an instance for each shape of an interface, and more where they see a gain; the calls of a sequence
    gain nothing (section 3.2 of the Allo paper). Functions of which a call is inside a pipeline, an unrolled loop or
    a dataflow region are left to the tool, and so are those of processing elements, which run at once.
    """
    calls: dict[str, int] = {}
    overlapping: set[str] = set()
    if "allo.dataflow" in entry.owner.operation.attributes:
        return []
    for op in operations(entry, "func.call"):
        callee = callee_name(op)
        calls[callee] = calls.get(callee, 0) + 1
        if ELEMENT_OF in op.attributes or _overlaps(op, entry):
            overlapping.add(callee)
    return [name for name, count in calls.items() if count > 1 and name not in overlapping]


def _overlaps(op: ir.Operation, entry: ir.Block) -> bool:
    parent = op.parent
    while parent is not None and parent.operation != entry.owner.operation:
        if any(name in parent.operation.attributes for name in _OVERLAPPING):
            return True
        parent = parent.operation.parent
    return False
