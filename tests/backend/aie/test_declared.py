"""Parts of arguments that layouts declare bound accesses of which only a run knows where they are."""

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.ir.types import int4, int16, int32
from allo.memory import Layout

S, R = Layout.Shard, Layout.Replicate
A = np.arange(64, dtype=np.int32).reshape(8, 8)


def test_loops_to_a_number_of_the_call():
    @df.region()
    def top(A: int32[8, 8], n: int32, C: int32[8, 8]):
        @df.kernel(mapping=[2], args=[A, n, C])
        def task(a: int32[8, 8] @ [S(0), R], n: int32, c: int32[8, 8] @ [S(0), R]):
            for i in range(n):
                for j in range(8):
                    c[i, j] = a[i, j] + 1

    C, expected = np.full_like(A, -1), np.full_like(A, -1)
    expected[:3], expected[4:7] = A[:3] + 1, A[4:7] + 1
    built = df.build(top, target="aie")
    built(A, 3, C)
    assert (expected == C).all()
    assert str(built.graph).splitlines()[0] == "task_0 and 1 like it: A[0:4, 0:8] in, n[0:1] in, C[0:4, 0:8] in and out"


@pytest.mark.parametrize("kind, dtype", [(int32, np.int32), (int16, np.int16)])
def test_subscripts_out_of_arrays(kind, dtype):
    @df.region()
    def top(A: kind[8, 8], P: int32[8], C: kind[8, 8]):
        @df.kernel(mapping=[2, 2], args=[A, P, C])
        def task(a: kind[8, 8] @ [S(0), S(1)], p: int32[8] @ [S(0)], c: kind[8, 8] @ [S(0), S(1)]):
            for i, j in allo.grid(4, 4):
                c[p[i], j] = a[i, j]

    order, C = np.array([2, 0, 3, 1, 0, 1, 3, 2], np.int32), np.zeros((8, 8), dtype)
    df.build(top, target="aie")(A.astype(dtype), order, C)
    expected = np.zeros_like(A)
    expected[[*order[:4], *(4 + order[4:])]] = A
    assert (expected == C).all()


@pytest.mark.parametrize("kernels", ["scalar", "vector"])
def test_parts_of_elements_of_four_bits(kernels):
    """They are moved as bytes of two, and so are the parts that a layout declares."""

    @df.region()
    def top(A: int4[8, 32], P: int32[8], C: int32[8, 32]):
        @df.kernel(mapping=[4], args=[A, P, C])
        def task(a: int4[8, 32] @ [R, S(0)], p: int32[8], c: int32[8, 32] @ [R, S(0)]):
            for i, j in allo.grid(8, 8):
                c[i, j] = a[i, p[j]]

    random = np.random.default_rng(0)
    given, order = random.integers(-8, 8, (8, 32)).astype(np.int8), random.permutation(8).astype(np.int32)
    C = np.zeros((8, 32), np.int32)
    built = df.build(top, target="aie", kernels=kernels)
    built(given, order, C)
    assert (given.reshape(8, 4, 8)[:, :, order].reshape(8, 32) == C).all()
    assert "A[0:8, 0:8] in" in str(built.graph) or "A[0:8, 0:4] in" in str(built.graph)


def test_an_argument_that_a_task_has_twice():
    @df.region()
    def top(A: int32[8, 8], C: int32[8, 8]):
        @df.kernel(mapping=[2], args=[A, A, C])
        def task(a: int32[8, 8] @ [S(0), R], b: int32[8, 8] @ [R, S(0)], c: int32[8, 8] @ [S(0), R]):
            for i, j in allo.grid(4, 8):
                c[i, j] = a[b[0, i] % 4, j]

    C = np.zeros_like(A)
    df.build(top, target="aie")(A, C)
    assert (np.concatenate([A[A[0, :4] % 4], A[4 + A[0, 4:] % 4]]) == C).all()


def test_which_elements_is_known_at_run_time_only():
    @df.region()
    def top(A: int32[8, 8], n: int32, C: int32[8, 8]):
        @df.kernel(mapping=[2], args=[A, n, C])
        def task(a: int32[8, 8], n: int32, c: int32[8, 8]):
            p = df.get_pid()
            for i in range(4 * p, 4 * p + n):
                for j in range(8):
                    c[i, j] = a[i, j] + 1

    with pytest.raises(allo.AlloError) as error:
        df.build(top, target="aie")
    assert str(error.value).split(": ", 1)[1].splitlines() == [
        "task 'task_0' writes C[0:8, 0:8], of which task 'task_1' uses too: transfers have no order among them",
        "    def task(a: int32[8, 8], n: int32, c: int32[8, 8]):",
        "    ^",
        "  hint: say which part a position has by a layout, `@ [S(0), R]`: only a run knows which elements it uses",
    ]
