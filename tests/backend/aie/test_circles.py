"""Tasks in a circle of streams that share a core: they take turns, iteration by iteration."""

# Streams of regions are declared by annotations.
# ruff: noqa: F821

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.ir.types import Stream, int32
from allo.mapping import ShimTransfer
from allo.memory import Layout
from tests.dataflow.designs import elements

T, N, P, Q = 6, 8, 4, 2


@df.region()
def feedback(X: int32[T, N], Y: int32[T, N]):
    """The state comes back after each step."""
    there: Stream[int32[N], 2]
    back: Stream[int32[N], 2]

    @df.kernel(args=[X])
    def a(x: int32[T, N]):
        s: int32[N] = 0
        for t in range(T):
            o: int32[N] = 0
            for i in range(N):
                o[i] = x[t, i] + s[i]
            there.put(o)
            s[:] = back.get()

    @df.kernel(args=[Y])
    def b(y: int32[T, N]):
        for t in range(T):
            v: int32[N] = there.get()
            y[t, :] = v
            w: int32[N] = 0
            for i in range(N):
                w[i] = v[i] * 3 - i
            back.put(w)


@df.region()
def first_token(X: int32[T, N], Y: int32[T, N]):
    """A first element is there before the loops, and the last iteration puts none; two ranges of iterations."""
    there: Stream[int32[N], 2]
    back: Stream[int32[N], 2]

    @df.kernel(args=[X])
    def a(x: int32[T, N]):
        for t in range(T):
            s: int32[N] = back.get()
            o: int32[N] = 0
            for i in range(N):
                o[i] = x[t, i] + s[i]
            there.put(o)

    @df.kernel(args=[Y])
    def b(y: int32[T, N]):
        z: int32[N] = 1
        back.put(z)
        for t in range(T):
            v: int32[N] = there.get()
            y[t, :] = v
            w: int32[N] = 0
            for i in range(N):
                w[i] = v[i] * 3 - i
            if t < T - 1:
                back.put(w)


@df.region()
def one_ahead(X: int32[T, N], Y: int32[T, N]):
    """What puts is an iteration ahead of what gets: its first and its last statements are not in the loop."""
    there: Stream[int32, 4]
    back: Stream[int32, 4]

    @df.kernel(args=[X, Y])
    def a(x: int32[T, N], y: int32[T, N]):
        for i in range(N):
            there.put(x[0, i])
        for t in range(1, T):
            for i in range(N):
                y[t - 1, i] = back.get()
            for i in range(N):
                there.put(x[t, i] + y[t - 1, i])
        for i in range(N):
            y[T - 1, i] = back.get()

    @df.kernel()
    def b():
        for k in range(T * N):
            back.put(there.get() * 2 + k)


@df.region()
def to_itself(X: int32[T, N], Y: int32[T, N]):
    """A state that a task passes to itself."""
    s: Stream[int32[N], 2]

    @df.kernel(args=[X, Y])
    def a(x: int32[T, N], y: int32[T, N]):
        z: int32[N] = 1
        s.put(z)
        for t in range(T):
            v: int32[N] = s.get()
            o: int32[N] = 0
            for i in range(N):
                o[i] = x[t, i] + 3 * v[i]
            y[t, :] = o
            if t < T - 1:
                s.put(o)


@df.region()
def alternating(X: int32[T, N], Y: int32[T, N]):
    """One task puts in the first of two iterations, and gets in the second."""
    there: Stream[int32, 2]
    back: Stream[int32, 2]

    @df.kernel(args=[X])
    def a(x: int32[T, N]):
        s: int32 = 1
        for i in range(3, 2 * T * N + 3, 2):
            if i % 4 == 3:
                there.put(x[(i - 3) // 2 // N, (i - 3) // 2 % N] + s)
            else:
                s = back.get()

    @df.kernel(args=[Y])
    def b(y: int32[T, N]):
        for i in range(T * N // 2):
            v: int32 = there.get()
            y[i // N, i % N] = v
            back.put(v * 3 + i)


@df.region()
def sampled(X: int32[T, N], Y: int32[T, N]):
    """Of each five elements one comes back; the last three are fewer."""
    there: Stream[int32, 8]
    back: Stream[int32, 2]

    @df.kernel(args=[X])
    def a(x: int32[T, N]):
        s: int32 = 1
        for i in range(T * N):
            there.put(x[i // N, i % N] + s)
            if i % 5 == 4:
                s = back.get()

    @df.kernel(args=[Y])
    def b(y: int32[T, N]):
        for i in range(T * N):
            v: int32 = there.get()
            y[i // N, i % N] = v
            if i % 5 == 4:
                back.put(v * 3 - i)


@df.region()
def ranges(X: int32[T, N], Y: int32[T, N]):
    """Two conditions on the number of an iteration: those of six differ in both."""
    there: Stream[int32[N], 2]
    back: Stream[int32[N], 2]

    @df.kernel(args=[X])
    def a(x: int32[T, N]):
        s: int32[N] = 1
        for t in range(T):
            if t % 2 == 0:
                there.put(allo.add(x[t], s))
            if t < 3:
                there.put(x[t])
            if t % 2 == 0:
                s[:] = back.get()

    @df.kernel(args=[Y])
    def b(y: int32[T, N]):
        for t in range(T):
            if t % 2 == 0:
                y[t, :] = there.get()
                back.put(y[t] * 3)
            if t < 3:
                v: int32[N] = there.get()
                y[t, :] = y[t] + v


@df.region()
def rates(X: int32[T, N], Y: int32[T, N]):
    """Three iterations that move two elements for two that move three, and two more for what was put first."""
    there: Stream[int32, 8]
    back: Stream[int32, 8]

    @df.kernel(args=[X])
    def a(x: int32[T, N]):
        for k in range(6):
            there.put(k)
        for i in range(T * N // 2):
            s: int32 = 0
            for _k in range(2):
                s = s * 2 + back.get()
            for k in range(2):
                there.put(x[(2 * i + k) // N, (2 * i + k) % N] + s)
        for _k in range(6):
            back.get()

    @df.kernel(args=[Y])
    def b(y: int32[T, N]):
        for i in range(T * N // 3 + 2):
            for k in range(3):
                v: int32 = there.get()
                if i > 1:
                    y[(3 * i + k - 6) // N, (3 * i + k - 6) % N] = v
                back.put(v % 7 - i)


@df.region()
def three(X: int32[T, N], Y: int32[T, N]):
    """A circle of three tasks, of which two may share a core; one of them has a stream out of the circle."""
    ab: Stream[int32[N], 2]
    bc: Stream[int32[N], 2]
    ca: Stream[int32[N], 2]
    out: Stream[int32[N], 2]

    @df.kernel(args=[X])
    def a(x: int32[T, N]):
        s: int32[N] = 0
        for t in range(T):
            o: int32[N] = 0
            for i in range(N):
                o[i] = x[t, i] - s[N - 1 - i]
            ab.put(o)
            s[:] = ca.get()

    @df.kernel()
    def b():
        for _t in range(T):
            v: int32[N] = ab.get()
            bc.put(v)
            out.put(v)

    @df.kernel()
    def c():
        for t in range(T):
            v: int32[N] = bc.get()
            for i in range(N):
                v[i] = v[i] * 2 + t
            ca.put(v)

    @df.kernel(args=[Y])
    def d(y: int32[T, N]):
        for t in range(T):
            y[t, :] = out.get()


def ran(region: Callable[..., Any], steps: Any, **options: Any) -> Any:
    """The built region, after a call that gives what the region does."""
    X = np.arange(T * N, dtype=np.int32).reshape(T, N) % 7 - 3
    Y, wanted = np.zeros_like(X), np.zeros_like(X)
    df.build(region)(X.copy(), wanted)
    built = df.build(region, target="aie", mapping_primitives=steps, **options)
    built(X, Y)
    np.testing.assert_array_equal(Y, wanted)
    assert wanted.any()
    return built


PAIRS: list[tuple[Callable[..., Any], dict[str, int]]] = [
    (feedback, {"there": N, "back": N}),
    (first_token, {"there": N, "back": N}),
    (one_ahead, {"there": N, "back": N}),
    (alternating, {"there": 1, "back": 1}),
    (sampled, {"there": 5, "back": 1}),
    (ranges, {"there": 2 * N, "back": N}),
    (rates, {"there": 6, "back": 6}),
]


@pytest.mark.parametrize(("region", "held"), PAIRS, ids=[region.__name__ for region, _ in PAIRS])
@pytest.mark.parametrize("order", [["a_0", "b_0"], ["b_0", "a_0"]], ids="-".join)
def test_two_tasks_take_turns(region: Callable[..., Any], held: dict[str, int], order: list[str]) -> None:
    """Streams keep what is in them at once, not all that passes; the proof says that nothing else is computed."""
    built = ran(region, [("chain", order)])
    assert {own.stream.name: own.length for own in built.plan.fifos.internal} == held
    assert type(allo.verify(region, built)).__name__ == "Equivalent"
    assert built.mlir.count("aie.core(") == 1 and built.timed().cycles > 0


def test_loops_around_both_stay_loops() -> None:
    """One loop over the steps, in which both tasks have their statements."""
    built = ran(feedback, [("chain", ["a_0", "b_0"])])
    steps = [line for line in built.mlir.splitlines() if "scf.for" in line and "%c6" in line]
    assert len(steps) == 1


def test_periods_of_rates_are_one_loop() -> None:
    """As long as the tasks are: 8 periods of three iterations and two, and two that are left."""
    built = ran(rates, [("chain", ["a_0", "b_0"])])
    apart = ran(rates, [])
    assert len(built.mlir.splitlines()) < 1.5 * len(apart.mlir.splitlines())


@df.region()
def more_each_time(X: int32[T, N], Y: int32[T, N]):
    """A task that puts into its stream, and gets out of it, one more in each iteration."""
    s: Stream[int32, N]

    @df.kernel(args=[X, Y])
    def a(x: int32[T, N], y: int32[T, N]):
        for t in range(T):
            for i in range(t + 1):
                s.put(x[t, i])
            for i in range(t + 1):
                y[t, t - i] = s.get() + i


@pytest.mark.parametrize("kernels", ["scalar", "vector"])
def test_a_task_alone_keeps_its_own_order(kernels: str) -> None:
    """What it holds is what the stream does, however its loops run."""
    built = ran(more_each_time, [], kernels=kernels)
    assert [(own.stream.name, own.length) for own in built.plan.fifos.internal] == [("s", N)]


@pytest.mark.parametrize("kernels", ["scalar", "vector"])
def test_a_state_that_a_task_passes_to_itself(kernels: str) -> None:
    built = ran(to_itself, [], kernels=kernels)
    assert [(own.stream.name, own.length) for own in built.plan.fifos.internal] == [("s", N)]


@pytest.mark.parametrize("kernels", ["scalar", "vector"])
@pytest.mark.parametrize(
    "names", [["a_0", "b_0"], ["c_0", "a_0"], ["a_0", "b_0", "c_0"], ["d_0", "c_0", "b_0"]], ids="".join
)
def test_three_tasks(names: list[str], kernels: str) -> None:
    """Those on the core keep the order of all three; what is on another core comes when its turn is."""
    steps = [("chain", names)] if names[0] != "d_0" else [("chain", ["c_0", "b_0"]), ("chain", ["c_0-b_0", "d_0"])]
    built = ran(three, steps, kernels=kernels)
    assert len(built.plan.mapping.cores) == 4 - len(names) + 1


@df.region()
def ring(A: int32[P * N], B: int32[P * N]):
    s: Stream[int32[N], 1][P]

    @df.kernel(mapping=[P], args=[A, B])
    def f(a: int32[P * N] @ Layout("S0"), b: int32[P * N] @ Layout("S0")):
        p = df.get_pid()
        o: int32[N] = 0
        for j in range(N):
            o[j] = a[j]
        for _r in range(3):
            s[(p + 1) % P].put(o)
            n: int32[N] = s[p].get()
            for j in range(N):
                o[j] = o[j] * 3 + n[N - 1 - j] + p
        b[:] = o


F = [f"f_{p}" for p in range(P)]
RINGS: list[tuple[Any, int]] = [
    ([], P),
    ([("bundle", F)], 1),
    ([("bundle", F[::-1])], 1),
    ([("bundle", F[:2])], 3),
    ([("bundle", F[:2]), ("bundle", F[2:])], 2),
    ([("bundle", F[::2]), ("bundle", F[1::2])], 2),
]


@pytest.mark.parametrize(("steps", "cores"), RINGS)
def test_positions_on_a_ring_share_cores(steps: Any, cores: int) -> None:
    A, B = np.arange(P * N, dtype=np.int32), np.zeros(P * N, np.int32)
    built = df.build(ring, target="aie", mapping_primitives=steps)
    built(A, B)
    o, p = A.reshape(P, N), np.arange(P)[:, None]
    for _ in range(3):
        o = o * 3 + np.roll(o, 1, 0)[:, ::-1] + p
    np.testing.assert_array_equal(B, o.reshape(P * N))
    assert len(built.plan.mapping.cores) == cores
    assert type(allo.verify(ring, built)).__name__ == "Equivalent"


@pytest.mark.parametrize(("order", "depth"), [(F, 2), (F[::-1], P + 1)], ids=["forwards", "backwards"])
def test_parts_are_held_while_they_are_used(order: list[str], depth: int) -> None:
    """Each position reads its part before its first turn: an object and one ahead, if they are in that order."""
    built = df.build(ring, target="aie", mapping_primitives=[("bundle", order)])
    assert [(fifo.depth, fifo.passing) for fifo in built.plan.fifos.arrays] == [(depth, depth == 2)] * 2


@df.region()
def wheel(A: int32[6, N], B: int32[6, N]):
    s: Stream[int32[N], 1][6]

    @df.kernel(mapping=[6], args=[A, B])
    def f(a: int32[6, N] @ Layout("S0R"), b: int32[6, N] @ Layout("S0R")):
        p = df.get_pid()
        s[(p + 1) % 6].put(a[0])
        o: int32[N] = s[p].get()
        for j in range(N):
            b[0, j] = a[0, N - 1 - j] * 3 + o[j] + p


def test_all_parts_come_before_a_result_leaves() -> None:
    """Rows in no even order are six transfers each way, of which a channel takes four at a time."""
    built = df.build(wheel, target="aie", mapping_primitives=[("bundle", [f"f_{p}" for p in (2, 1, 0, 4, 5, 3)])])
    A, B = np.arange(6 * N, dtype=np.int32).reshape(6, N), np.zeros((6, N), np.int32)
    built(A, B)
    np.testing.assert_array_equal(B, A[:, ::-1] * 3 + np.roll(A, 1, 0) + np.arange(6)[:, None])
    routes = [step.route for step in built.sequence.steps if isinstance(step, ShimTransfer)]
    assert len(routes) > 2 * 4


def test_nine_positions_on_one_core() -> None:
    """All parts at once would take 27 descriptors of 16."""
    names = [f"element_{i}_{j}" for i in range(3) for j in range(3)]
    built = df.build(elements.cannon, target="aie", mapping_primitives=[("bundle", names)])
    X = np.random.default_rng(0).integers(-3, 4, (6, 6)).astype(np.int32)
    Z, wanted = np.zeros_like(X), np.zeros_like(X)
    built(X, X.T.copy(), Z)
    df.build(elements.cannon)(X, X.T.copy(), wanted)
    np.testing.assert_array_equal(Z, wanted)
    assert wanted.any()


ROWS = [[f"element_{i}_{j}" for j in range(3)] for i in range(3)]
COLUMNS = [list(column) for column in zip(*ROWS, strict=True)]


@pytest.mark.parametrize(
    ("groups", "joined"),
    [([], []), (ROWS, ["up_2_0", "up_0_0", "up_1_0"]), (COLUMNS, ["left_0_2", "left_0_0", "left_0_1"])],
    ids=["nine cores", "a core for each row", "a core for each column"],
)
def test_a_torus_of_three_by_three(groups: list[list[str]], joined: list[str]) -> None:
    """No three cores are all beside each other: what goes around takes one DMA channel, of which a core has two."""
    built = df.build(elements.cannon, target="aie", mapping_primitives=[("bundle", group) for group in groups])
    X = np.random.default_rng(0).integers(-3, 4, (6, 6)).astype(np.int32)
    Z, wanted = np.zeros_like(X), np.zeros_like(X)
    built(X, X.T.copy(), Z)
    df.build(elements.cannon)(X, X.T.copy(), wanted)
    np.testing.assert_array_equal(Z, wanted)
    assert len(built.plan.mapping.cores) == (len(groups) or 9)
    assert [own.names[0] for own in built.plan.fifos.streams if len(own.names) == 3] == joined
    assert {own.depth for own in built.plan.fifos.streams} == {6 if joined else 2}
    assert built.timed().cycles > 0
    if groups == ROWS:
        assert type(allo.verify(elements.cannon, built)).__name__ == "Equivalent"


@df.region()
def cannon(A: int32[Q * N, Q * N], B: int32[Q * N, Q * N], C: int32[Q * N, Q * N]):
    """Blocks of both matrices go around a torus, from where the algorithm wants them at first."""
    left: Stream[int32[N, N], 1][Q, Q]
    up: Stream[int32[N, N], 1][Q, Q]

    @df.kernel(mapping=[Q, Q], args=[A, B, C])
    def cell(a: int32[Q * N, Q * N], b: int32[Q * N, Q * N], c: int32[Q * N, Q * N]):
        i, j = df.get_pid()
        x: int32[N, N] = 0
        y: int32[N, N] = 0
        z: int32[N, N] = 0
        for u, v in allo.grid(N, N):
            x[u, v] = a[i * N + u, (i + j) % Q * N + v]
            y[u, v] = b[(i + j) % Q * N + u, j * N + v]
        for _k in range(Q):
            z[:, :] = allo.add(z, allo.matmul(x, y))
            left[i, (j + Q - 1) % Q].put(x)
            up[(i + Q - 1) % Q, j].put(y)
            x[:, :] = left[i, j].get()
            y[:, :] = up[i, j].get()
        for u, v in allo.grid(N, N):
            c[i * N + u, j * N + v] = z[u, v]


CELLS = [f"cell_{i}_{j}" for i in range(Q) for j in range(Q)]


@pytest.mark.parametrize("kernels", ["scalar", "vector"])
@pytest.mark.parametrize("groups", [[CELLS], [CELLS[:2], CELLS[2:]]], ids=["one core", "a core for each row"])
def test_positions_on_a_torus_share_cores(groups: list[list[str]], kernels: str) -> None:
    A = np.random.default_rng(3).integers(-4, 5, (Q * N, Q * N)).astype(np.int32)
    B, C = A[::-1].copy(), np.zeros_like(A)
    steps = [("bundle", group) for group in groups]
    built = df.build(cannon, target="aie", mapping_primitives=steps, kernels=kernels)
    built(A, B, C)
    np.testing.assert_array_equal(C, A @ B)
    assert len(built.plan.mapping.cores) == len(groups)


@df.region()
def phases(X: int32[14], Y: int32[14]):
    there: Stream[int32, 4]
    back: Stream[int32, 4]

    @df.kernel(mapping=[1], args=[X, Y])
    def ask(x: int32[14], y: int32[14]):
        for i in range(14):
            there.put(x[i])
            y[i] = back.get()

    @df.kernel(mapping=[1])
    def answer():
        for t in range(4):
            back.put(there.get() * 3 + t)
        for t in range(4):
            back.put(there.get() * 5 + t)
            back.put(there.get() * 7 + t)
        for t in range(2):
            back.put(there.get() * 11 + t)


def test_strips_begin_where_iterations_have_ended() -> None:
    """Four iterations of a loop go with one loop of the other task, eight two by two, the last with a third."""
    built = df.build(phases, target="aie", mapping_primitives=[("chain", ["ask_0", "answer_0"])])
    X, Y = np.arange(5, 19, dtype=np.int32), np.zeros(14, np.int32)
    built(X, Y)
    t = np.arange(4)
    pairs = np.stack([X[4:12:2] * 5 + t, X[5:12:2] * 7 + t], 1).reshape(-1)
    np.testing.assert_array_equal(Y, [*(X[:4] * 3 + t), *pairs, *(X[12:] * 11 + t[:2])])
