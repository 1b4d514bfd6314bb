"""Bundles of positions whose bodies depend on their ids: numbers, branches, parts of other shapes, streams by id."""

# Streams of regions are declared by annotations.
# ruff: noqa: F821

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.errors import TargetError
from allo.ir.types import Stream, int32
from allo.mapping import ShimTransfer
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


@df.region()
def answered[P, V, D, waits](A: int32[P, V], B: int32[P, V]):
    """A position of g waits for a word of the last of f, which has put all then."""
    s: Stream[int32[V], D][P]
    go: Stream[int32, 1]
    went: Stream[int32, 1]

    @df.kernel(mapping=[P], args=[A])
    def f(a: int32[P, V] @ Layout("S0R")):
        p = df.get_pid()
        x: int32[V] = 0
        for t in range(2):
            for i in range(V):
                x[i] = a[0, i] * (p + 2) + t
            s[p].put(x)
        with allo.meta_if(p == P - 1):
            go.put(1)

    @df.kernel(mapping=[1])
    def h():
        went.put(go.get() + 1)

    @df.kernel(mapping=[P], args=[B])
    def g(b: int32[P, V] @ Layout("S0R")):
        p = df.get_pid()
        k: int32 = 1
        with allo.meta_if(p == waits):
            k = went.get()
        x: int32[V] = s[p].get()
        for i in range(V):
            b[0, i] = x[i]
        y: int32[V] = s[p].get()
        for i in range(V):
            b[0, i] += y[i] * k


def bundled(V: int, D: int, waits: int) -> Any:
    f, g = ([f"{task}_{p}" for p in range(8)] for task in "fg")
    steps = [("bundle", f), ("bundle", g)]
    return df.build(answered, target="aie", instantiate=[8, V, D, waits], mapping_primitives=steps)


def test_a_joined_fifo_has_room_where_cores_would_wait() -> None:
    """The first of g needs a word of the last of f, which puts behind all others."""
    built = bundled(W, 2, 0)
    A, B = np.arange(8 * W, dtype=np.int32).reshape(8, W), np.zeros((8, W), np.int32)
    built(A, B)
    x = A * (np.arange(8)[:, None] + 2)
    np.testing.assert_array_equal(B, x + (x + 1) * np.array([2, 1, 1, 1, 1, 1, 1, 1])[:, None])
    assert [len(own.names) for own in built.plan.fifos.streams] == [8, 1, 1]
    assert built.plan.fifos.streams[0].depth == 8 * 2
    assert bundled(W, 2, 7).plan.fifos.streams[0].depth == 2


def test_a_joined_fifo_without_room_is_not_what_is_refused() -> None:
    """There are too few locks for a FIFO each, and too little memory for one with room for all."""
    with pytest.raises(TargetError) as caught:
        bundled(1024, 2, 0)
    (told,) = caught.value.diagnostics
    assert told.message.startswith(
        "the program does not fit 'xdna1_npu1'; there is too little of\n    locks of a core of core 'f_0x8' at (0, 2): "
    )
    assert [note.message for note in told.notes] == [
        "cores wait for one another for ever where streams share a FIFO: 8 streams from 's_0' on"
    ]
    assert told.hint == "make parts of arrays smaller, or let cores run several tasks (mapping_primitives)"


@pytest.mark.parametrize("V", [W, 2048], ids=["room for all", "too little memory"])
def test_cores_that_wait_with_a_fifo_each_too(V: int) -> None:
    """Two blocks do not fit in a stream of one."""
    with pytest.raises(TargetError, match=r"^mapped like this \(.*\), cores wait for one another for ever\n"):
        bundled(V, 1, 0)


@df.region()
def sums_of_parts(A: int32[64], B: int32[64], C: int32[64]):
    @df.kernel(mapping=[8], args=[A, B, C])
    def part(a: int32[64] @ Layout("S0"), b: int32[64] @ Layout("S0"), c: int32[64] @ Layout("S0")):
        c[:] = allo.add(a, b)


def test_operands_come_in_turn() -> None:
    """Eight transfers of each operand, of which a channel takes four: a sum needs both before more of one come."""
    steps = [("bundle", [f"part_{k}" for k in reversed(range(8))])]
    built = df.build(sums_of_parts, target="aie", mapping_primitives=steps)
    routes = [step.route for step in built.sequence.steps if isinstance(step, ShimTransfer)]
    assert sorted(Counter(routes).values()) == [8, 8, 8]
    A, C = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    built(A, A[::-1].copy(), C)
    assert (C == 63).all()


@df.region()
def handed_on(A: int32[P], B: int32[P]):
    s: Stream[int32, P][P + 1]

    @df.kernel(mapping=[1], args=[A])
    def feed(a: int32[P]):
        for i in range(P):
            s[0].put(a[i])

    @df.kernel(mapping=[P], args=[B])
    def keep(b: int32[P] @ Layout("S0")):
        p = df.get_pid()
        b[0] = s[p].get() * (p + 1)
        for _k in range(P - 1 - p):
            s[p + 1].put(s[p].get())


@pytest.mark.parametrize("steps", [[], [("bundle", [f"keep_{p}" for p in range(P)])]], ids=["apart", "bundled"])
def test_the_last_of_a_chain_hands_nothing_on(steps: list[tuple[str, list[str]]]) -> None:
    """Its loop has no iterations, and the stream behind it no end at all."""
    built = df.build(handed_on, target="aie", mapping_primitives=steps)
    assert [stream.name for stream in built.graph.streams] == [f"s_{p}" for p in range(P)]
    A, B = np.arange(3, 3 + P, dtype=np.int32), np.zeros(P, np.int32)
    built(A, B)
    assert (A * np.arange(1, P + 1) == B).all()
