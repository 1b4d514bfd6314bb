"""Circles of streams: nodes that get what they have put over others, and the shots in which they take turns."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Sequence
from itertools import groupby

from .graph import RepeatedMoves, StreamCircle, StreamMoves, VirtualGraph, VirtualNode

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


def is_one_queue(circle: StreamCircle, streams: Container[str]) -> bool:
    """Whether elements of several streams of a circle are taken in the order in which they are put, whichever they are.

    A loop whose iterations leave what waits as it was does so in each of them.
    """
    return _is_queue(circle.moves, streams, deque())


def _is_queue(
    moves: Sequence[StreamMoves | RepeatedMoves], streams: Container[str], queue: deque[tuple[str, int]]
) -> bool:
    """Whether moves take what is at the front of a queue, of streams with how many of their elements follow."""
    for move in moves:
        if isinstance(move, RepeatedMoves):
            before = list(queue)
            if not _is_queue(move.moves, streams, queue) or list(queue) != before:
                return False
            continue
        gets, puts = ([own for own in side if own[0] in streams] for side in (move.gets, move.puts))
        if len(gets) > 1 or len(puts) > 1:
            return False  # it is not looked at in which order a statement moves them
        for name, count in gets:
            first, waiting = queue.popleft() if queue else ("", 0)
            if first != name or waiting < count:
                return False
            if waiting > count:
                queue.appendleft((name, waiting - count))
        for name, count in puts:
            last = queue.pop()[1] if queue and queue[-1][0] == name else 0
            queue.append((name, last + count))
    return True
