"""The space of mappings: its size against a count by hand, and what its members mean."""

from __future__ import annotations

from functools import cache
from itertools import permutations, product
from math import factorial, prod

import pytest

from allo import tile
from allo.mapping.tiles.choices import (
    Delivery,
    all_mappings,
    footprint,
    loads_of,
    nest_of,
    realisations,
    reuse_axes,
    used_bytes,
)
from allo.mapping.tiles.program import TileProgram
from allo.mapping.tiles.space import space_times, spreadings
from allo.target import CoreMesh
from allo.target.mesh_operations import parse_mesh
from allo.target.mesh_routes import MeshRoutes
from tests.mapping.tiles.kernels import CASES

MESH = """
%x = df.spatial_dim(size = {x})
%y = df.spatial_dim(size = {y})
%mat = df.mat(shape = [8, 8, 8], throughput = 64)
%vec = df.vec(shape = [8], throughput = 8)
%core = df.core(scaleout = [%x, %y], scalein = [%mat, %vec])
%l1 = df.memory(scaleout = [%x, %y], size = {l1}, bandwidth = 32)
%dram = df.memory(scaleout = [], size = 1073741824, bandwidth = 16, latency = 20, page = 64)
%h = df.interconnects(components = %l1, map = affine_map<(x, y) -> ((x + 1) mod {x}, y)>, bandwidth = 16, latency = 2)
%v = df.interconnects(components = %l1, map = affine_map<(x, y) -> (x, (y + 1) mod {y})>, bandwidth = 16, latency = 2)
%own = df.mux(dst = %l1, bandwidth = 32, srcs = %core, map = affine_map<(x, y) -> (x, y)>)
%port = df.mux(dst = %dram, bandwidth = 16, srcs = %l1, map = affine_map<(x, y) -> () : x = 0>)
"""


def small_mesh(x: int = 2, y: int = 3, l1: int = 1 << 20) -> CoreMesh:
    lines = MESH.format(x=x, y=y, l1=l1).splitlines()
    left_out = [name for name, size in (("%h =", x), ("%v =", y)) if size == 1]
    return parse_mesh("\n".join(line for line in lines if not line.startswith(tuple(left_out))))


@cache
def program_of(name: str) -> TileProgram:
    case = CASES[name]
    return tile.plan(case.kernel, "wormhole_n300d", case.values).program


@pytest.mark.parametrize(("dims", "axes"), [(1, 1), (1, 2), (2, 2), (3, 2), (2, 3)])
def test_number_of_spreadings(dims: int, axes: int) -> None:
    """Orders of all axes, cut into as many groups as the grid has dimensions."""
    stars = factorial(axes + dims - 1) // factorial(axes) // factorial(dims - 1)
    found = list(spreadings(dims, axes))
    assert len(found) == len(set(found)) == factorial(axes) * stars


@pytest.mark.parametrize("name", CASES)
def test_every_program_runs_once(name: str) -> None:
    program = program_of(name)
    for space_time in space_times(program, (2, 3)):
        waves = [range(space_time.wave_count(dim)) for dim in range(len(program.grid))]
        ran = [
            found
            for wave in product(*waves)
            for core in product(range(2), range(3))
            if (found := space_time.program(core, wave)) is not None
        ]
        assert sorted(ran) == sorted(product(*map(range, program.grid)))


@pytest.mark.parametrize("name", CASES)
def test_reuse_is_what_neighbours_load(name: str) -> None:
    """An axis is one of reuse exactly if all cores along it load the same elements in every wave."""
    program = program_of(name)
    for space_time in space_times(program, (2, 3)):
        for load in loads_of(program):
            if any(loop.lower.levels | loop.upper.levels for loop in load.loops):
                continue
            indices = [0] * len(program.names)
            same = set()
            for axis in range(2):
                places = set()
                for k in range(space_time.active(axis)):
                    core = [0, 0]
                    core[axis] = k
                    found = space_time.program(core, [0] * len(program.grid))
                    assert found is not None
                    places.add(tuple(f.at([*found, *indices[len(found) :]]) for f in load.box.lower))
                if space_time.active(axis) > 1 and len(places) == 1:
                    same.add(axis)
            assert set(reuse_axes(space_time, load.box)) == same


def counted(program: TileProgram, routes: MeshRoutes) -> int:
    """The size of the space, written down anew: the definition of section 2.3, without the code that enumerates."""
    capacity = routes.mesh.memory(routes.ports.local).size
    networks = [sum(network.axis == axis for network in routes.networks) for axis in range(2)]
    total = 0
    shape = routes.mesh.shape
    for owners in product(range(len(program.grid)), repeat=2):
        across = [prod(shape[a] for a in range(2) if owners[a] == d) for d in range(len(program.grid))]
        orders = ((0, 1), (1, 0)) if owners[0] == owners[1] else ((0, 1),)
        waves = [-(-extent // n) for extent, n in zip(program.grid, across, strict=True)]
        several = [dim for dim, count in enumerate(waves) if count > 1]
        for tiled, order in product(orders, permutations(several)):
            usable = [*networks]
            for axis in range(2):  # where one position has programs, there is nobody to share with
                before = shape[tiled[0]] if owners[0] == owners[1] and axis == tiled[1] else 1
                if min(shape[axis], -(-program.grid[owners[axis]] // before)) == 1:
                    usable[axis] = 0
            total += _choices(program, [(dim, waves[dim]) for dim in order], (owners, usable), capacity)
    return total


def _choices(
    program: TileProgram, waves: list[tuple[int, int]], mesh: tuple[tuple[int, ...], list[int]], capacity: int
) -> int:
    owners, networks = mesh
    sizes: list[list[int]] = []
    for segment, loops in program.segments:
        inner = [(loop.level, loop.most) for loop in loops if loop.most > 1]
        nest = waves + inner
        for box in segment.loads:
            free = [networks[axis] for axis in range(2) if owners[axis] not in box.levels and networks[axis]]
            ways = 1 + sum(free) + (3 * free[0] * free[1] if len(free) == 2 else 0)  # two orders, and wavefronts
            options = []
            for level in range(len(nest) + 1):
                size = box.bytes * prod(extent for loop, extent in nest[level:] if loop in box.levels)
                options += [size * buffers for buffers in ((1, 2) if level else (1,)) for _ in range(ways)]
            sizes.append(options)
        sizes += [[0, box.bytes] if nest else [0] for box in segment.stores]
    return sum(program.local + sum(chosen) <= capacity for chosen in product(*sizes))


@pytest.mark.parametrize(("x", "y", "l1"), [(2, 3, 1 << 20), (2, 2, 3000), (4, 2, 2000), (2, 6, 1200)])
def test_size_of_the_space_of_gemm(x: int, y: int, l1: int) -> None:
    routes = MeshRoutes(small_mesh(x, y, l1))
    program = program_of("gemm")
    found = list(all_mappings(program, routes))
    assert len(set(found)) == len(found) == counted(program, routes) > 0
    assert all(used_bytes(program, mapping) <= l1 for mapping in found)


def test_size_of_other_spaces() -> None:
    routes = MeshRoutes(small_mesh(2, 2))
    sizes = {}
    for name in ("softmax", "layernorm", "mlp"):
        program = program_of(name)
        sizes[name] = sum(1 for _ in all_mappings(program, routes))
        assert sizes[name] == counted(program, routes)
    assert sizes["softmax"] == 2 * 3 * 2  # orders of tiling; outside of the waves, or inside with buffers; stores


def test_buffers_of_overlapping_windows() -> None:
    """Rows of a convolution's input that two programs share are not counted twice inside of a program."""
    program = program_of("convolution")
    image = loads_of(program)[0].box
    assert image.hull({0: 0, 1: 0}) == 6 * 6 * 4
    assert image.hull({0: 3, 1: 0}) == 18 * 6 * 4


def test_tiles_of_strips() -> None:
    """Hoisted across k, a buffer of A holds its row of tiles; across the waves of n, the same row."""
    program = program_of("gemm")
    a, b = loads_of(program)
    space_time = next(s for s in space_times(program, (2, 3)) if s.tilings == ((0,), (1,)) and s.waves == (0, 1))
    nest = nest_of(space_time, a.loops)
    assert [(loop.level, loop.most) for loop in nest] == [(0, 4), (1, 2), (2, 4)]
    tile_bytes = 8 * 8 * 4
    assert [footprint(a.box, nest, level) // tile_bytes for level in (3, 2, 1, 0)] == [1, 4, 4, 16]
    assert [footprint(b.box, nest, level) // tile_bytes for level in (3, 2, 1, 0)] == [1, 4, 8, 8]


def test_deliveries_that_networks_allow() -> None:
    routes = MeshRoutes(small_mesh())
    program = program_of("gemm")
    a = loads_of(program)[0].box
    both = next(s for s in space_times(program, (2, 3)) if s.tilings == ((), (0, 1)))
    assert [str(way) for way in realisations(both, a, routes)] == [
        "per core", "broadcast along h", "broadcast along v", "broadcast twice along h, then v",
        "wavefront along h, then v", "broadcast twice along v, then h",
    ]  # fmt: skip
    none = next(s for s in space_times(program, (2, 3)) if s.tilings == ((0, 1), ()))
    assert [way.delivery for way in realisations(none, a, routes)] == [Delivery.PER_CORE]
