"""Programs on the model of the array: what NumPy computes, whatever is bundled and chained."""

# Streams of regions are declared by annotations.
# ruff: noqa: F821

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.backend.aie import reading
from allo.ir.module import Module
from allo.ir.types import Stream, int16, int32
from allo.library.aie.modules.gemm import gemm_steps
from allo.mapping import PartAccess
from allo.memory import Layout

from . import programs as p

type Numbers = np.ndarray[Any, Any]


def numbers(*shape: int, kind: Any = np.int16) -> Numbers:
    return np.random.default_rng(sum(shape)).integers(-4, 5, shape).astype(kind)


def positions(task: str, first: int, last: int) -> list[str]:
    return [f"{task}_{k}" for k in range(first, last)]


BUNDLED = [("bundle", positions("core", k, k + 4)) for k in range(0, 16, 4)]


def test_vector_scale() -> None:
    A, B = numbers(p.N, kind=np.int32), np.zeros(p.N, np.int32)
    df.build(p.vector_scale, target="aie")(A, B)
    np.testing.assert_array_equal(B, 3 * A)


@pytest.mark.parametrize(("steps", "cores"), [([], 16), (BUNDLED, 4)], ids=["", "bundled"])
def test_vector_add(steps: Any, cores: int) -> None:
    """Sixteen cores have too few DMA channels for two vectors: both come through one FIFO of each core."""
    A, B, C = numbers(p.N, kind=np.int32), numbers(p.N, kind=np.int32)[::-1].copy(), np.zeros(p.N, np.int32)
    built = df.build(p.vector_add, target="aie", mapping_primitives=steps)
    built(A, B, C)
    np.testing.assert_array_equal(C, A + B)
    assert len(built.plan.mapping.cores) == cores
    assert len(built.plan.fifos.arrays_of("core_0" if not steps else "core_0x4", True)) == (2 if steps else 1)


def test_what_is_read_and_written_comes_and_goes() -> None:
    A = numbers(p.N, kind=np.int32)
    wanted = A * 2 + 1
    built = df.build(p.in_place, target="aie", mapping_primitives=[("bundle", positions("core", 0, 3))])
    built(A)
    np.testing.assert_array_equal(A, wanted)
    assert [fifo.to_core for fifo in built.plan.fifos.arrays] == [True, False, True, False]


def test_matrix_add() -> None:
    A, B, C = numbers(p.M, p.K), numbers(p.K, p.M).T.copy(), np.zeros((p.M, p.K), np.int16)
    df.build(p.matrix_add, target="aie")(A, B, C)
    np.testing.assert_array_equal(C, A + B)


@pytest.mark.parametrize("steps", [[], [("chain", ["producer_0", "consumer_0"])]], ids=["", "chained"])
def test_producer_and_consumer(steps: Any) -> None:
    A, B = numbers(p.M, p.K, kind=np.int32), np.zeros((p.M, p.K), np.int32)
    built = df.build(p.producer_consumer, target="npu-model", mapping_primitives=steps)
    built(A, B)
    np.testing.assert_array_equal(B, A + 1)
    assert [core.name for core in built.plan.mapping.cores] == (
        ["producer_0-consumer_0"] if steps else ["producer_0", "consumer_0"]
    )


GEMMS = [("i16", (1, 1)), ("i16", (1, 4)), ("i16", (2, 4)), ("i16", (4, 4)), ("i8", (2, 2)), ("bf16", (2, 2))]


@pytest.mark.parametrize(("kind", "grid"), GEMMS, ids=str)
def test_gemm(kind: str, grid: tuple[int, int]) -> None:
    element = ml_dtypes.bfloat16 if kind == "bf16" else f"int{kind[1:]}"
    A, B = numbers(p.M, p.K, kind=element), numbers(p.K, p.M, kind=element)
    C = np.zeros((p.M, p.M), A.dtype)
    built = df.build(p.gemm, target="aie", instantiate=[p.TYPES[kind], *grid])
    built(A, B, C)
    np.testing.assert_array_equal(C.astype(np.float32), A.astype(np.float32) @ B.astype(np.float32))
    assert len(built.graph.classes()) == 1


def test_gemm_on_the_larger_array() -> None:
    A, B, C = numbers(p.M, p.K), numbers(p.K, p.M), np.zeros((p.M, p.M), np.int16)
    built = df.build(p.gemm, target="aie", instantiate=[p.Ty, 1, 8], device_type="npu2")
    built(A, B, C)
    np.testing.assert_array_equal(C, A @ B)
    assert (built.array.cores, {tile.column for tile in built.plan.placement.tiles}) == (32, set(range(8)))


SPLIT: list[tuple[str, Any, list[str]]] = [
    ("none", [], ["gemm_0", "gemm_1", "gemm_2", "gemm_3", "acc_0"]),
    ("bundle", [("bundle", positions("gemm", 0, 4))], ["gemm_0x4", "acc_0"]),
    (
        "bundle, chain",
        [("bundle", positions("gemm", 0, 4)), ("chain", ["gemm_0x4", "acc_0"])],
        ["gemm_0x4-acc_0"],
    ),
    (
        "chain",
        [("chain", ["gemm_0", "gemm_1"]), ("chain", ["gemm_2", "gemm_3"])],
        ["gemm_0-gemm_1", "gemm_2-gemm_3", "acc_0"],
    ),
]


@pytest.mark.parametrize(("steps", "cores"), [case[1:] for case in SPLIT], ids=[case[0] for case in SPLIT])
def test_partial_sums(steps: Any, cores: list[str]) -> None:
    """Fig. 7c of the Dato paper: products in parallel, in one core, and in the core that adds them up."""
    A, B, C = numbers(p.M, p.K), numbers(p.K, p.M), np.zeros((p.M, p.M), np.int16)
    built = df.build(p.split_k, target="aie", mapping_primitives=steps)
    built(A, B, C)
    np.testing.assert_array_equal(C, A @ B)
    assert [core.name for core in built.plan.mapping.cores] == cores


PARALLEL = [("chain", ["first_0", "second_0"]), ("chain", ["first_1", "second_1"])]


@pytest.mark.parametrize(
    "steps", [[], PARALLEL, [*PARALLEL, ("bundle", ["first_0-second_0", "first_1-second_1"])]]
)
def test_tensor_parallel(steps: Any) -> None:
    X, W1, W2, Y = numbers(p.M, p.K), numbers(p.K, p.M), numbers(p.M, p.K), np.zeros((p.M, p.K), np.int16)
    df.build(p.tensor_parallel, target="aie", mapping_primitives=steps)(X, W1, W2, Y)
    np.testing.assert_array_equal(Y, X @ W1 @ W2)


@pytest.mark.parametrize("region", [p.collective, p.systolic])
def test_streams_between_neighbours(region: Callable[..., Any]) -> None:
    rows, kind = (p.M, np.int16) if region is p.collective else (4, np.int32)
    A, B, C = numbers(rows, p.K, kind=kind), numbers(p.K, rows, kind=kind), np.zeros((rows, rows), kind)
    built = df.build(region, target="aie")
    built(A, B, C)
    np.testing.assert_array_equal(C, A @ B)
    assert all(fifo.shared for fifo in built.plan.fifos.streams)


def test_functions_that_take_a_place_that_data_decide() -> None:
    def count(seen: int32[8], place: int32):
        seen[place] += 1

    @df.region()
    def top(A: int32[32], H: int32[8]):
        @df.kernel(mapping=[1], args=[A, H])
        def core(A: int32[32], H: int32[8]):
            seen: int32[8] = 0
            for i in range(32):
                count(seen, A[i] & 7)
            for i in range(8):
                H[i] = seen[i]

    A, H = np.arange(32, dtype=np.int32) ** 2, np.zeros(8, np.int32)
    df.build(top, target="aie")(A, H)
    np.testing.assert_array_equal(H, np.bincount(A & 7, minlength=8))


def test_a_call_says_what_it_runs_on(caplog: pytest.LogCaptureFixture) -> None:
    built = df.build(p.vector_scale, target="aie")
    with caplog.at_level(logging.INFO, "allo"):
        built(np.zeros(p.N, np.int32), np.zeros(p.N, np.int32))
    assert "'vector_scale' runs on the model of npu1 (simulated)" in caplog.messages
    assert repr(built) == "<AIEModule vector_scale: 4 cores, runs on the model of npu1 (simulated)>"


MIDDLE = [("bundle", ["gemm_1_0_0", "gemm_2_0_0"]), ("chain", ["gemm_0_0_0", "gemm_1_0_0x2"])]


@pytest.mark.parametrize(
    ("grid", "steps", "cores"),
    [((2, 2, 2), [], 8), ((2, 2, 2), gemm_steps(2, 2, 2), 4), ((4, 1, 1), MIDDLE, 2)],
    ids=["", "chained", "bundled"],
)
def test_ping_pong(grid: tuple[int, int, int], steps: Any, cores: int) -> None:
    """Sums that are cut to 32 bits take 32 within cores; parts of one argument for several tasks share a FIFO."""
    A, B, C = numbers(p.M, p.K), numbers(p.K, p.M), np.zeros((p.M, p.M), np.int32)
    built = df.build(p.ping_pong, target="aie", instantiate=list(grid), mapping_primitives=steps)
    built(A, B, C)
    np.testing.assert_array_equal(C, A.astype(np.int32) @ B.astype(np.int32))
    assert len(built.plan.mapping.cores) == cores
    assert "xi36" not in built.mlir and "xi64" not in built.mlir
    if grid == (2, 2, 2) and steps:
        shared = [(fifo.cores, len(fifo.objects)) for fifo in built.plan.fifos.arrays if fifo.to_core]
        assert [(len(ends), count) for ends, count in shared] == [(2, 2)] * 4


def test_arrays_of_any_width_that_is_needed() -> None:
    A, B = numbers(p.N), np.zeros(p.N, np.int32)
    built = df.build(p.halves, target="aie")
    built(A, B)
    wide = A.astype(np.int64) << 20
    np.testing.assert_array_equal(B, (wide >> 16) + (wide[::-1] >> 18))
    assert "xi36" not in built.mlir and "xi64" in built.mlir


@df.region()
def dealt(A: int32[16, 16], B: int32[16, 16]):
    rows: Stream[int32[4, 16], 2][4]
    sums: Stream[int32[4, 16], 2][4]

    @df.kernel(mapping=[1], args=[A])
    def deal(a: int32[16, 16]):
        df.scatter(a, rows)

    @df.kernel(mapping=[4])
    def work():
        p = df.get_pid()
        sums[p].put(allo.add(rows[p].get(), 1))

    @df.kernel(mapping=[1], args=[B])
    def collect(b: int32[16, 16]):
        b[:, :] = df.gather(sums)


@pytest.mark.parametrize("steps", [[("bundle", ["work_0", "work_1"]), ("bundle", ["work_2", "work_3"])], "search"])
def test_scatter_and_gather_over_arrays_of_streams(steps: Any) -> None:
    """Loops over the streams of an array become copies, each with a stream of its own."""
    A, B = np.arange(256, dtype=np.int32).reshape(16, 16), np.zeros((16, 16), np.int32)
    df.build(dealt, target="aie", mapping_primitives=steps)(A, B)
    np.testing.assert_array_equal(B, A + 1)


def blurred(P: int) -> Any:
    @df.region()
    def top(A: int16[6 * P, 5], B: int16[6 * P, 5]):
        @df.kernel(mapping=[P], args=[A, B])
        def rows(A: int16[6 * P, 5], B: int16[6 * P, 5]):
            p = df.get_pid()
            for i, j in allo.grid(6, 5):
                B[6 * p + i, j] = A[6 * p + i, j]
                if 6 * p + i > 0:
                    B[6 * p + i, j] += A[6 * p + i - 1, j]
                if 6 * p + i < 6 * P - 1:
                    B[6 * p + i, j] += A[6 * p + i + 1, j]

    return top


def test_positions_that_differ_in_where_they_begin_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first and the last position see fewer rows, all others as many; rows of five numbers are read in pairs."""
    looked = []
    real = reading.reach_of_arguments

    def watched(module: Module, name: str, numbers: list[int]) -> Any:
        looked.append(name)
        return real(module, name, numbers)

    monkeypatch.setattr(reading, "reach_of_arguments", watched)
    found = []
    for P in (4, 12):
        A = numbers(6 * P, 5)
        B = np.zeros_like(A)
        built = df.build(blurred(P), target="aie")
        built(A, B)
        assert [len(own) for own in built.graph.classes().values()] == [1, P - 2, 1]
        assert {use.access for node in built.graph.nodes for use in node.parts[1:]} == {PartAccess.OUT}
        padded = np.pad(A, ((1, 1), (0, 0)))
        np.testing.assert_array_equal(B, padded[:-2] + padded[1:-1] + padded[2:])
        found.append(len(looked))
    assert found[1] == 2 * found[0]


@df.region()
def largest(A: int32[4, 16], B: int32[4, 16]):
    @df.kernel(mapping=[4], args=[A, B])
    def row(a: int32[4, 16] @ Layout("SR"), b: int32[4, 16] @ Layout("SR")):
        b[:, :] = allo.allreduce(a, op="max", axis=0)


@pytest.mark.parametrize("kernels", ["scalar", "vector"])
def test_numbers_that_streams_hand_to_loops(kernels: str) -> None:
    """Elements that go around a chain one by one are no lanes."""
    A, B = numbers(4, 16, kind=np.int32), np.zeros((4, 16), np.int32)
    df.build(largest, target="aie", kernels=kernels)(A, B)
    np.testing.assert_array_equal(B, np.repeat(A.max(0, keepdims=True), 4, 0))
