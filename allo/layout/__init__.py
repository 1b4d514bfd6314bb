"""Layouts as mathematics: how an array lies in banks; values without any IR in them."""

from .inference import infer
from .maps import Digit, IndexMap, reshaping
from .partition import COMPLETE, NONE, Banks, Division, PartitionLayout, block, cyclic
from .separation import LARGEST, packed, separated

__all__ = [
    "COMPLETE",
    "LARGEST",
    "NONE",
    "Banks",
    "Digit",
    "Division",
    "IndexMap",
    "PartitionLayout",
    "block",
    "cyclic",
    "infer",
    "packed",
    "reshaping",
    "separated",
]
