"""mapping_primitives: programs that bundle and chain tasks run on the CPU; what does not fit is refused."""

# Streams and arrays of regions are declared by annotations.
# ruff: noqa: F821

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.errors import TargetError
from allo.ir.types import Stream, int16
from allo.memory import Layout

S, R = Layout.Shard, Layout.Replicate
M, K, N, Pk = 8, 8, 8, 2


@df.region()
def split_k(A: int16[M, K], B: int16[K, N], C: int16[M, N]):
    pipe: Stream[int16[M, N], 2][Pk]

    @df.kernel(mapping=[Pk], args=[A, B])
    def gemm(a: int16[M, K] @ [R, S(0)], b: int16[K, N] @ [S(0), R]):
        p = df.get_pid()
        part: int16[M, N] = allo.matmul(a, b)
        pipe[p].put(part)

    @df.kernel(mapping=[1], args=[C])
    def add(c: int16[M, N]):
        c[:, :] = pipe[0].get() + pipe[1].get()


PLACED = [("bundle", ["gemm_0", "gemm_1"])]
BOTH = [*PLACED, ("chain", ["gemm_0x2", "add_0"])]
CHAINED = [("chain", ["gemm_0", "gemm_1"]), ["chain", ("gemm_0-gemm_1", "add_0")]]


@pytest.mark.parametrize("target", [None, "llvm", "simulator"])
@pytest.mark.parametrize("placed", [PLACED, CHAINED, BOTH], ids=["bundle", "chain", "both"])
def test_programs_that_place_tasks_run(target: str | None, placed: Any) -> None:
    A, B, C = (np.arange(64, dtype=np.int16).reshape(8, 8) % 5 for _ in range(3))
    df.build(split_k, target=target, mapping_primitives=placed)(A, B, C)
    np.testing.assert_array_equal(C, A @ B)


REFUSED: list[tuple[Any, str]] = [
    ([("bundle", ["gemm_0", "gemm_2"])], "bundle: there is no task 'gemm_2'\n  hint: did you mean 'gemm_1'?"),
    (
        [("bundle", ["gemm_0", "add_0"])],
        "bundle: 'gemm_0' and 'add_0' are not alike: they are positions of other tasks\n"
        "  hint: bundle positions of one task; chain those of several",
    ),
    ([*PLACED, ("chain", ["gemm_0", "add_0"])], "chain: there is no task 'gemm_0'\n  hint: did you mean 'gemm_0x2'?"),
    ([("chain", ["gemm_0"])], "chain: two tasks or more are joined, each named once; got ['gemm_0']"),
    (
        [("fuse", ["gemm_0", "gemm_1"])],
        "mapping_primitives are pairs such as ('bundle', ['gemm_0_0', 'gemm_0_1']) and ('chain', ['load_0', 'add_0']); "
        "got ('fuse', ['gemm_0', 'gemm_1'])",
    ),
]


@pytest.mark.parametrize(("placed", "message"), REFUSED)
def test_refused(placed: Any, message: str) -> None:
    with pytest.raises(TargetError) as caught:
        df.build(split_k, mapping_primitives=placed)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("options", "made"),
    [({"target": "vhls"}, "target 'vhls' makes"), ({"timed": True}, "timed=True counts the cycles of")],
    ids=["hardware", "cycles"],
)
def test_hardware_of_each_task(options: dict[str, Any], made: str) -> None:
    with pytest.raises(TargetError) as caught:
        df.build(split_k, mapping_primitives=PLACED, **options)
    assert str(caught.value) == (
        f"mapping_primitives let one core run several tasks, one after the other, and {made} hardware of its own for "
        "each task\n  hint: leave them out, or build for a CPU, where tasks take turns anyhow"
    )
