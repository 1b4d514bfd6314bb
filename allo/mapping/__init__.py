"""Mapping of tasks on arrays of processors: graphs of tasks, steps that merge them, object FIFOs, tiles, capacity."""

from .buffers import CallBuffer
from .capacity import CapacityReport, ResourceUse, capacity_of
from .circles import Shot, circles_in, turns_of
from .drawing import drawn
from .exact_fusion import FusionGap, fusion_gap
from .exact_placement import PlacementGap, placement_gap
from .fifos import ArrayFifo, CoreStream, ObjectFifos, Slot, StreamFifo, StreamJoining, fifos_of
from .graph import (
    ArrayPart,
    CallArray,
    PartAccess,
    PartUse,
    RepeatedMoves,
    StreamCircle,
    StreamEnd,
    StreamMoves,
    VirtualGraph,
    VirtualNode,
    VirtualStream,
    overlapping,
)
from .place import Placement, Tile, place
from .plan import ArrayPlan, apart, plan_of
from .routes import Route, routed
from .search import MappingSearch, searched
from .steps import MappedCore, Mapping, mapped
from .transfers import RuntimeSequence, ShimTransfer, TokenWait, sequence_of

__all__ = [
    "ArrayFifo",
    "ArrayPart",
    "ArrayPlan",
    "CallArray",
    "CallBuffer",
    "CapacityReport",
    "CoreStream",
    "FusionGap",
    "MappedCore",
    "Mapping",
    "MappingSearch",
    "ObjectFifos",
    "PartAccess",
    "PartUse",
    "Placement",
    "PlacementGap",
    "RepeatedMoves",
    "ResourceUse",
    "Route",
    "RuntimeSequence",
    "ShimTransfer",
    "Shot",
    "Slot",
    "StreamCircle",
    "StreamEnd",
    "StreamFifo",
    "StreamJoining",
    "StreamMoves",
    "Tile",
    "TokenWait",
    "VirtualGraph",
    "VirtualNode",
    "VirtualStream",
    "apart",
    "capacity_of",
    "circles_in",
    "drawn",
    "fifos_of",
    "fusion_gap",
    "mapped",
    "overlapping",
    "place",
    "placement_gap",
    "plan_of",
    "routed",
    "searched",
    "sequence_of",
    "turns_of",
]
