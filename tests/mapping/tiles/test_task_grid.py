"""Plans as grids of tasks: regions with streams that compute what the kernel does, on the CPU and as hardware."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import allo
from allo import tile
from allo.errors import TargetError
from allo.ir.types import float32, int32
from tests.mapping.tiles.kernels import CASES, gemm, softmax
from tests.mapping.tiles.test_space import small_mesh
from tests.seeds import sampled

SHARED = {"A": 'load("A", "broadcast", "v", inside="k", buffers=2)', "B": 'load("B", "broadcast", "h", inside="k")'}
STEPS = {
    "integers": (small_mesh(2, 3), [*SHARED.values()]),
    "gemm": (small_mesh(3, 5), []),
    "split_k": (small_mesh(2, 2), []),
    "mlp": (small_mesh(2, 2), ['spread(m=("y", "x"))']),
    "batched": (small_mesh(1, 3), ['spread(n="y")', 'load("A", "broadcast", "v", inside="k", buffers=2)']),
    "convolution": (small_mesh(2, 2), []),
    "attention": (small_mesh(2, 2), ['load("K", "broadcast", "v", inside="n", buffers=2)']),
    "causal": (small_mesh(2, 2), []),
}


@pytest.mark.parametrize("name", sampled(list(STEPS)))
def test_tasks_compute_what_the_kernel_does(name: str) -> None:
    case, (mesh, steps) = CASES[name], STEPS[name]
    plan = tile.plan(case.kernel, mesh, case.values).replay("\n".join(steps))
    *given, result = case.arrays(0)
    plan.tasks().build()(*given, result)
    assert np.allclose(result, case.expected(*given), atol=1e-4)


@tile.kernel
def small(A: int32[4, 3], B: int32[3, 4], C: int32[4, 4]):
    for m, n in tile.programs(2, 2):
        acc: int32[2, 2] = 0
        for k in range(2):
            a: int32[2, 2] = tile.load(A, (m * 2, k * 2), (2, 2), mask=lambda i, j: j < 3)
            b: int32[2, 2] = tile.load(B, (k * 2, n * 2), (2, 2), mask=lambda i, j: i < 3, other=7)
            acc += allo.matmul(a, b)
        tile.store(C, (m * 2, n * 2), acc)


def test_the_text_of_a_region() -> None:
    plan = tile.plan(small, small_mesh(1, 2)).replay('load("A", "broadcast", "v", inside="k", buffers=2)')
    text = plan.region()
    reader = text[text.index("def read_a_in") : text.index("@df.kernel(mapping=[1], args=[B])")]
    assert reader.rstrip() == '''def read_a_in(A: int32[4, 3]):
        for m_wave in range(2):
            for k in range(2):
                with allo.meta_for(1) as core_x:
                    for e0, e1 in allo.grid(2, 2):
                        if k * 2 + e1 < 3:
                            a_in[core_x, 0].put(A[(core_x + m_wave) * 2 + e0, k * 2 + e1])
                        else:
                            a_in[core_x, 0].put(0)'''
    assert "a_in: Stream[int32, 8][1, 2]" in text and "b_in: Stream[int32, 4][1, 2]" in text
    random = np.random.default_rng(0)
    a, b = (random.integers(-9, 9, shape).astype(np.int32) for shape in ((4, 3), (3, 4)))
    for run in (plan.run, plan.tasks().build()):
        c = np.zeros((4, 4), np.int32)
        run(a, b, c)
        assert (c == a @ b).all()


@pytest.mark.exhaustive
def test_tasks_as_hardware() -> None:
    """The register-transfer level of a GEMM on four cores, in Verilator, and C simulation of its HLS code."""
    steps = SHARED["A"].replace("buffers=2", "buffers=1") + "\n" + SHARED["B"]
    schedule = tile.plan(small, small_mesh(2, 2)).replay(steps).tasks()
    random = np.random.default_rng(1)
    a, b = (random.integers(-9, 9, shape).astype(np.int32) for shape in ((4, 3), (3, 4)))
    for run in (schedule.build(target="rtl"), schedule.build(target="vhls", mode="csim")):
        c = np.zeros((4, 4), np.int32)
        run(a, b, c)
        assert (c == a @ b).all()


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["mlp", "attention"])
def test_tasks_in_simulated_cpp(name: str) -> None:
    """The HLS code of grids of tasks, run on this machine."""
    case, (mesh, steps) = CASES[name], STEPS[name]
    plan = tile.plan(case.kernel, mesh, case.values).replay("\n".join(steps))
    *given, result = case.arrays(0)
    plan.tasks().build(target="vhls", mode="csim")(*given, result)
    assert np.allclose(result, case.expected(*given), atol=1e-4)


@tile.kernel
def twice(A: float32[8], B: float32[8]):
    for m in tile.programs(2):
        a: float32[4] = A[m * 4 : (m + 1) * 4]
        for i in range(4):
            a[i] += A[m * 4 + i]
        B[m * 4 : (m + 1) * 4] = a


def refused(kernel: Any, steps: str = "", shape: tuple[int, int] = (2, 2), values: Any = None) -> str:
    with pytest.raises(TargetError) as caught:
        tile.plan(kernel, small_mesh(*shape), values).replay(steps).region()
    return str(caught.value)


def test_plans_that_streams_do_not_carry_out() -> None:
    values = {"BM": 8, "BN": 8, "BK": 8}
    assert refused(gemm, 'load("A", "per core", inside=None)', values=values) == (
        "tiles of 'A' are kept over iterations of 'k': a stream gives each tile once\n"
        '  hint: decide `load("A", ..., inside="k")`'
    )
    assert refused(gemm, SHARED["A"], (2, 4), values) == (
        "cores that share tiles of 'A' have no programs in the last wave\n"
        '  hint: decide `load("A", "per core", ...)`, or choose blocks that divide evenly'
    )
    causal = 'spread(m="y")\nload("K", "broadcast", "v", inside="n")'
    assert refused(CASES["causal"].kernel, causal, values={"CAUSAL": 1}) == (
        "cores that share tiles of 'K' run its loops in different numbers\n"
        '  hint: decide `load("K", "per core", ...)`'
    )
    assert ": `allo.softmax(X[m * 4:(m + 1) * 4])` is stored, which is no array of the kernel\n" in refused(softmax)
    assert ": `a[i] += A[m * 4 + i]` uses elements of an argument\n" in refused(twice)
    schedule = tile.plan(allo.customize(softmax), small_mesh(2, 2))
    with pytest.raises(TargetError) as caught:
        schedule.region()
    assert str(caught.value) == "a schedule has no text to make tasks of\n  hint: map the kernel itself"
