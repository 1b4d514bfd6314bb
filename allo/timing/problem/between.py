"""Accesses of one element in an iteration that cannot share what a port does, for what stands between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf

import numpy as np

from .problem import PortUse, Precedence
from .region import LoopBody, RegionNode


def is_same(first: RegionNode, second: RegionNode) -> bool:
    """Whether two accesses are of one element in each iteration, for certain."""
    return None not in first.forms and first.forms == second.forms


def is_other(first: RegionNode, second: RegionNode) -> bool:
    """Whether two accesses are of different elements in each iteration, for certain, by a number in a subscript."""
    return any(
        one is not None and other is not None and one.constant != other.constant
        and (one.time, one.other, one.copies) == (other.time, other.other, other.copies)
        for one, other in zip(first.forms, second.forms, strict=True)
    )  # fmt: skip


def passes_by(write: RegionNode, read: RegionNode, writes: Iterable[RegionNode]) -> bool:
    """Whether a read takes what a write has for its element, since no other of `writes` may come between them."""
    if not is_same(write, read):
        return False
    inside = (node for node in writes if write.index < node.index < read.index)
    return all(is_same(node, read) or is_other(node, read) for node in inside)


def between(
    region: LoopBody, uses: Mapping[int, PortUse], dependences: Iterable[Precedence]
) -> dict[int, float]:
    """For accesses of an array, by node, what keeps them from sharing a port with others of their element.

    For a read the last write that may have changed the element: what was read before is not what it reads. For a write
    the first write behind it that may be of its element, itself if a read needs what it writes: what writes the element
    later does not do its work. What is handed from a write to a read beside the memory is in nobody's way.
    """
    nodes = region.nodes
    writes = [node for index in sorted(uses) if (node := nodes[index]).kind == "write"]
    written = {node.index for node in writes}
    near = {index: [one for one in region.near[index] if one.index in written] for index in written}
    found: dict[int, float] = {}
    for write in writes:
        later = (one for one in near[write.index] if one.index > write.index)
        behind = (one for one in later if _may_be_one(write, one, uses))
        found[write.index] = next((one.index for one in behind), inf)
    for d in dependences:
        if d.distance or d.source not in found or d.sink not in uses or nodes[d.sink].kind != "read":
            continue
        if not passes_by(nodes[d.source], nodes[d.sink], near[d.source]):
            found[d.source] = d.source
            found[d.sink] = max(found.get(d.sink, -1), d.source)
    return found


def _may_be_one(first: RegionNode, second: RegionNode, uses: Mapping[int, PortUse]) -> bool:
    """Whether two writes, which are not of one element for certain, may be of one."""
    one, other = uses[first.index], uses[second.index]
    if np.isin(one.elements, other.elements).any() or is_other(first, second):
        return False
    banks_known = one.classes == other.classes == one.spread.size
    return not banks_known or bool(np.isin(one.places, other.places).any())
