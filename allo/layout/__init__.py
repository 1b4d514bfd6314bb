"""Layouts as mathematics: how an array lies in banks; values without any IR in them."""

from .inference import infer
from .maps import Digit, IndexMap, reshaping
from .partition import COMPLETE, NONE, Banks, Division, PartitionLayout, block, cyclic
from .sharding import Layout, Shard

__all__ = [
    "COMPLETE",
    "NONE",
    "Banks",
    "Digit",
    "Division",
    "IndexMap",
    "Layout",
    "PartitionLayout",
    "Shard",
    "block",
    "cyclic",
    "infer",
    "reshaping",
]
