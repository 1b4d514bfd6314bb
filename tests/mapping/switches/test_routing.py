"""Ways of streams through switches: each port for one stream, proofs that there are too few, what is not known."""

from __future__ import annotations

import sys
from random import Random

import pytest

from allo.mapping import CapacityReport, ResourceUse, Routing, StreamFlow, routing_of
from allo.mapping.switches.exact import Unproved, exact
from allo.mapping.switches.flow import links_of, numbered
from allo.target import Tile, TileSide
from tests.seeds import sweep

from .walked import array, assert_legal, ends_of, random_flows


def flow(name: str, source: tuple[int, int], *sinks: tuple[int, int]) -> StreamFlow:
    return StreamFlow(name, Tile(*source), tuple(Tile(*sink) for sink in sinks))


@sweep(600, 12)
def test_random_streams(seed: int) -> None:
    """What is routed comes to its ends on ports of its own; what is not, cannot be: the solver agrees on small ones."""
    random = Random(seed)
    name, most = random.choice([("xdna1_npu1", 4), ("xdna2_npu2", 8)])
    columns, rows, ports = random.randint(1, most), random.randint(1, 4), random.choice([None, None, 1, 2, 3])
    own = array(name, columns, rows, ports)
    flows = random_flows(random, own, random.choice([0.2, 0.4, 0.6, 1.0]))
    found = routing_of(flows, own)
    if not found.shortages:
        assert_legal(found, flows, columns, rows, ports)
    elif found.proved:
        assert all(own.excess > 0 for own in found.shortages)
        assert len(flows) > 12 or exact(flows, links_of(own)) is None
    else:
        assert len(flows) > 12
    assert str(found) == str(routing_of(flows, own))


@sweep(200, 4)
def test_exact_ways(seed: int) -> None:
    """The solver alone makes ways that are as legal, and finds some wherever negotiation does."""
    random = Random(seed)
    columns, rows = random.randint(1, 3), random.randint(1, 3)
    own = array("xdna1_npu1", columns, rows, 2)
    flows = random_flows(random, own, 0.4)
    solved = exact(flows, links_of(own))
    found = routing_of(flows, own)
    assert (solved is None) == bool(found.shortages)
    if solved is not None:
        assert_legal(Routing(numbered(flows, solved[0], own)), flows, columns, rows, 2)


def test_a_broadcast_shares_ports_until_it_branches() -> None:
    own = array(columns=2, rows=2)
    found = routing_of([flow("all", (0, 0), (0, 2), (0, 3), (1, 2), (1, 3)), flow("one", (0, 0), (0, 3))], own)
    assert str(found) == "all: (0, 0) N0 N0 [N0 E0 | E0]\none: (0, 0) N1 N1 N1"
    assert [found.of("all").switches(Tile(*sink)) for sink in ((0, 2), (0, 3), (1, 3))] == [3, 4, 5]
    assert found.users()[Tile(0, 1), TileSide.NORTH] == ["all", "one"]
    (far,) = routing_of([flow("far", (0, 0), (1, 5), (1, 2))], array()).flows
    assert len(far.ports) == 6  # on from the nearest end, not from the source again


def test_memory_tiles_keep_channels() -> None:
    """What passes through one is on the same channel below and above, whatever begins or ends there."""
    own = array(columns=1, rows=4)
    flows = [flow("end", (0, 0), (0, 1)), flow("begin", (0, 1), (0, 2)), flow("through", (0, 0), (0, 3))]
    flows += [flow("down", (0, 4), (0, 0)), flow("off", (0, 1), (0, 0)), flow("into", (0, 3), (0, 1))]
    found = routing_of(flows, own)
    assert_legal(found, flows, 1, 4)
    by = {own.flow.name: [port.channel for port in own.ports] for own in found.flows}
    assert by["through"][0] == by["through"][1] == 0 and by["down"][-1] == by["down"][-2] == 0
    assert by["end"] == by["begin"] == by["off"] == [1]


def test_there_is_no_way_east_through_memory_tiles() -> None:
    own = array(columns=2, rows=1)
    found = routing_of([flow(f"s{k}", (0, 1), (1, 1)) for k in range(6)], own)
    assert_legal(found, [way.flow for way in found.flows], 2, 1)
    assert all({port.side for port in way.ports} & {"north", "south"} for way in found.flows)


def test_crowded_ways_give_way() -> None:
    """Streams to one tile over one port a side: they come from all sides, some by longer ways."""
    own = array(columns=3, rows=3, ports=1)
    flows = [flow("a", (0, 3), (1, 3)), flow("b", (0, 3), (1, 3)), flow("c", (2, 3), (1, 3))]
    found = routing_of(flows, own)
    assert_legal(found, flows, 3, 3, 1)
    assert sorted(len(way.ports) for way in found.flows) == [1, 1, 3]


def test_a_cut_proves_that_there_are_no_ways() -> None:
    """Eight streams out of a column with two ports to the east at each core, and two down."""
    own = array(columns=2, rows=2, ports=2)
    flows = [flow(f"s{k}", (0, 2 + k % 2), (1, 2 + k // 4)) for k in range(8)]
    found = routing_of(flows, own)
    (shortage,) = found.shortages
    assert found.proved and found.reason == "whatever the ways are, so many streams pass there"
    assert (shortage.place, shortage.ports, shortage.excess) == (
        "the tiles (0, 2) to (0, 3), out to the east and south", 6, 2,
    )  # fmt: skip
    assert shortage.flows == tuple(f"s{k}" for k in range(8))


def test_a_cut_counts_what_comes_in() -> None:
    """Five streams into a tile with a port on each of its four sides, from five tiles, of which each has four."""
    own = array(columns=3, rows=3, ports=1)
    ends = [(0, 2), (0, 3), (0, 4), (2, 3), (1, 4)]
    found = routing_of([flow(f"s{k}", end, (1, 3)) for k, end in enumerate(ends)], own)
    (shortage,) = found.shortages
    assert found.proved
    assert (shortage.place, shortage.ports, shortage.excess) == (
        "tile (1, 3), in from the north and east and south and west", 4, 1,
    )  # fmt: skip
    found = routing_of([flow(f"s{k}", end, (1, 4)) for k, end in enumerate([*ends[:4], (1, 3)])], own)
    assert [own.place for own in found.shortages] == ["tile (1, 4), in from the east and south and west"]


# With a port a side: `s0` takes the only port to the west of the shim tiles, `s5` the only one down the left column,
# and `s3` needs one of them; but each rectangle has ports enough for what goes in, and for what goes out.
TANGLED = [
    flow("s0", (1, 0), (0, 1)), flow("s2", (1, 1), (0, 2)), flow("s3", (0, 3), (0, 0)), flow("s5", (0, 1), (0, 0)),
]  # fmt: skip


def test_what_no_cut_shows_the_solver_proves() -> None:
    own = array(columns=2, rows=4, ports=1)
    found = routing_of(TANGLED, own)
    assert found.proved and found.reason == "no ways are better, which constraint programming has proved"
    assert [(own.place, own.ports, own.flows) for own in found.shortages] == [
        ("tile (0, 1), out to the south", 1, ("s3", "s5"))
    ]
    report = CapacityReport("mine", ()).with_ports(found, own)
    assert [str(use) for use in report.exceeded] == [
        "stream ports of tile (0, 1), out to the south: 2 of 1, for s3, s5"
    ]
    assert report.remarks == (found.reason,)


def test_what_is_not_known_is_a_remark_and_no_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the solver, or where it takes too long, a plan is as good as the ways that are known of it."""
    own = array(columns=2, rows=4, ports=1)
    monkeypatch.setitem(sys.modules, "ortools.sat.python", None)
    found = routing_of(TANGLED, own)
    assert found.shortages and not found.proved
    report = CapacityReport("mine", (ResourceUse("cores", "the array", 1, 2, ("f",)),)).with_ports(found, own)
    assert not report.exceeded
    assert report.remarks == (
        "stream ports of tile (0, 1), out to the south: 2 of 1, for s3, s5; whether there are other ways is not known",
        "a proof needs the constraint solver of ortools: pip install 'allo[exact]'",
    )
    assert str(report).endswith("\n".join(report.remarks))


def test_too_many_streams_for_a_proof() -> None:
    own = array("xdna2_npu2", 8, 4)
    with pytest.raises(Unproved, match="there are too many streams for a proof"):
        exact([flow(f"s{k}", (0, 2), (7, 5)) for k in range(70)], links_of(own))


def test_the_checker_of_these_tests_sees_wrong_ways() -> None:
    """Two streams on one port, a way that ends early, and a channel that changes in a memory tile."""
    own = array(columns=1, rows=2)
    flows = [flow("a", (0, 0), (0, 2)), flow("b", (0, 0), (0, 3))]
    one, other = routing_of(flows, own).flows
    shared = type(other)(other.flow, one.ports + other.ports[2:])
    early = type(one)(one.flow, one.ports[:1])
    changed = type(one)(one.flow, (one.ports[0], type(one.ports[1])(one.ports[1].tile, one.ports[1].side, 5)))
    for wrong in ((one, shared), (early, other), (changed, other)):
        with pytest.raises(AssertionError):
            assert_legal(Routing(wrong), flows, 1, 2)
    assert ends_of(Routing((one, other)), 1, 2)["b"] == {(0, 0), (0, 1), (0, 2), (0, 3)}
