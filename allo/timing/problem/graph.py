"""Scheduling graph of a region: its nodes, and edges that say how long one waits for another."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...poly import Access
from .region import LoopBody, RegionNode


@dataclass(slots=True)
class Edge:
    """`sink` starts at least `weight` ps after `source`, `distance` iterations later.

    `pair` are the accesses that a carried edge is about; `exact` whether the distance is certain.
    """

    source: int
    sink: int
    weight: int
    distance: int = 0
    pair: tuple[Access, Access] | None = None
    exact: bool = True
    moves: tuple[tuple[int, int | None], ...] = ()  # between copies of unrolled loops; None: any
    order: bool = False  # an element is not overwritten before it is read; no value is passed on
    ranges: tuple[tuple[int, int, int], ...] = ()  # between copies: unrolled loop, least and most


@dataclass(frozen=True, slots=True)
class Chain:
    """Copies of an update that wait for one another: `links` of them, `each` ps, `step` apart in loop `loop`.

    In all `loops` they are different copies.
    """

    links: int
    each: int
    loop: int
    step: int
    tree: bool  # the operations may be exchanged, so that the copies form a tree
    store: int
    loops: tuple[int, ...] = ()

    @property
    def extra(self) -> int:
        """What all but the first copy add to the path through the chain."""
        return (self.links - 1).bit_length() * self.each if self.tree else (self.links - 1) * self.each


@dataclass(slots=True)
class Graph:
    """The region with its edges; `cycle` is the length of a cycle in ps."""

    region: LoopBody
    cycle: int
    edges: list[Edge] = field(default_factory=list)
    copies: list[Edge] = field(default_factory=list)  # between copies, where there are any
    chains: dict[int, Chain] = field(default_factory=dict)  # by the load that begins them
    tails: list[int] = field(default_factory=list)  # ps of logic since the last register before a node

    def cost(self, node: RegionNode) -> int:
        """The time from the start of a node until its value is there."""
        chain = self.chains.get(node.index)
        base = node.latency * self.cycle + node.delay
        return base + (chain.extra if chain is not None and not chain.tree else 0)
