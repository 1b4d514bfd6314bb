"""Streams that pass one block: the object of the FIFO, or the array of the core, is what the task computes on."""

# Streams of regions are declared by annotations.
# ruff: noqa: F821, F841

from __future__ import annotations

import re
from typing import Any

import numpy as np

import allo
import allo.dataflow as df
from allo.ir.types import Stream, int16, int32

N = 8


@df.region()
def ask(A: int32[N], B: int32[N]):
    question: Stream[int32[N], 1]
    answer: Stream[int32[N], 1]

    @df.kernel(mapping=[1], args=[A, B])
    def asks(a: int32[N], b: int32[N]):
        doubled: int32[N] = a * 2
        question.put(doubled)
        answered: int32[N] = answer.get()
        b[:] = doubled + answered

    @df.kernel(mapping=[1])
    def answers():
        seen: int32[N] = question.get()
        answer.put(seen * 10)


@df.region()
def unread(A: int32[N], B: int32[N]):
    passed: Stream[int32[N], 1]

    @df.kernel(mapping=[1], args=[A])
    def gives(a: int32[N]):
        passed.put(a + 1)

    @df.kernel(mapping=[1], args=[B])
    def takes(b: int32[N]):
        seen: int32[N] = passed.get()
        b[:] = 7


def test_what_is_put_before_an_answer_comes_is_not_held_back() -> None:
    A, B = np.arange(N, dtype=np.int32), np.zeros(N, np.int32)
    built = df.build(ask, target="aie")
    for _ in range(2):
        built(A, B)
        np.testing.assert_array_equal(B, 2 * A + 20 * A)
    ends = {end.stream: end.over for end in built.graph.node("asks_0").ends}
    assert ends == {"question": None, "answer": None}


def test_a_block_that_nobody_reads_is_taken() -> None:
    A, B = np.arange(N, dtype=np.int32), np.zeros(N, np.int32)
    df.build(unread, target="aie")(A, B)
    assert (B == 7).all()
    taken = r"objectfifo\.(acquire|release).*@passed, port = 1"
    assert len(re.findall(taken, df.build(unread, target="aie").mlir)) == 2


def split_k(size: int, parts: int, backwards: bool = False) -> Any:
    step = size // parts

    @df.region()
    def top(A: int16[size, size], B: int16[size, size], C: int16[size, size]):
        sums: Stream[int16[size, size], 1][parts]

        @df.kernel(mapping=[parts], args=[A, B, C])
        def part(a: int16[size, size], b: int16[size, size], c: int16[size, size]):
            p = df.get_pid()
            own: int16[size, size] = 0
            with allo.meta_if(p > 0):
                own[:, :] = sums[p - 1].get()
            total: int16[size, size] = 0
            for i, j in allo.grid(size, size):
                total[i, j] = own[size - 1 - i, j] if backwards else own[i, j]
                for k in range(step):
                    total[i, j] += a[i, p * step + k] * b[p * step + k, j]
            with allo.meta_if(p < parts - 1):
                sums[p].put(total)
            with allo.meta_else():
                c[:, :] = total

    return top


def chained(parts: int) -> list[tuple[str, list[str]]]:
    return [("chain", ["-".join(f"part_{p}" for p in range(k)), f"part_{k}"]) for k in range(1, parts)]


def test_sums_that_stay_on_a_core_take_one_array() -> None:
    """64 x 64 x 64 terms of 16 bits in four parts: A, B twice, C and one array of sums fit in 64 KB."""
    built = df.build(split_k(64, 4), target="aie", mapping_primitives=chained(4))
    memory = next(use for use in built.capacity.uses if use.resource == "memory of a core")
    held = {text.split(" of ")[1] for text in memory.users}
    assert held == {"'A_0'", "'B_0'", "'C_out_0'", "'sums_0'", "stack", "arrays that tasks make"}
    assert len({own.place for own in built.plan.fifos.internal}) == 1
    state = np.random.default_rng(0)
    A, B = (state.integers(-99, 99, (64, 64)).astype(np.int16) for _ in range(2))
    C = np.zeros((64, 64), np.int16)
    built(A, B, C)
    np.testing.assert_array_equal(C, A @ B)


def test_sums_that_are_read_elsewhere_than_written_take_two() -> None:
    top, state = split_k(8, 3, backwards=True), np.random.default_rng(0)
    A, B = (state.integers(-99, 99, (8, 8)).astype(np.int16) for _ in range(2))
    seen, wanted = (np.zeros((8, 8), np.int16) for _ in range(2))
    df.build(top)(A, B, wanted)
    built = df.build(top, target="aie", mapping_primitives=chained(3))
    built(A, B, seen)
    np.testing.assert_array_equal(seen, wanted)
    assert len({own.place for own in built.plan.fifos.internal}) == 2


@df.region()
def turned(A: int32[N], B: int32[N]):
    s: Stream[int32[N], 1][2]

    @df.kernel(mapping=[1], args=[A])
    def first(a: int32[N]):
        s[0].put(a + 1)

    @df.kernel(mapping=[1])
    def second():
        block: int32[N] = s[0].get()
        other: int32[N] = 0
        for i in range(N):
            other[i] = block[N - 1 - i] * 2
        s[1].put(other)

    @df.kernel(mapping=[1], args=[B])
    def third(b: int32[N]):
        b[:] = s[1].get()


def test_a_block_is_not_overwritten_before_it_is_read() -> None:
    steps = [("chain", ["first_0", "second_0"]), ("chain", ["first_0-second_0", "third_0"])]
    built = df.build(turned, target="aie", mapping_primitives=steps)
    A, B = np.arange(N, dtype=np.int32), np.zeros(N, np.int32)
    built(A, B)
    np.testing.assert_array_equal(B, (A[::-1] + 1) * 2)
    assert [len(end.over or ()) for end in built.graph.node("second_0").ends] == [0, 0]


@df.region()
def reversed_in_place(A: int32[N], B: int32[N]):
    @df.kernel(mapping=[1], args=[A, B])
    def core(a: int32[N], b: int32[N]):
        before: int32[N] = b
        for i in range(N):
            b[i] = before[N - 1 - i] + a[i]


def test_a_copy_of_what_is_written_stays() -> None:
    A, B = np.arange(N, dtype=np.int32), np.arange(N, dtype=np.int32) * 10
    wanted = B[::-1] + A
    df.build(reversed_in_place, target="aie")(A, B)
    np.testing.assert_array_equal(B, wanted)
