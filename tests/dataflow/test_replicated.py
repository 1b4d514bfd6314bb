"""Arguments without a layout are replicated (Dato paper, section 3.4): positions that write the same are no race."""

# ruff: noqa: F821 - tasks are compiled where they stand

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.ir.types import Stream, float32, int32
from allo.memory import Layout

S, R = Layout.Shard, Layout.Replicate
N = 8
A = np.arange(N * N, dtype=np.int32).reshape(N, N)
TARGETS = pytest.mark.parametrize("target", ["llvm", "aie"])


def outputs(region, target, *arguments):
    given = [np.array(argument) for argument in arguments]
    df.build(region, target=target)(*given)
    return given


@df.region()
def whole(A: int32[N, N], C: int32[N, N]):
    @df.kernel(mapping=[2], args=[A, C])
    def task(a: int32[N, N], c: int32[N, N]):
        c[:, :] = allo.add(a, a)


@df.region()
def elements(A: int32[N, N], C: int32[N, N]):
    @df.kernel(mapping=[2, 2], args=[A, C])
    def task(a: int32[N, N], c: int32[N, N]):
        for i, j in allo.grid(N, N):
            c[i, j] = 0
            for k in range(2):
                c[i, j] += k * a[i, j] + a[i, j] - k * a[i, j]


def double(x: int32[N, N], y: int32[N, N]):
    for i, j in allo.grid(N, N):
        y[i, j] = 2 * x[i, j]


@df.region()
def called(A: int32[N, N], C: int32[N, N]):
    @df.kernel(mapping=[4], args=[A, C])
    def task(a: int32[N, N], c: int32[N, N]):
        double(a, c)


@df.region()
def rows(A: int32[N, N], C: int32[N, N]):
    @df.kernel(mapping=[2, 2], args=[A, C])
    def task(a: int32[N, N], c: int32[N, N]):
        p, _ = df.get_pid()
        c[4 * p : 4 * (p + 1), :] = a[4 * p : 4 * (p + 1), :] + a[4 * p : 4 * (p + 1), :]


@df.region()
def guarded(A: int32[N, N], C: int32[N, N]):
    @df.kernel(mapping=[2], args=[A, C])
    def task(a: int32[N, N], c: int32[N, N]):
        for i, j in allo.grid(N, N):
            if a[i, j] > 0:
                c[i, j] = 2 * a[i, j]


@TARGETS
@pytest.mark.parametrize("region", [whole, elements, called, rows, guarded], ids=lambda region: region.__name__)
def test_positions_that_write_the_same(region, target):
    assert (outputs(region, target, A, np.zeros_like(A))[1] == 2 * A).all()


@df.region()
def updated(A: int32[N, N], C: int32[N, N]):
    @df.kernel(mapping=[2], args=[A, C])
    def task(a: int32[N, N], c: int32[N, N]):
        for i, j in allo.grid(N, N):
            old: int32 = c[i, j]
            c[i, j] = old + a[i, j]


@df.region()
def updated_part(A: int32[N, N], C: int32[N, N]):
    @df.kernel(mapping=[2, 2], args=[A, C])
    def task(a: int32[N, N] @ [S(0), R], c: int32[N, N] @ [S(0), R]):
        for i, j in allo.grid(N // 2, N):
            old: int32 = c[i, j]
            c[i, j] = old + a[i, j]


@TARGETS
@pytest.mark.parametrize("region", [updated, updated_part], ids=lambda region: region.__name__)
def test_one_position_updates_what_all_would(region, target):
    assert (outputs(region, target, A, A)[1] == 2 * A).all()


@TARGETS
def test_what_else_positions_do_they_do_all(target):
    @df.region()
    def top(A: int32[N, N], C: int32[N, N], D: int32[N, N]):
        sums: Stream[int32, 2][2]

        @df.kernel(mapping=[2], args=[A, C])
        def task(a: int32[N, N], c: int32[N, N]):
            p = df.get_pid()
            for i, j in allo.grid(N, N):
                c[i, j] = a[i, j]
                sums[p].put(a[i, j] + p)

        @df.kernel(mapping=[1], args=[D])
        def add(d: int32[N, N]):
            for i, j in allo.grid(N, N):
                d[i, j] = sums[0].get() + sums[1].get()

    _, C, D = outputs(top, target, A, np.zeros_like(A), np.zeros_like(A))
    np.testing.assert_array_equal([C, D], [A, 2 * A + 1])


@TARGETS
def test_a_position_reads_the_copy_that_it_has_written(target):
    @df.region()
    def top(A: float32[N, N], C: float32[N, N], D: float32[2, N]):
        @df.kernel(mapping=[2], args=[A, C, D])
        def task(a: float32[N, N], c: float32[N, N], d: float32[2, N]):
            p = df.get_pid()
            c[:, :] = allo.matmul(a, a)
            for j in range(N):
                d[p, j] = c[p, j] + 1

    B = A.astype(np.float32)
    _, C, D = outputs(top, target, B, np.zeros_like(B), np.zeros((2, N), np.float32))
    assert (C == B @ B).all() and (C[:2] + 1 == D).all()


def test_other_values_are_a_race():
    @df.region()
    def top(A: int32[N, N], C: int32[N, N]):
        @df.kernel(mapping=[2], args=[A, C])
        def task(a: int32[N, N], c: int32[N, N]):
            p = df.get_pid()
            for i, j in allo.grid(N, N):
                c[i, j] = a[i, j] + p

    with pytest.raises(allo.AlloError, match=r"'C\[0, 0\]' is written by position \[1\] of task 'task', and position"):
        df.build(top)


@df.region()
def idle(A: int32[N, N], C: int32[N, N]):
    @df.kernel(mapping=[4], args=[A, C])
    def task(a: int32[N, N], c: int32[N, N]):
        c[:, :] = allo.add(a, a)


@pytest.mark.parametrize(
    "steps",
    [
        [("bundle", ["task_0", "task_1", "task_2", "task_3"])],
        [("bundle", ["task_1", "task_2"]), ("chain", ["task_1x2", "task_0"])],
    ],
)
def test_positions_without_work_may_be_named_in_mappings(steps):
    built = df.build(idle, target="aie", mapping_primitives=steps)
    C = np.zeros_like(A)
    built(A, C)
    assert [core.name for core in built.plan.mapping.cores] == ["task_0"]
    np.testing.assert_array_equal(C, 2 * A)


def test_mappings_of_unknown_positions_beside_ones_without_work():
    with pytest.raises(allo.AlloError) as error:
        df.build(idle, target="aie", mapping_primitives=[("bundle", ["task_1", "task_9"])])
    assert str(error.value) == "bundle: there is no task 'task_9'\n  hint: did you mean 'task_0'?"
