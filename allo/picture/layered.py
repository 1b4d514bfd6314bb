"""Layered layout of a directed graph: columns of boxes from the left to the right, edges in the gaps between them.

After Sugiyama, Tagawa and Toda (IEEE Trans. SMC, 1981): edges that close a circle are turned round, a vertex is behind
those that it gets data from, an edge has a place of its own in each column that it passes, columns are ordered by the
means of their neighbours, and heights are the nearest ones to those of the neighbours in that order (pool adjacent
violators). So an edge crosses no box: it bends between columns only, and passes a column at its own height.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

GAP, ROW, LANE = 44, 14, 10  # pixels: between columns, between boxes of a column, height of an edge that passes one
_SWEEPS = 8

type Edge = tuple[str, str]
type _Node = str | tuple[int, int]  # a vertex, or the place of an edge in a column


@dataclass(frozen=True, slots=True)
class VertexBox:
    """Left, top and size in pixels."""

    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class GraphLayout:
    """The place of each vertex, the path of each edge with its end, and whether it comes from the right."""

    boxes: Mapping[str, VertexBox]
    paths: tuple[tuple[str, int, int, bool], ...]
    width: int
    height: int


def layered(
    sizes: Mapping[str, tuple[int, int]], edges: Sequence[Edge], *, at: tuple[int, int] = (0, 0), least: int = 0
) -> GraphLayout:
    """Places for vertices of some width and height, from a point on; the first column is at least so wide.

    It is the same for the same graph.
    """
    turned = _turned(list(sizes), edges)
    ranks = _ranks(list(sizes), [(b, a) if turn else (a, b) for (a, b), turn in zip(edges, turned, strict=True)])
    columns: list[list[_Node]] = [[] for _ in range(max(ranks.values(), default=-1) + 1)]
    for name in sizes:
        columns[ranks[name]].append(name)
    chains: list[list[_Node]] = []
    for number, ((a, b), turn) in enumerate(zip(edges, turned, strict=True)):
        first, last = (b, a) if turn else (a, b)
        passed: list[_Node] = [(number, rank) for rank in range(ranks[first] + 1, ranks[last])]
        for rank, place in enumerate(passed, ranks[first] + 1):
            columns[rank].append(place)
        chains.append([first, *passed, last])
    before, after = _neighbours(chains)
    columns = _ordered(columns, before, after)
    heights = {node: sizes[node][1] if isinstance(node, str) else LANE for column in columns for node in column}
    tops = _tops(columns, heights, before, after)
    tops = {node: top + at[1] for node, top in tops.items()}
    boxes, lefts, rights = _boxes(columns, sizes, tops, at[0], least)
    paths = _paths(chains, turned, boxes, {n: tops[n] + LANE // 2 for n in tops if isinstance(n, tuple)}, lefts, rights)
    lower = max((box.y + box.height for box in boxes.values()), default=at[1])
    return GraphLayout(boxes, paths, max(rights, default=at[0]) - at[0], lower - at[1])


def _turned(names: Sequence[str], edges: Sequence[Edge]) -> list[bool]:
    """Which edges lead back to a vertex on the way from the first ones, so that the others form no circle."""
    out: dict[str, list[int]] = {name: [] for name in names}
    for number, (a, _) in enumerate(edges):
        out[a].append(number)
    targets = {b for _, b in edges}
    state = dict.fromkeys(names, 0)  # 1: on the way, 2: done
    turned = [a == b for a, b in edges]
    for start in sorted(names, key=lambda name: name in targets):
        stack = [(start, iter(out[start]))] if not state[start] else []
        state[start] = state[start] or 1
        while stack:
            name, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                state[name] = 2
                stack.pop()
            elif state[target := edges[following][1]] == 0:
                state[target] = 1
                stack.append((target, iter(out[target])))
            else:
                turned[following] = state[target] == 1
    return turned


def _ranks(names: Sequence[str], edges: Sequence[Edge]) -> dict[str, int]:
    """The column of each vertex: behind the last one that it gets data from; sources are before what reads them."""
    after: dict[str, list[str]] = {name: [] for name in names}
    missing = dict.fromkeys(names, 0)
    for a, b in edges:
        if a != b:
            after[a].append(b)
            missing[b] += 1
    ranks = dict.fromkeys(names, 0)
    sources = [name for name in names if not missing[name]]
    ready = list(sources)
    for name in ready:
        for target in after[name]:
            ranks[target] = max(ranks[target], ranks[name] + 1)
            missing[target] -= 1
            if not missing[target]:
                ready.append(target)
    for name in sources:
        ranks[name] = min((ranks[target] for target in after[name]), default=1) - 1
    return ranks


def _neighbours(chains: Sequence[Sequence[_Node]]) -> tuple[dict[_Node, list[_Node]], dict[_Node, list[_Node]]]:
    before: dict[_Node, list[_Node]] = {}
    after: dict[_Node, list[_Node]] = {}
    for chain in chains:
        for a, b in pairwise(chain):
            if a != b:
                before.setdefault(b, []).append(a)
                after.setdefault(a, []).append(b)
    return before, after


def _ordered(
    columns: list[list[_Node]], before: Mapping[_Node, list[_Node]], after: Mapping[_Node, list[_Node]]
) -> list[list[_Node]]:
    """The columns in an order with few crossings: by the mean place of the neighbours, forth and back."""
    best, least = columns, _crossings(columns, after)
    now = [list(column) for column in columns]
    for sweep in range(_SWEEPS):
        forth = sweep % 2 == 0
        sides, order = (before, range(1, len(now))) if forth else (after, range(len(now) - 2, -1, -1))
        for number in order:
            place = {node: k for k, node in enumerate(now[number - 1 if forth else number + 1])}
            own = {node: k for k, node in enumerate(now[number])}
            means = {
                node: sum(place[other] for other in found) / len(found) if (found := sides.get(node)) else own[node]
                for node in now[number]
            }
            now[number].sort(key=lambda node: (means[node], own[node]))
        if (count := _crossings(now, after)) < least:
            best, least = [list(column) for column in now], count
    return best


def _crossings(columns: Sequence[Sequence[_Node]], after: Mapping[_Node, list[_Node]]) -> int:
    """How many pairs of edges cross."""
    count = 0
    for left, right in pairwise(columns):
        place = {node: k for k, node in enumerate(right)}
        seen: list[int] = []
        for node in left:
            ends = sorted(place[other] for other in after.get(node, ()))
            count += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return count


def _tops(
    columns: Sequence[Sequence[_Node]],
    heights: Mapping[_Node, int],
    before: Mapping[_Node, list[_Node]],
    after: Mapping[_Node, list[_Node]],
) -> dict[_Node, int]:
    """The top of each node: near the middle of its neighbours, in the order of its column, from 0 on."""
    middles: dict[_Node, float] = {}
    for column in columns:
        top = 0
        for node in column:
            middles[node] = top + heights[node] / 2
            top += heights[node] + ROW
    for sweep in range(_SWEEPS):
        last = sweep == _SWEEPS - 1
        for column in columns if sweep % 2 == 0 else reversed(columns):
            wanted = []
            for node in column:
                near = (before if sweep % 2 == 0 else after).get(node, []) if not last else []
                near = near or [*before.get(node, ()), *after.get(node, ())]
                wanted.append(sum(middles[n] for n in near) / len(near) if near else middles[node])
            middles.update(zip(column, _spread(wanted, [heights[node] for node in column]), strict=True))
    tops = {node: round(middle - heights[node] / 2) for node, middle in middles.items()}
    for column in columns:  # rounding may have taken a pixel
        for upper, lower in pairwise(column):
            tops[lower] = max(tops[lower], tops[upper] + heights[upper] + ROW - 1)
    highest = min(tops.values(), default=0)
    return {node: top - highest for node, top in tops.items()}


def _spread(wanted: Sequence[float], heights: Sequence[int]) -> list[float]:
    """The middles nearest to those wanted (least squares) that keep the order and the distances."""
    offsets = [0.0]
    for upper, lower in pairwise(heights):
        offsets.append(offsets[-1] + (upper + lower) / 2 + ROW)
    pools: list[tuple[float, int]] = []
    for middle, offset in zip(wanted, offsets, strict=True):
        mean, count = middle - offset, 1
        while pools and pools[-1][0] > mean:
            other, more = pools.pop()
            mean, count = (mean * count + other * more) / (count + more), count + more
        pools.append((mean, count))
    means = [mean for mean, count in pools for _ in range(count)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=True)]


def _boxes(
    columns: Sequence[Sequence[_Node]],
    sizes: Mapping[str, tuple[int, int]],
    tops: Mapping[_Node, int],
    x: int,
    least: int,
) -> tuple[dict[str, VertexBox], list[int], list[int]]:
    """The boxes, and the left and right end of each column."""
    boxes: dict[str, VertexBox] = {}
    lefts: list[int] = []
    rights: list[int] = []
    for number, column in enumerate(columns):
        width = max((sizes[node][0] for node in column if isinstance(node, str)), default=0)
        width = max(width, least) if number == 0 else width
        lefts.append(x)
        rights.append(x + width)
        for node in column:
            if isinstance(node, str):
                boxes[node] = VertexBox(x, tops[node], *sizes[node])
        x += width + GAP
    return boxes, lefts, rights


def _paths(
    chains: Sequence[Sequence[_Node]],
    turned: Sequence[bool],
    boxes: Mapping[str, VertexBox],
    lanes: Mapping[_Node, int],
    lefts: Sequence[int],
    rights: Sequence[int],
) -> tuple[tuple[str, int, int, bool], ...]:
    """The path of each edge from its left end to its right one; one that was turned round has its head at the left."""
    ports = _ports(chains, boxes, lanes)
    found = []
    for number, (chain, turn) in enumerate(zip(chains, turned, strict=True)):
        first, last = chain[0], chain[-1]
        assert isinstance(first, str) and isinstance(last, str)
        start, rank = boxes[first].x + boxes[first].width, lefts.index(boxes[first].x)
        begin = y = ports[number, True]
        if first == last:
            found.append((f"M{start} {y - 4}h{GAP // 4}v8H{start}", start, y + 4, True))
            continue
        text = f"M{start} {y}H{rights[rank]}"
        for node in chain[1:]:
            end = ports[number, False] if node == last else lanes[node]
            left, right, rank = lefts[rank + 1], rights[rank], rank + 1
            text += f"C{right + GAP // 2} {y} {left - GAP // 2} {end} {left} {end}"
            text += "" if node == last else f"H{rights[rank]}"
            y = end
        found.append((text, start, begin, True) if turn else (text, boxes[last].x, y, False))
    return tuple(found)


def _ports(
    chains: Sequence[Sequence[_Node]], boxes: Mapping[str, VertexBox], lanes: Mapping[_Node, int]
) -> dict[tuple[int, bool], int]:
    """The height at which an edge leaves its left box (True) and reaches its right one, in the order of the ways."""

    def height(node: _Node) -> float:
        return boxes[node].y + boxes[node].height / 2 if isinstance(node, str) else lanes[node]

    ends: dict[tuple[str, bool], list[int]] = {}
    for number, chain in enumerate(chains):
        ends.setdefault((str(chain[0]), True), []).append(number)
        ends.setdefault((str(chain[-1]), False), []).append(number)
    ports: dict[tuple[int, bool], int] = {}
    for (name, leaves), own in ends.items():
        box = boxes[name]
        own.sort(key=lambda n, next_=1 if leaves else -2: (height(chains[n][next_]), n))  # type: ignore[misc]
        step = min(6.0, (box.height - 12) / max(1, len(own) - 1))
        for k, number in enumerate(own):
            ports[number, leaves] = round(box.y + box.height / 2 + step * (k - (len(own) - 1) / 2))
    return ports
