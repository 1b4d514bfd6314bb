"""Measures how long layouts take to travel through a call graph: Algorithm 2 of the Allo paper on synthetic programs.

    python benchmarks/layout.py [--nodes 100000]

The graph is a tree of calls, four below each function of eight arrays. One argument in two is an array of the caller,
and constants join functions far from each other. An array in fifty is asked to be partitioned, each in
one of six ways. CPU time of this process; it grows with the number of edges that layouts travel along.
"""

from __future__ import annotations

import argparse
import random
import time

from allo.layout import COMPLETE, NONE, PartitionLayout, block, cyclic, infer

SHAPE = (64, 64)
LIMIT_SECONDS = 10.0
ARRAYS = 8
CALLEES = 4


def call_graph(nodes: int, generator: random.Random) -> list[list[int]]:
    """The neighbours of each node; node `ARRAYS * f + a` is array `a` of function `f`."""
    around: list[list[int]] = [[] for _ in range(nodes)]

    def connect(first: int, second: int) -> None:
        around[first].append(second)
        around[second].append(first)

    for node in range(ARRAYS, nodes):
        caller = (node // ARRAYS - 1) // CALLEES
        if generator.random() < 0.5:
            connect(caller * ARRAYS + generator.randrange(ARRAYS), node)
    for _ in range(nodes // 100):
        connect(generator.randrange(nodes), generator.randrange(nodes))
    return around


def requests(nodes: int, generator: random.Random) -> list[tuple[int, PartitionLayout]]:
    """What is asked of one array in fifty."""
    ways = [cyclic(2), cyclic(4), cyclic(16), block(2), block(8), COMPLETE]
    layouts = [PartitionLayout.of(SHAPE, (NONE, way)) for way in ways]
    return [(generator.randrange(nodes), generator.choice(layouts)) for _ in range(nodes // 50)]


def measure(nodes: int) -> tuple[float, int]:
    """The seconds that the inference takes, and the number of arrays that get another layout."""
    generator = random.Random(nodes)
    around, asked = call_graph(nodes, generator), requests(nodes, generator)
    before = dict.fromkeys(range(nodes), PartitionLayout.top(SHAPE))
    start = time.process_time()
    changed = infer(before, around.__getitem__, asked)
    return time.process_time() - start, len(changed)


def main(most: int = 100_000) -> None:
    print(f"{'nodes':>9} {'changed':>9} {'seconds':>9} {'us a node':>10}")
    nodes = most // 100
    while nodes <= most:
        seconds, changed = measure(nodes)
        print(f"{nodes:>9} {changed:>9} {seconds:>9.3f} {seconds / nodes * 1e6:>10.2f}")
        nodes *= 10
    if seconds > LIMIT_SECONDS:
        raise SystemExit(f"{most} nodes took {seconds:.1f} s, the limit is {LIMIT_SECONDS} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=100_000)
    main(parser.parse_args().nodes)
