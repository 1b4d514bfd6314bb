"""Descriptions of hardware: values, and the files of data that they are read from."""

from .array import ArrayTiming, DmaLimits, NativeProduct, ProcessorArray, TileKind, TileLimits
from .array_switch import Cascade, StreamSwitch, SwitchPorts, Tile, TileSide
from .components import (
    Capacity,
    Control,
    ControlSize,
    IntegerOperator,
    Limits,
    MemoryKind,
    Operator,
    PlaceAndRoute,
)
from .description import External, Target
from .fpga import Fpga
from .loader import known_targets, load_target
from .mesh import (
    CoreArray,
    CoreMesh,
    Interconnect,
    MatrixUnit,
    MeshMemory,
    MeshMux,
    ScalarUnit,
    SpatialDim,
    VectorUnit,
)
from .mesh_operations import mesh_text, parse_mesh
from .profile import AutomaticPipelines, Profile, ShortRecurrences, ToolRule, ToolRules

__all__ = [
    "ArrayTiming",
    "AutomaticPipelines",
    "Capacity",
    "Cascade",
    "Control",
    "ControlSize",
    "CoreArray",
    "CoreMesh",
    "DmaLimits",
    "External",
    "Fpga",
    "IntegerOperator",
    "Interconnect",
    "Limits",
    "MatrixUnit",
    "MemoryKind",
    "MeshMemory",
    "MeshMux",
    "NativeProduct",
    "Operator",
    "PlaceAndRoute",
    "ProcessorArray",
    "Profile",
    "ScalarUnit",
    "ShortRecurrences",
    "SpatialDim",
    "StreamSwitch",
    "SwitchPorts",
    "Target",
    "Tile",
    "TileKind",
    "TileLimits",
    "TileSide",
    "ToolRule",
    "ToolRules",
    "VectorUnit",
    "known_targets",
    "load_target",
    "mesh_text",
    "parse_mesh",
]
