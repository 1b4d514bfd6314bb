"""Layout inference: the partition of every array of a program, from those asked of some of them (Allo paper,
Algorithm 2)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping

from .partition import PartitionLayout


def infer[Node: Hashable](
    layouts: Mapping[Node, PartitionLayout],
    neighbours: Callable[[Node], Iterable[Node]],
    requests: Iterable[tuple[Node, PartitionLayout]],
) -> dict[Node, PartitionLayout]:
    """The new layouts of the nodes whose layout changes: each gets the meet of all that reaches it.

    `layouts` are those before, `neighbours` the nodes that must have the same layout as a node: the other side of a
    call, of a return, of a constant. A layout only ever goes down in a lattice of bounded height, so the number of
    visits is at most that height times the number of edges (Theorem 6.1), and the order of the requests is of no
    matter.
    """
    changed: dict[Node, PartitionLayout] = {}
    worklist = deque(requests)
    while worklist:
        node, asked = worklist.popleft()
        before = changed.get(node) or layouts[node]
        if asked == before:
            continue
        after = before.meet(asked)
        if after != before:
            changed[node] = after
            worklist.extend((other, after) for other in neighbours(node))
    return changed
