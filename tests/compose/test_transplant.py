"""Steps of parts that are taken over are the steps that computing them anew gives, results and all."""

import contextlib
import importlib
import random
from typing import Any

import pytest

import allo
import polybench
from allo.ir.types import int32
from tests.seeds import sweep

from .test_random import OF_TOP, STEPS, apply, some, top, work

composition = importlib.import_module("allo.compose.composition")

PARTS = [
    pytest.param(name, design, marks=() if design == "best" else pytest.mark.slow)
    for name in polybench.NAMES
    for design, found in polybench.load(name).designs.items()
    if found.parts and not design.startswith("dsp")
]


def computed(monkeypatch: pytest.MonkeyPatch, action: Any) -> allo.Schedule:
    """What `action` makes where no step is taken over."""
    with monkeypatch.context() as patch:
        patch.setattr(composition, "transplant", lambda *_: False)
        made: allo.Schedule = action()
    return made


def taken_over(monkeypatch: pytest.MonkeyPatch, action: Any) -> tuple[allo.Schedule, dict[str, int]]:
    """What `action` makes, and how many steps of each primitive were taken over."""
    count: dict[str, int] = {}

    def counted(part: Any, number: int, wanted: Any, *rest: Any) -> bool:
        done: bool = real(part, number, wanted, *rest)
        count[wanted.name] = count.get(wanted.name, 0) + done
        return done

    real = composition.transplant
    with monkeypatch.context() as patch:
        patch.setattr(composition, "transplant", counted)
        return action(), count


def assert_same(left: allo.Schedule, right: allo.Schedule) -> None:
    assert left.steps == right.steps
    for number in range(len(left.steps) + 1):
        assert str(left.state(number)) == str(right.state(number)), number


@pytest.mark.parametrize(("name", "design"), PARTS)
def test_designs_of_polybench(name: str, design: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def composed() -> allo.Schedule:
        return polybench.load(name).designs[design].customized("MINI")

    found, count = taken_over(monkeypatch, composed)
    assert_same(found, computed(monkeypatch, composed))
    assert not count.get("partition")


def test_all_but_layouts_are_taken_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three instances of one product: two have other names in the schedule, the last gets arguments with layouts."""
    design = polybench.load("three_mm").designs["best"]
    _, count = taken_over(monkeypatch, lambda: design.customized("MINI"))
    own = [step.name for part in design.parts for step in part.customized("MINI").steps]
    assert count == {name: 0 if name == "partition" else own.count(name) for name in own}


def inner(A: int32[8, 8], B: int32[8, 8]):
    for i in range(8):
        for j in range(8):
            B[i, j] = A[i, j] + 1


def part(A: int32[8, 8], B: int32[8, 8]):
    C: int32[8, 8] = 0
    inner(A, C)
    for k in range(8):
        for m in range(8):
            B[k, m] = C[k, m] * 2


def caller(A: int32[8, 8], B: int32[8, 8]):
    part(A, B)


def composed(before: bool) -> allo.Schedule:
    """The part is reordered and pipelined; the caller may have changed what the part calls already."""
    s, p = allo.customize(caller), allo.customize(part)
    if before:
        s.pipeline("inner:j")
    p.reorder("m", "k")
    p.pipeline("k")
    s.compose(p)
    return s


@pytest.mark.parametrize("before", [False, True])
def test_a_step_that_reads_a_changed_function_is_computed_anew(
    before: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, count = taken_over(monkeypatch, lambda: composed(before))
    assert_same(found, computed(monkeypatch, lambda: composed(before)))
    assert count == {"reorder": not before, "pipeline": not before}


@sweep(16)
def test_random_compositions(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = random.Random(seed)
    mine, theirs = some(generator, STEPS + OF_TOP, top), some(generator, STEPS, work)

    def composed() -> allo.Schedule:
        s = apply(allo.customize(top), mine)
        with contextlib.suppress(allo.ScheduleError):  # a conflict: the same way of either
            s.compose(apply(allo.customize(work), theirs))
        return s

    assert_same(taken_over(monkeypatch, composed)[0], computed(monkeypatch, composed))


def stencil(A: int32[8, 8], B: int32[8, 8]):
    for i in range(1, 7):
        for j in range(1, 7):
            B[i, j] = A[i, j - 1] + A[i, j] + A[i, j + 1]
            B[i, 0] = A[i, j]


def around(A: int32[8, 8], B: int32[8, 8]):
    stencil(A, B)


# an argument in banks does not matter to them
ANY_LAYOUT = {
    "split": lambda s: s.split("j", 2),
    "fuse": lambda s: s.fuse("i", "j"),
    "fission": lambda s: s.fission("j"),
    "reorder": lambda s: s.reorder("j", "i"),
    "skew": lambda s: s.skew("i", "j", 1),
    "peel": lambda s: s.peel("j", 1),
    "pipeline": lambda s: s.pipeline("j"),
    "unroll": lambda s: s.unroll("j"),
    "parallel": lambda s: s.parallel("i"),
    "buffer_at": lambda s: s.buffer_at(s.A, "i"),
    "reuse_at": lambda s: s.reuse_at(s.A, "j"),
}


def test_what_does_not_look_at_layouts() -> None:
    known = allo.Schedule.primitives().items()
    assert set(ANY_LAYOUT) == {name for name, method in known if method.traits.any_layout}


@pytest.mark.parametrize("name", ANY_LAYOUT)
def test_an_argument_in_banks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def composed() -> allo.Schedule:
        s, part = allo.customize(around), allo.customize(stencil)
        s.partition("stencil:A", dim=2, factor=2)
        ANY_LAYOUT[name](part)
        s.compose(part)
        return s

    found, count = taken_over(monkeypatch, composed)
    assert_same(found, computed(monkeypatch, composed))
    assert count == {name: 1} and "#allo.partition" in str(found.module)


def test_states_share_functions_with_the_part() -> None:
    """The kernel's function is that of its part: not a copy, until a step of the caller changes it."""

    def part(A: int32[8], B: int32[8]):
        for i in range(8):
            B[i] = A[i] + 1

    def caller(A: int32[8], B: int32[8], C: int32[8]):
        part(A, B)
        part(B, C)

    s, p = allo.customize(caller), allo.customize(part)
    p.pipeline(p.split("i", 4)[0])
    p.unroll("i.inner")
    before, alone = s.module, str(p.module)
    text = str(before)
    s.compose(p)
    assert s.ir.parts["part"] is p.ir.parts["part"]
    seen = s.module
    assert str(p.state(2)).split("func.func")[1].removesuffix("}\n") in str(s.state(2))
    composed = str(seen)
    s.partition("part:A", dim=1, factor=4)
    assert (str(before), str(seen), str(p.module)) == (text, composed, alone)
    s.undo(2)
    assert str(s.module) == str(s.state(2))
    s.undo(2)
    assert str(s.module) == text
    s.compose(p)
    assert str(s.module) == composed
