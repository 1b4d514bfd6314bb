"""A primitive is one function and one entry in the class: all that is done with steps works for one of a test, too."""

from collections.abc import Callable

import pytest
from mlir import ir

import allo
from allo import Schedule, ScheduleError
from allo.customize.nest.rewrite import compose_affine
from allo.customize.step.handles import Loop
from allo.customize.step.primitive import primitive
from allo.customize.step.resolve import find_loop, loop_note
from allo.ir.builder import Builder, affine_dim, index_type, string_attr
from allo.ir.context import context
from allo.ir.module import Module
from allo.ir.types import int32
from allo.ir.walk import constant_bounds, induction_variable
from tests.compose.checks import assert_faithful


@primitive(any_layout=True)
def reverse(module: Module, loop: Loop, by: int = 1, also: Loop | None = None) -> Loop:
    """Run the iterations of `loop`, and of another one, in the other order."""
    if also is not None:
        reverse_one(module, also, by)
    return reverse_one(module, loop, by)


def reverse_one(module: Module, loop: Loop, by: int) -> Loop:
    view = find_loop(module, loop)
    bounds = constant_bounds(view.op)
    if bounds is None or by != bounds[2]:
        raise ScheduleError(f"loop '{loop.name}' does not count by {by}", notes=[loop_note(view)])
    last = bounds[0] + bounds[1] - 1
    variable = induction_variable(view.op)
    builder = Builder(ir.InsertionPoint.at_block_begin(view.body), view.op.location)
    other = ir.AffineMap.get(1, 0, [affine_dim(0) * -1 + last], context())
    value = builder.value("affine.apply", index_type(), [variable], {"map": ir.AffineMapAttr.get(other)})
    variable.replace_all_uses_except(value, value.owner.operation)
    view.op.attributes["allo.name"] = string_attr(f"{loop.name}.reversed")
    compose_affine([module.function(loop.function)])
    return Loop(loop.function, loop.nest, f"{loop.name}.reversed")


@pytest.fixture(autouse=True)
def entry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Schedule, "reverse", reverse, raising=False)


def add(A: int32[8, 8], B: int32[8, 8]):
    for i, j in allo.grid(8, 8):
        B[i, j] += A[i, j] + 1


def twice(A: int32[8, 8], B: int32[8, 8]):
    add(A, B)
    add(A, B)


def reversed_rows(kernel: Callable[..., None] = add) -> Schedule:
    s = allo.customize(kernel)
    s.pipeline(s.reverse("i"))
    return s


def test_it_is_applied_printed_replayed_stored_and_undone() -> None:
    s = reversed_rows()
    assert s.pseudocode().splitlines()[1:3] == [
        "    for i.reversed in range(8):  # pipeline=1",
        "        for j in range(8):",
    ]
    assert str(s.steps) == 's.reverse("add:S_i_j_0.i")\ns.pipeline("add:S_i_j_0.i.reversed")\n'
    assert_faithful(add, s)
    s.undo(2)
    assert str(s.module) == str(allo.customize(add).module)


def test_it_is_an_operation() -> None:
    text = reversed_rows().to_mlir()
    assert text[text.index("  allo.schedule") :] == (
        "  allo.schedule {\n"
        '    %0 = allo.loop "add" "S_i_j_0.i"\n'
        '    %reverse = allo.step "reverse"(%0)\n'
        '    allo.step "pipeline"(%reverse)\n'
        "  }\n"
        "}\n"
    )


def test_a_handle_may_be_left_out() -> None:
    s = allo.customize(add)
    s.reverse("i", also="j")
    assert str(s.steps) == 's.reverse("add:S_i_j_0.i", also="add:S_i_j_0.j")\n'
    assert [view.name for view in s.ir.loops("add")] == ["i.reversed", "j.reversed"]
    assert 'allo.step "reverse"(%0) {also = "add:S_i_j_0.j"}' in s.to_mlir()
    assert_faithful(add, s)
    composed = allo.customize(twice)
    composed.compose(s)
    assert_faithful(twice, composed)


def test_it_is_composed() -> None:
    s = allo.customize(twice)
    s.compose(reversed_rows())
    assert str(s.steps[0]) == 's.reverse("add:S_i_j_0.i")'
    assert_faithful(twice, s)


def test_it_is_shown_by_verify_and_diff() -> None:
    s = reversed_rows()
    assert s.verify()
    assert s.diff(0).splitlines()[0] == '# step 0: s.reverse("add:S_i_j_0.i")'


def test_its_refusals_name_it_and_change_nothing() -> None:
    s = allo.customize(add)
    with pytest.raises(ScheduleError) as refused:
        s.reverse("i", by=2)
    assert "reverse: loop 'i' does not count by 2" in str(refused.value)
    assert not s.steps
    with pytest.raises(ScheduleError) as refused:
        s.replay('s.revers("i")')
    assert "did you mean 'reverse'?" in str(refused.value)
