"""Comparisons end in time, whatever they are at."""

from time import monotonic, sleep

import islpy as isl
import numpy as np
import pytest

import allo
from allo.ir.types import float32, int32
from allo.verify import Deadline, Different, Failed, Ran, Unknown, check, load
from allo.verify.affine import bounds
from allo.verify.affine.effort import Effort, OutOfEffort
from allo.verify.result import Stuck

SECONDS = 2.0
GRACE = 4.0  # runs on the first inputs, on a busy machine


def doubled(A: float32[8]):
    for i in range(8):
        A[i] = A[i] * 2.0


def tripled(A: float32[8]):
    for i in range(8):
        A[i] = A[i] * 3.0


class Slow:
    """A runner whose answers come as late as they may: `ran`, or else the arguments as they were."""

    def __init__(self, ran):
        self.ran = ran

    def prepare(self, module):
        return 0

    def run(self, number, arguments, seconds, deadline):
        sleep(min(seconds, deadline.left))
        return self.ran if self.ran is not None else Ran(arguments, ())

    def compare(self, a, b, *, reassociate, deadline):
        sleep(deadline.left)
        return Stuck("no answer")


@pytest.mark.parametrize("ran", [Failed("late", is_late=True), None], ids=["late", "agreeing"])
@pytest.mark.slow
def test_runs_share_one_deadline(ran):
    start = monotonic()
    result = check(load(doubled), load(tripled), Slow(ran), deadline=Deadline.after(SECONDS))
    assert isinstance(result, Unknown)
    assert monotonic() - start < SECONDS + GRACE


def test_what_isl_does_shares_it_too(monkeypatch):
    """Subscripts that are looked at without end: `escape_of` once had no limit."""

    def endless(access):
        found = isl.Set("{ [i, j] : exists k : 3 * k = i + 2 * j and 0 <= i < j < 90 }")
        while True:
            found = found.union(found.complement().intersect(found)).coalesce()

    monkeypatch.setattr(bounds, "surely_inside", lambda access: False)
    monkeypatch.setattr(bounds, "_outside", endless)
    start = monotonic()
    result = allo.verify(doubled, doubled, timeout=SECONDS, method="affine")
    assert isinstance(result, Unknown) and "may leave its array" in result.reason
    assert monotonic() - start < 20 * SECONDS  # operations are counted, which take longer on a busy machine


def test_an_effort_ends_at_the_deadline():
    with pytest.raises(OutOfEffort, match="not decided within the time"), Effort(deadline=Deadline.after(0)).limited():
        pass
    with Effort(seconds=60.0, deadline=Deadline.after(60)).limited():
        assert not isl.Set("{ [i] : i > 3 }").is_empty()


def test_parts_of_what_is_left():
    whole = Deadline.after(100)
    half = whole.part(0.5)
    assert 49 < half.left < 51 and half.part(1.0).until <= half.until + 1
    assert Deadline.after(-1).left == 0 and Deadline.after(-1).is_over


def test_a_difference_is_found_and_confirmed_in_time():
    def shifted(A: int32[8]):
        for i in range(8):
            A[i] = A[i] << 1

    def plain(A: int32[8]):
        for i in range(8):
            A[i] = A[i] + 1

    allo.verify(plain, plain, method="differential")  # the process that runs programs has started
    start = monotonic()
    result = allo.verify(shifted, plain, timeout=30)
    assert isinstance(result, Different) and result.counterexample.arguments[0].dtype == np.int32
    assert monotonic() - start < 30
