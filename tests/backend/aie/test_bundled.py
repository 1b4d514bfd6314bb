"""Bundles of positions whose bodies depend on their ids: numbers, branches, parts of other shapes, streams by id."""

# Streams of regions are declared by annotations.
# ruff: noqa: F821

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.errors import TargetError
from allo.ir.types import Stream, int32
from allo.memory import Layout

N, P = 32, 4
W = N // P
F, G = ([f"{task}_{p}" for p in range(P)] for task in "fg")


@df.region()
def crossed(A: int32[N], B: int32[N]):
    s: Stream[int32[W], 2][P]

    @df.kernel(mapping=[P], args=[A])
    def f(a: int32[N] @ Layout("S0")):
        p = df.get_pid()
        x: int32[W] = 0
        for i in range(W):
            x[i] = a[i] * (p + 2) + p
        s[P - 1 - p].put(x)

    @df.kernel(mapping=[P], args=[B])
    def g(b: int32[N] @ Layout("S0")):
        p = df.get_pid()
        b[:] = s[p].get() + p


STEPS: list[tuple[list[Any], list[str]]] = [
    ([("bundle", F)], ["f_0x4", *G]),
    ([("bundle", F), ("bundle", G[::-1])], ["f_0x4", "g_3x4"]),
    ([("bundle", F), ("bundle", G), ("chain", ["f_0x4", "g_0x4"])], ["f_0x4-g_0x4"]),
    ([*(("chain", [f, g]) for f, g in zip(F, G[::-1], strict=True)),
      ("bundle", [f"{f}-{g}" for f, g in zip(F, G[::-1], strict=True)])], ["f_0-g_3x4"]),
]  # fmt: skip


@pytest.mark.parametrize(("steps", "cores"), STEPS, ids=[cores[0] for _, cores in STEPS])
def test_numbers_and_streams_by_id(steps: Any, cores: list[str]) -> None:
    A, B, wanted = np.arange(N, dtype=np.int32), np.zeros(N, np.int32), np.zeros(N, np.int32)
    built = df.build(crossed, target="aie", mapping_primitives=steps)
    built(A, B)
    df.build(crossed)(A, wanted)
    p = np.arange(P)[::-1, None]
    np.testing.assert_array_equal(B, (A.reshape(P, W)[::-1] * (p + 2) + p + p[::-1]).reshape(N))
    np.testing.assert_array_equal(B, wanted)
    assert [core.name for core in built.plan.mapping.cores] == cores
    assert type(allo.verify(crossed, built)).__name__ == "Equivalent"


@df.region()
def triangle(A: int32[P, W], B: int32[P, W]):
    """Position `p` sums `p + 1` rows, and all but the first scale the result."""

    @df.kernel(mapping=[P], args=[A, B])
    def f(a: int32[P, W], b: int32[P, W]):
        p = df.get_pid()
        b[p, :] = 1
        for i in range(p + 1):
            for j in range(W):
                b[p, j] += a[i, j]
        with allo.meta_if(p > 0):
            for j in range(W):
                b[p, j] = b[p, j] * p


@pytest.mark.parametrize("kernels", ["scalar", "vector"])
def test_parts_of_other_shapes(kernels: str) -> None:
    """Parts of one shape share a FIFO: results do; of A, each core has one FIFO for each number of rows."""
    A, B = np.arange(P * W, dtype=np.int32).reshape(P, W), np.zeros((P, W), np.int32)
    wanted = (A.cumsum(0) + 1) * np.array([[1], [1], [2], [3]])
    steps = [("bundle", F[:2]), ("bundle", F[2:])]
    built = df.build(triangle, target="aie", mapping_primitives=steps, kernels=kernels)
    built(A, B)
    np.testing.assert_array_equal(B, wanted)
    assert [len(built.plan.fifos.arrays_of("f_2x2", to_core)) for to_core in (True, False)] == [2, 1]


@df.region()
def numbered[P](A: int32[P, W], B: int32[P, W]):
    """The first position multiplies by 1, and the second by 2, which canonical bodies do otherwise."""

    @df.kernel(mapping=[P], args=[A, B])
    def f(a: int32[P, W] @ Layout("S0R"), b: int32[P, W] @ Layout("S0R")):
        p = df.get_pid()
        for i in range(W):
            b[0, i] = a[0, W - 1 - i] * (p + 1) - 3 * p


@pytest.mark.parametrize(("order", "acquired"), [("forwards", 4), ("backwards", 4), ("odd", 10)])
def test_bodies_that_differ_in_numbers_are_one_loop(order: str, acquired: int) -> None:
    """A loop over the shots, from the second position on, whose number gives the numbers of the bodies."""
    P = 8
    places = {"forwards": [*range(P)], "backwards": [*range(P)][::-1], "odd": [0, 3, 1, 2, 6, 4, 7, 5]}[order]
    built = df.build(
        numbered, target="aie", instantiate=[P], mapping_primitives=[("bundle", [f"f_{p}" for p in places])]
    )
    A, B = np.arange(P * W, dtype=np.int32).reshape(P, W), np.zeros((P, W), np.int32)
    built(A, B)
    p = np.arange(P)[:, None]
    np.testing.assert_array_equal(B, A[:, ::-1] * (p + 1) - 3 * p)
    assert built.mlir.count('"aie.objectfifo.acquire"') == acquired
    assert built.timed().cycles > 0


@df.region()
def handed_over[P](A: int32[P, W], B: int32[P, W]):
    s: Stream[int32[W], 2][P]

    @df.kernel(mapping=[P], args=[A])
    def f(a: int32[P, W] @ Layout("S0R")):
        p = df.get_pid()
        x: int32[W] = 0
        for i in range(W):
            x[i] = a[0, i] * (p + 2)
        s[p].put(x)

    @df.kernel(mapping=[P], args=[B])
    def g(b: int32[P, W] @ Layout("S0R")):
        p = df.get_pid()
        b[0, :] = s[p].get() + p


def test_streams_between_two_bundles_are_one() -> None:
    """Eight streams take 16 locks, and the FIFO of an argument two more: one carries all, in one loop at each end."""
    P = 8
    f, g = ([f"{task}_{p}" for p in range(P)] for task in "fg")
    steps = [("bundle", f), ("bundle", g)]
    built = df.build(handed_over, target="aie", instantiate=[P], mapping_primitives=steps)
    A, B = np.arange(P * W, dtype=np.int32).reshape(P, W), np.zeros((P, W), np.int32)
    built(A, B)
    p = np.arange(P)[:, None]
    np.testing.assert_array_equal(B, A * (p + 2) + p)
    assert [own.names for own in built.plan.fifos.streams] == [tuple(f"s_{p}" for p in range(P))]
    assert "s_0 and 7 more: f_0x8 (0, 2) -> g_0x8 (0, 3), 8 x 32 bytes, depth 2" in str(built.draw())
    assert built.timed().cycles > 0
    with pytest.raises(TargetError) as caught:  # what is put first is got last
        steps = [("bundle", f), ("bundle", g[::-1])]
        df.build(handed_over, target="aie", instantiate=[P], mapping_primitives=steps)
    assert str(caught.value) == (
        "the program does not fit 'xdna1_npu1'; there is too little of\n"
        "    locks of a core of core 'f_0x8' at (0, 2): 18 of 16, for A_0, s_0, s_1, s_2, s_3, s_4, s_5, s_6, s_7\n"
        "  hint: make parts of arrays smaller, or let cores run several tasks (mapping_primitives)"
    )


def test_joined_streams_that_a_dma_engine_moves() -> None:
    """Four cores can be beside one, the fifth cannot."""
    P = 20
    f, g = ([f"{task}_{p}" for p in range(P)] for task in "fg")
    steps = [*(("bundle", f[k : k + 4]) for k in range(0, P, 4)), ("bundle", g)]
    built = df.build(handed_over, target="aie", instantiate=[P], mapping_primitives=steps)
    A, B = np.arange(P * W, dtype=np.int32).reshape(P, W), np.zeros((P, W), np.int32)
    built(A, B)
    p = np.arange(P)[:, None]
    np.testing.assert_array_equal(B, A * (p + 2) + p)
    assert sorted(own.shared for own in built.plan.fifos.streams) == [False, True, True, True, True]
    assert built.timed().cycles > 0
