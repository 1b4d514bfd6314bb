"""Search for a mapping: as fast as what all steps on pairs reach, as published ones, and replayed by its steps."""

# Streams of regions are declared by annotations.
# ruff: noqa: F821

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.backend.aie import module
from allo.errors import TargetError
from allo.ir.types import Stream, float32, int16, int32
from allo.library.aie import GEMM
from allo.mapping import mapped
from allo.poly import hang_of
from tests.dataflow.dato_paper import figure_10
from tests.seeds import sweep

from . import programs
from .random_mapped import compare, program

N = 64


def steps_of(built: Any) -> list[tuple[str, list[str]]]:
    return [(kind, list(names)) for kind, names in built.plan.mapping.steps]


def reached(region: Any) -> dict[frozenset[tuple[str, ...]], int]:
    """The cycles of all programs that steps on pairs of cores lead to."""
    found: dict[frozenset[tuple[str, ...]], int] = {}
    ahead: list[list[tuple[str, list[str]]]] = [[]]
    graph, seen = df.build(region, target="aie").graph, set()
    while ahead:
        steps = ahead.pop()
        try:
            mapping = mapped(graph, steps)
        except TargetError:
            continue
        key = frozenset(tuple(node.name for node in core.nodes) for core in mapping.cores)
        if key in seen:
            continue
        seen.add(key)
        for one, other in permutations([core.name for core in mapping.cores], 2):
            ahead += [[*steps, ("bundle", [one, other])], [*steps, ("chain", [one, other])]]
        try:
            found[key] = df.build(region, target="aie", mapping_primitives=steps).timed(kernels="vector").cycles
        except TargetError:
            continue
    return found


@df.region()
def sums(A: int16[2 * N], B: int16[N]):
    parts: Stream[int16[N], 2][2]

    @df.kernel(mapping=[2], args=[A])
    def part(a: int16[2 * N]):
        p = df.get_pid()
        own: int16[N] = 0
        for i, k in allo.grid(N, 8):
            own[i] += a[p * N + i] * k
        parts[p].put(own)

    @df.kernel(mapping=[1], args=[B])
    def add(b: int16[N]):
        b[:] = parts[0].get() + parts[1].get()


REGIONS = [
    pytest.param(sums, id="sums"),
    pytest.param(programs.producer_consumer, id="producer_consumer"),
    pytest.param(programs.split_k, id="split_k", marks=pytest.mark.exhaustive),
]


@pytest.mark.parametrize("region", REGIONS)
def test_no_steps_on_pairs_are_faster(region: Any) -> None:
    built = df.build(region, target="aie", mapping_primitives="search")
    assert built.search is not None
    assert built.timed(kernels="vector").cycles == min(reached(region).values()) == built.search.candidates[0].cycles


@pytest.mark.slow
def test_published_mapping_of_a_product_is_found() -> None:
    """4 x 4 x 4 parts on 16 cores: sums stay on a core, as in the ping-pong GEMM."""
    top, steps = GEMM(64, 64, 64, 4, 4, 4, int16, int16)
    built = df.build(top, target="aie", mapping_primitives="search")
    by_hand = df.build(top, target="aie", mapping_primitives=steps)
    assert built.timed(kernels="vector").cycles <= by_hand.timed(kernels="vector").cycles
    assert str(built.search).splitlines()[2].endswith("16 x gemm (4 nodes)")
    again = df.build(top, target="aie", mapping_primitives=steps_of(built))
    assert again.mlir == built.mlir


@pytest.mark.slow
def test_mapping_of_the_papers_attention_is_found() -> None:
    """44 tasks of Fig. 10 on 8 cores: of the first mappings looked at, none has so few cores."""
    built = df.build(figure_10(float32, 8), target="aie", mapping_primitives="search", device_type="npu1_2col")
    assert built.search is not None
    assert str(built.search).splitlines()[2].split()[1] == "8"
    rng = np.random.default_rng(0)
    Q, K, V = (rng.random(shape, np.float32) for shape in ((8, 4), (4, 8), (8, 4)))
    O = np.zeros_like(Q)  # noqa: E741
    built(Q, K, V, O)
    weights = np.exp(Q @ K)
    np.testing.assert_allclose(O, weights / weights.sum(1, keepdims=True) @ V, rtol=1e-5)


@sweep(20, 3)
def test_what_is_found_computes_the_same(seed: int, tmp_path: Path) -> None:
    compare(program, tmp_path, seed, ["that were looked at fits"], "search")


def test_a_mapping_that_hangs_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next best one is taken, with a model of its own."""
    refused = []

    def hangs_once(model: Any) -> Any:
        if refused:
            return hang_of(model)
        refused.append(model)
        return SimpleNamespace(error=lambda: SimpleNamespace(diagnostics=[]))

    monkeypatch.setattr(module, "hang_of", hangs_once)
    built = df.build(sums, target="aie", mapping_primitives="search")
    first, second = built.search.candidates[:2]
    assert built.plan.mapping == second.mapping != first.mapping
    A, B = np.arange(2 * N, dtype=np.int16), np.zeros(N, np.int16)
    built(A, B)
    np.testing.assert_array_equal(B, 28 * (A[:N] + A[N:]))
    assert built.model is not refused[0]


def test_what_does_not_fit() -> None:
    @df.region()
    def large(A: int32[200, 200], B: int32[200, 200]):
        @df.kernel(mapping=[1], args=[A, B])
        def core(a: int32[200, 200], b: int32[200, 200]):
            for i in range(200):
                for j in range(200):
                    b[i, j] = a[j, i]

    with pytest.raises(TargetError) as caught:
        df.build(large, target="aie", mapping_primitives="search")
    assert str(caught.value) == (
        "none of the 1 mappings that were looked at fits 'xdna1_npu1'\n"
        "  hint: make parts of arrays smaller, or say how to map it: mapping_primitives=[...]"
    )


def test_functions_of_cpp_need_cycles(tmp_path: Path) -> None:
    scale = programs.scale_in_cpp(tmp_path)

    @df.region()
    def scaled(A: int32[N], B: int32[N]):
        rows: Stream[int32[N], 2]

        @df.kernel(mapping=[1], args=[A])
        def first(a: int32[N]):
            rows.put(a)

        @df.kernel(mapping=[1], args=[B])
        def second(b: int32[N]):
            row: int32[N] = rows.get()
            b[:] = 0
            scale(row, b)

    with pytest.raises(TargetError, match="nothing is known of the time that 'scale' takes"):
        df.build(scaled, target="aie", mapping_primitives="search")
    built = df.build(scaled, target="aie", mapping_primitives="search", cycles={"scale": 100})
    A, B = np.arange(N, dtype=np.int32), np.zeros(N, np.int32)
    built(A, B)
    np.testing.assert_array_equal(B, 3 * A)
    assert built.timed().cycles > 100


def test_placement_beside_the_best_one() -> None:
    """A star of five: a core has four neighbours, and two outputs for what others are to have."""

    @df.region()
    def star(A: int32[N], B: int32[N]):
        out: Stream[int32[N], 2][4]

        @df.kernel(mapping=[1], args=[A])
        def middle(a: int32[N]):
            out[0].put(a)
            out[1].put(a)
            out[2].put(a)
            out[3].put(a)

        @df.kernel(mapping=[4], args=[B])
        def ends(b: int32[N]):
            p = df.get_pid()
            row: int32[N] = out[p].get()
            for i in range(N // 4):
                b[p * (N // 4) + i] = row[p * (N // 4) + i]

    built = df.build(star, target="aie")
    gap = built.placement_gap()
    assert gap.found == built.plan.placement.distant() == 0 and gap.proved
    assert str(gap) == "0 streams are moved by DMA engines of cores, 0 at least"
    A, B = np.arange(N, dtype=np.int32), np.zeros(N, np.int32)
    built(A, B)
    np.testing.assert_array_equal(B, A)
