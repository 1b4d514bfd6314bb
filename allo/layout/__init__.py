"""Layouts as mathematics: how an array lies in banks and over a mesh; values without any IR in them."""

from .converter import StreamConverter, stream_converter
from .inference import infer
from .itensor import ITensor, visits_once
from .line_buffer import LineBuffer, Slide, line_buffer
from .maps import Digit, IndexMap, reshaping
from .moves import ArrayMove, MovedDigit
from .partial import Own, PartialResult, PartOfDimension, Pending, ShardedArray, replicated, unlike_sums
from .partition import COMPLETE, NONE, Banks, Division, PartitionLayout, block, cyclic
from .separation import LARGEST, packed, separated
from .sharding import Layout, Shard
from .walks import Walk, in_turn, part_of

__all__ = [
    "COMPLETE",
    "LARGEST",
    "NONE",
    "ArrayMove",
    "Banks",
    "Digit",
    "Division",
    "ITensor",
    "IndexMap",
    "Layout",
    "LineBuffer",
    "MovedDigit",
    "Own",
    "PartOfDimension",
    "PartialResult",
    "PartitionLayout",
    "Pending",
    "Shard",
    "ShardedArray",
    "Slide",
    "StreamConverter",
    "Walk",
    "block",
    "cyclic",
    "in_turn",
    "infer",
    "line_buffer",
    "packed",
    "part_of",
    "replicated",
    "reshaping",
    "separated",
    "stream_converter",
    "unlike_sums",
    "visits_once",
]
