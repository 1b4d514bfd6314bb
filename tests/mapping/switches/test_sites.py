"""Shim and memory tiles that are chosen with the ways of streams: moved where there are none, never too many on one."""

from __future__ import annotations

import sys
from collections import Counter
from itertools import product
from random import Random

import pytest

from allo.mapping import FlowSite, Routing, StreamFlow, routing_of
from allo.mapping.switches.exact import exact
from allo.mapping.switches.flow import links_of, moved, numbered
from allo.target import ProcessorArray, Tile
from tests.seeds import sweep

from .walked import array, assert_legal


def site(
    name: str, tile: tuple[int, int], columns: int, begins: tuple[str, ...], ends: tuple[str, ...], room: int = 2
) -> FlowSite:
    row = tile[1]
    tiles = [Tile(*tile), *(Tile(column, row) for column in range(columns) if column != tile[0])]
    needs = {"outputs": len(begins), "inputs": len(ends)}
    return FlowSite(
        name, Tile(*tile), tuple(tiles), frozenset(begins), frozenset(ends), needs, {"outputs": room, "inputs": room}
    )


def random_routes(random: Random, columns: int, rows: int) -> tuple[list[StreamFlow], list[FlowSite]]:
    """Routes between shim tiles and cores, some by a memory tile, none of which is at a tile that is full."""
    flows: list[StreamFlow] = []
    sites: list[FlowSite] = []
    free = {(column, row, sense): 2 for column in range(columns) for row in (0, 1) for sense in (True, False)}
    for number in range(random.randint(1, 5)):
        to_core, own = random.random() < 0.5, [Tile(random.randrange(columns), 2 + random.randrange(rows))]
        own += [Tile(random.randrange(columns), 2 + random.randrange(rows))] * (random.random() < 0.5)
        shim, hub = random.randrange(columns), random.randrange(columns)
        through = len(own) == 2 and free[hub, 1, to_core] == 2 and free[hub, 1, not to_core] > 0
        if not free[shim, 0, to_core]:
            continue
        free[shim, 0, to_core] -= 1
        outer, inner = f"r{number}", [f"r{number}.{k}" for k in range(len(own))]
        if through:
            free[hub, 1, to_core] -= 2
            free[hub, 1, not to_core] -= 1
            ends = (Tile(shim, 0), Tile(hub, 1)) if to_core else (Tile(hub, 1), Tile(shim, 0))
            flows.append(StreamFlow(outer, ends[0], (ends[1],)))
            names = (tuple(inner), (outer,)) if to_core else ((outer,), tuple(inner))
            sites.append(site(f"hub {number}", (hub, 1), columns, *names))
        else:
            own, inner = own[:1], [outer]
        near = Tile(hub, 1) if through else Tile(shim, 0)
        for name, core in zip(inner, own, strict=True):
            flows.append(StreamFlow(name, near, (core,)) if to_core else StreamFlow(name, core, (near,)))
        sites.append(site(f"shim {number}", (shim, 0), columns, *(((outer,), ()) if to_core else ((), (outer,)))))
    return flows, sites


def assert_seated(found: Routing, sites: list[FlowSite]) -> list[Tile]:
    """Where the sites are: on tiles of theirs, no more than have room."""
    tiles = [found.sites.get(own.name, own.tile) for own in sites]
    taken: Counter[tuple[Tile, str]] = Counter()
    for own, tile in zip(sites, tiles, strict=True):
        assert tile in own.tiles
        for name, need in own.needs.items():
            taken[tile, name] += need
            assert taken[tile, name] <= own.limits[name]
    return tiles


def has_ways(flows: list[StreamFlow], sites: list[FlowSite], own: ProcessorArray) -> bool:
    """Whether any tiles of sites have ways, by trying all."""
    for tiles in product(*(site.tiles for site in sites)):
        try:
            assert_seated(Routing(sites={site.name: tile for site, tile in zip(sites, tiles, strict=True)}), sites)
        except AssertionError:
            continue
        if exact(moved(flows, sites, tiles), links_of(own)) is not None:
            return True
    return False


@sweep(300, 12)
def test_random_sites(seed: int) -> None:
    """Ways with sites are legal, and sites stay if they can; where there are none, no choice of tiles has any."""
    random = Random(seed)
    columns, rows, ports = random.randint(2, 3), random.randint(1, 2), random.randint(1, 2)
    own = array("xdna1_npu1", columns, rows, ports)
    flows, sites = random_routes(random, columns, rows)
    found = routing_of(flows, own, sites)
    if found.shortages:
        assert found.proved and (len(sites) > 4 or not has_ways(flows, sites, own))
        return
    tiles = assert_seated(found, sites)
    assert_legal(found, moved(flows, sites, tiles), columns, rows, ports)
    if found.sites:
        assert exact(flows, links_of(own)) is None
    assert (found.sites, str(found)) == (routing_of(flows, own, sites).sites, str(routing_of(flows, own, sites)))


@sweep(200, 4)
def test_exact_sites(seed: int) -> None:
    """The solver alone finds tiles and ways wherever negotiation does, as legal ones."""
    random = Random(seed)
    columns, rows, ports = random.randint(2, 3), random.randint(1, 2), random.randint(1, 2)
    own = array("xdna1_npu1", columns, rows, ports)
    flows, sites = random_routes(random, columns, rows)
    solved, found = exact(flows, links_of(own), sites), routing_of(flows, own, sites)
    assert (solved is None) == bool(found.shortages)
    if solved is not None:
        trees, tiles = solved
        assert_seated(Routing(sites={site.name: tile for site, tile in zip(sites, tiles, strict=True)}), sites)
        ways = moved(flows, sites, tiles)
        assert_legal(Routing(numbered(ways, trees, own)), ways, columns, rows, ports)


def test_a_memory_tile_moves_out_of_the_way() -> None:
    """With a port a side, two streams of a memory tile and one from the shim tile below leave a column by two ports."""
    own = array(columns=3, rows=2, ports=1)
    flows = [
        StreamFlow("in", Tile(0, 0), (Tile(0, 1),)), StreamFlow("a", Tile(0, 1), (Tile(0, 2),)),
        StreamFlow("b", Tile(0, 1), (Tile(0, 3),)), StreamFlow("c", Tile(0, 0), (Tile(2, 2),)),
    ]  # fmt: skip
    hub = site("hub", (0, 1), 3, ("a", "b"), ("in",))
    assert routing_of(flows, array(columns=3, rows=2), [hub]).sites == {}
    fixed = routing_of(flows, own)
    assert fixed.proved and fixed.shortages[0].place == "the tiles (0, 0) to (0, 1), out to the north and east"
    found = routing_of(flows, own, [hub])
    assert found.sites == {"hub": Tile(1, 1)}
    assert_legal(found, moved(flows, [hub], [Tile(1, 1)]), 3, 2, 1)


def test_a_cut_that_other_tiles_avoid_is_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three streams up from one shim tile with a port to each side: one begins elsewhere, also without the solver."""
    monkeypatch.setitem(sys.modules, "ortools.sat.python", None)
    own = array(columns=3, rows=1, ports=1)
    flows = [StreamFlow(f"s{k}", Tile(0, 0), (Tile(k, 2),)) for k in range(3)]
    sites = [site(f"shim of s{k}", (0, 0), 3, (f"s{k}",), (), 3) for k in range(3)]
    fixed = routing_of(flows, own)
    assert fixed.proved and fixed.shortages[0].place == "tile (0, 0), out to the north and east"
    found = routing_of(flows, own, sites)
    assert not found.shortages and found.sites
    assert_legal(found, moved(flows, sites, assert_seated(found, sites)), 3, 1, 1)


def test_full_tiles_take_no_more() -> None:
    """Two streams that could begin in the middle, which has a channel for one of them."""
    own = array(columns=3, rows=1, ports=1)
    flows = [StreamFlow(f"s{k}", Tile(0, 0), (Tile(k, 2),)) for k in range(3)]
    sites = [site(f"shim of s{k}", (0, 0), 3, (f"s{k}",), (), 1) for k in range(3)]
    found = routing_of(flows, own, sites)
    assert sorted(assert_seated(found, sites)) == [Tile(0, 0), Tile(1, 0), Tile(2, 0)]


def test_what_is_known_of_planned_tiles_is_said_without_the_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    """No ways from the tiles that are planned, which a cut proves, and none are found from others."""
    monkeypatch.setattr("allo.mapping.switches.route.sited", lambda *_: None)
    monkeypatch.setitem(sys.modules, "ortools.sat.python", None)
    own = array(columns=3, rows=1, ports=1)
    flows = [StreamFlow(f"s{k}", Tile(0, 0), (Tile(k, 2),)) for k in range(3)]
    sites = [site(f"shim of s{k}", (0, 0), 3, (f"s{k}",), (), 3) for k in range(3)]
    found = routing_of(flows, own, sites)
    assert found.proved and found.shortages == routing_of(flows, own).shortages
    assert found.reason == (
        "of other shim and memory tiles, a proof needs the constraint solver of ortools: pip install 'allo[exact]'"
    )
