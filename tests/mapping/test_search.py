"""The order in which a search looks at mappings of a graph, without building any."""

from __future__ import annotations

from itertools import pairwise

from allo.mapping import Mapping, MappingSearch, VirtualGraph, VirtualNode, VirtualStream, searched

CORES = 3


def node(name: str) -> VirtualNode:
    return VirtualNode(f"{name}_0", name, (0,), name, (), (), ())


def graph(names: list[str], pairs: list[tuple[str, str]]) -> VirtualGraph:
    """Tasks of one position each, and streams between them."""
    streams = (VirtualStream(f"{a}{b}", "i32", 32, 8, 16, 64, f"{a}_0", f"{b}_0") for a, b in pairs)
    return VirtualGraph((), tuple(map(node, names)), tuple(streams))


def search(of: VirtualGraph) -> MappingSearch:
    """On three cores, each node takes a cycle, and what fits a call as long as the busiest core."""

    def cycles(state: Mapping) -> int:
        return max(len(core.nodes) for core in state.cores)

    return searched(of, CORES, {own.name: 1 for own in of.nodes}, cycles, (2, 2))


def test_what_has_few_cores_is_looked_at_where_nothing_fits() -> None:
    """One task puts to twelve others. Five on a core are no slower at least than thirteen on three, whichever they are.

    So the first 400 have nine cores; then those with the fewest cores come first.
    """
    leaves = [f"leaf{k}" for k in range(12)]
    found = search(graph(["root", *leaves], [("root", leaf) for leaf in leaves]))
    assert found.candidates and found.seen > 400
    assert all(len(own.mapping.cores) <= CORES for own in found.candidates)


def test_few_streams_between_cores_come_first() -> None:
    """A line of twelve tasks is cut in three, which is as fast as can be, among the first 400."""
    names = [f"t{k}" for k in range(12)]
    found = search(graph(names, list(pairwise(names))))
    assert found.seen <= 400
    assert found.candidates[0].cycles == 4
