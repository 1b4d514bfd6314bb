"""Meshes of cores: files, `df` operations that parse back, topology, and contradictions that are refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from allo.errors import TargetError
from allo.target import CoreMesh, load_target
from allo.target.mesh_operations import mesh_text, parse_mesh
from allo.target.mesh_routes import MeshRoutes
from allo.target.mesh_topology import global_ports, networks_of

ROOT = Path(__file__).resolve().parents[2]
MESHES = {"mesh8x8": 64, "mesh8x8_open": 64, "u280_mesh": 32, "wormhole_n300d": 64, "xdna1_mesh": 16, "xdna2_mesh": 32}


def mesh(name: str) -> CoreMesh:
    found = load_target(name)
    assert isinstance(found, CoreMesh)
    return found


@pytest.mark.parametrize("name", MESHES)
def test_df_operations_parse_back(name: str) -> None:
    described = mesh(name)
    assert described.sources and described.count == MESHES[name]
    assert parse_mesh(mesh_text(described)) == described


def test_peak_of_the_paper() -> None:
    """64 cores at 1 GHz with 1024 operations a cycle, in HiFi4."""
    assert mesh("wormhole_n300d").peak == pytest.approx(65.536)


def test_links_of_a_torus_and_of_an_open_mesh() -> None:
    def links(name: str) -> dict[str, tuple[int | None, int, int]]:
        return {known.name: (known.axis, known.stride, len(known.links)) for known in networks_of(mesh(name))}

    assert links("mesh8x8") == {"noc_h": (0, 1, 64), "noc_v": (1, 1, 64)}
    assert links("mesh8x8_open") == {"east": (0, 1, 56), "west": (0, -1, 56), "south": (1, 1, 56), "north": (1, -1, 56)}


def test_ports_to_memory() -> None:
    def cores(name: str, channel: int) -> list[tuple[int, ...]]:
        return [port.core for port in global_ports(mesh(name)).at((channel,))]

    assert cores("mesh8x8", 0) == [(0, 0), (1, 0), (2, 0), (3, 0)]
    assert cores("mesh8x8", 7) == [(7, 4), (7, 5), (7, 6), (7, 7)]
    assert len(global_ports(mesh("wormhole_n300d")).places) == 12
    assert cores("wormhole_n300d", 3) == [(0, 4)] and cores("wormhole_n300d", 11) == [(4, 6)]


def test_ports_of_several_muxes_lead_to_one_memory() -> None:
    """As in the paper's listing 6, one mux for each edge; a port may be slower than what is behind it."""
    both = SMALL.replace("(c) : x = 2*c", "(c) : x = 0 and c = 0") + (
        "%right = df.mux(dst = %dram, bandwidth = 8, srcs = %l1, map = affine_map<(x) -> (c) : x >= 2 and c = 1>)\n"
    )
    routes = MeshRoutes(parse_mesh(both))
    assert [str(port) for port in routes.ports.ports] == ["port[0]->[0]", "right[2]->[1]", "right[3]->[1]"]
    assert routes.transfer(1, (3,)) == (6,) and routes.transfer(1, (3,), write=True) == (6,)
    assert routes.transfer(0, (1,)) == (4, 0) and routes.transfer(1, (0,), write=True) == (0, 1, 5)
    assert routes.bandwidths == (16, 16, 16, 16, 16, 8, 8)


def test_networks_of_some_lines_broadcast_nothing() -> None:
    links = "affine_map<(x, y) -> (x + 1, y) : y = 0 and x < 7>"
    fast = f"%fast = df.interconnects(components = %l1, map = {links}, bandwidth = 99)"
    routes = MeshRoutes(parse_mesh(mesh_text(mesh("mesh8x8")) + fast))
    assert [network.name for network in routes.along(0)] == ["noc_h", "fast"]
    assert [network.name for network in routes.broadcasting[0]] == ["noc_h"]


def test_memories_without_a_port_of_a_core() -> None:
    text = SMALL.replace("(c) : x = 2*c", "(c) : x = 2*c and c = 0") + (
        "%between = df.interconnects(components = %dram, map = affine_map<(c) -> (c + 1) : c = 0>, bandwidth = 8)\n"
    )
    with pytest.raises(TargetError) as caught:
        MeshRoutes(parse_mesh(text))
    assert str(caught.value) == (
        "no core of 'mesh' has a port to 'dram' at [1]\n  hint: give a mux from 'l1' or 'core' that leads there"
    )


HEADS = [{"title": 'say "x"'}, {"sources": ('a "b" c', "x, y")}, {"title": "a // b"}, {"part": "a)\n(b"},
         {"frequency": 1234567.25}, {"sources": ("http://x",)}, {"name": "a, b = c"}]  # fmt: skip


@pytest.mark.parametrize("head", HEADS)
def test_texts_of_any_kind_parse_back(head: dict[str, Any]) -> None:
    described = replace(parse_mesh(SMALL), **head)
    assert parse_mesh(mesh_text(described)) == described


def test_comments_are_no_part_of_a_mesh() -> None:
    assert parse_mesh("// a ring\n" + SMALL.replace("size = 4)", "size = 4) // cores")) == parse_mesh(SMALL)


@pytest.mark.parametrize("name", MESHES)
def test_routes_lead_where_they_should(name: str) -> None:
    routes = MeshRoutes(mesh(name))
    for start in routes.cores[::7]:
        for end in routes.cores:
            place = start
            for number in routes.route(start, end):
                assert routes.links[number].start == place
                place = routes.links[number].end
            assert place == end


def test_routes_take_the_short_way() -> None:
    routes = MeshRoutes(mesh("wormhole_n300d"))  # a ring in each direction: at most 4 hops along an axis
    assert max(len(routes.route((0, 0), end)) for end in routes.cores) == 8
    one_way = MeshRoutes(mesh("mesh8x8"))
    assert len(one_way.route((1, 0), (0, 0))) == 7


@pytest.mark.parametrize("network", ["noc0_h", "noc1_h"])
def test_broadcasts_reach_all_cores_of_a_line(network: str) -> None:
    routes = MeshRoutes(mesh("wormhole_n300d"))
    line = [(x, 3) for x in range(5)]
    found = routes.broadcast(routes.network[network], line)
    assert found is not None
    order, route = found
    assert sorted(order) == line and len(route) == 4


SMALL = """
%x = df.spatial_dim(size = 4)
%c = df.spatial_dim(size = 2)
%mat = df.mat(shape = [8, 8, 8], throughput = 64)
%core = df.core(scaleout = [%x], scalein = [%mat])
%l1 = df.memory(scaleout = [%x], size = 65536, bandwidth = 32)
%dram = df.memory(scaleout = [%c], size = 1048576, bandwidth = 16)
%ring = df.interconnects(components = [%l1], map = affine_map<(x) -> ((x + 1) mod 4)>, bandwidth = 16)
%own = df.mux(dst = %l1, bandwidth = 32, srcs = [%core], map = affine_map<(x) -> (x)>)
%port = df.mux(dst = %dram, bandwidth = 16, srcs = [%l1], map = affine_map<(x) -> (c) : x = 2*c>)
"""


def test_a_ring_from_text() -> None:
    ring = parse_mesh(SMALL)
    assert ring.shape == (4,) and parse_mesh(mesh_text(ring)) == ring
    assert MeshRoutes(ring).route((3,), (1,)) == (3, 0)


WRONG = [
    ("(x + 1) mod 4", "x + 1",
     "the network 'ring' of 'mesh' leaves the mesh: from x = 3 its map leads to x = 4, and 'x' has 4 positions\n"
     "  hint: wrap around with `mod 4`, or say with `: condition` where there are links"),
    ("(x + 1) mod 4", "x", "the network 'ring' of 'mesh' leads from x = 0 to itself"),
    ("(x + 1) mod 4)", "x + 1) : x > 7",
     "the network 'ring' of 'mesh' has no links\n  hint: its map is `(x) -> (x + 1) : x > 7`"),
    ("(x + 1) mod 4", "x * x",
     "the map `(x) -> (x * x)` is not affine in x\n"
     "  hint: write sums, products with constants, mod and floor(x / c), as `(x, y) -> ((x + 1) mod 8, y)`"),
    ("<(x) -> ((x + 1) mod 4)>", "<(i) -> (i)>",
     "the map `(i) -> (i)` must start with `(x) ->`, as its source has them"),
    ("<(x) -> ((x + 1) mod 4)>", "<(x) -> (x, x)>",
     "the map `(x) -> (x, x)` gives 2 numbers, its target has 1 dimensions"),
    ("(c) : x = 2*c", "(c) : x = 2*c and c = 0",
     "nobody reaches the memory 'dram' of 'mesh' at c = 1\n  hint: give a mux or a network that leads there"),
    ("(c) : x = 2*c", "(x)",
     "the mux 'port' of 'mesh' leaves 'dram': from x = 2 its map leads to c = 2"),
    ("size = 65536", "size = 0", "the size of 'l1' of 'mesh' must be more than 0, got 0"),
    ("bandwidth = 16, srcs", "bandwidth = 0, srcs", "the bandwidth of 'port' of 'mesh' must be more than 0, got 0"),
    ("throughput = 64", "throughput = 0", "the throughput of 'mat' of 'mesh' must be more than 0, got 0"),
    ("scaleout = [%c]", "scaleout = [%d]",
     "'dram' of 'mesh' uses the spatial dimension 'd', which is not declared\n  hint: declared: x, c"),
    ("dst = %dram", "dst = %drum",
     "'port' of 'mesh' uses the memory 'drum', which is not declared\n  hint: did you mean 'dram'?"),
    ("scalein = [%mat]", "scalein = [%matt]",
     "'core' of 'mesh' uses the unit 'matt', which is not declared\n  hint: did you mean 'mat'?"),
    ("%own =", "%ring =", "'mesh' has two things of the name 'ring'\n  hint: rename one of them"),
    ("df.mux(dst = %l1", "df.mix(dst = %l1", "line 9: there is no operation df.mix\n  hint: did you mean 'mux'?"),
    ("bandwidth = 32, srcs", "width = 32, srcs", "line 9: df.mux of '%own' needs 'bandwidth'"),
    ("size = 65536", "size = big", "line 6: df.memory: 'size' must be a number, got `big`"),
    ("%x = df.spatial_dim(size = 4)", "x: 4",
     "line 2: cannot read `x: 4`\n  hint: write `%name = df.operation(key = value, ...)`"),
    ("shape = [8, 8, 8]", "shape = [8, 8]", "line 4: df.mat: 'shape' must be integers [m, k, n], got [8, 8]"),
    ("shape = [8, 8, 8]", "shape = [8, a, 8, 8]",
     "line 4: df.mat: 'shape' must be integers [m, k, n], got [8, a, 8, 8]"),
    ("size = 4", "size = 4.5", "line 2: df.spatial_dim: 'size' must be an integer, got 4.5"),
    ("size = 4", "size = inf", "line 2: df.spatial_dim: 'size' must be an integer, got inf"),
    ("size = 4", "size = 4, size = 5", "line 2: df.spatial_dim of '%x' has 'size' twice"),
    ("bandwidth = 16, srcs", "bandwidth = inf, srcs", "the bandwidth of 'port' of 'mesh' must be finite, got inf"),
    ("size = 1048576,", "size = 1048576, latency = -1,",
     "the latency of 'dram' of 'mesh' must be at least 0, got -1"),
    ("size = 1048576,", "size = 1048576, page = -1,", "the page of 'dram' of 'mesh' must be at least 0, got -1"),
    ("\n%x", "\ndf.target(name = mine, frequency = 1)\n%x",
     "line 2: df.target: 'name' must be a text in quotes, got `mine`"),
    ("\n%x", '\ndf.target(name = "mesh", frequency = 0)\n%x',
     "the frequency of 'mesh' of 'mesh' must be more than 0, got 0"),
    ("%core = df.core(scaleout = [%x], scalein = [%mat])\n", "", "a mesh has one df.core, got 0"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "message"), WRONG)
def test_contradictions(old: str, new: str, message: str) -> None:
    assert old in SMALL
    with pytest.raises(TargetError) as caught:
        parse_mesh(SMALL.replace(old, new, 1))
    assert str(caught.value) == message


def test_cores_that_do_not_reach_a_memory() -> None:
    text = SMALL.replace("((x + 1) mod 4)", "(1 - x) : x <= 1")
    with pytest.raises(TargetError) as caught:
        parse_mesh(text)
    assert str(caught.value) == (
        "the core at x = 3 of 'mesh' does not reach 'dram'\n  hint: give a mux or a network that leads there"
    )


FILES = [
    ("lanes = 32\n", "", "'unit.vec.lanes' is missing; it must be an integer of at least 0"),
    ('kind = "vector"', 'kind = "tensor"', "'unit.vec.kind' must be one of matrix, vector, scalar, got 'tensor'"),
    ("shape = [32, 32, 32]", "shape = [32]", "'unit.mat.shape' must be a list [m, k, n], got [32]"),
    ('dims = ["x", "y"]\nunits', "dims = [1]\nunits", "'core.dims' must be a list of names, got [1]"),
    ("page = 2048", "pages = 2048", "'memory.dram.pages' is not known\n  hint: did you mean 'page'?"),
]


@pytest.mark.parametrize(("old", "new", "message"), FILES)
def test_mistakes_of_files_name_the_key(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = (ROOT / "targets" / "wormhole_n300d.toml").read_text()
    assert old in text
    file = tmp_path / "mine.toml"
    file.write_text(text.replace(old, new, 1))
    with pytest.raises(TargetError) as caught:
        load_target(file)
    assert str(caught.value) == f"{file}: {message}"


def test_meshes_without_memory_cannot_be_mapped_on() -> None:
    lone = parse_mesh("\n".join(line for line in SMALL.splitlines() if "dram" not in line and "%port" not in line))
    with pytest.raises(TargetError) as caught:
        global_ports(lone)
    assert str(caught.value) == (
        "'mesh' has no memory that its cores share\n"
        "  hint: give a memory for whole arrays, and a mux from 'l1' or 'core' to it"
    )
