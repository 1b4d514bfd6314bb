"""States of a schedule share functions: what a step looks at, and that no state changes when another one is made."""

import copy
import pickle
from collections.abc import Callable

import pytest

import allo
from allo import Schedule, ScheduleError
from allo.customize.step.handles import Loop
from allo.customize.step.primitive import primitive
from allo.customize.step.resolve import find_loop
from allo.ir import parts, states
from allo.ir.builder import i32_attr, unit_attr
from allo.ir.effects import Effects
from allo.ir.function_arrays import function_arrays
from allo.ir.module import Module
from allo.ir.states import FinishedModule
from allo.ir.types import float32
from allo.ir.walk import buffers_of


def scale(A: float32[8, 8], B: float32[8, 8]):
    for i in range(8):
        for j in range(8):
            B[i, j] = 2.0 * A[i, j]


def shift(A: float32[8, 8], B: float32[8, 8]):
    for i in range(8):
        for j in range(8):
            B[i, j] = A[i, j] + 1.0


def both(A: float32[8, 8], B: float32[8, 8]):
    C: float32[8, 8] = 0.0
    scale(A, C)
    shift(C, B)


def fresh(*actions: Callable[[Schedule], object]) -> str:
    """What the module is after the actions, each done to a schedule whose module others have."""
    s = allo.customize(both)
    for action in actions:
        str(s.module)
        action(s)
    return str(s.module)


def split(s: Schedule) -> None:
    s.split("scale:i", 4)


def unroll(s: Schedule) -> None:
    s.unroll("shift:j", 4)


def partition(s: Schedule) -> None:
    s.partition("both:C", dim=1, factor=2)


def separate(s: Schedule) -> None:
    s.inline("shift")


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How many functions steps have copied and verified since."""
    done = {"copied": 0, "verified": 0, "modules": 0}
    originals = states._mlir.set_aside, states._mlir.verify_changed, states._mlir.clone_module

    def set_aside(*arguments):
        done["copied"] += 1
        return originals[0](*arguments)

    def verify_changed(module, changed, before, symbols):
        done["verified"] += len(changed)
        return originals[1](module, changed, before, symbols)

    def clone_module(module):
        made = originals[2](module)
        done["modules"] += len(made.body.operations) > 0
        return made

    monkeypatch.setattr(states._mlir, "set_aside", set_aside)
    monkeypatch.setattr(states._mlir, "verify_changed", verify_changed)
    monkeypatch.setattr(states._mlir, "clone_module", clone_module)
    return done


def test_a_step_copies_and_verifies_the_functions_it_changes(work: dict[str, int]) -> None:
    s = allo.customize(both)
    split(s)
    unroll(s)
    assert work == {"copied": 2, "verified": 2, "modules": 0}
    assert str(s.module) == fresh(split, unroll)


def test_layouts_are_written_when_somebody_looks(work: dict[str, int]) -> None:
    s = allo.customize(both)
    split(s)
    s.partition("scale:A", dim=1, factor=2)  # not the array of `shift`
    s.partition("both:C", dim=1, factor=2)
    s.partition("both:B", dim=2)
    assert work == {"copied": 1, "verified": 1, "modules": 0}
    unroll(s)
    assert work == {"copied": 5, "verified": 5, "modules": 0}  # the three functions, and one that is unrolled
    wanted = fresh(
        split,
        lambda s: s.partition("scale:A", dim=1, factor=2),
        lambda s: s.partition("both:C", dim=1, factor=2),
        lambda s: s.partition("both:B", dim=2),
        unroll,
    )
    assert str(s.module) == wanted
    assert str(s.state(2)) == fresh(split, lambda s: s.partition("scale:A", dim=1, factor=2))


def test_functions_with_the_same_layouts_are_one() -> None:
    s = allo.customize(both)
    t = s.copy()
    partition(s)
    s.partition("both:B", dim=2)
    t.partition("both:B", dim=2)
    partition(t)
    assert all(part is t.ir.parts[name] for name, part in s.ir.parts.items())
    assert str(s.state(1)) != str(t.state(1)) and str(s.module) == str(t.module)


def test_states_share_what_did_not_change() -> None:
    s = allo.customize(both)
    split(s)
    unroll(s)
    first, second, third = (s.state(k).parts for k in range(3))
    assert first["shift"] is second["shift"] and second["scale"] is third["scale"] and first["both"] is third["both"]
    assert first["scale"] is not second["scale"] and second["shift"] is not third["shift"]


def test_what_is_known_of_a_function_holds_after_its_arrays_are_divided(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def reading(op):
        read.append(op.opview.name.value)
        return function_arrays(op)

    monkeypatch.setattr(parts, "function_arrays", reading)
    s = allo.customize(both)
    s.partition("both:C", dim=1, factor=2)
    s.partition("shift:B", dim=2, factor=4)
    unroll(s)
    s.partition("scale:A", dim=1, factor=2)
    assert sorted(read) == ["both", "scale", "shift", "shift"]  # again after `unroll`
    for name, part in s.ir.parts.items():
        assert part.fact("arrays", lambda op: None) == function_arrays(part.op)
        assert part.fact("buffers", lambda op: None) in (None, list(buffers_of(part.op.opview))), name


def test_a_module_that_a_user_has_stays_as_it_is() -> None:
    s = allo.customize(both)
    held, texts = [s.module], [str(s.module)]
    for action in (split, unroll, partition, separate):
        action(s)
        held.append(s.module)
        texts.append(str(s.module))
    assert [str(module) for module in held] == texts and len(set(texts)) == 5
    s.undo(2)
    assert str(s.module) == texts[2] and [str(module) for module in held] == texts


def test_earlier_states_are_what_they_were() -> None:
    s = allo.customize(both)
    for action in (split, unroll, partition, separate):
        action(s)
    wanted = [fresh(), fresh(split), fresh(split, unroll), fresh(split, unroll, partition)]
    assert [str(s.state(k)) for k in (2, 0, 3, 1)] == [wanted[k] for k in (2, 0, 3, 1)]
    assert Effects(s.state(0)).written_arguments("shift") == {1}
    assert all(function.operation.parent == s.state(1).mlir.operation for function in s.state(1).functions())


def test_states_taken_back_are_gone() -> None:
    s = allo.customize(both)
    split(s)
    unroll(s)
    s.undo()
    partition(s)
    s.undo(2)
    unroll(s)
    assert str(s.module) == fresh(unroll) and [step.name for step in s.steps] == ["unroll"]


def test_copies_go_their_own_ways() -> None:
    s = allo.customize(both)
    split(s)
    first, second = s.copy(), copy.deepcopy(s)
    unroll(first)
    partition(second)
    separate(first)
    s.pipeline("scale:i.outer")
    unroll(second)
    assert str(first.module) == fresh(split, unroll, separate)
    assert str(second.module) == fresh(split, partition, unroll)
    assert str(s.module) == fresh(split, lambda s: s.pipeline("scale:i.outer"))
    assert str(first.state(1)) == str(second.state(1)) == str(s.state(1)) == fresh(split)


def test_a_composed_copy_is_taken_back() -> None:
    part = allo.customize(scale)
    part.split("i", 4)
    part.pipeline("j")
    s = allo.customize(both)
    unroll(s)
    other = s.copy()
    other.compose(part)
    partition(s)
    composed = str(other.module)
    other.undo(2)
    separate(other)
    assert composed == fresh(unroll, split, lambda s: s.pipeline("scale:j"))
    assert str(other.module) == fresh(unroll, separate)
    assert str(s.module) == fresh(unroll, partition)
    part.undo(2)
    assert str(part.module) == str(allo.customize(scale).module)


@primitive
def spoil(module: Module, loop: Loop, invalid: bool) -> None:
    """Change two functions, and fail, or leave what no verifier accepts."""
    find_loop(module, loop).op.attributes["allo.pipeline"] = i32_attr(7)
    callee = module.function("shift").operation
    if not invalid:
        find_loop(module, Loop("shift", "S_i_0", "i")).op.attributes["allo.unroll"] = i32_attr(3)
        raise ScheduleError("given up half way")
    callee.erase()


@pytest.mark.parametrize("invalid", [False, True])
def test_a_step_that_fails_in_mid_change_changes_nothing(invalid: bool) -> None:
    s = allo.customize(both)
    split(s)
    shared = s.copy()
    with pytest.raises(allo.AlloError):
        spoil(s, "scale:i.inner", invalid=invalid)
    unroll(s)
    partition(shared)
    assert str(s.module) == fresh(split, unroll) and len(s.steps) == 2
    assert str(shared.module) == fresh(split, partition)


def test_a_pickled_schedule_goes_on() -> None:
    s = allo.customize(both)
    split(s)
    again = pickle.loads(pickle.dumps(s))
    unroll(s)
    partition(again)
    again.undo(2)
    unroll(again)
    assert str(again.module) == fresh(unroll) and str(s.module) == fresh(split, unroll)


def test_operations_of_a_state_outlive_its_schedule() -> None:
    state = FinishedModule(allo.customize(both).ir.clone().mlir)
    loops = state.loops("scale")
    draft = state.draft()
    draft.function("scale").operation.attributes["allo.dataflow"] = unit_attr()
    draft.finished()
    del state, draft
    assert [loop.name for loop in loops] == ["i", "j"] and all(loop.op.name == "affine.for" for loop in loops)
