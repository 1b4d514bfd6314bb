"""Proofs of plans without data: what holds for all kernels and any plan, and planted faults that do not pass."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest

from allo import tile
from allo.backend.mesh.expansion import Compute, Instruction, Release, StoreTile
from allo.backend.mesh.held import HeldTiles
from allo.backend.mesh.simulate import MeshSimulation
from allo.errors import VerificationError
from allo.mapping.tiles.program import TileProgram
from allo.target.mesh_routes import MeshRoutes
from allo.verify import Equivalent
from tests.backend.mesh.test_masks import MASKED
from tests.backend.mesh.test_simulate import drawn_mapping
from tests.mapping.tiles.kernels import CASES
from tests.mapping.tiles.test_space import program_of, small_mesh
from tests.seeds import first_seed

KERNELS = [*CASES, *range(len(MASKED))]


@cache
def program(kernel: str | int) -> TileProgram:
    if isinstance(kernel, str):
        return program_of(kernel)
    function, values = MASKED[kernel]
    return tile.plan(function, "mesh8x8", values).program


def proven(one: TileProgram, seed: int, change: Callable[[list[Instruction]], None] | None = None) -> HeldTiles:
    """A random plan of a program on a random mesh, simulated; `change` plants a fault in the first core's program."""
    draw = random.Random(seed)
    mesh = small_mesh(draw.randint(1, 4), draw.randint(1, 4), draw.choice([8000, 20000]))
    mapping = drawn_mapping(one, mesh, seed)
    held = HeldTiles(one, mapping)
    simulation = MeshSimulation(one, mapping, MeshRoutes(mesh), held)
    if change is not None:
        change(simulation.cores.instructions[0, 0])
    simulation.run()
    held.demand_all()
    return held


@pytest.mark.parametrize("part", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in (1, 2))])
def test_random_plans_of_random_kernels_on_random_meshes(part: int) -> None:
    """300 triples a run of CI: equal for any data, no deadlock, no more bytes than a plan says."""
    for seed in range(first_seed() + part, first_seed() + 300, 3):
        kernel = random.Random(seed).choice(KERNELS)
        held = proven(program(kernel), seed)
        assert held.ran and not any(held.left.values())


def test_proofs_are_answers() -> None:
    plan = tile.plan(CASES["gemm"].kernel, small_mesh(), CASES["gemm"].values)
    answer = plan.load("A", "broadcast", "v", inside="m", buffers=2).verify()
    assert isinstance(answer, Equivalent)
    assert str(answer).startswith("Equivalent: gemm and its plan on mesh, by simulation of all transfers in ")


def swapped(body: list[Instruction]) -> None:
    first, second = [k for k, one in enumerate(body) if isinstance(one, Compute)][:2]
    body[first], body[second] = body[second], body[first]


def left_out(body: list[Instruction]) -> None:
    del body[next(k for k, one in enumerate(body) if isinstance(one, Compute))]


def not_stored(body: list[Instruction]) -> None:
    del body[[k for k, one in enumerate(body) if isinstance(one, StoreTile)][-1]]


def stored_twice(body: list[Instruction]) -> None:
    place = next(k for k, one in enumerate(body) if isinstance(one, StoreTile))
    body.insert(place, body[place])


def freed_early(body: list[Instruction]) -> None:
    place = next(k for k, one in enumerate(body) if isinstance(one, Release))
    body.insert(next(k for k, one in enumerate(body) if isinstance(one, Compute) and one.needs), body.pop(place))


def other_tile(body: list[Instruction]) -> None:
    place = next(k for k, one in enumerate(body) if isinstance(one, Compute) and one.needs)
    one = body[place]
    assert isinstance(one, Compute)
    body[place] = replace(one, indices=(one.indices[0] + 1, *one.indices[1:]))


FAULTS = [(swapped, "segments are missing, or do not run in order"), (left_out, "segments are missing"),
          (not_stored, "has not stored C[8*m:+8, 8*n:+8]"), (stored_twice, "which it has not computed"),
          (freed_early, "which it does not hold"), (other_tile, "")]  # fmt: skip


@pytest.mark.parametrize(("fault", "reason"), FAULTS)
def test_planted_faults(fault: Callable[[list[Instruction]], None], reason: str) -> None:
    with pytest.raises(VerificationError) as caught:
        proven(program("gemm"), 1, fault)
    assert str(caught.value).startswith("the plan is wrong: ") and reason in str(caught.value)


def test_buffers_that_are_too_small() -> None:
    """A core that is given more than the plan has room for."""
    one = program("gemm")
    mapping = drawn_mapping(one, small_mesh(2, 2, 8000), 3)
    held = HeldTiles(one, mapping)
    box = one.segments[1][0].loads[0]
    with pytest.raises(VerificationError) as caught:
        for k in range(200):
            held.arrived((0, 0), box, (8 * (k % 8), 8 * (k // 8 % 4)))
    assert "core [0, 0] holds" in str(caught.value)
