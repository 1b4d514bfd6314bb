"""Mapping of tasks on arrays of processors: graphs of tasks, steps that merge them, object FIFOs, tiles, capacity."""

from .capacity import CapacityReport, ResourceUse, capacity_of
from .fifos import ArrayFifo, ObjectFifos, Slot, StreamFifo, fifos_of
from .graph import HostArray, PartAccess, ArrayPart, PartUse, StreamEnd, VirtualGraph, VirtualNode, VirtualStream, overlapping
from .place import Placement, Tile, place
from .plan import ArrayPlan, plan_of
from .routes import Route, routed
from .steps import MappedCore, Mapping, mapped
from .transfers import RuntimeSequence, Transfer, Wait, sequence_of

__all__ = [
    "HostArray",
    "ArrayFifo",
    "CapacityReport",
    "PartAccess",
    "MappedCore",
    "Mapping",
    "ObjectFifos",
    "ArrayPart",
    "PartUse",
    "Placement",
    "ArrayPlan",
    "ResourceUse",
    "Route",
    "RuntimeSequence",
    "Slot",
    "StreamEnd",
    "StreamFifo",
    "Tile",
    "Transfer",
    "VirtualGraph",
    "VirtualNode",
    "VirtualStream",
    "Wait",
    "capacity_of",
    "fifos_of",
    "mapped",
    "overlapping",
    "place",
    "plan_of",
    "routed",
    "sequence_of",
]
