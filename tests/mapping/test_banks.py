"""Addresses and banks of the buffers of cores: they fit where any order does, and share banks where they have to."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise, permutations, product
from random import Random

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.backend.aie.check_memory import check_memories
from allo.ir.types import Stream, int8, int16, int32
from allo.library.aie import GEMM
from allo.mapping import ArrayPlan, CoreBuffer, PlacedBuffer, end_of
from allo.mapping.banks import BankSearch, weight
from allo.memory import Layout
from tests.seeds import sweep

ACCESS = 32


def buffer(name: str, size: int, number: int = 0, *nodes: str, writes: bool = False, turns: bool = False) -> CoreBuffer:
    used = frozenset(nodes)
    return CoreBuffer(name, number, size, name, frozenset() if writes else used, used if writes else frozenset(), turns)


def lowest_end(sizes: list[int], begin: int) -> int:
    """The end of the best order, each buffer at the lowest address that is free and a multiple of its alignment."""
    best = begin + 1_000_000
    for order in set(permutations(-(-size // 4) * 4 for size in sizes)):
        taken: list[tuple[int, int]] = []
        for size in order:
            step = next(own for own in (4, 8, 16, 32) if own >= min(size, 32))
            start = -(-begin // step) * step
            while any(start < high and low < start + size for low, high in taken):
                start += step
            taken.append((start, start + size))
        best = min(best, max(high for _, high in taken))
    return best


@sweep(300, 40)
def test_no_order_of_buffers_ends_lower(seed: int) -> None:
    random = Random(seed)
    sizes = [random.choice([1, 2, 4, 8, 12, 16, 20, 24, 31, 36, 40, 64, 100]) for _ in range(random.randint(1, 6))]
    begin = random.choice([0, 32, 64, 1024])
    assert end_of([buffer(f"b{k}", size) for k, size in enumerate(sizes)], begin, ACCESS) == lowest_end(sizes, begin)


@sweep(200, 20)
def test_as_few_buffers_share_a_bank_as_can(seed: int) -> None:
    """Of buffers that fit in any banks, by trying all; of others, they do not meet and are within the memory."""
    random = Random(seed)
    size, tight = 256, random.random() < 0.5
    nodes = ["f", "g", "h"]
    buffers = [
        buffer(
            f"b{k}", random.choice([40, 96, 128, 200, 300] if tight else [4, 12, 32]), 0,
            *random.sample(nodes, random.randint(0, 2)), writes=random.random() < 0.4,
        )
        for k in range(random.randint(1, 6))
    ]  # fmt: skip
    while end_of(buffers, 32, ACCESS) > 4 * size:
        buffers.pop()
    pairs = {
        pair: cost for pair in combinations(range(len(buffers)), 2)
        if (cost := weight(buffers[pair[0]], buffers[pair[1]]))
    }  # fmt: skip
    search = BankSearch(buffers, pairs, 32, 4 * size, size, ACCESS)
    spans = sorted((start, start + own.bytes) for start, own in zip(search.addresses(), buffers, strict=True))
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    assert spans[0][0] >= 32 and spans[-1][1] <= 4 * size
    if not tight:
        assert search.best is not None
        least = min(
            sum(cost for (a, b), cost in pairs.items() if banks[a] == banks[b])
            for banks in product(range(4), repeat=len(buffers))
        )
        assert search.best[0] == least


def test_what_shares_no_task_shares_a_bank() -> None:
    """Three operands of `f` and `g`, one of `f`, and a result of `g`, which meet: first it gets a bank of its own."""
    operands = [buffer(f"b{k}", size, 0, "f", "g") for k, size in enumerate((4, 32, 32))]
    buffers = [*operands[:2], buffer("result", 32, 0, "g", writes=True), operands[2], buffer("own", 32, 0, "f")]
    pairs = {
        pair: cost for pair in combinations(range(5), 2) if (cost := weight(buffers[pair[0]], buffers[pair[1]]))
    }
    addresses = BankSearch(buffers, pairs, 32, 1024, 256, ACCESS).addresses()
    banks = [address // 256 for address in addresses]
    assert banks[2] == banks[4] and len(set(banks)) == 4


@pytest.fixture(scope="module")
def product_plan() -> ArrayPlan:
    top, steps = GEMM(64, 64, 64, 2, 2, 2, int16, int16)
    plan: ArrayPlan = df.build(top, target="aie", mapping_primitives=steps, kernels="vector").plan
    return plan


def test_halves_and_operands_are_in_banks_of_their_own(product_plan: ArrayPlan) -> None:
    assert str(product_plan.memories[0]) == """\
core 'gemm_0_0_0-gemm_1_0_0' at (0, 2)
address  bytes  bank  what
-------  -----  ----  --------------------
0x0      1,024  0     stack
0x400    2,048  0     B_0[1]
0x4000   2,048  1     A_0[0]
0x4800   2,048  1     C_out_0
0x8000   2,048  2     A_0[1]
0x8800   2,048  2     pipe_0_0_0
0xc000   2,048  3     B_0[0]
0xc800   8      3     counts of pipe_0_0_0
bank 2 has 'A_0[1]' and 'pipe_0_0_0', which are used at once"""
    uses = [use for use in product_plan.capacity.uses if use.resource == "memory of a bank"]
    assert len(uses) == 16  # four cores
    assert str(uses[1]) == (
        "memory of a bank of bank 1 of core 'gemm_0_0_0-gemm_1_0_0' at (0, 2): 4,096 of 16,384, for A_0[0], C_out_0"
    )


def test_memories_have_room_for_what_is_emitted() -> None:
    """The arrays that the text declares are no more than the plan has places for, on each core."""
    top, steps = GEMM(64, 64, 64, 2, 2, 2, int16, int16)
    built = df.build(top, target="aie", mapping_primitives=steps)
    for memory in built.plan.memories:
        tile = f"aie.buffer(%tile_{memory.tile.column}_{memory.tile.row})"
        kinds = [line.rpartition("memref<")[2].rstrip(">") for line in built.mlir.splitlines() if tile in line]
        emitted = sum(int(np.prod([int(n) for n in kind.split("x")[:-1]])) * 2 for kind in kinds)
        own = [placed.buffer for placed in memory.buffers if placed.buffer.part != f"'{placed.buffer.owner}'"]
        own += [placed.buffer for placed in memory.buffers if placed.buffer.owner.startswith("pipe")]
        assert 0 < emitted <= sum(buffer.bytes for buffer in own)


@df.region()
def neighbours(A: int8[4, 500], C: int8[4, 500]):
    pipe: Stream[int8[500], 1]

    @df.kernel(mapping=[1], args=[A])
    def load(a: int8[4, 500]):
        for t in range(4):
            pipe.put(a[t])  # noqa: F821

    @df.kernel(mapping=[1], args=[C])
    def store(c: int8[4, 500]):
        for t in range(4):
            c[t] = pipe.get()  # noqa: F821


@df.region()
def tight(A: int32[16000], B: int32[9], C: int32[100], D: int32[9]):
    @df.kernel(mapping=[1], args=[A, B, C, D])
    def f(a: int32[16000], b: int32[9], c: int32[100], d: int32[9]):
        for i in range(100):
            c[i] = a[i] + a[15999 - i]
        for i in range(9):
            d[i] = b[i]


def test_what_only_fits_without_alignment_is_refused() -> None:
    """65,496 bytes of 65,536, of which three have to begin at multiples of 32."""
    with pytest.raises(allo.AlloError) as error:
        df.build(tight, target="aie")
    assert str(error.value) == (
        "the program does not fit 'xdna1_npu1'; there is too little of\n"
        "    memory of a core of core 'f_0' at (0, 2): 65,540 of 65,536, for 64,000 bytes of 'A_0', 36 bytes of 'B_0', "
        "400 bytes of 'C_out_0', 36 bytes of 'D_out_0', 1,024 bytes of stack, 44 bytes between them, as accesses are "
        "aligned\n"
        "  hint: make parts of arrays smaller, or let cores run several tasks (mapping_primitives)"
    )


@df.region()
def halves(A: int32[4, 5000], C: int32[4]):
    @df.kernel(mapping=[2], args=[A, C])
    def f(a: int32[4, 5000] @ Layout("S0R"), c: int32[4] @ Layout("S0")):
        for i in range(2):
            c[i] = 0
            for j in range(5000):
                c[i] += a[i, j]


def test_what_is_longer_than_a_bank_lies_in_several() -> None:
    """An object of 40,000 bytes is in three banks; what is small is beside it, in the one that is free."""
    memory = df.build(halves, target="aie").plan.memories[0]
    placed = {own.buffer.name: own for own in memory.buffers}
    assert len(placed["A_0"].banks) == 3
    assert not set(placed["A_0"].banks) & set(placed["C_out_0"].banks)
    assert "0 to 2" in str(memory) and not memory.shared


def edited(plan: ArrayPlan, name: str, **changes: object) -> ArrayPlan:
    """The plan with another address, or other banks, of a buffer of its first core."""
    first = plan.memories[0]
    own = [replace(one, **changes) if one.buffer.name == name else one for one in first.buffers]  # type: ignore[arg-type]
    return replace(plan, memories=(replace(first, buffers=tuple(own)), *plan.memories[1:]))


CORE = "of core 'gemm_0_0_0-gemm_1_0_0' at (0, 2)"
WRONG = [
    ({"address": 0x3F0}, f"'B_0[1]' {CORE} begins at 0x3f0, and the stack ends at 0x400"),
    ({"address": 0x4400}, f"'B_0[1]' {CORE} begins at 0x4400, and 'A_0[0]' ends at 0x4800"),
    ({"address": 0xF900}, f"'B_0[1]' {CORE} ends at 0x10100, and the memory at 0x10000"),
    ({"address": 0x410}, f"'B_0[1]' {CORE} begins at 0x410, and accesses of 32 bytes at multiples of that"),
    ({"banks": range(1, 2)}, f"'B_0[1]' {CORE} is in bank 0, and its plan says bank 1"),
]


@pytest.mark.parametrize(("changes", "message"), WRONG)
def test_wrong_addresses_are_refused(product_plan: ArrayPlan, changes: dict[str, object], message: str) -> None:
    with pytest.raises(allo.AlloError) as error:
        check_memories(edited(product_plan, "B_0[1]", **changes))
    assert str(error.value) == message


def test_buffers_without_an_address_are_refused(product_plan: ArrayPlan) -> None:
    first = product_plan.memories[0]
    left: tuple[PlacedBuffer, ...] = tuple(own for own in first.buffers if own.buffer.name != "A_0[1]")
    with pytest.raises(allo.AlloError) as error:
        check_memories(replace(product_plan, memories=(replace(first, buffers=left), *product_plan.memories[1:])))
    assert str(error.value) == "'A_0[1]' has no address in the memory of core 'gemm_0_0_0-gemm_1_0_0'"


def test_streams_between_neighbours_are_in_one_memory() -> None:
    """A stream that two cores share takes addresses of the core that has it only."""
    plan = df.build(neighbours, target="aie").plan
    (stream,) = plan.fifos.streams
    for memory in plan.memories:
        names = [own.buffer.owner for own in memory.buffers]
        assert ("pipe" in names) == (memory.core == stream.memory)
