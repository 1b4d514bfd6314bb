"""Circles of streams: nodes that get what they have put over others, and the shots in which they take turns."""

from __future__ import annotations

from itertools import groupby

from .graph import StreamCircle, VirtualGraph, VirtualNode

type Shot = tuple[VirtualNode, ...]  # nodes that run one after the other


def circles_in(graph: VirtualGraph) -> tuple[tuple[str, ...], ...]:
    """The nodes that each reach all others of their circle over streams, by circle, in their order.

    A node with a stream to itself is a circle, too.
    """
    after = {node.name: [stream.consumer for stream in graph.puts_of(node.name)] for node in graph.nodes}
    reach = {name: _reached(after, name) for name in after}
    found: dict[frozenset[str], tuple[str, ...]] = {}
    for name in after:
        own = tuple(other for other in after if other in reach[name] and name in reach[other])
        if own:
            found.setdefault(frozenset(own), own)
    return tuple(found.values())


def _reached(after: dict[str, list[str]], start: str) -> set[str]:
    seen: set[str] = set()
    ahead = [start]
    while ahead:
        for name in after[ahead.pop()]:
            if name not in seen:
                seen.add(name)
                ahead.append(name)
    return seen


def with_turns(graph: VirtualGraph, shots: tuple[Shot, ...]) -> tuple[Shot, ...]:
    """The shots of a core with all nodes of a circle in one, one behind the other."""
    for circle in graph.circles:
        touched = [number for number, shot in enumerate(shots) if any(node.name in circle.nodes for node in shot)]
        if sum(node.name in circle.nodes for shot in shots for node in shot) < 2:
            continue
        joined = tuple(node for shot in shots[touched[0] : touched[-1] + 1] for node in shot)
        inside = tuple(node for node in joined if node.name in circle.nodes)
        last = max(number for number, node in enumerate(joined) if node in inside)
        before = tuple(node for node in joined[:last] if node not in inside)
        shots = (*shots[: touched[0]], (*before, *inside, *joined[last + 1 :]), *shots[touched[-1] + 1 :])
    return shots


def turns_of(graph: VirtualGraph, shot: Shot) -> list[Shot]:
    """The nodes of a shot one by one, those of one circle together: they take turns."""
    homes: dict[str, StreamCircle] = {name: circle for circle in graph.circles for name in circle.nodes}
    keys = [(homes.get(node.name), "" if node.name in homes else node.name, node) for node in shot]
    return [tuple(node for *_, node in own) for _, own in groupby(keys, key=lambda key: key[:2])]
