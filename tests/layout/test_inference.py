"""Algorithm 2: each node gets the meet of what is asked of its component, whatever the order, in linear time."""

from __future__ import annotations

import random
import time

from allo.layout import COMPLETE, NONE, PartitionLayout, block, cyclic, infer
from tests.seeds import sweep

SHAPE = (24,)
TOP = PartitionLayout.top(SHAPE)


def layout(banks):
    return PartitionLayout.of(SHAPE, (banks,))


def random_graph(generator, nodes):
    around = {node: [] for node in range(nodes)}
    for _ in range(nodes):
        a, b = generator.randrange(nodes), generator.randrange(nodes)
        around[a].append(b)
        around[b].append(a)
    return around


def component(around, start):
    found = {start}
    todo = [start]
    while todo:
        todo += [other for other in around[todo.pop()] if other not in found and not found.add(other)]
    return found


def test_the_example_of_fig_9() -> None:
    """A complete partition of top:C reaches mul:C and add:A, and nothing else."""
    around = {"top:C": ["mul:C", "add:A"], "mul:C": ["top:C"], "add:A": ["top:C"], "top:D": ["add:B"], "add:B": []}
    changed = infer(dict.fromkeys(around, TOP), around.__getitem__, [("top:C", layout(COMPLETE))])
    assert changed == dict.fromkeys(["top:C", "mul:C", "add:A"], layout(COMPLETE))


@sweep(20)
def test_components_get_the_meet_of_all_requests(seed: int) -> None:
    generator = random.Random(seed)
    around = random_graph(generator, 30)
    kinds = [cyclic(2), cyclic(4), cyclic(3), block(2), block(6), COMPLETE, NONE]
    requests = [(generator.randrange(30), layout(generator.choice(kinds))) for _ in range(4)]
    changed = infer(dict.fromkeys(around, TOP), around.__getitem__, requests)
    for node in around:
        expected = TOP
        for asked, wanted in requests:
            if asked in component(around, node):
                expected = expected.meet(wanted)
        assert changed.get(node, TOP) == expected
    shuffled = infer(dict.fromkeys(around, TOP), around.__getitem__, generator.sample(requests, 4))
    assert shuffled == changed


@sweep(5)
def test_more_requests_only_go_down(seed: int) -> None:
    generator = random.Random(seed)
    around = random_graph(generator, 20)
    first = infer(dict.fromkeys(around, TOP), around.__getitem__, [(3, layout(cyclic(4)))])
    both = infer(dict.fromkeys(around, TOP), around.__getitem__, [(3, layout(cyclic(4))), (5, layout(block(2)))])
    assert all(both[node] <= first[node] for node in first)


def test_nothing_changes_what_is_low_enough() -> None:
    assert infer({0: layout(cyclic(4))}, lambda _: [], [(0, layout(cyclic(2))), (0, TOP)]) == {}


def test_visits_are_linear_in_the_edges() -> None:
    """A chain of calls, asked at both ends: a node changes at most once a request."""
    count, visits = 2000, 0

    def neighbours(node):
        nonlocal visits
        visits += 1
        return [other for other in (node - 1, node + 1) if 0 <= other < count]

    infer(dict.fromkeys(range(count), TOP), neighbours, [(0, layout(cyclic(4))), (count - 1, layout(block(2)))])
    assert visits <= 3 * count


def test_a_hundred_thousand_nodes() -> None:
    """Functions of ten arrays that each pass five to two callees: under ten seconds (it takes about one)."""
    count = 100_000
    around: list[list[int]] = [[] for _ in range(count)]
    for node in range(10, count):
        if node % 2:
            caller = (node // 10 - 1) // 2 * 10 + node % 10
            around[caller].append(node)
            around[node].append(caller)
    requests = [(node, layout(cyclic(2 + node % 5))) for node in range(0, count, 100)]
    start = time.process_time()
    changed = infer(dict.fromkeys(range(count), TOP), around.__getitem__, [(1, layout(block(2))), *requests])
    assert time.process_time() - start < 10
    assert changed[99_991] == layout(block(2)) and len(changed) >= count // 10
