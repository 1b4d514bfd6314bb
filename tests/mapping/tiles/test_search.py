"""Search: what is cut is no better than what is kept; bounds and estimates."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from allo import tile
from allo.backend.mesh.flows import MeshFlows
from allo.backend.mesh.simulate import MeshSimulation
from allo.errors import TargetError
from allo.ir.types import bfloat16
from allo.mapping.tiles.choices import all_mappings, nest_of, used_bytes
from allo.mapping.tiles.model import TileModel, compute_cycles
from allo.mapping.tiles.program import LevelForm, TileArray, TileBox
from allo.mapping.tiles.search import _Fastest, exhaustive, search
from allo.mapping.tiles.space import space_times
from allo.mapping.tiles.traffic import TrafficModel
from allo.target import load_target
from allo.target.mesh_routes import MeshRoutes
from allo.tile import _beside, _profiled
from tests.backend.mesh.test_simulate import drawn_mapping
from tests.mapping.tiles.kernels import CASES
from tests.mapping.tiles.test_space import program_of, small_mesh
from tests.seeds import first_seed, sampled, sweep


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


def test_plans_beside_the_fastest_are_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plan to begin with has one buffer of everything; those with more are found one after the other."""
    worst = tile.plan(CASES["mlp"].kernel, small_mesh(1, 2))
    monkeypatch.setattr("allo.tile._HOPEFUL", 10.0)
    ordered = _profiled([worst], 2)
    cycles = [one.simulate().cycles for one in ordered]
    assert len(ordered) > 2 and cycles[0] < worst.simulate().cycles
    assert ordered[0].simulate().cycles <= min(one.simulate().cycles for one in _beside(ordered[0]))
    assert len({one.mapping for one in ordered}) == len(ordered)
    monkeypatch.setattr("allo.tile._HOPEFUL", 0.0)
    assert [one.mapping for one in _profiled([worst], 2)] == [worst.mapping]


@sweep(20, 4)
def test_the_model_knows_which_tiles_are_asked_for_together(seed: int) -> None:
    """The tiles of the first issue of each load are those of the simulator."""
    draw = random.Random(seed)
    case = CASES[draw.choice(["gemm", "batched", "mlp", "softmax", "convolution"])]
    mesh = small_mesh(draw.randint(1, 4), draw.randint(1, 4))
    plan = tile.plan(case.kernel, mesh, case.values)
    plan = replace(plan, mapping=drawn_mapping(plan.program, mesh, seed))
    space_time, model = plan.mapping.space_time, plan._model
    ran = MeshSimulation(plan.program, plan.mapping, plan._routes)
    for load, choice in zip(model.loads, plan.mapping.loads, strict=True):
        crossed = [loop for loop in nest_of(space_time, load.loops)[choice.level :] if loop.level in load.box.levels]
        found = model._tiles(space_time, load.box, model._axes(choice.realisation), crossed)
        issues = {issues[0]: None for (_, number), issues in ran.cores.issues.items() if number == load.number}
        asked = [place for issue in issues for place in issue.tiles]
        places = [ran._page(load.box, place) - load.box.array.number for place in asked]
        pages = -(-load.box.bytes // mesh.memory("dram").page) if mesh.memory("dram").page else 1
        assert sorted((found * pages).tolist()) == sorted(places)


def test_how_unevenly_tiles_lie() -> None:
    """Against the channels that the simulator sends pages to."""
    traffic, draw = TrafficModel(MeshRoutes(load_target("wormhole_n300d"))), np.random.default_rng(0)
    flows, channels = MeshFlows(traffic.routes), len(traffic.routes.channels)
    for k, n in ((32, 2048), (64, 4096)):
        array = TileArray("A", 1, (64 * k, 64 * k), bfloat16, 2)
        box = TileBox(array, (LevelForm(0), LevelForm(0)), (k, k // 2 if k == 64 else k))
        assert box.bytes == n
        numbers = draw.integers(0, 4096, 40)
        busy = [0.0] * channels
        for number in numbers.tolist():
            for channel, share in flows._shares(number * -(-n // traffic.memory.page) + 1, n):
                busy[channel] += share / traffic.routes.channel_bandwidth
        assert traffic.uneven(box, numbers) == pytest.approx(max(busy) - sum(busy) / channels)
