"""Plans of fusion on graphs alone: within their budget, in an order, and how far from the best."""

from __future__ import annotations

from itertools import product

from hypothesis import strategies as st

from allo.customize.fifo.fusion import FusionPlan, KernelGraph, StreamLink, fused
from allo.mapping import fusion_gap
from tests.seeds import drawn, sweep


def link(producer: int, consumer: int, size: int, cost: int | None) -> StreamLink:
    return StreamLink(f"a{producer}_{consumer}", f"k{producer}", f"k{consumer}", size, cost)


@st.composite
def graphs(draw: st.DrawFn) -> KernelGraph:
    count = draw(st.integers(2, 5))
    links = []
    for consumer in range(1, count):
        for producer in draw(st.lists(st.integers(0, consumer - 1), max_size=3, unique=True)):
            cost = draw(st.sampled_from([None, 0, 2, 3, 5, 8]))
            links.append(link(producer, consumer, draw(st.integers(1, 20)), cost))
    return KernelGraph(tuple(f"k{n}" for n in range(count)), tuple(links))


def is_valid(plan: FusionPlan) -> bool:
    in_order = all(plan.group[a.producer] + (a.cost is None) <= plan.group[a.consumer] for a in plan.graph.links)
    return in_order and (plan.budget is None or all(cost <= plan.budget for cost in plan.costs))


def streamed(plan: FusionPlan) -> int:
    return sum(a.size for a in plan.streamed)


@sweep(20, 1)
@drawn(4, graphs(), st.sampled_from([None, 0, 3, 8, 12]))
def test_greedy_and_exact(graph: KernelGraph, budget: int | None) -> None:
    plan = fused(graph, budget)
    assert is_valid(plan)
    count = range(len(graph.kernels))
    numbers = product(count, repeat=len(count))
    ways = (FusionPlan(graph, dict(zip(graph.kernels, n, strict=True)), budget) for n in numbers)
    most = max(streamed(way) for way in ways if is_valid(way))
    gap = fusion_gap(plan)
    assert is_valid(gap.best) and gap.proved
    assert gap.found == streamed(plan) <= gap.most == streamed(gap.best) == most


def test_nearest_first() -> None:
    """The greedy plan joins the last kernel that it takes from, where the first one hands on more."""
    graph = KernelGraph(("k0", "k1", "k2"), (link(0, 2, 30, 5), link(1, 2, 1, 5)))
    plan = fused(graph, 8)
    assert plan.groups == (("k0",), ("k1", "k2"))
    gap = fusion_gap(plan)
    assert str(gap) == "1 bytes stream, 30 at most"
