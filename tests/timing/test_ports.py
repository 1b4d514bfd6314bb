"""Ports of banks: how many accesses of one iteration fall on one bank."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

import allo
from allo.ir.types import float32, int32, uint8
from allo.ir.walk import entry_block
from allo.memory import Memory
from allo.target import Fpga, load_target
from allo.timing.problem.memory import Ports, array_memory
from allo.timing.problem.ports import accesses_of, intervals
from tests.seeds import sweep

from .regions import region_of


def stencil(A: float32[64], B: float32[64]):
    for i in range(1, 63):
        B[i] = A[i - 1] + A[i] + A[i + 1]


def lanes(A: float32[64, 64], B: float32[64]):
    for i in range(64):
        for u in range(8):
            B[8 * i % 64 + u] = A[i, u]


def pipelined(kernel: object, loop: str = "i") -> allo.Schedule:
    s = allo.customize(kernel)
    s.pipeline(loop)
    return s


def test_reads_of_one_bank() -> None:
    loop = allo.estimate(pipelined(stencil)).loop("i")
    assert (loop.interval, str(loop.reason)) == (2, "3 reads of bank 0 of A, 2 ports")


def row_copy(A: float32[64, 16], B: float32[64, 16]):
    for i in range(64):
        for u in range(16):
            B[i, u] = A[i, u] + 1.0


def test_a_partition_moves_accesses_apart() -> None:
    s = pipelined(row_copy)
    assert str(allo.estimate(s).loop("i").reason) == "16 reads of bank 0 of A, 2 ports"
    s.partition("A", dim=2, factor=4)
    s.partition("B", dim=2, factor=8)
    loop = allo.estimate(s).loop("i")
    assert (loop.interval, str(loop.reason)) == (2, "4 reads of bank 0 of A, 2 ports")
    s.partition("A", dim=1, factor=2)  # banks of rows: iterations move between them
    assert allo.estimate(s).loop("i").interval == 2


def histograms(X: uint8[256, 8], C: int32[8, 256]):
    for i in range(256):
        for lane in range(8):
            C[lane, X[i, lane]] += 1


def test_lanes_with_banks_of_their_own() -> None:
    """Which element of its bank a lane touches comes from data; the bank does not."""
    s = pipelined(histograms)
    s.partition("X", dim=2)
    assert str(allo.estimate(s).loop("i").reason) == "8 reads and 8 writes of bank 0 of C, 2 ports"
    s.partition("C", dim=1, factor=2)
    assert str(allo.estimate(s).loop("i").reason) == "4 reads and 4 writes of bank 0 of C, 2 ports"
    s = pipelined(histograms)
    s.partition("X", dim=2)
    s.partition("C", dim=1)
    loop = allo.estimate(s).loop("i")
    assert (loop.interval, str(loop.reason)) == (2, "recurrence through C: 1 read + 1 write over distance 1")
    s.partition("C", dim=2, factor=4)  # a lane may come to any of its four banks
    loop = allo.estimate(s).loop("i")
    reason = "recurrence through C: 1 read + choice of 4 + 1 write over distance 1"
    assert (loop.interval, str(loop.reason)) == (2, reason)  # the choice and the sum fit into the cycle of the write


def gathered(X: uint8[64, 8], C: int32[256], B: int32[64, 8]):
    for i in range(64):
        for lane in range(8):
            B[i, lane] = C[X[i, lane]]


def test_lanes_that_may_come_to_any_bank() -> None:
    s = pipelined(gathered)
    s.partition("X", dim=2)
    s.partition("B", dim=2)
    s.partition("C", dim=1, factor=4)
    assert str(allo.estimate(s).loop("i").reason) == "8 reads of bank 0 of C, 2 ports"


def test_reads_and_writes_share_ports() -> None:
    def move(A: int32[64]):
        for i in range(32):
            A[i] = A[i + 32] + A[63 - i]

    loop = allo.estimate(pipelined(move)).loop("i")
    assert loop.interval is not None and loop.interval >= 2
    assert "of A" in str(loop.reason)


@pytest.mark.parametrize(
    ("storage", "interval", "words"),
    [
        ("RAM_1P", 3, "3 reads of bank 0 of A, 1 port"),
        ("RAM_2P", 2, "3 reads of bank 0 of A, 2 ports"),
        ("ROM_NP", 1, "as requested: II 1"),
    ],
)
def test_kinds_of_memory(storage: str, interval: int, words: str) -> None:
    s = pipelined(stencil)
    s.bind("A", allo.Memory(resource="BRAM" if storage != "ROM_NP" else "LUTRAM", storage_type=storage))
    loop = allo.estimate(s).loop("i")
    assert (loop.interval, str(loop.reason)) == (interval, words)


def test_the_latency_of_a_memory_is_part_of_the_depth() -> None:
    s = pipelined(stencil)
    before = allo.estimate(s).loop("i").depth
    s.bind("A", allo.Memory(resource="BRAM", latency=3))
    assert allo.estimate(s).loop("i").depth == (before or 0) + 2


def test_equal_reads_are_one() -> None:
    def twice(A: float32[64], B: float32[64], C: float32[64]):
        for i in range(64):
            B[i] = A[i] * A[i]
            C[i] = A[i] + 1.0

    assert allo.estimate(pipelined(twice)).loop("i").interval == 1


@sweep(30)
def test_banks_by_counting(seed: int) -> None:
    """Residues against looking at every copy in every iteration."""
    choose = random.Random(seed)
    a, b, copies = choose.choice([1, 2, 4, 8]), choose.choice([1, 2, 3, 4]), choose.choice([2, 4, 8])
    shift, factor = choose.randrange(4), choose.choice([2, 4, 8])
    extent = 8 * 7 + 4 * 7 + 8

    def read(A: float32[extent], B: float32[8, 8]):
        for i in range(8):
            for u in range(copies):
                B[i, u] = A[a * i + b * u + shift]

    s = pipelined(read)
    s.partition("A", dim=1, factor=factor)
    region, _ = region_of(s)
    nodes = [node for node in region.nodes if node.memory is not None and node.memory.name == "A"]
    found = accesses_of(region, nodes)
    assert found is not None
    touched = np.zeros(factor, np.int64)
    for u in range(copies):  # a bank needs a port for a copy that can ever come to it
        for bank in {(a * i + b * u + shift) % factor for i in range(8)}:
            touched[bank] += 1
    assert (found.reads >= touched).all()
    if a % factor == 0:
        assert Counter(found.reads.tolist()) == Counter(touched.tolist())


@pytest.mark.parametrize(
    ("ports", "reads", "writes", "cycles"),
    [
        (Ports(2), 3, 2, 3),
        (Ports(2), 4, 0, 2),
        (Ports(1), 2, 2, 4),
        (Ports(None, 2, 1), 4, 1, 2),
        (Ports(None, 2, 1), 1, 4, 4),
        (Ports(None, None, 1), 8, 3, 3),
        (Ports(None, 3), 8, 9, 3),
        (Ports(2, 1, 1), 3, 1, 3),
        (Ports(3, 2, 1), 2, 4, 4),
    ],
)
def test_the_cycles_of_reads_and_writes(ports: Ports, reads: int, writes: int, cycles: int) -> None:
    found = intervals(ports, np.array([reads, 0]), np.array([writes, 0]))
    assert found is not None and found.tolist() == [cycles, 0]


def test_an_array_without_limits_has_no_interval() -> None:
    assert intervals(Ports(None), np.array([9]), np.array([9])) is None


def table(A: float32[64], B: float32[64], C: float32[64]):
    for i in range(16):
        A[i] = B[4 * i] + B[4 * i + 1] + B[4 * i + 2] + B[4 * i + 3]
        C[i] = A[i]


def test_a_memory_with_one_port_for_writes_has_many_for_reads() -> None:
    s = pipelined(table)
    s.bind("B", Memory(resource="BRAM", storage_type="RAM_1WNR"))
    assert allo.estimate(s).loop("i").interval == 1
    s = pipelined(table)
    s.bind("B", Memory(resource="BRAM", storage_type="RAM_1P"))
    assert allo.estimate(s).loop("i").interval == 4


def rows_of_a_block(A: float32[80], B: float32[4, 20]):
    for i in range(16):
        for u in range(4):
            B[u, i] = A[16 * u + i]


def beyond_a_block(A: float32[80], B: float32[4, 20]):
    for i in range(20):
        for u in range(4):
            B[u, i] = A[16 * u + i]


def before_a_block(A: float32[80], B: float32[4, 20]):
    for i in range(16):
        for u in range(4):
            B[u, i] = A[16 * u + 16 - i]


@pytest.mark.parametrize(
    ("kernel", "interval"), [(rows_of_a_block, 1), (beyond_a_block, 2), (before_a_block, 2)]
)
def test_copies_have_blocks_of_their_own_while_iterations_stay_in_them(kernel: object, interval: int) -> None:
    s = allo.customize(kernel)
    s.partition("A", allo.Partition.Block, dim=1, factor=5)
    s.partition("B", dim=1)
    s.unroll("u")
    s.pipeline("i")
    assert allo.estimate(s).loop("i").interval == interval


def test_an_extent_that_is_known_at_run_time_only_counts_as_one() -> None:
    """So the memory is a bank of block RAM with a place for one element, whatever its size will be."""

    def copied(A: float32[..., 3], B: float32[..., 3]):
        for i in range(A.shape[0]):
            B[i, 0] = A[i, 1]

    target = load_target("u280")
    assert isinstance(target, Fpga)
    entry = entry_block(allo.customize(copied).ir.function("copied"))
    assert entry is not None
    memory = array_memory(entry.arguments[0], "A", target)
    assert (memory.kind.name, memory.shape, memory.depth, memory.banks) == ("BRAM", (1, 3), 3, 1)
