"""Mapping of tasks on arrays of processors: graphs of tasks, steps that merge them, object FIFOs, tiles, capacity."""

from .banks import CoreMemory, PlacedBuffer, memories_of
from .buffers import CallBuffer
from .capacity import CapacityReport, ResourceUse, capacity_of
from .circles import Shot, circles_in, turns_of
from .drawing import drawn
from .exact_fusion import FusionGap, fusion_gap
from .exact_placement import PlacementGap, placement_gap
from .fifos import ArrayFifo, CoreStream, ObjectFifos, Slot, StreamFifo, fifos_of
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
from .memory import CoreBuffer, buffers_of_core, end_of
from .place import Placement, place
from .plan import ArrayPlan, apart, plan_of
from .routes import Route, flows_of, routed
from .search import MappingSearch, searched
from .steps import MappedCore, Mapping, mapped
from .switches import FlowSite, RoutedFlow, Routing, Shortage, StreamFlow, StreamPort, routing_of
from .transfers import RuntimeSequence, ShimTransfer, TokenWait, sequence_of

__all__ = [
    "ArrayFifo",
    "ArrayPart",
    "ArrayPlan",
    "CallArray",
    "CallBuffer",
    "CapacityReport",
    "CoreBuffer",
    "CoreMemory",
    "CoreStream",
    "FlowSite",
    "FusionGap",
    "MappedCore",
    "Mapping",
    "MappingSearch",
    "ObjectFifos",
    "PartAccess",
    "PartUse",
    "PlacedBuffer",
    "Placement",
    "PlacementGap",
    "RepeatedMoves",
    "ResourceUse",
    "Route",
    "RoutedFlow",
    "Routing",
    "RuntimeSequence",
    "ShimTransfer",
    "Shortage",
    "Shot",
    "Slot",
    "StreamCircle",
    "StreamEnd",
    "StreamFifo",
    "StreamFlow",
    "StreamMoves",
    "StreamPort",
    "TokenWait",
    "VirtualGraph",
    "VirtualNode",
    "VirtualStream",
    "apart",
    "buffers_of_core",
    "capacity_of",
    "circles_in",
    "drawn",
    "end_of",
    "fifos_of",
    "flows_of",
    "fusion_gap",
    "mapped",
    "memories_of",
    "overlapping",
    "place",
    "placement_gap",
    "plan_of",
    "routed",
    "routing_of",
    "searched",
    "sequence_of",
    "turns_of",
]
