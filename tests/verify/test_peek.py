"""Elements that are looked at: a peek sees what the next get takes, for any size and on expressions, and is checked."""

# Streams of regions are declared by annotations; what is looked at may not be used.
# ruff: noqa: F821
from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import allo
import allo.dataflow as df
from allo.ir.types import Stream, int32
from allo.verify import Different, Equivalent
from allo.verify.affine import Proof, prove
from allo.verify.certificate import problems
from allo.verify.program.programs import load

N = 8


def sums(A: int32[N], B: int32[N]):
    for i in range(N):
        if i < N - 1:
            B[i] = A[i] + A[i + 1]
        else:
            B[i] = A[i]


def region(look: bool, ahead: int) -> Callable[..., Any]:
    """Sums of neighbours: the second is looked at, or taken and kept; `ahead` more elements are put first."""

    @df.region()
    def top(A: int32[N], B: int32[N]):
        pipe: Stream[int32, 16]

        @df.kernel(mapping=[1], args=[A])
        def source(A: int32[N]):
            for i in range(ahead):
                pipe.put(A[i])
            for i in range(N):
                pipe.put(A[i])

        @df.kernel(mapping=[1], args=[B])
        def sink(B: int32[N]):
            for _i in range(ahead):
                _first: int32 = pipe.get()
            with allo.meta_if(look):
                for i in range(N - 1):
                    here: int32 = pipe.get()
                    B[i] = here + pipe.peek()
                B[N - 1] = pipe.get()
            with allo.meta_else():
                kept: int32 = pipe.get()
                for i in range(N - 1):
                    new: int32 = pipe.get()
                    B[i] = kept + new
                    kept = new
                B[N - 1] = kept

    return top


@pytest.mark.parametrize("method", ["affine", "concrete"])
def test_what_is_looked_at_is_what_the_next_get_takes(method: str) -> None:
    assert isinstance(allo.verify(region(True, 2), region(True, 0), method=method), Equivalent)
    for ahead in (0, 1):
        assert isinstance(allo.verify(sums, region(True, ahead), method="concrete"), Equivalent)
    assert isinstance(allo.verify(region(False, 0), region(True, 0), method="concrete"), Equivalent)


def looks(early: bool) -> Callable[..., Any]:
    """The first element of each pair is looked at before or after the get."""

    @df.region()
    def top(A: int32[N], B: int32[N]):
        pipe: Stream[int32, 16]

        @df.kernel(mapping=[1], args=[A])
        def source(A: int32[N]):
            for i in range(N):
                pipe.put(A[i])
            pipe.put(0)

        @df.kernel(mapping=[1], args=[B])
        def sink(B: int32[N]):
            for i in range(N):
                with allo.meta_if(early):
                    seen: int32 = pipe.peek()
                    B[i] = 3 * seen - pipe.get()
                with allo.meta_else():
                    taken: int32 = pipe.get()
                    B[i] = 3 * pipe.peek() - taken
            _last: int32 = pipe.get()

    return top


def test_the_element_behind_is_another_one() -> None:
    found = allo.verify(looks(True), looks(False))
    assert isinstance(found, Different)
    assert "B[0] differs" in str(found)


def test_a_certificate_that_tells_another_element_is_wrong() -> None:
    a, b = load(df.customize(looks(True))), load(df.customize(looks(True)))
    found = prove(a, b)
    assert isinstance(found, Proof)
    assert problems(found.to_json(), a, b) == ""
    told = json.loads(found.to_json())
    (looked,) = [name for name, seen in told["sources"][1].items() if seen.startswith("{ A3[")]
    told["sources"][1][looked] = "{ A3[i0] -> A1[1 + i0] : 0 <= i0 <= 6; A3[7] -> A2[] }"
    assert problems(json.dumps(told), a, b) == "Wrong: what is looked at in stream 'pipe' is told wrongly"


def test_tasks_agree_before_something_else_is_computed() -> None:
    """Runs of a program without its tasks take the order of the text: what is looked at behind a loop is the last."""

    def twice(A: int32[N], B: int32[N]):
        for i in range(N):
            B[i] = A[i] * 2

    @df.region()
    def top(A: int32[N], B: int32[N]):
        pipe: Stream[int32, 16]

        @df.kernel(mapping=[1], args=[A])
        def source(A: int32[N]):
            for i in range(N):
                pipe.put(A[i])
            pipe.put(7)

        @df.kernel(mapping=[1], args=[B])
        def sink(B: int32[N]):
            for i in range(N):
                B[i] = 2 * pipe.get()
            B[0] = B[0] + pipe.peek() - 7
            _last: int32 = pipe.get()

    assert isinstance(allo.verify(twice, top), Equivalent)
