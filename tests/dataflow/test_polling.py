"""Puts and gets that do not wait, and looks at what comes next: the same bits behind all doors, and an end."""

from __future__ import annotations

# ruff: noqa: F821, RUF059 - tasks are compiled where they stand
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.errors import DataflowError, TargetError
from allo.ir.types import Fixed, Stream, UInt, bfloat16, bool, float16, int32, uint1
from allo.verify import Unknown
from tests.dataflow import polling as p
from tests.published.doors import Ran, assert_same, ran

from .doors import in_c


def asked(region: Callable[..., Any], *arguments: Any, csim: bool = True) -> Ran:
    """What a region gives in the simulator, each time, which is what it gives as reference and in C simulation."""
    s = df.customize(region)
    built = s.build()
    seen = ran(built, arguments)
    assert_same(ran(built, arguments), seen)
    assert_same(ran(allo.interpret(region), arguments), seen)
    if csim:
        assert_same(ran(df.build(region, target="vitis_hls", mode="csim"), arguments), seen)
    text = allo.Schedule.from_mlir(str(s.module))
    assert_same(ran(text.build(), arguments), seen)
    return seen


def count(*shape: int) -> np.ndarray:
    return np.arange(1, 1 + int(np.prod(shape)), dtype=np.int32).reshape(shape)


@in_c
def test_arbiter(csim: bool) -> None:
    A, B = count(p.N), 100 + count(p.N)
    C = asked(p.arbiter, A, B, np.zeros(2 * p.N, np.int32), csim=csim).arguments[2]
    np.testing.assert_array_equal(C[C > 0], A)
    np.testing.assert_array_equal(-C[C < 0], B)


@in_c
def test_round_robin(csim: bool) -> None:
    A = count(p.P, p.N).astype(np.int16)
    found = asked(p.round_robin, A, np.zeros(p.P * p.N, np.int16), np.zeros(1, np.int32), csim=csim).arguments
    assert sorted(found[1]) == sorted(A.flat) and found[2] >= p.P * p.N


def test_credits() -> None:
    A = count(p.N)
    found = asked(p.credits, A, np.zeros_like(A), np.zeros(1, np.int32), csim=False).arguments
    np.testing.assert_array_equal(found[1], A)


def test_what_finds_no_room_is_lost() -> None:
    A = count(p.N)
    _, C, lost = asked(p.lossy, A, np.zeros_like(A), np.zeros(1, np.int32)).arguments
    assert lost[0] < 100  # with room, a try is a put
    assert C[0] == 2 and 0 < np.count_nonzero(C) < 2 * p.N


def test_merge_by_what_comes_next() -> None:
    A, B = np.sort(count(p.N) * 7 % 23), np.sort(count(p.N) * 5 % 19)
    asked_for = asked(p.sorted_merge, A.astype(np.int32), B.astype(np.int32), np.zeros(2 * p.N, np.int32), csim=False)
    np.testing.assert_array_equal(asked_for.arguments[2], np.sort([*A, *B]))


def test_elements_of_all_kinds() -> None:
    A = count(p.N)
    found = asked(p.kinds, A, np.zeros_like(A)).arguments[1]
    np.testing.assert_array_equal(found, 3 * A + 100 * (A > 3))


def test_places_that_are_no_variables() -> None:
    A = count(p.N)
    found = asked(p.element_places, A, np.zeros((2, p.N), np.int32), csim=False).arguments[1]
    np.testing.assert_array_equal(found, [A, np.ones_like(A)])


def test_without_tasks() -> None:
    A = np.zeros(4, np.int32)
    p.sequence.build()(A)
    assert list(A) == [0, 1, 1, 56]


def test_tapa_tries_until_something_comes(tmp_path: Path) -> None:
    code = df.build(p.sorted_merge, target="tapa", mode="csim", project=tmp_path).hls_code
    assert "while (!one.try_peek(t)) {}" in code


def test_tools_say_what_they_lack(tmp_path: Path) -> None:
    s = df.customize(p.sorted_merge)
    for target in ("vhls", "catapult", "ihls", "vivado_hls"):
        with pytest.raises(TargetError, match=r"has no form of 'peek' of a stream") as caught:
            s.build(target=target, **({} if target == "vhls" else {"mode": "csyn", "project": tmp_path}))
        assert "x = one.peek()" in str(caught.value) and "keep it in a variable" in str(caught.value)


def test_it_depends_on_time_so_nothing_is_proven() -> None:
    s = df.customize(p.arbiter)
    s.split("second:i", 2)
    answer = s.verify()
    assert isinstance(answer, Unknown) and "depends on when" in str(answer)


@df.region()
def never(A: int32[4], B: int32[1]):
    pipe: Stream[int32, 2]

    @df.kernel(mapping=[1], args=[A])
    def source(A: int32[4]):
        for i in range(4):
            pipe.put(A[i])

    @df.kernel(mapping=[1], args=[B])
    def sink(B: int32[1]):
        taken: int32 = 0
        while taken < 5:
            x, ok = pipe.try_get()
            if ok:
                taken += 1
        B[0] = taken


@df.region()
def late(A: int32[4], B: int32[4]):
    pipe: Stream[int32, 2]
    go: Stream[int32, 1]

    @df.kernel(mapping=[1], args=[A])
    def source(A: int32[4]):
        for i in range(4):
            pipe.put(A[i])
        go.put(1)

    @df.kernel(mapping=[1], args=[B])
    def sink(B: int32[4]):
        while go.empty():
            pass
        for i in range(4):
            B[i] = pipe.get()
        go.get()


ENDLESS = """\
stream 'pipe' is asked again and again, and nothing moves in any stream: 4 elements have been put and 4 taken
    x, ok = pipe.try_get()
"""
SHALLOW = "stream 'pipe' of depth 2 is full, and what would take elements out waits too, or has ended: 2 elements"


def doors(region: Callable[..., Any], csim: bool) -> list[Callable[..., Any]]:
    s = df.customize(region)
    return [s.build(), allo.interpret(region), *([s.build(target="vitis_hls", mode="csim")] if csim else [])]


@in_c
def test_who_asks_without_end_is_told(csim: bool) -> None:
    for run in doors(never, csim):
        with pytest.raises(DataflowError) as caught:
            run(count(4), np.zeros(1, np.int32))
        assert ENDLESS in str(caught.value)
        assert "hint: end the loop that asks when nothing comes any more, or put what it waits for" in str(caught.value)


@in_c
def test_who_waits_for_who_asks_is_told_the_depth(csim: bool) -> None:
    for run in doors(late, csim):
        with pytest.raises(DataflowError) as caught:
            run(count(4), np.zeros(4, np.int32))
        assert SHALLOW in str(caught.value) and "the least depth that does is 4" in str(caught.value)


def test_what_is_looked_at_behind_the_last_element_never_comes() -> None:
    """As many elements are taken as are put, and the one that is looked at is none of them."""

    @df.region()
    def region(A: int32[4], B: int32[4]):
        pipe: Stream[int32, 2]

        @df.kernel(args=[A])
        def source(A: int32[4]):
            for i in range(4):
                pipe.put(A[i])

        @df.kernel(args=[B])
        def sink(B: int32[4]):
            for i in range(4):
                B[i] = pipe.get()
            B[0] = pipe.peek()

    with pytest.raises(DataflowError, match="'pipe' is empty, and nothing will be put into it any more: 4 elements"):
        df.customize(region)
    with pytest.raises(DataflowError, match="'pipe' is empty, and nothing will be put into it any more: 4 elements"):
        allo.interpret(region)(count(4), count(4))


def blocks_of(kind: Any) -> Callable[..., Any]:
    """A region that sends blocks of a type."""

    @df.region()
    def region(A: kind[4, 4], B: kind[4, 4]):
        pipe: Stream[kind[2, 4], 2][2]

        @df.kernel(mapping=[1], args=[A])
        def source(A: kind[4, 4]):
            for i in range(2):
                pipe[1 - i].put(A[2 * i : 2 * i + 2, :])

        @df.kernel(mapping=[1], args=[B])
        def sink(B: kind[4, 4]):
            for i in range(2):
                block: kind[2, 4] = pipe[1 - i].get()
                B[2 * i : 2 * i + 2, :] = block

    return region


KINDS = [
    (Fixed(12, 4), np.float64), (bfloat16, ml_dtypes.bfloat16), (UInt(300), object), (bool, np.bool_),
    (float16, np.float16), (uint1, np.uint8),
]  # fmt: skip
SLOWLY_IN_C = [pytest.param(*kind, True, marks=pytest.mark.slow) for kind in KINDS[:3]]


@pytest.mark.parametrize(("kind", "dtype", "csim"), [*((*kind, False) for kind in KINDS), *SLOWLY_IN_C], ids=str)
def test_blocks_of_all_kinds(kind: Any, dtype: Any, csim: bool) -> None:
    A = (np.arange(16).reshape(4, 4) % (2 if kind in (bool, uint1) else 16)).astype(dtype)
    np.testing.assert_array_equal(asked(blocks_of(kind), A, np.zeros_like(A), csim=csim).arguments[1], A)


def test_depths_of_blocks_are_said_in_blocks() -> None:
    @df.region()
    def region(A: int32[4, 4], B: int32[4, 4]):
        pipe: Stream[int32[4], 2]
        words: Stream[int32, 4, 2]
        go: Stream[int32]

        @df.kernel(args=[A])
        def source(A: int32[4, 4]):
            for i in range(4):
                pipe.put(A[i])
                words.put(A[i, 0:2])
            go.put(1)

        @df.kernel(args=[B])
        def sink(B: int32[4, 4]):
            B[0, 0] = go.get()
            for i in range(4):
                B[i] = pipe.get()
                B[i, 0:2] = words.get()

    for run in (df.customize(region).build(), allo.interpret(region)):
        with pytest.raises(DataflowError) as caught:
            run(np.zeros((4, 4), np.int32), np.zeros((4, 4), np.int32))
        assert "of depth 2 is full" in str(caught.value)
        assert "depths that do are 4 for 'pipe' and 8 for 'words'" in str(caught.value)
