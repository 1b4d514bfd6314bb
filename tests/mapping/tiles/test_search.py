"""Search: what is cut is no better than what is kept; bounds and estimates."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from allo.errors import TargetError
from allo.mapping.tiles.choices import all_mappings, used_bytes
from allo.mapping.tiles.model import TileModel, compute_cycles
from allo.mapping.tiles.search import _Fastest, exhaustive, search
from allo.mapping.tiles.space import space_times
from allo.mapping.tiles.traffic import TrafficModel
from allo.target.mesh_routes import MeshRoutes
from tests.mapping.tiles.kernels import CASES
from tests.mapping.tiles.test_space import program_of, small_mesh
from tests.seeds import first_seed, sampled


def traffic_of(x: int, y: int, l1: int = 1 << 20) -> TrafficModel:
    return TrafficModel(MeshRoutes(small_mesh(x, y, l1)))


SPACES = [
    ("gemm", 1 << 20),
    ("gemm", 3000),
    ("softmax", 1 << 20),
    ("layernorm", 3000),
    ("mlp", 3000),
]


@pytest.mark.parametrize(("name", "l1"), SPACES)
def test_the_best_of_the_whole_space_is_found(name: str, l1: int) -> None:
    traffic = traffic_of(2, 2, l1)
    program = program_of(name)
    found = search(program, traffic, 3)
    best = sorted(candidate.cycles for candidate in exhaustive(program, traffic))
    assert found.best[0].cycles == pytest.approx(best[0])
    assert [one.cycles for one in found.best] == sorted(one.cycles for one in found.best)
    assert found.estimated <= found.considered
    assert all(used_bytes(program, one.mapping) <= l1 for one in found.best)


@pytest.mark.parametrize(("name", "l1"), [("gemm", 3000), ("mlp", 3000)])
def test_spaces_of_many_loads_are_searched_in_part(name: str, l1: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without all combinations: what is found is a mapping that fits, and near the best."""
    traffic, program = traffic_of(2, 2, l1), program_of(name)
    whole = search(program, traffic, 3)
    monkeypatch.setattr("allo.mapping.tiles.search._WHOLE", 0)
    part = search(program, traffic, 3)
    assert whole.whole and not part.whole
    assert whole.best[0].cycles <= part.best[0].cycles <= 1.03 * whole.best[0].cycles
    assert len({one.mapping for one in part.best}) == 3
    assert all(used_bytes(program, one.mapping) <= l1 for one in part.best)


@pytest.mark.parametrize("name", sampled(list(CASES)))
def test_no_resource_is_busier_than_the_whole_takes(name: str) -> None:
    """The time is at least what the busiest resource needs, and never less than what a core computes."""
    traffic = traffic_of(2, 3)
    program = program_of(name)
    model = TileModel(program, traffic)
    mappings = list(islice(all_mappings(program, traffic.routes), 2000))
    for mapping in random.Random(0).sample(mappings, min(30, len(mappings))):
        estimate = model.estimate(mapping)
        assert estimate.cycles >= 0.999 * max(cycles for _, cycles in estimate.busy)
        assert estimate.busy[0][0] == estimate.binding


@pytest.mark.parametrize("name", ["gemm", "mlp", "causal", "batched", "layernorm"])
def test_bounds_are_below_estimates(name: str) -> None:
    """What is cut is surely slower, and resources that never bind change nothing: random combinations, one by one."""
    traffic, program = traffic_of(3, 2), program_of(name)
    kept = _Fastest(TileModel(program, traffic), 1)
    draw = np.random.default_rng(first_seed())
    for space_time in space_times(program, (3, 2)):
        part = kept.part(space_time)
        assert part is not None
        chosen, double = part.fitting(part.combinations())
        some = draw.choice(len(chosen), min(6, len(chosen)), replace=False)
        cycles = part.cycles(chosen[some], double[some])
        assert (part.least <= part.bounds(chosen[some]) * (1 + 1e-9)).all()
        assert (part.bounds(chosen[some]) <= cycles * (1 + 1e-9)).all()
        mappings = [part.mapping(chosen[row], double[row]) for row in some]
        assert cycles.tolist() == pytest.approx([kept.model.estimate(one).cycles for one in mappings])


def test_orders_of_many_waves_are_not_all_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where waves have the same users, one order of them is tried, and others only around the fastest mapping."""
    traffic, program = traffic_of(2, 2), program_of("convolution")
    whole = search(program, traffic, 1)
    monkeypatch.setattr("allo.mapping.tiles.search._ORDERS", 0)
    part = search(program, traffic, 1)
    assert whole.whole and not part.whole and part.considered < whole.considered
    assert part.best[0].cycles <= 1.02 * whole.best[0].cycles


def test_more_bandwidth_is_never_slower() -> None:
    program = program_of("gemm")
    slow = search(program, traffic_of(2, 2), 1).best[0].cycles
    mesh = small_mesh(2, 2)
    faster = replace(
        mesh,
        memories=tuple(replace(memory, bandwidth=4 * memory.bandwidth) for memory in mesh.memories),
        interconnects=tuple(replace(network, bandwidth=4 * network.bandwidth) for network in mesh.interconnects),
        muxes=tuple(replace(mux, bandwidth=4 * mux.bandwidth) for mux in mesh.muxes),
    )
    assert search(program, TrafficModel(MeshRoutes(faster)), 1).best[0].cycles < slow


def test_a_memory_that_is_too_small() -> None:
    with pytest.raises(TargetError) as caught:
        search(program_of("gemm"), traffic_of(2, 2, 700), 1)
    assert str(caught.value) == (
        "no mapping of 'gemm' fits: its arrays take 256 bytes of a core and one tile of each load 512, together more "
        "than the 700 bytes of 'l1'\n  hint: make blocks smaller"
    )


def test_cycles_of_the_units() -> None:
    """A product of 8 x 8 x 8 takes 16 cycles of a unit with 64 operations a cycle."""
    mesh = small_mesh()
    segments = [segment for segment, _ in program_of("gemm").segments]
    assert [compute_cycles(segment.work, mesh) for segment in segments] == [0, 16, 0]
