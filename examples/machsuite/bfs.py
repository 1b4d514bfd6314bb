"""Breadth-first search: over all nodes level by level, and with a queue."""

# ruff: noqa: F821 - in a kernel, `A: T[N]` declares an array without values

from __future__ import annotations

import collections

import numpy as np

import allo
from allo.ir.types import index, int8, int32

NODES, EDGES = 256, 1024
LEVELS = 10
UNSEEN = 127


def bulk[N: index, E: index](
    starts: int32[N + 1], targets: int32[E], root: index, level: int8[N], counts: int32[LEVELS]
):
    """The level of each node, and the number of nodes on each level; it ends with the first empty level."""
    level[:] = UNSEEN
    counts[:] = 0
    level[root] = 0
    counts[0] = 1
    horizon: int32 = 0
    while horizon + 1 < LEVELS and counts[horizon] > 0:
        for node in range(N):
            if level[node] == horizon:
                for edge in range(starts[node], starts[node + 1]):
                    if level[targets[edge]] == UNSEEN:
                        level[targets[edge]] = horizon + 1
                        counts[horizon + 1] += 1
        horizon += 1


def queue[N: index, E: index](
    starts: int32[N + 1], targets: int32[E], root: index, level: int8[N], counts: int32[LEVELS]
):
    """The same; nodes wait in a queue, in which each has a place."""
    waiting: int32[N]
    level[:] = UNSEEN
    counts[:] = 0
    level[root] = 0
    counts[0] = 1
    waiting[0] = root
    front: int32 = 0
    back: int32 = 1
    while front < back:
        node: int32 = waiting[front]
        front += 1
        for edge in range(starts[node], starts[node + 1]):
            target: int32 = targets[edge]
            if level[target] == UNSEEN and level[node] + 1 < LEVELS:
                level[target] = level[node] + 1
                counts[level[target]] += 1
                waiting[back] = target
                back += 1


def graph(nodes: int, edges: int) -> tuple[np.ndarray, np.ndarray]:
    """A random directed graph: the first edge of each node, and the ends of the edges."""
    generator = np.random.default_rng(11)
    sources = np.sort(generator.integers(0, nodes, edges))
    starts = np.searchsorted(sources, np.arange(nodes + 1)).astype(np.int32)
    return starts, generator.integers(0, nodes, edges, dtype=np.int32)


def reference(starts: np.ndarray, targets: np.ndarray, root: int) -> dict[int, int]:
    """Levels of the nodes that can be reached."""
    levels = {root: 0}
    todo = collections.deque([root])
    while todo:
        node = todo.popleft()
        for target in map(int, targets[starts[node] : starts[node + 1]]):
            if target not in levels:
                levels[target] = levels[node] + 1
                todo.append(target)
    return levels


def check(nodes: int = NODES, edges: int = EDGES) -> None:
    starts, targets = graph(nodes, edges)
    wanted = reference(starts, targets, 3)
    assert 1 < max(wanted.values()) < LEVELS
    for kernel in bulk, queue:
        level, counts = np.zeros(nodes, np.int8), np.zeros(LEVELS, np.int32)
        allo.customize(kernel, instantiate=[nodes, edges]).build()(starts, targets, 3, level, counts)
        assert {node: depth for node, depth in enumerate(level) if depth != UNSEEN} == wanted
        np.testing.assert_array_equal(counts, np.bincount(list(wanted.values()), minlength=LEVELS))


def main() -> None:
    check()
    print(f"bfs: the levels of {NODES} nodes are found in both ways")


if __name__ == "__main__":
    main()
