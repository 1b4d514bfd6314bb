"""Arrays beside the chip: bursts that copy arguments, accesses of the kernel itself, and what is refused."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import pytest

import allo
from allo.errors import TargetError
from allo.ir.types import float32, int32
from allo.target import load_target


def add(A: float32[64, 32], B: float32[64, 32], C: float32[64, 32]):
    for i in range(64):
        for j in range(32):
            C[i, j] = A[i, j] + B[i, j]


def pipelined(kernel: Callable[..., Any], loop: str) -> allo.Schedule:
    s = allo.customize(kernel)
    s.pipeline(loop)
    return s


def test_bursts_of_arguments() -> None:
    """C is written only, A and B are read only; 64 cycles until the first word, then one a cycle."""
    s = pipelined(add, "j")
    on_chip, found = allo.estimate(s), allo.estimate(s, memory="HBM")
    assert [(t.kind, t.array, t.memory, t.words, t.word_bits) for t in found.transfers] == [
        ("load", "A", "HBM", 2048, 32), ("load", "B", "HBM", 2048, 32), ("store", "C", "HBM", 2048, 32),
    ]  # fmt: skip
    assert [t.cycles for t in found.transfers] == [2047 + 64 + 1 + 5 + 1] * 3
    assert on_chip.cycles is not None and on_chip.transfers == ()
    assert found.cycles == on_chip.cycles + 3 * 2118
    assert found.kernel == on_chip.kernel
    assert found.bram18 == on_chip.bram18 + 3 * 4  # 2048 words of 32 bits each


def test_words_are_as_wide_as_neighbours_lie_in_different_banks() -> None:
    """As the code that `build` writes has them."""
    s = pipelined(add, "j")
    s.partition("A", dim=2, factor=8)
    s.partition("B", dim=2)
    s.partition("C", dim=1)
    words = [(t.words, t.word_bits) for t in allo.estimate(s, memory="HBM").transfers]
    assert words == [(256, 256), (128, 512), (2048, 32)]
    code = str(s.build(target="vitis_hls").hls_code)
    assert re.findall(r"void \w+_top\(.*\)", code) == [
        "void add_top(const ap_uint<256> *A, const ap_uint<512> *B, float *C)"
    ]
    narrow = allo.estimate(s, memory="HBM", word_bits=128).transfers
    assert [(t.words, t.word_bits) for t in narrow] == [(512, 128), (512, 128), (2048, 32)]


def test_a_port_has_a_bandwidth() -> None:
    """512 bits at 300 MHz are 19.2 * 10^9 bytes a second: what a port of DDR4 has; one of HBM has 14.375."""
    s = pipelined(add, "j")
    s.partition("A", dim=2)
    wide = {name: allo.estimate(s, memory={"A": name}).transfers[0].cycles for name in ("HBM", "DDR")}
    assert wide == {"DDR": 127 + 71, "HBM": math.ceil(127 * 19.2 / 14.375) + 71}
    assert load_target("u280").external["HBM"].interval(512, 300) == pytest.approx(19.2 / 14.375)
    assert load_target("u280").external["HBM"].interval(256, 300) == 1


def test_an_array_that_is_not_overwritten_for_certain_is_loaded() -> None:
    def some(A: float32[64], n: int32[64]):
        for i in range(64):
            if n[i] > 0:
                A[i] = 1.0

    kinds = [(t.kind, t.array) for t in allo.estimate(pipelined(some, "i"), memory="HBM").transfers]
    assert kinds == [("load", "A"), ("load", "n"), ("store", "A")]


def test_a_result_is_stored() -> None:
    def doubled(A: float32[64]) -> float32[64]:
        B: float32[64] = 0.0
        for i in range(64):
            B[i] = 2.0 * A[i]
        return B

    found = allo.estimate(pipelined(doubled, "i"), memory="HBM").transfers
    assert [(t.kind, t.array, t.words) for t in found] == [("load", "A", 64), ("store", "result 0", 64)]


def rows(A: float32[64, 64], B: float32[64, 64], C: float32[64, 64]):
    for i in range(64):
        for k in range(64):
            for j in range(64):
                C[i, j] += A[i, k] * B[k, j]


def test_accesses_of_the_kernel_itself() -> None:
    found = allo.estimate(pipelined(rows, "j"), memory="HBM", in_place=["C"])
    loop = found.loop("j")
    words = "recurrence through C: 64 read + 6 add + 64 write over distance 64"
    assert (loop.interval, str(loop.reason)) == (3, words)
    assert [t.array for t in found.transfers] == ["A", "B"]


def test_a_port_takes_one_read_a_cycle() -> None:
    def stencil(A: float32[64], B: float32[64]):
        for i in range(1, 63):
            B[i] = A[i - 1] + A[i] + A[i + 1]

    loop = allo.estimate(pipelined(stencil, "i"), memory="HBM", in_place=["A"]).loop("i")
    assert (loop.interval, str(loop.reason)) == (3, "3 reads of bank 0 of A, 1 port")
    assert loop.advice == 's.partition(s.reuse_at("stencil:A", "stencil:i"))'


def test_callees_access_memory_too() -> None:
    def scale(X: float32[64], Y: float32[64]):
        for i in range(64):
            Y[i] = 2.0 * X[i]

    def top(A: float32[64], B: float32[64]):
        scale(A, B)

    s = pipelined(top, "scale:i")
    near, far = allo.estimate(s, memory="HBM"), allo.estimate(s, memory="HBM", in_place=["A"])
    assert (far.loop("i").depth or 0) == (near.loop("i").depth or 0) + 63


def test_the_report_lists_bursts() -> None:
    found = allo.estimate(pipelined(add, "j"), memory="HBM")
    assert "burst    memory  words  bits  cycles\n" in str(found)
    assert "store C  HBM     2048   32    2118\n" in str(found)
    assert "<td>store C</td><td>HBM</td><td>2048</td><td>32</td><td>2118</td>" in found.to_html()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"memory": "HB"},
            "target 'u280' has no memory 'HB' beside the chip\n  hint: did you mean 'HBM'?",
        ),
        (
            {"memory": "PLRAM"},
            "target 'u280' has no memory 'PLRAM' beside the chip\n  hint: it has: HBM, DDR",
        ),
        (
            {"memory": {"X": "HBM"}},
            "memory names no array of the entry 'add': 'X'\n  hint: its arrays are A, B, C",
        ),
        (
            {"memory": "HBM", "in_place": ["X"]},
            "in_place names no array of the entry 'add': 'X'\n  hint: its arrays are A, B, C",
        ),
        (
            {"in_place": ["C"]},
            "in_place names C, but without memory= all arrays are on the chip\n"
            "  hint: say which memory it is in: HBM, DDR",
        ),
        (
            {"memory": {"A": "HBM"}, "in_place": ["C"]},
            "in_place names 'C', but memory does not say where it is",
        ),
        (
            {"memory": "HBM", "in_place": ["B"]},
            "'B' cannot stay in memory: it is partitioned, and memory has no banks\n"
            "  hint: partition an array on the chip that buffer_at makes",
        ),
        ({"memory": "HBM", "word_bits": 48}, "word_bits must be a power of two from 8 on, got 48"),
    ],
)
def test_refusals(options: dict[str, Any], message: str) -> None:
    s = pipelined(add, "j")
    s.partition("B", dim=2, factor=2)
    with pytest.raises(TargetError) as caught:
        allo.estimate(s, **options)
    assert str(caught.value) == message
