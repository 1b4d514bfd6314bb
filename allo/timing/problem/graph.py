"""Scheduling graph of a region: its nodes, edges that say how long one waits for another, and trees of updates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ...poly import Access
from .region import LoopBody


@dataclass(slots=True)
class Edge:
    """`sink` starts at least `weight` ps after `source`, `distance` iterations later.

    `ranges` are the moves between copies: an unrolled loop, the least and the most. `pair` are the accesses that a
    carried edge is about; `exact` whether the distance is certain. An edge to a read holds the time of the read.
    """

    source: int
    sink: int
    weight: int
    distance: int = 0
    pair: tuple[Access, Access] | None = None
    exact: bool = True
    order: bool = False  # an element is not overwritten before it is read; no value is passed on
    ranges: tuple[tuple[int, int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Tree:
    """An update whose copies in `loops` may be exchanged, so that they form a tree.

    `inside` are the nodes on the way from the value that it reads to what it stores.
    """

    load: int
    store: int
    loops: tuple[int, ...]
    inside: frozenset[int]


@dataclass(slots=True)
class Graph:
    """The region with its edges; `cycle` is the length of a cycle in ps."""

    region: LoopBody
    cycle: int
    edges: list[Edge] = field(default_factory=list)
    trees: Sequence[Tree] = ()
